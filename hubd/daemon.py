"""The daemon's life: lock, database, rooms, doors, background work, and all of it closed again.

Composes the parts and decides the order in which they start and stop; does nothing itself.
"""

import asyncio
import contextlib
import logging
import os
import shutil
import signal
from collections.abc import AsyncIterator, Coroutine
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from aiohttp import web

from hubd import lock
from hubd.assistant.turn import Assistant
from hubd.config import Config
from hubd.errors import HubError
from hubd.events import NoticeBoard
from hubd.http.app import make_app, make_runner
from hubd.http.services import Services
from hubd.paths import Paths, create_directories
from hubd.schedule import Schedule
from hubd.store.conversations import Conversations
from hubd.store.database import Database
from hubd.supervisor import EngineSupervisor
from hubd.tools import Clock, ToolBox, find_plugins
from rag.embed import Embedder
from rag.errors import RagError
from rag.library import Library

log = logging.getLogger(__name__)


class Daemon:
    """The running daemon: its parts, where it answers, and the signal that ends it."""

    def __init__(self, services: Services, address: str) -> None:
        self.services = services
        self.address = address
        self._end = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end.set)

    async def until_stopped(self) -> None:
        """Until SIGTERM or SIGINT."""
        await self._end.wait()


@contextlib.asynccontextmanager
async def running(config: Config, paths: Paths) -> AsyncIterator[Daemon]:
    """The daemon for the time of the block.

    Raises:
        AlreadyRunningError: another one holds this home.
        HubError: a directory, the database or the port cannot be used.
    """
    create_directories(paths)
    async with contextlib.AsyncExitStack() as stack:
        home = stack.enter_context(lock.hold(paths.lock))
        shutil.rmtree(paths.cache / "incoming", ignore_errors=True)  # of uploads cut off by a crash
        services, schedule = await open_rooms(stack, config, paths)
        address = await _listen(stack, services)
        home.announce(address)
        await schedule.start(services.tools.run_job)
        stack.push_async_callback(schedule.stop)
        await stack.enter_async_context(_background(_preload(services)))
        log.info("listening address=%s socket=%s", address, paths.socket)
        daemon = Daemon(services, address)
        yield daemon
        log.info("stopping")


async def open_rooms(
    stack: contextlib.AsyncExitStack, config: Config, paths: Paths
) -> tuple[Services, Schedule]:
    """The rooms, each closed with the stack."""
    try:
        database = await Database.open(paths.database)
        stack.push_async_callback(database.close)
        embedder = Embedder(idle_seconds=config.rag.idle_unload or float("inf"))
        stack.push_async_callback(embedder.close)
        library = await Library.open(paths.database, embedder=embedder, uploads=paths.uploads)
        stack.push_async_callback(library.close)
    except RagError as error:
        raise HubError(str(error), "`hubd doctor` looks at the database.") from error
    board = NoticeBoard()
    engine = await stack.enter_async_context(EngineSupervisor(config.engine, paths, board))
    schedule = Schedule(database)
    clock = household_clock(config.assistant.time_zone)
    tools = ToolBox(
        find_plugins(),
        database=database,
        schedule=schedule,
        board=board,
        clock=clock,
    )
    stack.push_async_callback(tools.close)
    assistant = Assistant(
        config=config,
        library=library,
        engine=engine,
        tools=tools,
        conversations=Conversations(database),
    )
    services = Services(
        config=config,
        paths=paths,
        library=library,
        embedder=embedder,
        engine=engine,
        tools=tools,
        board=board,
        assistant=assistant,
        clock=clock,
    )
    return services, schedule


async def _listen(stack: contextlib.AsyncExitStack, services: Services) -> str:
    """Open both doors; returns the address of the one for browsers."""
    settings, paths = services.config.http, services.paths
    runner = make_runner(make_app(services))
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    stack.callback(services.board.close)
    try:
        await web.TCPSite(runner, settings.host, settings.port).start()
    except OSError as error:
        raise HubError(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror}",
            "Another program may use it: choose another with HUBD_PORT or [http] port.",
        ) from error
    paths.socket.unlink(missing_ok=True)
    stack.callback(_remove_runtime_files, paths)
    previous = os.umask(0o177)  # from its first moment the socket is the owner's alone
    try:
        await web.UnixSite(runner, str(paths.socket)).start()
    finally:
        os.umask(previous)
    host, port = runner.addresses[0][:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _remove_runtime_files(paths: Paths) -> None:
    paths.socket.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not empty, or already gone
        paths.run.rmdir()


@contextlib.asynccontextmanager
async def _background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """``work`` beside the block, cancelled at its end."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _preload(services: Services) -> None:
    """The engine, then the embedder: so that the first question waits for neither."""
    if services.config.engine.preload:
        try:
            await services.engine.client()
        except HubError as error:
            log.warning("engine not started: %s %s", error.message, error.hint)
    if services.config.rag.preload:
        try:
            await services.embedder.start()
        except RagError as error:
            log.warning("embedder not started: %s", error)


def household_clock(time_zone: str) -> Clock:
    """The time in the household's zone; in the system's when none is named."""
    if time_zone:
        zone = ZoneInfo(time_zone)
        return lambda: datetime.now(zone)
    return lambda: datetime.now().astimezone()
