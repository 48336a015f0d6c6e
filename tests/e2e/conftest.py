"""A real daemon with a home of its own, the real model, and the sample household read in."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
HOUSEHOLD = ROOT / "samples" / "household"
LANGUAGE_MODEL = "\0--model\0"
"""In the command line of its engine."""
READY_WITHIN_S = 240
"""The first start on a machine compiles the kernels."""


@dataclass
class Hub:
    """A running daemon, as its user sees it."""

    home: Path
    url: str
    environment: dict[str, str]
    process: subprocess.Popen[bytes]
    token: str = ""
    """Of an owner's device."""

    def command(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run ``hubd ARGUMENTS`` against this daemon."""
        return subprocess.run(
            [sys.executable, "-m", "hubd", *arguments],
            env=self.environment,
            cwd=ROOT,
            check=check,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def client(self) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx2.Client(base_url=self.url, timeout=120, headers=headers)

    def page(self) -> str:
        """A link that pairs a fresh browser and ends at the chat page."""
        with self.client() as client:
            made = client.post("/hub/pairing", json={}).raise_for_status().json()
        return self.url + made["path"]

    def child(self, module: str, within_s: float = 20) -> int:
        """The process id of the daemon's child that runs ``python -m MODULE``; waits for it."""
        own = self.process.pid
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            for child in Path(f"/proc/{own}/task/{own}/children").read_text().split():
                with contextlib.suppress(FileNotFoundError):
                    if module in Path(f"/proc/{child}/cmdline").read_text():
                        return int(child)
            time.sleep(0.1)
        pytest.fail(f"the daemon has no child that runs {module}")

    def engine(self) -> int:
        """The language model's process; the encoder may have one of its own beside it."""
        return self.child(LANGUAGE_MODEL)

    def log(self) -> str:
        return (self.home / "serve.log").read_text()

    def stop(self) -> int:
        """End the daemon as a service manager would; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            pytest.fail("hubd did not end within 20 seconds of SIGTERM")


@pytest.fixture(scope="module")
def start(model_path: Path) -> Iterator[Callable[..., Hub]]:
    """``start(home, *arguments)`` runs ``hubd serve`` until ``stop()`` or the module ends."""
    started: list[Hub] = []

    def start_one(home: Path, *arguments: str, **settings: str) -> Hub:
        started.append(_serve(home, model_path, *arguments, **settings))
        _wait_until_ready(started[-1])
        scopes = ("--scope", "chat", "--scope", "tools", "--scope", "admin")
        made = started[-1].command("token", "add", "tests", "--quiet", *scopes)
        started[-1].token = made.stdout.strip()
        return started[-1]

    yield start_one
    for hub in started:
        hub.stop()


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, start: Callable[..., Hub]) -> Hub:
    """A daemon that has read the sample household."""
    return start(tmp_path_factory.mktemp("hub"), "--ingest", str(HOUSEHOLD))


@pytest.fixture(scope="module")
def light_hub(tmp_path_factory: pytest.TempPathFactory, start: Callable[..., Hub]) -> Hub:
    """A daemon with a described household and no documents, which loads no model until asked to."""
    light = {"HUBD_ENGINE_PRELOAD": "false", "HUBD_RAG_PRELOAD": "false"}
    home = tmp_path_factory.mktemp("light")
    (home / "family.ics").write_bytes(_calendar())
    (home / "hubd.toml").write_text(f'[calendar]\nsources = ["Family = {home / "family.ics"}"]\n')
    hub = start(home, **light)
    with hub.client() as client:
        client.put("/hub/home", json={"description": HOME}).raise_for_status()
    return hub


@pytest.fixture
def open_view(light_hub: Hub, open_page: Callable[..., Page]) -> Callable[..., Page]:
    """``open_view("#/home", **context)`` opens a view of the light hub in a paired browser."""

    def open_one(address: str = "", **context: object) -> Page:
        page = open_page(light_hub.page(), **context)
        page.wait_for_url(f"{light_hub.url}/")
        if address:
            page.goto(f"{light_hub.url}/{address}")
        return page

    return open_one


def _calendar() -> bytes:
    """A dentist in three days at eight, and a fair over the two days after it."""
    day = datetime.now().date() + timedelta(days=3)
    return f"""BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//tests//EN
BEGIN:VEVENT
UID:1
SUMMARY:Dentist
DTSTART:{day:%Y%m%d}T080000
DTEND:{day:%Y%m%d}T083000
END:VEVENT
BEGIN:VEVENT
UID:2
SUMMARY:Village fair
DTSTART;VALUE=DATE:{day + timedelta(days=1):%Y%m%d}
DTEND;VALUE=DATE:{day + timedelta(days=3):%Y%m%d}
END:VEVENT
END:VCALENDAR
""".replace("\n", "\r\n").encode()


HOME = """
areas: [Kitchen, Hall]
entities:
  - {id: light.counter, name: Counter Light, area: Kitchen, state: "off"}
  - {id: sensor.warmth, name: Temperature, area: Kitchen, state: "21.5",
     attributes: {unit_of_measurement: "°C"}}
  - {id: binary_sensor.window, name: Kitchen Window, area: Kitchen, state: "on",
     attributes: {device_class: window}}
  - {id: lock.front, name: Front Door, area: Hall, state: locked}
  - {id: cover.garage, name: Garage Door, state: closed, attributes: {device_class: garage}}
  - {id: person.anna, name: Anna, state: home}
  - {id: person.tom, name: Tom, state: not_home}
"""


def _serve(home: Path, model: Path, *arguments: str, **settings: str) -> Hub:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "HUBD_HOME": str(home),
        "HUBD_PORT": str(port),
        "HUBD_ENGINE_MODEL": str(model),
        **settings,
    }
    with (home / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "hubd", "serve", *arguments],
            env=environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    return Hub(home, f"http://127.0.0.1:{port}", environment, process)


def _wait_until_ready(hub: Hub) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while "hubd is ready" not in hub.log():
        if hub.process.poll() is not None or time.monotonic() > deadline:
            pytest.fail("hubd did not become ready:\n" + hub.log()[-4000:])
        time.sleep(0.1)
