"""The daemon's life: lock, database, rooms, doors, background work, and all of it closed again.

Composes the parts and decides the order in which they start and stop; does nothing itself.
A reload is the same life over again with another configuration, on the same sockets.
"""

import asyncio
import contextlib
import logging
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import datetime
from typing import Any, Literal, NamedTuple
from zoneinfo import ZoneInfo

import msgspec
from aiohttp import web

from hubd import lock, readings, wyoming
from hubd.assistant.answers import prompt
from hubd.assistant.turn import Assistant
from hubd.doors import Doors
from hubd.embedder import EngineEmbedder, encoder_of
from hubd.errors import HubError
from hubd.events import NoticeBoard
from hubd.folders import keep_reading
from hubd.handing_over import elsewhere, keep_complete
from hubd.hearing import Hearing
from hubd.home.automations import automations
from hubd.home.device import HubDevice
from hubd.home.file import FileHome
from hubd.home.household import Household
from hubd.household_engine import HouseholdEngine
from hubd.http import tls
from hubd.http.app import make_app, make_runner
from hubd.http.services import Services, Turns
from hubd.ingest_news import tell_of_files
from hubd.mcp.offer import Offer
from hubd.mcp.servers import Servers
from hubd.memory import give_back_large_blocks, lasting
from hubd.paths import Paths, create_directories
from hubd.private import SecretFile
from hubd.reindexing import Reindexing, made_with
from hubd.reranking import reranker_of
from hubd.schedule import Schedule
from hubd.service_manager import feed_watchdog, watchdog_limit
from hubd.settings import PLUGIN_SECTIONS, Config
from hubd.store.access import Access
from hubd.store.audit import Audit
from hubd.store.conversations import Conversations
from hubd.store.database import Database
from hubd.store.outbox import Outbox
from hubd.store.plugin_storage import PluginStorage
from hubd.store.repair import newest_backup, set_aside_if_damaged, told
from hubd.store.webhooks import Webhooks
from hubd.tool_context import Clock
from hubd.tools import ToolBox, find_plugins
from hubd.warm import keep_warm
from plugins.daylight import location_of
from rag.embed import CachingEmbedder, Embedder
from rag.errors import RagError
from rag.evidence import Read
from rag.library import Library
from rag.rerank import Reranker
from rag.worker_embedder import WorkerEmbedder

log = logging.getLogger(__name__)


DRAIN_S = 10.0
"""What answers under way get when the daemon stops."""

SIGNALS = 8
"""That may wait to be acted upon."""

Ending = Literal["stop", "reload"]


class Daemon:
    """The running daemon: its parts, where it answers, and the signals that end it."""

    def __init__(self, services: Services, address: str) -> None:
        self.services = services
        self.address = address
        self._signals: asyncio.Queue[Ending] = asyncio.Queue(SIGNALS)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._heard, "stop")
        loop.add_signal_handler(signal.SIGHUP, self._heard, "reload")

    async def next_signal(self) -> Ending:
        """Waits for SIGTERM or SIGINT (stop), or SIGHUP (reload)."""
        return await self._signals.get()

    def _heard(self, ending: Ending) -> None:
        with contextlib.suppress(asyncio.QueueFull):  # enough of them wait to be acted upon
            self._signals.put_nowait(ending)


