"""Commands for later, and several commands by one name: "good night" runs a list."""

import re
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from msgspec import Meta

from plugins.api import Plugin, ToolCall, ToolContext, ToolError, ToolResult
from plugins.speech import moment, say
from plugins.when import parse, soonest

plugin = Plugin("routines", sentences="routines.{language}.yaml")

MAXIMUM = 100
MAXIMUM_COMMANDS = 20
LONGEST_NAME = 30
"""Characters, in three words, of a name that is said in one sentence with what it stands for."""
LATER = "later-"
_THEN = re.compile(
    r"\s*(?:[,;，；、]\s*)?\b(?:and then|then|und dann|dann|et puis|puis|y luego|luego)\b\s*"
    r"|\s*[;；]\s*|\s*(?:然后|再然后|，再|,\s*再)\s*",
    re.IGNORECASE,
)
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
    when: Annotated[str, Meta(max_length=60)] = "",
) -> ToolResult:
    """Carry out a command after a while or at a time; one that needs a confirmation is then not
    done.

    command: what to say then
    when: for instance at 8 pm, tomorrow at 7
    """
    delay = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    due = _moment_of(when, context) if when else context.now + delay
    if due is None or not timedelta(seconds=1) <= due - context.now <= timedelta(days=7):
        raise ToolError(say(context.language, "later_when"))
    await _room_for_one_more(context)
    key = f"{LATER}{secrets.token_hex(6)}"
    speaker = {"command": command, "language": context.language, "area": context.area}
    await context.storage.put(key, speaker)
    await context.jobs.run_at(key, due)
    told = moment(due, context.now, context.language) if when else f"{due:%H:%M}"
    return ToolResult(
        text=f"“{command}”: {told}.",
        data={"command": command, "due": due.isoformat()},
        undo=ToolCall(tool="routines.forget", arguments={"name": key}),
    )


def _moment_of(when: str, context: ToolContext) -> datetime | None:
    said = parse(when, context.language, context.now)
    if not said.said or said.repeat:
        return None
    try:
        return soonest(said, context.now)
    except ValueError:  # "today at 8", and it is nine
        return None


def _is_named(arguments: Mapping[str, Any], language: str) -> bool:
    """Whether what was said as a name is short enough for one, and something is to be done."""
    name = str(arguments.get("name", "")).strip(" ,，")
    return (
        0 < len(name) <= LONGEST_NAME
        and len(name.split()) <= 3
        and bool(str(arguments.get("commands", "")).strip())
    )


@plugin.tool(risk="act", fits=_is_named)
async def define(
    context: ToolContext,
    name: Name,
    commands: Annotated[list[Command], Meta(min_length=1, max_length=MAXIMUM_COMMANDS)] | Command,
) -> ToolResult:
    """Give several commands one name.

    name: what to say, for instance good night
    commands: what is then carried out, in this order; in one text with "then" between them, too
    """
    wanted = [commands] if isinstance(commands, str) else commands
    steps = [step for one in wanted for step in _THEN.split(one) if step.strip(" .。")]
    if not steps or len(steps) > MAXIMUM_COMMANDS:
        raise ToolError(say(context.language, "routine_steps", value=MAXIMUM_COMMANDS))
    await _room_for_one_more(context)
    await context.storage.put(_key(name), {"name": name, "commands": steps})
    return ToolResult(
        text=_told({"name": name, "commands": steps}),
        data={"name": name, "commands": steps},
        undo=ToolCall(tool="routines.forget", arguments={"name": name}),
    )


@plugin.tool(risk="act")
async def run(context: ToolContext, name: Name) -> ToolResult:
    """Carry out the commands of that name, one after the other."""
    stored = await context.storage.get(_key(name))
    if stored is None:
        raise ToolError(say(context.language, "no_routine", [name]))
    replies = [await context.carry_out(command) for command in stored["commands"]]
    return ToolResult(text=" ".join(replies), data={"replies": replies})


@plugin.tool(risk="read")
async def list_(context: ToolContext) -> ToolResult:
    """Tell the routines that there are."""
    stored = [s for s in (await context.storage.all()).values() if "commands" in s]
    text = " ".join(_told(routine) for routine in stored)
    return ToolResult(text=text or say(context.language, "no_routines"), data={"routines": stored})


@plugin.tool(risk="act")
async def forget(context: ToolContext, name: Name) -> ToolResult:
    """Forget a routine, or a command for later."""
    key = name if name.startswith(LATER) else _key(name)
    stored = await context.storage.get(key)
    await context.jobs.cancel(key)
    if stored is None or not await context.storage.delete(key):
        raise ToolError(say(context.language, "no_routine", [name]))
    return ToolResult(
        text=say(context.language, "forgotten", [stored.get("command") or name]),
        undo=_again(stored),
    )


@plugin.job
async def due(context: ToolContext, key: str) -> None:
    """A command's time has come. Forgotten first: twice is worse than not at all."""
    stored = await context.storage.get(key)
    if stored is None or not await context.storage.delete(key):
        return
    reply = await context.carry_out(stored["command"], stored["language"], stored["area"])
    context.emit("announcement", {"text": reply, "at": context.now.isoformat()})


async def _room_for_one_more(context: ToolContext) -> None:
    if len(await context.storage.all()) >= MAXIMUM:
        raise ToolError(say(context.language, "routines_full", value=MAXIMUM))


def _again(stored: Mapping[str, Any]) -> ToolCall | None:
    """The call that brings a routine back; a command for later has lost its time."""
    if "commands" not in stored:
        return None
    arguments = {"name": stored["name"], "commands": stored["commands"]}
    return ToolCall(tool="routines.define", arguments=arguments)


def _told(routine: Mapping[str, Any]) -> str:
    return f"“{routine['name']}”: {'; '.join(routine['commands'])}."


def _key(name: str) -> str:
    return " ".join(name.casefold().split())
