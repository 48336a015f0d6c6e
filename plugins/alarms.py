"""Alarms to wake up by. They are kept and rung by plugins/reminders.py's entries of their own."""

from typing import Annotated

from msgspec import Meta

from plugins import reminders
from plugins.api import MissingArgumentError, Plugin, ToolContext, ToolResult
from plugins.speech import say
from plugins.when import parse

plugin = Plugin("alarms", sentences="alarms.{language}.yaml")
plugin.job(reminders.ring)


@plugin.tool(risk="act")
async def set_(
    context: ToolContext, when: Annotated[str, Meta(max_length=100)], what: str = ""
) -> ToolResult:
    """Set an alarm.

    when: for instance 7, half past six, every weekday at 7
    what: what for
    """
    said = parse(when, context.language, context.now)
    if not said.said:
        raise MissingArgumentError("when", say(context.language, "when"))
    result = await reminders.set_entry(context, "alarm", what, said)
    undo = result.undo
    if undo:
        undo = type(undo)(tool="alarms.cancel", arguments=undo.arguments)
    return ToolResult(text=result.text, data=result.data, undo=undo)


@plugin.tool(risk="read")
async def list_(context: ToolContext) -> ToolResult:
    """Tell the alarms, soonest first."""
    return await reminders.list_(context)


@plugin.tool(risk="act")
async def cancel(
    context: ToolContext, which: Annotated[str, Meta(max_length=120)] = ""
) -> ToolResult:
    """Cancel an alarm, or stop it ringing.

    which: an id, ``all``; empty: what rings, else the next
    """
    return await reminders.cancel(context, which)


@plugin.tool(risk="act")
async def snooze(
    context: ToolContext, minutes: Annotated[int, Meta(ge=1, le=1440)] = 10
) -> ToolResult:
    """Let the alarm ring again later.

    minutes: how much later
    """
    return await reminders.snooze(context, minutes)
