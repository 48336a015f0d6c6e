"""Real parts for the room's tests: a home in a temporary folder, the database, the application."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from hubd.daemon import open_rooms
from hubd.http.app import make_app
from hubd.http.callers import plain_path
from hubd.http.described import described
from hubd.http.openapi import error_kind
from hubd.paths import Paths, create_directories, find_paths
from hubd.settings import Config
from hubd.store.database import Database


@pytest.fixture
def paths(tmp_path) -> Iterator[Paths]:
    """The directories of a fresh home, made."""
    found = find_paths({"HUBD_HOME": str(tmp_path / "home")})
    create_directories(found)
    yield found
    shutil.rmtree(found.run)  # may be a short one outside of tmp_path


@pytest.fixture
async def database(paths) -> AsyncIterator[Database]:
    """The hub's database of that home."""
    opened = await Database.open(paths.database)
    yield opened
    await opened.close()


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.time = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.time

    def advance(self, **parts: float) -> None:
        self.time += timedelta(**parts)


@pytest.fixture
def clock() -> Clock:
    return Clock()


OpenHub = Callable[..., "asynccontextmanager[TestClient]"]


@pytest.fixture(scope="session")
def open_hub() -> OpenHub:
    """``async with open_hub(home, config) as client``: the application over TCP, in this process.

    Its requests are those of an owner's device; with ``paired=False`` they are nobody's.
    The engine and the embedder start when something asks for them, as in the daemon.
    """

    @asynccontextmanager
    async def opened(
        home: Path, config: Config | None = None, *, paired: bool = True
    ) -> AsyncIterator[TestClient]:
        paths = find_paths({"HUBD_HOME": str(home)})
        create_directories(paths)
        async with AsyncExitStack() as stack:
            services, schedule = await open_rooms(stack, config or Config(), paths)
            await schedule.start(services.tools.run_job)
            stack.push_async_callback(schedule.stop)
            _, secret = await services.access.add_token(
                name="tests", person="owner", scopes=("chat", "tools", "admin")
            )
            headers = {"Authorization": f"Bearer {secret}"} if paired else {}
            app, undescribed = make_app(services), []
            app.on_response_prepare.append(_held_against_the_document(undescribed))
            client = TestClient(TestServer(app), headers=headers)
            await stack.enter_async_context(client)
            stack.callback(services.board.close)
            stack.callback(shutil.rmtree, paths.run)
            yield client
            assert undescribed == []

    return opened


def _held_against_the_document(wrong: list[str]):
    """Signal handler: every JSON reply must be of the type that ``/openapi.json`` names for it."""

    async def look(request, response):
        if not isinstance(response, web.Response) or response.content_type != "application/json":
            return
        handler = request.match_info.route.handler
        if request.match_info.route.resource is None:
            return  # no route: 404 and 405 come from the router
        said = described(handler)
        wanted = (dict(said.others) | {said.status: said.reply}).get(response.status)
        errors = [error_kind(plain_path(request))] if response.status >= 400 else []
        for kind in [wanted] * (wanted is not None) + errors:
            with suppress(msgspec.ValidationError, TypeError):
                msgspec.json.decode(response.body, type=kind)
                return
        wrong.append(f"{request.method} {request.path} {response.status} {response.body[:500]!r}")

    return look


@pytest.fixture
def environment(tmp_path) -> Iterator[dict[str, str]]:
    """Of a daemon in a home of its own, on a free port, that loads no model."""
    home = str(tmp_path / "home")
    light = {"HUBD_ENGINE_PRELOAD": "false", "HUBD_RAG_PRELOAD": "false"}
    mine = {name: text for name, text in os.environ.items() if not name.startswith("HUBD_")}
    yield mine | light | {"HUBD_HOME": home, "HUBD_PORT": "0"}
    shutil.rmtree(find_paths({"HUBD_HOME": home}).run, ignore_errors=True)


@pytest.fixture
def hubd(environment):
    """``hubd(ARGUMENTS)`` runs the command line in this home."""

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "hubd", *arguments],
            env=environment, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    return run


@pytest.fixture
def served(environment):
    """``with served(ARGUMENTS) as process``: a ``hubd serve`` that has said that it is ready.

    command: what runs it, when it is not this Python alone.
    """

    @contextmanager
    def running(*arguments, command=(sys.executable, "-m", "hubd")):
        log = Path(environment["HUBD_HOME"]).parent / f"{time.monotonic_ns()}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*command, "serve", *arguments], close_fds=False,
                env=environment, stdout=file, stderr=file, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        process.log = log
        try:
            deadline = time.monotonic() + 30
            while b"hubd is ready" not in log.read_bytes():
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.05)
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(15)

    return running
