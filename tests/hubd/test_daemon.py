"""The daemon as a process: starts quickly and small, stops cleanly, survives being killed."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from hubd.paths import find_paths

STOP_LIMIT_S = 10
HUB_MB = 120
"""The hub measured 62 MB after its start; numba alone would add 90, torch 400."""


def paths_of(environment):
    return find_paths({"HUBD_HOME": environment["HUBD_HOME"]})


def until(condition, within_s=30):
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_it_serves_says_where_and_ends_cleanly(environment, hubd, served):
    with served("--try", "Where is the stopcock?") as process:
        until(lambda: 'Try: "Where is the stopcock?"' in process.log.read_text())
        said = process.log.read_text()
        assert "hubd is ready: http://127.0.0.1:" in said
        status = json.loads(hubd("status", "--json").stdout)
        assert status["address"] in said
        assert status["memory"]["hub_mb"] < HUB_MB
        loaded = Path(f"/proc/{process.pid}/maps").read_text()
        assert "llvmlite" not in loaded
        assert "torch" not in loaded
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_LIMIT_S) == 0
    assert "Traceback" not in process.log.read_text()
    assert hubd("status").returncode == 2


COUNT_THREADS = """
from hubd.commands import serve
async def count(*_):
    import numpy, threadpoolctl
    print([library["num_threads"] for library in threadpoolctl.threadpool_info()])
serve._serve = count
serve.serve(standalone_mode=False, args=[])
"""


def test_numpy_leaves_the_other_cores_to_the_engine(environment):
    environment.pop("OPENBLAS_NUM_THREADS", None)
    told = subprocess.run(
        [sys.executable, "-c", COUNT_THREADS],
        env=environment, check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert told.stdout == "[1]\n"


def test_a_second_one_says_where_the_first_is_and_leaves_it_alone(environment, hubd, served):
    with served() as process:
        second = hubd("serve")
        assert second.returncode == 0
        assert second.stdout.startswith("hubd is already running in this home: http://127.0.0.1:")
        assert second.stderr == ""
        assert process.poll() is None


def test_a_timer_survives_sigkill_and_rings_late_but_once(environment, hubd, served):
    with served() as process:
        assert hubd("ask", "set a tea timer for 2 seconds").returncode == 0
        process.kill()
        process.wait()
    time.sleep(2)
    with served() as process:
        until(lambda: "ringing" in hubd("timers").stdout)
        rung = json.loads(hubd("timers", "--json").stdout)
        assert [(timer["name"], timer["state"]) for timer in rung] == [("tea", "ringing")]
        assert jobs(environment) == 0
    with served():
        assert len(json.loads(hubd("timers", "--json").stdout)) == 1
        assert hubd("ask", "stop the timer").stdout == "The tea timer is stopped.\n"
        assert hubd("timers").stdout == "No timer is running.\n"


def test_a_question_back_says_how_to_answer_it(hubd, served, tmp_path):
    home = tmp_path / "house.yaml"
    home.write_text(
        "areas: [{name: Hall}]\n"
        "entities: [{id: lock.front, name: Front Door, area: Hall, state: locked}]\n"
    )
    with served():
        assert hubd("home", "load", str(home)).returncode == 0
        asked = hubd("ask", "unlock the front door").stdout
        answer = re.search(r"^  answer: hubd ask (-c \S+) yes$", asked, re.MULTILINE)
        assert answer, asked
        assert hubd("ask", *answer[1].split(), "yes").stdout.startswith("Front Door is unlocked")


def jobs(environment):
    import apsw

    return (
        apsw.Connection(str(paths_of(environment).database))
        .execute("SELECT count(*) FROM job")
        .fetchone()[0]
    )


def test_open_streams_do_not_hold_up_the_end(environment, served):
    with served() as process:
        listener = subprocess.Popen(
            [sys.executable, "-c", LISTEN, str(paths_of(environment).socket)],
            stdout=subprocess.PIPE,
        )
        assert listener.stdout.readline().startswith(b"event: engine")
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0
        assert listener.wait(5) == 0
        listener.stdout.close()


LISTEN = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"GET /hub/events HTTP/1.1\\r\\nHost: hub\\r\\n\\r\\n")
while data := s.recv(65536):
    if b"event: engine" in data:
        print("event: engine", flush=True)
"""


def test_the_sockets_and_the_data_are_the_owners_alone(environment, served):
    with served():
        paths = paths_of(environment)
        assert paths.socket.stat().st_mode & 0o777 == 0o600
        assert paths.database.stat().st_mode & 0o777 == 0o600
        assert paths.data.stat().st_mode & 0o777 == 0o700


def test_a_port_that_is_taken_is_one_clear_message(environment, hubd):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        environment["HUBD_PORT"] = str(taken.getsockname()[1])
        result = hubd("serve")
    assert result.returncode == 1
    assert f"port {environment['HUBD_PORT']}" in result.stderr
    assert "HUBD_PORT" in result.stderr
    assert "Traceback" not in result.stderr
