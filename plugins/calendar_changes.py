"""Events put into calendars, moved and taken out: those of Home Assistant that allow it, else the
hub's own. What was done is told from what is there afterwards. No plugin itself.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import msgspec

from plugins import home_calendars, own_calendar
from plugins.api import MissingArgumentError, ToolContext, ToolError
from plugins.calendars import (
    ANY_EVENT,
    AT_HOME,
    Event,
    Kept,
    all_events,
    calendar_now,
    kept_calendars,
    speaks_of,
)
from plugins.days import DAILY, WEEKDAYS
from plugins.event_words import YEARLY, turns_of
from plugins.home_calendars import CAN_ADD, CAN_CHANGE, CAN_DELETE
from plugins.ics import Occurrence
from plugins.moments import days_told
from plugins.note_words import words_of
from plugins.speech import day_name, labelled, moment, say
from plugins.spoken import DAYS, language_known
from plugins.when import When, parse
from plugins.when_reader import Cycle

A_DAY, A_SECOND = timedelta(days=1), timedelta(seconds=1)
SHOWN = 5


def place_for(context: ToolContext, kept: Sequence[Kept], name: str) -> Kept:
    """The calendar that an event shall be put into: the one of that name, or of the configuration,
    or the only one of Home Assistant that allows it, or else the hub's own.

    Raises:
        ToolError: there is none of that name that can be written.
        MissingArgumentError: it may be several.
    """
    can = [one for one in kept if one.allowed & CAN_ADD]
    wanted = (name or str(context.settings.get("write", ""))).casefold().strip()
    if wanted:
        named = [one for one in can if wanted in (one.name.casefold(), one.key)]
        named = named or [one for one in can if wanted in one.name.casefold()]
        if not named:
            names = [one.name for one in can]
            raise ToolError(say(context.language, "calendar_unknown", names, wanted))
        return named[0]
    there = [one for one in can if one.key.startswith(AT_HOME)]
    if len(there) > 1:
        listed = ", ".join(one.name for one in there)
        question = say(context.language, "which_calendar", [listed])
        raise MissingArgumentError("calendar", question)
    return (there or can)[0]


def chosen(context: ToolContext, kept: Sequence[Kept], said: str) -> Event:
    """The event to come that is meant by its id, words of its title, its day or its time; of one
    that comes again the next time.

    Raises:
        ToolError: there is no such event, or several may be meant.
    """
    meant = by_id(kept, said) or every(context, kept, said)
    if len(meant) > 1:
        lines = "; ".join(line(context, event) for event in meant[:SHOWN])
        raise ToolError(say(context.language, "reminder_which", value=f"{lines}."))
    return meant[0]


def by_id(kept: Sequence[Kept], said: str) -> list[Event]:
    """The event of that id, if it is one."""
    return [event for event in all_events(kept) if "@" in said and event.id == said]


def every(context: ToolContext, kept: Sequence[Kept], said: str) -> list[Event]:
    """All events to come that may be meant, of each that comes again the next time.

    Raises:
        ToolError: there is no such event.
    """
    when = parse(said, context.language, context.now)
    words = words_of(when.rest) - ANY_EVENT
    meant = [
        event
        for event in all_events(kept)
        if event.occurrence.end > context.now
        and _is_then(context, event.occurrence, when)
        and (speaks_of(event.occurrence.title, words) if words else when.on or when.at)
    ]
    first: dict[tuple[str, str], Event] = {}
    for event in meant:
        first.setdefault((event.key, event.occurrence.uid or str(event.occurrence.start)), event)
    if not first:
        raise ToolError(say(context.language, "no_such_event", [said]))
    return list(first.values())


def is_titled(
    context: ToolContext, kept: Sequence[Kept], said: str, *, in_part: bool = False
) -> bool:
    """Whether words are the whole title of an event to come, its day and time left out; "milk" is
    not "Milk delivery", unless they may be a part of it. What somebody else's calendar calls
    "timer" is none: nothing can be done with it."""
    rest = parse(said, context.language, context.now).rest
    words = words_of(rest) - ANY_EVENT

    def is_it(title: str) -> bool:
        told = words_of(title) - ANY_EVENT
        if in_part and context.language == "zh":
            return rest in title  # its words are single characters
        return speaks_of(title, words) if in_part else words == told

    return any(
        words and is_it(event.occurrence.title)
        for event in all_events(kept)
        if event.occurrence.end > context.now and event.allowed & CAN_DELETE
    )


def _is_then(context: ToolContext, event: Occurrence, when: When) -> bool:
    """Whether an event is on the day and at the time that were said."""
    start, end = (one.astimezone(context.now.tzinfo) for one in (event.start, event.end))
    last = max(start, end - A_SECOND).date()
    if when.on and not start.date() <= when.on <= last:
        return False
    if when.repeat and start.weekday() not in when.repeat:
        return False
    return when.at is None or (start.hour % 12, start.minute) == (when.at.hour % 12, when.at.minute)


async def put(context: ToolContext, place: Kept, event: Occurrence) -> Event:
    """Add an event; as it is there now.

    Raises:
        ToolError: it is not there.
    """
    if place.key == own_calendar.KEY:
        uid = await own_calendar.add(context, event)
        return await _found(context, place.key, event, lambda one: one.uid == uid)
    before = {(one.uid, one.recurrence_id) for one in place.events}
    await home_calendars.add(context, place.key.removeprefix(AT_HOME), event)
    return await _found(
        context, place.key, event, lambda one: (one.uid, one.recurrence_id) not in before
    )


async def put_again(context: ToolContext, place: Kept, event: Occurrence) -> Event:
    """Add an event that was there before; one that comes again in the hub's own calendar is left
    out no more on its day.

    Raises:
        ToolError: it is not there.
    """
    if place.key != own_calendar.KEY or not event.rule:
        once = msgspec.structs.replace(event, rule="", recurrence_id="", uid="")
        return await put(context, place, once)
    await own_calendar.put_back(context, event)
    return await _found(context, place.key, event, lambda one: one.uid == event.uid)


async def take_out(context: ToolContext, event: Event, *, series: bool = False) -> None:
    """Delete an event; of one that comes again that time alone, unless the series is meant.

    Raises:
        ToolError: its calendar does not allow it, or it is still there.
    """
    await _allowed(context, event, CAN_DELETE)
    what = event.occurrence
    if event.key == own_calendar.KEY:
        await own_calendar.remove(context, what, series=series)
    else:
        place = event.key.removeprefix(AT_HOME)
        await home_calendars.remove(context, place, what, series=series)
    if any(_same(one.occurrence, what) for one in await _read_again(context, event.key)):
        raise ToolError(say(context.language, "event_not_changed", [line(context, event)]))


async def move(context: ToolContext, event: Event, to: Occurrence) -> Event:
    """Let an event be at another time; as it is there now.

    A time of one that comes again is put anew and taken out of the series. Changed in place, it
    could not be taken out or moved once more: to look for it Home Assistant's local calendar counts
    a daily series to the year 9999, and answers nobody for 9 seconds (``ical`` 7 and 9).

    Raises:
        ToolError: its calendar does not allow it, or it is not there now.
    """
    place = await _allowed(context, event, CAN_DELETE)
    if event.key == own_calendar.KEY:
        uid = await own_calendar.change(context, event.occurrence, to)
        return await _found(context, event.key, to, lambda one: one.uid == uid)
    if event.occurrence.recurrence_id or not place.allowed & CAN_CHANGE:
        added = await put(context, place, to)
        await take_out(context, event)
        return added
    await home_calendars.change(context, event.key.removeprefix(AT_HOME), event.occurrence, to)
    return await _found(context, event.key, to, lambda one: one.uid == event.occurrence.uid)


async def _allowed(context: ToolContext, event: Event, bits: int) -> Kept:
    """Its calendar.

    Raises:
        ToolError: that does not allow it.
    """
    kept = next((one for one in await kept_calendars(context) if one.key == event.key), None)
    if kept is None or not kept.allowed & bits or not event.occurrence.uid:
        raise ToolError(say(context.language, "calendar_fixed", [event.calendar]))
    return kept


async def _found(
    context: ToolContext, key: str, event: Occurrence, is_it: Callable[[Occurrence], bool]
) -> Event:
    """The event in its calendar, read again.

    Raises:
        ToolError: it is not there.
    """
    for one in await _read_again(context, key):
        alike = one.occurrence.title == event.title and one.occurrence.start == event.start
        if alike and is_it(one.occurrence):
            return one
    raise ToolError(say(context.language, "event_not_there", [event.title]))


async def _read_again(context: ToolContext, key: str) -> list[Event]:
    """What is in a calendar that was changed; the pages look again, too."""
    there = await calendar_now(context, key)
    context.emit("calendar", {})
    return all_events([there] if there else [])


def _same(one: Occurrence, other: Occurrence) -> bool:
    return (one.uid, one.start) == (other.uid, other.start)


def at_that_time(kept: Sequence[Kept], event: Event) -> list[Event]:
    """What else there is then, whole days left out."""
    what = event.occurrence
    if what.whole_day:
        return []
    return [
        other
        for other in all_events(kept)
        if not other.occurrence.whole_day
        and other.occurrence.start < what.end
        and other.occurrence.end > what.start
        and not (other.key == event.key and other.occurrence.uid == what.uid)
    ]


def line(context: ToolContext, event: Event, *, once: bool = False) -> str:
    """``Dentist: Friday 3 April 15:00–16:00 (Family)``; once: this time of it alone."""
    what = event.occurrence
    what = msgspec.structs.replace(what, rule="") if once else what
    told = labelled(what.title or "-", when_told(context, what), context.language)
    return f"{told} ({event.calendar})"


def when_told(context: ToolContext, what: Occurrence) -> str:
    """From when to when an event is, and how it comes again."""
    language, today = context.language, context.now.date()
    start, end = (one.astimezone(context.now.tzinfo) for one in (what.start, what.end))
    day, hours = day_name(start.date(), today, language), f"{start:%H:%M}–{end:%H:%M}"
    if what.rule == YEARLY:
        return f"{day} ({say(language, 'yearly')})"
    turns = turns_of(what.rule)
    each = _each(language, turns)
    if each and turns.cycle.every == 1 and not what.whole_day:
        return f"{each} {hours}"
    if what.whole_day:
        last = (end - A_DAY).date()
        text = day if last <= start.date() else f"{day} – {day_name(last, today, language)}"
    elif end.date() > start.date():
        text = f"{moment(start, context.now, language)} – {moment(end, context.now, language)}"
    else:
        text = f"{day} {hours}"
    return f"{text} ({each})" if each else text


def _each(language: str, turns: When) -> str:
    """``every day``, ``every Monday and Thursday``; empty for what is once."""
    days = turns.repeat
    if not days or days in (DAILY, WEEKDAYS) or turns.cycle != Cycle():
        return days_told(turns, language)
    return say(language, "each", [DAYS[language_known(language)][day] for day in days])


def is_over(event: Occurrence, now: datetime) -> bool:
    """Whether it would be put down when it is over already."""
    return not event.rule and event.end <= now