@contextlib.asynccontextmanager
async def running(config: Config, paths: Paths, doors: Doors) -> AsyncIterator[Daemon]:
    """The daemon for the time of the block. Answers under way at its end get ten seconds.

    Raises:
        AlreadyRunningError: another one holds this home.
        HubError: a directory, the database or the port cannot be used.
    """
    create_directories(paths)
    give_back_large_blocks()
    async with contextlib.AsyncExitStack() as stack:
        home = stack.enter_context(lock.hold(paths.lock))
        shutil.rmtree(paths.cache / "incoming", ignore_errors=True)  # of uploads cut off by a crash
        with lasting():
            services, schedule = await open_rooms(stack, config, paths)
        address = await _listen(stack, services, doors)
        home.announce(address)
        if config.wyoming.port:
            await stack.enter_async_context(wyoming.listening(services))
        await schedule.start(services.tools.run_job)
        stack.push_async_callback(schedule.stop)
        await services.tools.start()
        await stack.enter_async_context(_background(_preload(services)))
        await services.reindexing.resume()
        if limit := watchdog_limit():
            await stack.enter_async_context(_background(feed_watchdog(limit, services.alive)))
        if config.rag.url:
            handing = keep_complete(services.library, services.turns.wait_until_idle)
            await stack.enter_async_context(_background(handing))
        if config.rag.folders:
            reading = keep_reading(
                services.library, config.rag, services.board, services.turns.wait_until_idle
            )
            await stack.enter_async_context(_background(reading))
        agent = services.assistant.agent
        warm = keep_warm(
            services.engine.local,
            services.turns,
            lambda: [prompt.static_part(), agent.static_part()],
        )
        await stack.enter_async_context(_background(warm))
        log.info("listening address=%s socket=%s", address, paths.socket)
        yield Daemon(services, address)
        log.info("stopping")


async def open_rooms(
    stack: contextlib.AsyncExitStack, config: Config, paths: Paths
) -> tuple[Services, Schedule]:
    """The rooms, each closed with the stack."""
    board = NoticeBoard()
    aside = await asyncio.to_thread(set_aside_if_damaged, paths)
    try:
        database = await Database.open(paths.database)
        stack.push_async_callback(database.close)
        engine, embedder, read = await open_models(stack, config, paths, board)
        library = await Library.open(
            paths.database,
            embedder=embedder,
            uploads=paths.uploads,
            pictures=paths.cache / "pictures",
            made_with=made_with(config.rag),
            make_elsewhere=elsewhere(config.rag),
        )
        stack.push_async_callback(library.close)
        library.read = read
        library.reranker = reranker_of(config)
        if library.reranker:
            stack.push_async_callback(library.reranker.close)
        await library.clear_cut_off_uploads(database_lost=aside is not None)
    except RagError as error:
        raise HubError(str(error), "`hubd doctor` looks at the database.") from error
    turns = Turns()
    reindexing = Reindexing(library, embedder, config.rag, turns.wait_until_idle)
    await stack.enter_async_context(reindexing)
    await stack.enter_async_context(_background(tell_of_files(library.activity, board, config.rag)))
    described = await FileHome.open(PluginStorage(database, "home description"))
    location = location_of(config.home.location or config.weather.location)
    household = Household(
        paths,
        everything=config.home.everything,
        own=described,
        storage=PluginStorage(database, "household"),
        location=location,
    )
    device = HubDevice(paths, Outbox(database), board, config.home.timer_webhook)
    device.linked = lambda: household.linked is not None
    household.on_connected = device.beside
    await stack.enter_async_context(_background(device.listen()))
    await stack.enter_async_context(household.running())
    schedule = Schedule(database)
    clock = household_clock(config.assistant.time_zone, household.time_zone)
    tools, offer = await open_tools(stack, config, database, schedule, board, household, device)
    audit = await stack.enter_async_context(Audit(database).writing())
    tools.note = audit.note
    access = await Access.open(database)
    tools.is_known = lambda name: name == wyoming.VOICE or access.knows(name)
    conversations = Conversations(database)
    assistant = Assistant(
        config=config,
        library=library,
        engine=engine,
        embedder=embedder,
        tools=tools,
        conversations=conversations,
        clock=clock,
    )
    webhooks = Webhooks(database, SecretFile(paths.data / "webhook-secrets.json"))
    await webhooks.forget_unfinished()
    services = Services(
        config=config,
        paths=paths,
        database=database,
        library=library,
        embedder=embedder,
        engine=engine,
        tools=tools,
        offer=offer,
        board=board,
        audit=audit,
        conversations=conversations,
        assistant=assistant,
        household=household,
        device=device,
        described=described,
        webhooks=webhooks,
        access=access,
        set_aside=told(aside, newest_backup(paths)) if aside else "",
        clock=clock,
        turns=turns,
        reindexing=reindexing,
    )
    stack.push_async_callback(services.deliveries.close)
    stack.push_async_callback(services.answers.close)
    device.readings = lambda: readings.read(services)
    return services, schedule


