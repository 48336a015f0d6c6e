"""Alarms to wake up by, kept and rung among the entries of ``plugins/reminders.py``."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from msgspec import Meta

from plugins import reminders
from plugins.api import MissingArgumentError, Plugin, ToolContext, ToolResult
from plugins.moments import asked_when
from plugins.reminder_entries import (
    ALL,
    Entry,
    asked_of,
    data,
    entries,
    order_of,
    part_of_day,
    rings,
    shift_of,
    told,
)
from plugins.speech import say
from plugins.when import When, parse

plugin = Plugin("alarms", sentences="alarms.{language}.yaml", keeps_with="reminders")

_FILLER = re.compile(
    r"(?:please|bitte|auf|for|at|in the|morning|early|'s|früh|mal|doch|de|du|à|的|吧|了|那个|早上?"
    r"|[\s,，.])*",
    re.IGNORECASE,
)
"""What a time may have beside it: "sounded today" says nothing of which alarm."""
_PART_OF_HOUR = re.compile(
    r"(?P<to>quarter to|viertel vor)|(?P<past>quarter past|viertel nach|一刻)"
    r"|(?P<half>half(?: past)?|halb|半)",
    re.IGNORECASE,
)
"""What may stand for the time of an alarm that there is: "half past five instead of quarter to"."""
_MINUTES = {"to": 45, "past": 15, "half": 30}
_ID = re.compile(r"[ar][0-9a-f]{12}")


@plugin.tool(risk="act")
async def set_(
    context: ToolContext,
    when: Annotated[str, Meta(max_length=100)],
    what: str = "",
    definite: bool = False,
    instead: bool | None = None,
) -> ToolResult:
    """Set an alarm.

    when: for instance 7, half past six, every weekday at 7
    what: what for
    definite: whether it is "the alarm": if there is just one, it may be that
    instead: whether that one is put to this time; asked for where it is not said
    """
    said = parse(when, context.language, context.now)
    if not said.said:
        raise MissingArgumentError("when", asked_when(said, context.language))
    if definite and instead is not False and (one := await _the_one(context, said)) is not None:
        if instead:
            return await reminders.change_one(context, when, one.id, "alarm")
        was = data(context, one)["when"]
        raise MissingArgumentError("instead", say(context.language, "alarm_instead", value=was))
    result = await reminders.set_entry(context, "alarm", what, said)
    undo = result.undo
    if undo:
        undo = type(undo)(tool="alarms.cancel", arguments=undo.arguments)
    return ToolResult(text=result.text, data=result.data, undo=undo)


async def _the_one(context: ToolContext, said: When) -> Entry | None:
    """The only alarm there is, if it is for once, and for the day that ``said`` names, if it names
    any; ``None`` where what is said comes again."""
    alarms = [entry for entry in await entries(context) if entry.kind == "alarm"]
    if len(alarms) != 1 or alarms[0].repeat or rings(context, alarms[0]) or said.repeat:
        return None
    due = alarms[0].due.astimezone(context.now.tzinfo)
    return alarms[0] if said.on in (None, due.date()) and said.delay is None else None


@plugin.tool(risk="read")
async def list_(
    context: ToolContext, which: reminders.Which = "", besides: reminders.Which = ""
) -> ToolResult:
    """Tell the alarms, soonest first.

    which: an id, or a day; empty: all
    besides: the id of one that is left out
    """
    found = asked_of(context, await entries(context), which)
    return told(context, [entry for entry in found if entry.kind == "alarm"], besides)


def _says_when(arguments: Mapping[str, Any], language: str) -> bool:
    """Whether what says which alarm, or what it shall be put to, is a time: "the burglar alarm" is
    none of these."""
    now = datetime(2000, 1, 1, tzinfo=UTC)
    if arguments.get("by") and shift_of(str(arguments["by"]), language) is None:
        return False
    said = [str(arguments[name]) for name in ("which", "to") if arguments.get(name)]
    said = [one for one in said if not _PART_OF_HOUR.fullmatch(one.strip(" .!?。"))]
    said = [one for one in said if not part_of_day(one) and order_of(one) is None]
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
    if part := _PART_OF_HOUR.fullmatch(which.strip(" .!?。")):
        minute = _MINUTES[part.lastgroup or ""]
        alike = [e for e in await entries(context) if e.kind == "alarm" and e.due.minute == minute]
        which = alike[0].id if len(alike) == 1 else which
    return await reminders.change_one(context, to, which, "alarm", by)


@plugin.tool(risk="act")
async def snooze(context: ToolContext, minutes: reminders.Minutes = 10) -> ToolResult:
    """Let the alarm ring again later.

    minutes: how much later
    """
    return await reminders.snooze(context, minutes)
