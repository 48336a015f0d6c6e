"""Calendars of Home Assistant: what happens in them, and how that is changed. No plugin itself.

Its service ``calendar.get_events`` tells no ids, and there is none to change or delete an event:
the hub asks as its calendar page does (``hubd/home/calendar_events.py``).
"""

from collections.abc import Sequence
from datetime import date, datetime, time

import msgspec

from plugins.api import Entity, HomeError, ToolContext
from plugins.ics import Occurrence
from plugins.speech import say

READ, ADD = "calendar.read_events", "calendar.add_event"
CHANGE, DELETE = "calendar.change_event", "calendar.delete_event"
MAXIMUM_EVENTS = 5_000
LONGEST = 2_000
"""Characters of a description that are kept."""
CAN_ADD, CAN_DELETE, CAN_CHANGE = 1, 2, 4
"""``CalendarEntityFeature``: what a calendar allows, as bits."""


class _Event(msgspec.Struct):
    start: str
    """A time with its offset, or a day."""
    end: str
    summary: str = ""
    location: str | None = None
    description: str | None = None
    uid: str | None = None
    recurrence_id: str | None = None
    rrule: str | None = None


class _Answer(msgspec.Struct):
    events: list[_Event] = []


def exposed(context: ToolContext) -> Sequence[Entity]:
    """The calendars of the household."""
    entities = context.home.snapshot().entities
    return [entity for entity in entities if entity.domain == "calendar"]


def allowed(place: Entity) -> int:
    """What may be done with its events, as bits."""
    return int(place.attributes.get("supported_features") or 0)


async def add(context: ToolContext, place: str, event: Occurrence) -> None:
    """Put an event into the calendar of that entity id.

    Raises:
        HomeError: it was not done.
    """
    await context.home.ask(ADD, place, {"event": _written(event)})


async def change(context: ToolContext, place: str, event: Occurrence, to: Occurrence) -> None:
    """Let an event be another; of one that comes again that time alone.

    Raises:
        HomeError: it was not done.
    """
    await context.home.ask(CHANGE, place, {**_which(event), "event": _written(to)})


async def remove(context: ToolContext, place: str, event: Occurrence, *, series: bool) -> None:
    """Delete an event; of one that comes again that time alone, unless the series is meant.

    Raises:
        HomeError: it was not done.
    """
    await context.home.ask(DELETE, place, {"uid": event.uid} if series else _which(event))


async def read(
    context: ToolContext, place: Entity, first: datetime, last: datetime
) -> list[Occurrence]:
    """What happens in a calendar between two times, soonest first.

    Raises:
        NoAnswerError: this home has no calendars that could be read.
        HomeError: Home Assistant does not answer, or not as is known.
    """
    wanted = {"start": first.isoformat(), "end": last.isoformat()}
    told = await context.home.ask(READ, place.id, wanted)
    try:
        events = msgspec.convert(told, _Answer).events[:MAXIMUM_EVENTS]
        found = [_occurrence(event, context.now) for event in events]
    except ValueError as error:  # one of msgspec's, or a time that is none
        raise HomeError(say(context.language, "not_understood", [place.name])) from error
    return sorted(found, key=lambda one: one.start)


def _occurrence(event: _Event, now: datetime) -> Occurrence:
    return Occurrence(
        title=event.summary,
        start=_moment(event.start, now),
        end=_moment(event.end, now),
        whole_day="T" not in event.start,
        location=event.location or "",
        uid=event.uid or "",
        recurrence_id=event.recurrence_id or "",
        rule=event.rrule or "",
        description=(event.description or "")[:LONGEST],
    )


def _written(event: Occurrence) -> dict[str, str]:
    """An event in Home Assistant's form; what is empty is left out."""
    start, end = event.start.isoformat(), event.end.isoformat()
    if event.whole_day:
        start, end = event.start.date().isoformat(), event.end.date().isoformat()
    told = {"location": event.location, "description": event.description, "rrule": event.rule}
    return {"summary": event.title, "dtstart": start, "dtend": end} | {
        key: value for key, value in told.items() if value
    }


def _which(event: Occurrence) -> dict[str, str]:
    once = {"recurrence_id": event.recurrence_id} if event.recurrence_id else {}
    return {"uid": event.uid, **once}


def _moment(said: str, now: datetime) -> datetime:
    """Aware, in the household's zone; a day begins at midnight."""
    if "T" not in said:
        return datetime.combine(date.fromisoformat(said), time(), now.tzinfo)
    when = datetime.fromisoformat(said)
    return when.astimezone(now.tzinfo) if when.tzinfo else when.replace(tzinfo=now.tzinfo)