async def open_tools(
    stack: contextlib.AsyncExitStack,
    config: Config,
    database: Database,
    schedule: Schedule,
    board: NoticeBoard,
    household: Household,
    device: HubDevice,
) -> tuple[ToolBox, Offer]:
    """The tools of plugins and of other servers, and what offers them to others."""
    tools = ToolBox(
        [*find_plugins(), automations(household, config.home.reports, device.render)],
        database=database,
        schedule=schedule,
        board=board,
        clock=household_clock(config.assistant.time_zone, household.time_zone),
        home=household,
        settings={name: msgspec.to_builtins(getattr(config, name)) for name in PLUGIN_SECTIONS},
    )
    stack.push_async_callback(tools.close)
    await stack.enter_async_context(_background(Hearing(tools, board).listen()))
    offer = Offer(tools)
    await stack.enter_async_context(_background(offer.run()))
    await stack.enter_async_context(_background(Servers(config.mcp.servers, tools).run()))
    return tools, offer


class Models(NamedTuple):
    """What computes for the household."""

    engine: HouseholdEngine
    embedder: Embedder
    """The one that the configuration names."""
    read: Read | None
    """Reads a question with sentences, where the engine does."""


async def open_models(
    stack: contextlib.AsyncExitStack, config: Config, paths: Paths, board: NoticeBoard
) -> Models:
    """The engine and what makes vectors. Neither starts a process yet."""
    encoder = encoder_of(config)
    chosen = HouseholdEngine(config.engine, paths, board, encoder)
    engine = await stack.enter_async_context(chosen)
    if encoder is None:
        worker = WorkerEmbedder(idle_seconds=config.rag.idle_unload or float("inf"))
        stack.push_async_callback(worker.close)
        return Models(engine, CachingEmbedder(worker), None)
    beside = EngineEmbedder.beside(engine, config, paths, encoder)
    embedder = await stack.enter_async_context(beside)
    return Models(engine, CachingEmbedder(embedder), embedder.read)


async def _listen(stack: contextlib.AsyncExitStack, services: Services, doors: Doors) -> str:
    """Answer at both doors; returns the address of the one for browsers."""
    encrypted = await asyncio.to_thread(tls.context, services.config.http)
    browsers = doors.tcp(services.config.http)
    runner = make_runner(make_app(services))
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    stack.push_async_callback(_drain, runner, services)
    for door in browsers:  # each site closes its own
        await web.SockSite(runner, door.dup(), ssl_context=encrypted).start()
    await web.SockSite(runner, doors.unix(services.paths.socket).dup()).start()
    host, port = browsers[0].getsockname()[:2]
    scheme = "https" if encrypted else "http"
    services.device.listens_at(host, port, scheme, next(iter(services.config.http.names), ""))
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


async def _drain(runner: web.AppRunner, services: Services) -> None:
    """Nobody new; who is being answered gets time, and then an error instead of a cut line."""
    for site in list(runner.sites):
        await site.stop()
    services.board.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            await services.turns.close()
    await services.engine.close()


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
            await services.assistant.semantics.prepare()
        except RagError as error:
            log.warning("embedder not started: %s", error)
        if services.library.reranker:
            await _load_reranker(services.library.reranker)


async def _load_reranker(reranker: Reranker) -> None:
    try:
        await reranker.start()
    except RagError as error:
        log.warning("passages are not reranked: %s", error)


def household_clock(time_zone: str, told: Callable[[], str]) -> Clock:
    """The time in the household's zone: that of the configuration, else the one that ``told`` tells
    (Home Assistant's), else the system's."""

    def now() -> datetime:
        zone = time_zone or told()
        return datetime.now(ZoneInfo(zone)) if zone else datetime.now().astimezone()

    return now
