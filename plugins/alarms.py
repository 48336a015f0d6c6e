"""Alarms to wake up by, kept and rung among the entries of ``plugins/reminders.py``."""

from typing import Annotated

from msgspec import Meta

from plugins import reminders
from plugins.api import MissingArgumentError, Plugin, ToolContext, ToolResult
from plugins.speech import say
from plugins.when import parse

plugin = Plugin("alarms", sentences="alarms.{language}.yaml", keeps_with="reminders")


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
    found = await reminders.entries(context)
    return reminders.told(context, [entry for entry in found if entry.kind == "alarm"])


@plugin.tool(risk="act")
async def cancel(context: ToolContext, which: reminders.Which = "") -> ToolResult:
    """Cancel an alarm, or stop what rings.

    which: an id, ``all``; empty: what rings, else the next
    """
    return await reminders.cancel_one(context, which, "alarm")


@plugin.tool(risk="act")
async def snooze(context: ToolContext, minutes: reminders.Minutes = 10) -> ToolResult:
    """Let the alarm ring again later.

    minutes: how much later
    """
    return await reminders.snooze(context, minutes)
