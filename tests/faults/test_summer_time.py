"""Summer time begins under a running daemon: a reminder keeps its hour of the day.

The clock of a real process is moved as in test_clock.py.
"""

import json
import re
import time
from datetime import UTC, datetime

import pytest

from tests.faults.conftest import BUSY_S, LATE_S, LIBRARIES, is_well, until

pytestmark = pytest.mark.skipif(not LIBRARIES, reason="Debian's package faketime is not installed")


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
