"""One daemon a home, also across processes and after a crash."""

import subprocess
import sys

import pytest

from hubd.errors import AlreadyRunningError
from hubd.lock import hold, holder

HOLD_UNTIL_INPUT_ENDS = """
import sys, pathlib
from hubd.lock import hold
with hold(pathlib.Path(sys.argv[1])) as lock:
    lock.announce("http://127.0.0.1:1")
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_second_is_told_where_the_first_answers(tmp_path):
    with hold(tmp_path / "lock") as lock:
        lock.announce("http://127.0.0.1:8400")
        with pytest.raises(AlreadyRunningError) as caught, hold(tmp_path / "lock"):
            pass
    assert caught.value.address == "http://127.0.0.1:8400"
    assert "http://127.0.0.1:8400" in caught.value.message


def test_nobody_holds_a_home_that_was_left(tmp_path):
    assert holder(tmp_path / "lock") is None
    with hold(tmp_path / "lock"):
        pass
    assert holder(tmp_path / "lock") is None


def test_a_lock_goes_with_the_process_that_is_killed(tmp_path):
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_UNTIL_INPUT_ENDS, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "held\n"
        held = holder(path)
        assert (held.pid, held.address) == (process.pid, "http://127.0.0.1:1")
        process.kill()
    assert holder(path) is None
