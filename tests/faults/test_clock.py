"""The wall clock jumps under a running daemon: a day, either way.

libfaketime moves the real clock of a real process (Debian's package `faketime`); the clock that
only grows, which the event loop lives by, goes on, as where a machine's time is corrected.
"""

import time
from datetime import timedelta

import pytest

from tests.faults.conftest import BUSY_S, LATE_S, LIBRARIES, is_well, timers, until

pytestmark = pytest.mark.skipif(not LIBRARIES, reason="Debian's package faketime is not installed")


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
