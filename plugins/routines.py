"""Commands for later, and several commands by one name: "good night" runs a list."""

import secrets
from datetime import timedelta
from typing import Annotated

from msgspec import Meta

from plugins.api import Plugin, ToolCall, ToolContext, ToolError, ToolResult

plugin = Plugin("routines", sentences="routines.{language}.yaml")

MAXIMUM = 100
MAXIMUM_COMMANDS = 20
Command = Annotated[str, Meta(min_length=1, max_length=300)]
Name = Annotated[str, Meta(min_length=1, max_length=60)]
Amount = Annotated[float, Meta(ge=0, le=604_800)]


@plugin.tool(risk="act")
async def later(
    context: ToolContext,
    command: Command,
    hours: Amount = 0,
    minutes: Amount = 0,
    seconds: Amount = 0,
) -> ToolResult:
    """Carry out a command after a while; one that needs a confirmation is then not done.

    command: what to say then
    """
    delay = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if not timedelta(seconds=1) <= delay <= timedelta(days=7):
        raise ToolError("In how long? Say for instance: in 5 minutes.")
    if len(await context.storage.all()) >= MAXIMUM:
        raise ToolError(f"There are {MAXIMUM} routines and commands already.")
    key, due = f"later-{secrets.token_hex(6)}", context.now + delay
    speaker = {"command": command, "language": context.language, "area": context.area}
    await context.storage.put(key, speaker)
    await context.jobs.run_at(key, due)
    return ToolResult(
        text=f"“{command}”: {due:%H:%M}.",
        data={"command": command, "due": due.isoformat()},
        undo=ToolCall(tool="routines.forget", arguments={"name": key}),
    )


@plugin.tool(risk="act")
async def define(
    context: ToolContext,
    name: Name,
    commands: Annotated[list[Command], Meta(min_length=1, max_length=MAXIMUM_COMMANDS)],
) -> ToolResult:
    """Give several commands one name.

    name: what to say, for instance good night
    commands: what is then carried out, in this order
    """
    if len(await context.storage.all()) >= MAXIMUM:
        raise ToolError(f"There are {MAXIMUM} routines and commands already.")
    await context.storage.put(_key(name), {"name": name, "commands": commands})
    return ToolResult(
        text=f"“{name}”: {'; '.join(commands)}.",
        undo=ToolCall(tool="routines.forget", arguments={"name": name}),
    )


@plugin.tool(risk="act")
async def run(context: ToolContext, name: Name) -> ToolResult:
    """Carry out the commands of that name, one after the other."""
    stored = await context.storage.get(_key(name))
    if stored is None:
        raise ToolError(f"There is no routine “{name}”.")
    replies = [await context.carry_out(command) for command in stored["commands"]]
    return ToolResult(text=" ".join(replies), data={"replies": replies})


@plugin.tool(risk="read")
async def list_(context: ToolContext) -> ToolResult:
    """Tell the routines that there are."""
    stored = [s for s in (await context.storage.all()).values() if "commands" in s]
    text = " ".join(f"“{s['name']}”: {'; '.join(s['commands'])}." for s in stored)
    return ToolResult(text=text or "There are no routines.", data={"routines": stored})


@plugin.tool(risk="act")
async def forget(context: ToolContext, name: Name) -> ToolResult:
    """Forget a routine, or a command for later."""
    key = name if name.startswith("later-") else _key(name)
    await context.jobs.cancel(key)
    if not await context.storage.delete(key):
        raise ToolError(f"There is no routine “{name}”.")
    return ToolResult(text="Forgotten.")


@plugin.job
async def due(context: ToolContext, key: str) -> None:
    """A command's time has come. Forgotten first: twice is worse than not at all."""
    stored = await context.storage.get(key)
    if stored is None or not await context.storage.delete(key):
        return
    reply = await context.carry_out(stored["command"], stored["language"], stored["area"])
    context.emit("announcement", {"text": reply, "at": context.now.isoformat()})


def _key(name: str) -> str:
    return " ".join(name.casefold().split())
