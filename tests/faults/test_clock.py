"""The wall clock jumps under a running daemon: a day, either way, and over a change of summer time.

libfaketime moves the real clock of a real process (Debian's package `faketime`); the clock that
only grows, which the event loop lives by, goes on, as where a machine's time is corrected.
"""

import json
import re
import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.faults.conftest import LIBRARIES

LATE_S = 15.0
"""The scheduler looks at the clock this often (`hubd.schedule.LOOK_AGAIN_S`)."""
BUSY_S = 15.0
"""What a test allows beyond, beside others on a machine that is busy."""

pytestmark = pytest.mark.skipif(not LIBRARIES, reason="Debian's package faketime is not installed")


def timers(daemon):
    status, told = daemon.post("/hub/tools/timers.list", {})
    assert status == 200, told
    return {timer["name"]: timer["state"] for timer in told["data"]["timers"]}


def until(is_so, seconds):
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def is_well(daemon):
    return daemon.get("/readyz")[1]["checks"]["database"] == "ok" and timers(daemon) is not None


def test_a_clock_that_jumps_a_day_ahead_rings_what_is_due_and_nothing_else(light, clock):
    with light() as daemon:
        for name, minutes in (("long", 20 * 60), ("week", 7 * 24 * 60)):
            body = {"minutes": minutes, "name": name}
            assert daemon.post("/hub/tools/timers.start", body)[0] == 200
        clock.set(timedelta(days=1))
        until(lambda: timers(daemon).get("long") == "ringing", LATE_S + BUSY_S)
        assert timers(daemon)["week"] == "running"
        assert is_well(daemon)


def test_a_clock_that_was_a_day_back_loses_nothing_when_it_is_right_again(light, clock):
    """What became due meanwhile rings within seconds, not a day later."""
    with light() as daemon:
        body = {"minutes": 1, "name": "pasta"}
        assert daemon.post("/hub/tools/timers.start", body)[0] == 200
        clock.set(timedelta(days=-1))
        assert is_well(daemon)
        time.sleep(LATE_S + 2)  # until the scheduler has seen it
        assert timers(daemon) == {"pasta": "running"}
        clock.set(timedelta(minutes=2))
        until(lambda: timers(daemon).get("pasta") == "ringing", LATE_S + BUSY_S)


def test_a_reminder_over_the_change_of_summer_time_comes_at_its_hour(light, clock):
    """In Berlin, 28 March 2027 has 23 hours: seven in the morning is 05:00 UTC, not 06:00."""
    clock.set_to(datetime(2027, 3, 27, 19, 0, tzinfo=UTC))
    with light() as daemon:
        body = {"what": "Water the plants", "when": "tomorrow at 7 am"}
        status, told = daemon.post("/hub/tools/reminders.add", body)
        assert status == 200, told
        assert "7" in told["text"], told
        clock.set_to(datetime(2027, 3, 28, 4, 59, 0, tzinfo=UTC))
        time.sleep(LATE_S + 2)
        assert states(daemon) == ["waiting"]
        clock.set_to(datetime(2027, 3, 28, 5, 0, 1, tzinfo=UTC))
        until(lambda: states(daemon) == ["ringing"], LATE_S + BUSY_S)
        assert is_well(daemon)


def states(daemon):
    """Of the reminders."""
    told = daemon.post("/hub/tools/reminders.list", {})[1]
    return re.findall(r'"state": "(\w+)"', json.dumps(told["data"]))
