"""Alarms to wake up by, kept and rung among the entries of ``plugins/reminders.py``."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from msgspec import Meta

from plugins import reminders
from plugins.api import MissingArgumentError, Plugin, ToolContext, ToolResult
from plugins.moments import asked_when
from plugins.reminder_entries import ALL, entries, shift_of
from plugins.when import parse

plugin = Plugin("alarms", sentences="alarms.{language}.yaml", keeps_with="reminders")

_FILLER = re.compile(
    r"(?:please|bitte|in the|morning|early|'s|früh|mal|doch|de|du|à|的|吧|了|那个|早上?|[\s,，.])*",
    re.IGNORECASE,
)
"""What a time may have beside it: "sounded today" says nothing of which alarm."""
_ID = re.compile(r"[ar][0-9a-f]{12}")


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
        raise MissingArgumentError("when", asked_when(said, context.language))
    result = await reminders.set_entry(context, "alarm", what, said)
    undo = result.undo
    if undo:
        undo = type(undo)(tool="alarms.cancel", arguments=undo.arguments)
    return ToolResult(text=result.text, data=result.data, undo=undo)


@plugin.tool(risk="read")
async def list_(context: ToolContext) -> ToolResult:
    """Tell the alarms, soonest first."""
    found = await entries(context)
    return reminders.told(context, [entry for entry in found if entry.kind == "alarm"])


def _says_when(arguments: Mapping[str, Any], language: str) -> bool:
    """Whether what says which alarm, or what it shall be put to, is a time: "the burglar alarm" is
    none of these."""
    now = datetime(2000, 1, 1, tzinfo=UTC)
    if arguments.get("by") and shift_of(str(arguments["by"]), language) is None:
        return False
    said = [str(arguments[name]) for name in ("which", "to") if arguments.get(name)]
    whens = [parse(one, language, now) for one in said if one != ALL and not _ID.fullmatch(one)]
    named = all(when.said or when.on or when.repeat for when in whens)
    return named and all(_FILLER.fullmatch(when.rest) for when in whens)


@plugin.tool(risk="act", fits=_says_when)
async def cancel(context: ToolContext, which: reminders.Which = "") -> ToolResult:
    """Cancel an alarm, or stop what rings.

    which: when it is (seven, tomorrow), an id, ``all``; empty: what rings, else the next
    """
    return await reminders.cancel_one(context, which, "alarm")


@plugin.tool(risk="act", fits=_says_when)
async def change(
    context: ToolContext,
    to: reminders.Moment = "",
    which: reminders.Which = "",
    by: reminders.Moment = "",
) -> ToolResult:
    """Put an alarm at another time.

    to: for instance half past six
    which: as for cancel
    by: in place of to: half an hour earlier, 10 minutes later
    """
    return await reminders.change_one(context, to, which, "alarm", by)


@plugin.tool(risk="act")
async def snooze(context: ToolContext, minutes: reminders.Minutes = 10) -> ToolResult:
    """Let the alarm ring again later.

    minutes: how much later
    """
    return await reminders.snooze(context, minutes)
