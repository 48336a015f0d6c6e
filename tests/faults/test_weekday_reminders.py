"""Weekdays at seven, by the real daemon over both changes of the clocks in Berlin, through power
cuts: each ``with light()`` ends with the process killed, and the next begins at a later time.
"""

import time
from datetime import UTC, datetime

import pytest

from tests.faults.conftest import LIBRARIES

pytestmark = pytest.mark.skipif(not LIBRARIES, reason="Debian's package faketime is not installed")

FOUND_S = 20.0
"""A daemon that has just started looks at what is due at once; beside others it takes longer."""
MOMENT_S = 1.5
"""In which what is not due does not ring."""
AUTUMN = {
    "friday": datetime(2027, 10, 29, 9, 0, tzinfo=UTC),
    "too early": datetime(2027, 11, 1, 5, 0, 30, tzinfo=UTC),  # seven, were it still summer
    "late": datetime(2027, 11, 1, 6, 20, tzinfo=UTC),
    "first": "2027-11-01T07:00:00+01:00",
    "second": "2027-11-02T07:00:00+01:00",
}
SPRING = {
    "friday": datetime(2027, 3, 26, 9, 0, tzinfo=UTC),
    "too early": datetime(2027, 3, 29, 4, 59, tzinfo=UTC),
    "late": datetime(2027, 3, 29, 5, 20, tzinfo=UTC),  # seven, but six in winter's time
    "first": "2027-03-29T07:00:00+02:00",
    "second": "2027-03-30T07:00:00+02:00",
}


def due(daemon):
    """When it rings next: once it has rung, that is the next time."""
    (reminder,) = daemon.post("/hub/tools/reminders.list", {})[1]["data"]["reminders"]
    return reminder["due"]


def comes_to(daemon, moment):
    deadline = time.monotonic() + FOUND_S
    while due(daemon) != moment and time.monotonic() < deadline:
        time.sleep(0.1)
    return due(daemon) == moment


def called(daemon, tool, **arguments):
    status, told = daemon.post(f"/hub/tools/{tool}", arguments)
    assert status == 200, told
    return told["text"]


@pytest.mark.parametrize("when", [AUTUMN, SPRING], ids=["autumn", "spring"])
def test_a_weekday_reminder_over_a_change_of_the_clocks(light, clock, when):
    clock.set_to(when["friday"])
    with light() as daemon:
        called(daemon, "reminders.add", what="take the bins out", when="every weekday at 7")
    clock.set_to(when["too early"])
    with light() as daemon:
        time.sleep(MOMENT_S)
        assert due(daemon) == when["first"]
    clock.set_to(when["late"])  # by twenty minutes, because the power was off
    with light() as daemon:
        assert comes_to(daemon, when["second"])


def test_what_is_snoozed_rings_again_after_a_power_cut_and_then_the_next_day(light, clock):
    clock.set_to(AUTUMN["friday"])
    with light() as daemon:
        called(daemon, "reminders.add", what="take the bins out", when="every weekday at 7")
    clock.set_to(AUTUMN["late"])
    with light() as daemon:
        assert comes_to(daemon, AUTUMN["second"])
        called(daemon, "reminders.snooze", minutes=10)
        assert due(daemon).startswith("2027-11-01T07:30")
    clock.set_to(AUTUMN["late"].replace(minute=35))
    with light() as daemon:
        assert comes_to(daemon, AUTUMN["second"])
        called(daemon, "reminders.cancel")  # it is done for today
        assert due(daemon) == AUTUMN["second"]
