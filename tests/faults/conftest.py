"""Daemons to be hurt: a light one without a model, and the real one with its engine."""

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hubd.paths import find_paths
from tests.e2e.conftest import hub, start  # noqa: F401 - fixtures
from tests.hubd.conftest import environment, hubd, open_hub, paths, served  # noqa: F401

SOAK = bool(os.environ.get("HUBD_TEST_SOAK"))
"""`make soak`: the long forms."""


LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
"""Of Debian's package `faketime`."""
LATE_S = 15.0
"""The scheduler looks at the clock this often (`hubd.schedule.LOOK_AGAIN_S`)."""
BUSY_S = 15.0
"""What a test allows beyond, beside others on a machine that is busy."""
STORY = {"messages": [{"role": "user", "content": "Tell a very long story."}]}
"""A question to the bare model."""


def every_route(app):
    """Method and path of each route; HEAD is GET without its body."""
    for route in app.router.routes():
        if route.method != "HEAD":
            yield route.method, route.resource.canonical


@dataclass
class Light:
    """A running daemon without a model, and an owner's token for it."""

    process: subprocess.Popen[bytes]
    url: str
    token: str
    ready_s: float

    def post(self, path, body):
        """The reply's status and JSON; a connection that breaks is an OSError."""
        request = urllib.request.Request(
            self.url + path,
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        return _answered(request)

    def upload(self, name, text):
        """The reply to one document, sent as a page sends it."""
        head = f'--x\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
        request = urllib.request.Request(
            self.url + "/hub/documents",
            f"{head}{text}\r\n--x--\r\n".encode(),
            {
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "multipart/form-data; boundary=x",
            },
        )
        return _answered(request)

    def get(self, path):
        request = urllib.request.Request(
            self.url + path, headers={"Authorization": f"Bearer {self.token}"}
        )
        return _answered(request)


def _answered(request):
    try:
        with urllib.request.urlopen(request, timeout=15) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.fixture
def light(environment, hubd):  # noqa: F811
    """``with light() as daemon``: started, ready, and ended however it was left."""
    known = []

    @contextlib.contextmanager
    def running():
        log = Path(environment["HUBD_HOME"]).parent / f"{time.monotonic_ns()}.log"
        began = time.monotonic()
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "hubd", "serve"],
                env=environment, stdout=file, stderr=file, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        try:
            while b"hubd is ready" not in log.read_bytes():
                assert process.poll() is None, log.read_text()
                assert time.monotonic() - began < 60, log.read_text()
                time.sleep(0.02)
            ready_s = time.monotonic() - began
            text = log.read_text().partition("hubd is ready: ")[2]
            if not known:
                known.append(hubd("token", "add", "t", "-q", *OWNERS).stdout.strip())
            yield Light(process, text.split()[0], known[0], ready_s)
        finally:
            process.kill()
            process.wait()

    return running


def raw_model(client):
    """The name of the language model without the household."""
    names = [card["id"] for card in client.get("/v1/models").json()["data"]]
    return next(name for name in names if name.startswith("raw:"))


OWNERS = ("--scope", "chat", "--scope", "tools", "--scope", "admin")


@pytest.fixture
def home(environment):  # noqa: F811
    """The directories of the light daemon."""
    return find_paths({"HUBD_HOME": environment["HUBD_HOME"]})


class FakeClock:
    """The clock of the daemon: the true one, and how far it is off."""

    def __init__(self, file):
        self._file = file
        self.set(timedelta())

    def set(self, offset):
        """The offset takes the place of the file's in one step."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{offset.total_seconds():+.0f}")
        new.replace(self._file)

    def set_to(self, moment):
        """An aware time, from now on."""
        self.set(moment - datetime.now(UTC))


def until(is_so, seconds):
    """Wait for what has to become so within that time."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def timers(daemon):
    """Name → state."""
    status, told = daemon.post("/hub/tools/timers.list", {})
    assert status == 200, told
    return {timer["name"]: timer["state"] for timer in told["data"]["timers"]}


def is_well(daemon):
    """Whether its database and its tools work."""
    return daemon.get("/readyz")[1]["checks"]["database"] == "ok" and timers(daemon) is not None


@pytest.fixture
def clock(environment, tmp_path):  # noqa: F811
    made = FakeClock(tmp_path / "offset")
    environment |= {
        "LD_PRELOAD": str(LIBRARIES[0]),
        "FAKETIME_TIMESTAMP_FILE": str(tmp_path / "offset"),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "HUBD_ASSISTANT_TIME_ZONE": "Europe/Berlin",
        "TZ": "UTC",
    }
    return made
