"""What Home Assistant tells of the events in a calendar, as occurrences."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from plugins.api import Entity, HomeError, Snapshot
from plugins.home_calendars import exposed, read

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 27, 12, tzinfo=BERLIN)
FAMILY = Entity(id="calendar.family", name="Family", state="off")


class Context:
    """A household whose calendar answers what it is given."""

    now = NOW
    language = "en"

    def __init__(self, answer):
        self.home = self
        self._answer = answer

    def snapshot(self):
        return Snapshot(entities=(FAMILY, Entity(id="light.a", name="A", state="off")))

    async def ask(self, service, entity, data):
        assert (service, entity) == ("calendar.read_events", "calendar.family")
        assert data["start"] == "2026-03-26T12:00:00+01:00"
        return self._answer


async def events(*rows):
    context = Context({"events": list(rows)})
    (place,) = exposed(context)
    day = timedelta(days=1)
    return await read(context, place, NOW - day, NOW + 10 * day)


async def test_times_are_those_of_the_household_and_days_begin_at_midnight():
    dentist, holidays = await events(
        {"start": "2026-03-28", "end": "2026-04-11", "summary": "Holidays"},
        {"start": "2026-03-27T14:00:00+00:00", "end": "2026-03-27T15:00:00+00:00",
         "summary": "Dentist", "location": "Main Street", "description": "bring the card",
         "uid": "7", "rrule": None},
    )  # fmt: skip
    assert (dentist.title, dentist.location, dentist.whole_day) == (
        "Dentist", "Main Street", False
    )  # fmt: skip
    assert (dentist.description, dentist.uid, dentist.rule) == ("bring the card", "7", "")
    assert dentist.start == datetime(2026, 3, 27, 15, tzinfo=BERLIN)
    assert (holidays.title, holidays.whole_day) == ("Holidays", True)
    assert holidays.end == datetime(2026, 4, 11, tzinfo=BERLIN)


@pytest.mark.parametrize(
    "answer",
    [
        {"events": [{"summary": "no time"}]},
        {"events": [{"start": "soon", "end": "later", "summary": "A"}]},
        {"events": "none"},
    ],
)
async def test_what_is_not_understood_is_said(answer):
    with pytest.raises(HomeError, match="What Family answers is not understood"):
        await read(Context(answer), FAMILY, NOW - timedelta(days=1), NOW)


async def test_an_empty_calendar_is_empty():
    assert await events() == []
    assert await read(Context({}), FAMILY, NOW - timedelta(days=1), NOW) == []
