"""Calendars of Home Assistant: what happens in them. No plugin itself.

Its service ``calendar.get_events`` (https://www.home-assistant.io/integrations/calendar).
"""

from collections.abc import Sequence
from datetime import date, datetime, time

import msgspec

from plugins.api import Entity, HomeError, ToolContext
from plugins.ics import Occurrence

SERVICE = "calendar.get_events"
MAXIMUM_EVENTS = 5_000


class _Event(msgspec.Struct):
    start: str
    """A time with its offset, or a day."""
    end: str
    summary: str = ""
    location: str | None = None


class _Answer(msgspec.Struct):
    events: list[_Event] = []


def exposed(context: ToolContext) -> Sequence[Entity]:
    """The calendars of the household."""
    entities = context.home.snapshot().entities
    return [entity for entity in entities if entity.domain == "calendar"]


async def read(
    context: ToolContext, place: Entity, first: datetime, last: datetime
) -> list[Occurrence]:
    """What happens in a calendar between two times, soonest first.

    Raises:
        NoAnswerError: this home has no calendars that could be read.
        HomeError: Home Assistant does not answer, or not as is known.
    """
    wanted = {"start_date_time": first.isoformat(), "end_date_time": last.isoformat()}
    told = await context.home.ask(SERVICE, place.id, wanted)
    try:
        events = msgspec.convert(told, _Answer).events[:MAXIMUM_EVENTS]
        found = [_occurrence(event, context.now) for event in events]
    except ValueError as error:  # one of msgspec's, or a time that is none
        raise HomeError(f"What is in {place.name} is not understood.") from error
    return sorted(found, key=lambda one: one.start)


def _occurrence(event: _Event, now: datetime) -> Occurrence:
    return Occurrence(
        title=event.summary,
        start=_moment(event.start, now),
        end=_moment(event.end, now),
        whole_day="T" not in event.start,
        location=event.location or "",
    )


def _moment(said: str, now: datetime) -> datetime:
    """Aware, in the household's zone; a day begins at midnight."""
    if "T" not in said:
        return datetime.combine(date.fromisoformat(said), time(), now.tzinfo)
    when = datetime.fromisoformat(said)
    return when.astimezone(now.tzinfo) if when.tzinfo else when.replace(tzinfo=now.tzinfo)
