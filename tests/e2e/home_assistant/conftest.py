"""A real Home Assistant with its demo home, in a process of its own."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiohttp
import httpx2
import pytest

from hubd.home.connection import connected
from hubd.home.link import Link

HERE = Path(__file__).parent
READY_WITHIN_S = 90
OLDEST, NEWER = "2024.3.3", "2025.4.4"
VERSION = os.environ.get("HUBD_TEST_HOME_ASSISTANT_VERSION", OLDEST)
"""What all tests run with that do not need the newer one."""


@pytest.fixture(scope="session")
def home_assistant_python() -> Path:
    """The Python that has Home Assistant; installed now if it is not there and can be had."""
    return _python_of(VERSION)


@pytest.fixture(scope="session")
def home_assistant_version() -> str:
    """The version of ``home_assistant`` and of what ``make_home_assistant`` makes."""
    return VERSION


@pytest.fixture(scope="session")
def newer_home_assistant_python() -> Path:
    """The Python that has a newer one, where ``make home-assistant`` has installed it."""
    return _python_of(NEWER, "--look")


def _python_of(version: str, *options: str) -> Path:
    done = subprocess.run(
        [sys.executable, HERE / "set_up.py", version, *options],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(done.stdout.strip().splitlines()[0])
    return Path(done.stdout.strip())


class HomeAssistantProcess:
    """Home Assistant as its owner sees it; may be stopped and started again."""

    def __init__(self, python: Path, folder: Path, port: int) -> None:
        self.python = python
        self.folder = folder
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.process: subprocess.Popen[bytes] | None = None

    def configure(self, automations: str = "[]", rest_commands: str = "{}", more: str = "") -> None:
        """Write its configuration; all arguments are YAML."""
        text = (HERE / "configuration.yaml").read_text().replace("HA_PORT", str(self.port))
        (self.folder / "configuration.yaml").write_text(text + more)
        (self.folder / "automations.yaml").write_text(automations)
        (self.folder / "rest_commands.yaml").write_text(rest_commands)
        own = self.folder / "custom_components/speech"
        shutil.copytree(HERE / "speech", own, dirs_exist_ok=True)

    def start(self) -> None:
        with (self.folder / "output.log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.python, HERE / "launch.py", self.folder],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
            )
        deadline = time.monotonic() + READY_WITHIN_S
        while not self._is_running():
            if self.process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"Home Assistant does not start:\n{self.log()[-4000:]}")
            time.sleep(0.1)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process is None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def pause(self) -> None:
        """It neither answers nor closes its connections."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    @property
    def token(self) -> str:
        return (self.folder / "token").read_text()

    def log(self) -> str:
        return (self.folder / "output.log").read_text()

    def request(self, method: str, path: str, body: object = None, timeout: float = 15) -> object:
        """An API call of its owner; the JSON of the reply."""
        response = httpx2.request(
            method,
            self.url + path,
            json=body,
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=timeout,
        )
        assert response.status_code < 300, response.text
        return response.json()

    def state(self, entity_id: str) -> str:
        return self.request("GET", f"/api/states/{entity_id}")["state"]

    def service(self, name: str, **data: object) -> None:
        self.request("POST", f"/api/services/{name.replace('.', '/')}", data)

    def wait_for(self, entity_id: str, wanted: str, within_s: float = 10) -> None:
        """Until an entity has a state."""
        _eventually(lambda: self.state(entity_id) == wanted, within_s, f"{entity_id} {wanted}")

    def expose(self, *entity_ids: str) -> None:
        """Have entities exposed to Assist. On a thread: a test's own may have a loop that runs."""

        async def command() -> None:
            async with (
                aiohttp.ClientSession() as session,
                connected(session, Link(url=self.url, token=self.token)) as connection,
            ):
                await connection.command(
                    "homeassistant/expose_entity",
                    assistants=["conversation"],
                    entity_ids=list(entity_ids),
                    should_expose=True,
                )

        with ThreadPoolExecutor(1) as beside:
            beside.submit(lambda: asyncio.run(command())).result()

    def set_up_integration(self, domain: str, makes: str, **answers: object) -> None:
        """As its owner does on the page, with these answers; until the entity that it makes is
        there."""
        flow = self.request("POST", "/api/config/config_entries/flow", {"handler": domain})
        if flow["type"] == "form":
            self.request("POST", f"/api/config/config_entries/flow/{flow['flow_id']}", answers)
        _eventually(lambda: makes in {one["entity_id"] for one in self.entities()}, what=makes)

    def entities(self) -> list[dict[str, object]]:
        return self.request("GET", "/api/states")

    def _is_running(self) -> bool:
        if not (self.folder / "token").exists():
            return False
        try:
            return self.request("GET", "/api/config")["state"] == "RUNNING"
        except (httpx2.TransportError, AssertionError, json.JSONDecodeError):
            return False


def _eventually(holds: Callable[[], bool], within_s: float = 10, what: str = "it") -> None:
    """Until something holds."""
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {within_s} s: {what}")
        time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture(scope="session")
def eventually() -> Callable[..., None]:
    """``eventually(holds, within_s=10, what="it")`` waits until something holds."""
    return _eventually


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    return _free_port


MakeHomeAssistant = Callable[..., HomeAssistantProcess]


@pytest.fixture(scope="module")
def make_home_assistant(
    home_assistant_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MakeHomeAssistant]:
    """``make_home_assistant(automations, rest_commands)``: one that is configured, not started."""
    with _factory(home_assistant_python, tmp_path_factory) as make:
        yield make


@pytest.fixture(scope="module")
def make_newer_home_assistant(
    newer_home_assistant_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MakeHomeAssistant]:
    """The same for a newer version."""
    with _factory(newer_home_assistant_python, tmp_path_factory) as make:
        yield make


@contextlib.contextmanager
def _factory(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeHomeAssistant]:
    made: list[HomeAssistantProcess] = []

    def make(*configuration: str, **more: str) -> HomeAssistantProcess:
        folder = tmp_path_factory.mktemp("home_assistant")
        made.append(HomeAssistantProcess(python, folder, _free_port()))
        made[-1].configure(*configuration, **more)
        return made[-1]

    yield make
    for one in made:
        one.stop(signal.SIGKILL)
        shutil.rmtree(one.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def home_assistant(make_home_assistant: MakeHomeAssistant) -> HomeAssistantProcess:
    """One that runs, shared by the module."""
    one = make_home_assistant()
    one.start()
    return one


@pytest.fixture(scope="session")
def connect() -> Callable[..., None]:
    """``connect(hub, process, url)``: the command of a person, with Home Assistant's token."""

    def run(hub: object, process: HomeAssistantProcess, url: str = "") -> None:
        done = subprocess.run(
            [sys.executable, "-m", "hubd", "home", "connect", url or process.url],
            env=hub.environment,
            input=process.token + "\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    return run
