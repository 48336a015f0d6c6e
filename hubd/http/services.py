"""What the endpoints work with: made by the daemon, found in the application."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from hubd.assistant.turn import Assistant
from hubd.errors import BusyError, StoppingError
from hubd.events import NoticeBoard
from hubd.home.device import HubDevice
from hubd.home.file import FileHome
from hubd.home.household import Household
from hubd.household_engine import HouseholdEngine
from hubd.http.answers import Answers
from hubd.http.backoff import BackOff
from hubd.http.counts import Requests
from hubd.http.deliveries import Deliveries
from hubd.http.pairing import PairingCodes
from hubd.http.traffic import Traffic
from hubd.http.volatile import PromptMemory
from hubd.mcp.offer import Offer
from hubd.paths import Paths
from hubd.reindexing import Reindexing
from hubd.settings import Config
from hubd.store.access import Access
from hubd.store.audit import Audit
from hubd.store.conversations import Conversations
from hubd.store.database import Database
from hubd.store.webhooks import Webhooks
from hubd.tool_context import Clock
from hubd.tools import ToolBox
from rag.embed import Embedder
from rag.library import Library

TURNS_AT_ONCE = 8
"""More people than a household has; the engine works on them one after the other anyway."""


class Turns:
    """How many questions are being answered: a limit for them, and quiet for those who wait."""

    def __init__(self) -> None:
        self._running = 0
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._busy = asyncio.Event()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """The time of one turn.

        Raises:
            BusyError: too many run already.
            StoppingError: the daemon is stopping.
        """
        if self._closed:
            raise StoppingError("hubd is stopping.", "Ask again in a moment.")
        if self._running >= TURNS_AT_ONCE:
            raise BusyError(
                f"{TURNS_AT_ONCE} questions are being answered already.", "Ask again in a moment."
            )
        self._running += 1
        self._idle.clear()
        self._busy.set()
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._busy.clear()
                self._idle.set()

    async def close(self) -> None:
        """No new ones; returns when the last has ended."""
        self._closed = True
        await self._idle.wait()

    @property
    def running(self) -> int:
        """How many now."""
        return self._running

    async def wait_until_idle(self) -> None:
        """Until nobody waits for an answer: background work gives way to people."""
        await self._idle.wait()

    async def wait_until_busy(self) -> None:
        """Until somebody waits for an answer: what runs in the background is to stop."""
        await self._busy.wait()


@dataclass(frozen=True, kw_only=True)
class Services:
    """The parts of the running daemon that endpoints use."""

    config: Config
    paths: Paths
    database: Database
    library: Library
    embedder: Embedder
    engine: HouseholdEngine
    tools: ToolBox
    offer: Offer
    """The tools for MCP clients."""
    board: NoticeBoard
    audit: Audit
    conversations: Conversations
    assistant: Assistant
    household: Household
    device: HubDevice
    described: FileHome
    """The household without Home Assistant: described in a file, its states kept here."""
    webhooks: Webhooks
    access: Access
    clock: Clock
    turns: Turns
    reindexing: Reindexing
    set_aside: str = ""
    """What is told of a damaged database that was set aside at this start."""
    answers: Answers = field(default_factory=Answers)
    deliveries: Deliveries = field(default_factory=Deliveries)
    codes: PairingCodes = field(default_factory=PairingCodes)
    requests: Requests = field(default_factory=Requests)
    traffic: Traffic = field(default_factory=Traffic)
    backoff: BackOff = field(default_factory=BackOff)
    prompts: PromptMemory = field(default_factory=PromptMemory)
    started: float = field(default_factory=time.monotonic)

    async def alive(self) -> None:
        """Returns when the database has answered, on each of its threads."""
        await self.library.documents()
        await self.database.run(lambda connection: connection.execute("SELECT 1"))


SERVICES = web.AppKey("services", Services)
