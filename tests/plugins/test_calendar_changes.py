"""Calendars of Home Assistant that allow less than all: Google's cannot update an event, CalDAV's
not even delete one. The double keeps events as Home Assistant tells them."""

import itertools

import pytest

from plugins.api import Entity, HomeError, MissingArgumentError, Snapshot, ToolError
from plugins.home_calendars import CAN_ADD, CAN_CHANGE, CAN_DELETE


class Calendars:
    """Calendars of a household: entity id → what is allowed; and what is in them."""

    def __init__(self, **allowed):
        self.allowed = allowed
        self.events = {f"calendar.{name}": {} for name in allowed}
        self.loses = False
        """Whether it says that it did what it did not do."""
        self.numbers = itertools.count()
        self.refuses = False
        """Whether it takes nothing new."""
        self.asked = []
        """The services of what was asked, and the calendars."""

    def snapshot(self):
        return Snapshot(
            entities=tuple(
                Entity(
                    id=f"calendar.{name}",
                    name=name.title(),
                    state="off",
                    attributes={"supported_features": bits},
                )
                for name, bits in self.allowed.items()
            )
        )

    async def ask(self, service, entity, data):
        kept = self.events[entity]
        self.asked.append((service.removeprefix("calendar."), entity.removeprefix("calendar.")))
        if service == "calendar.read_events":
            return {"events": list(kept.values())}
        if service == "calendar.add_event" and self.refuses:
            raise HomeError("The disk is full.")
        if service == "calendar.add_event" and not self.loses:
            event = data["event"]
            uid = f"{event['summary']} {next(self.numbers)}"
            times = {"start": event["dtstart"], "end": event["dtend"]}
            kept[uid] = {"summary": event["summary"], "uid": uid, **times}
        elif service == "calendar.delete_event" and not self.loses:
            del kept[data["uid"]]
        else:
            assert self.loses, service
        return {}


@pytest.fixture
def calendars(workshop):
    """``calendars(google=3)``: the household has these instead of its own home."""

    def have(**allowed):
        workshop.tools.home = Calendars(**allowed)
        return workshop.tools.home

    return have


async def test_an_event_that_cannot_be_changed_is_put_anew_and_the_old_one_taken_out(
    workshop, calendars
):
    home = calendars(google=CAN_ADD | CAN_DELETE)
    added = await workshop("calendar.add", title="dentist on Monday at 3")
    assert added.text == "In the calendar: Dentist: Monday 30 March 15:00–16:00 (Google)."
    moved = await workshop("calendar.move", event="dentist", to="Tuesday")
    assert moved.text == "Moved: Dentist: Tuesday 31 March 15:00–16:00 (Google)."
    (event,) = home.events["calendar.google"].values()
    assert event["start"] == "2026-03-31T15:00:00+02:00"
    await workshop.undo(moved)
    (event,) = home.events["calendar.google"].values()
    assert event["start"] == "2026-03-30T15:00:00+02:00"


async def test_what_cannot_be_put_back_stays_where_it_was_moved_to(workshop, calendars):
    home = calendars(google=CAN_ADD | CAN_DELETE)
    await workshop("calendar.add", title="dentist on Monday at 3")
    moved = await workshop("calendar.move", event="dentist", to="Tuesday")
    home.refuses = True
    with pytest.raises(HomeError, match="The disk is full"):
        await workshop.undo(moved)
    (event,) = home.events["calendar.google"].values()
    assert event["start"] == "2026-03-31T15:00:00+02:00"


async def test_what_can_only_be_added_is_not_undone(workshop, calendars):
    calendars(caldav=CAN_ADD)
    added = await workshop("calendar.add", title="dentist on Monday at 3")
    assert added.undo is None
    for tool, more in (("calendar.remove", {}), ("calendar.move", {"to": "Friday"})):
        with pytest.raises(ToolError, match="Caldav cannot be changed from here"):
            await workshop(tool, event="dentist", **more)


async def test_what_is_not_there_afterwards_is_not_claimed(workshop, calendars):
    home = calendars(google=CAN_ADD | CAN_DELETE)
    await workshop("calendar.add", title="dentist on Monday at 3")
    home.loses = True
    with pytest.raises(ToolError, match="does not show Football now"):
        await workshop("calendar.add", title="football on Monday at 5")
    with pytest.raises(ToolError, match="still in the calendar: Dentist"):
        await workshop("calendar.remove", event="dentist")


async def test_which_of_several_calendars_is_asked_unless_one_is_named(workshop, calendars):
    home = calendars(family=CAN_ADD | CAN_DELETE, work=CAN_ADD | CAN_DELETE, holidays=0)
    with pytest.raises(MissingArgumentError, match=r"In which calendar: Family, Work\?") as asked:
        await workshop("calendar.add", title="dentist on Monday at 3")
    assert asked.value.argument == "calendar"
    added = await workshop("calendar.add", title="dentist on Monday at 3", calendar="work")
    assert "(Work)" in added.text
    workshop.settings["calendar"] = {"write": "Family"}
    await workshop("calendar.add", title="lunch on Tuesday at 1")
    assert [len(kept) for kept in home.events.values()] == [1, 1, 0]
    with pytest.raises(ToolError, match="no calendar “holidays” to write in"):
        await workshop("calendar.add", title="lunch on Tuesday at 1", calendar="holidays")


async def test_of_several_calendars_the_one_that_was_changed_is_read_again(workshop, calendars):
    home = calendars(google=CAN_ADD | CAN_DELETE, family=0)
    await workshop("calendar.add", title="dentist on Monday at 3")
    home.asked.clear()
    await workshop("calendar.remove", event="dentist")
    read, changed = ("read_events", "google"), ("delete_event", "google")
    assert home.asked == [read, ("read_events", "family"), changed, read]


async def test_a_time_of_a_series_is_put_anew_and_taken_out_of_it(workshop, calendars):
    home = calendars(family=CAN_ADD | CAN_DELETE | CAN_CHANGE)
    series = {"summary": "Choir", "uid": "7", "rrule": "FREQ=DAILY", "recurrence_id": "20260330"}
    times = {"start": "2026-03-30T19:00:00+02:00", "end": "2026-03-30T21:00:00+02:00"}
    home.events["calendar.family"]["7"] = series | times
    moved = await workshop("calendar.move", event="choir", to="8 pm")
    assert moved.text == "Moved: Choir: Monday 30 March 20:00–22:00 (Family)."
    assert home.asked[1:] == [
        (service, "family")
        for service in ("add_event", "read_events", "delete_event", "read_events")
    ]
    (event,) = home.events["calendar.family"].values()
    assert "rrule" not in event
    assert event["start"] == "2026-03-30T20:00:00+02:00"
