"""The hub's home: Home Assistant while it is linked, else what the hub keeps by itself.

One object for the daemon's whole life; what stands behind it changes with ``reload``.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from hubd.errors import HubError
from hubd.home import link
from hubd.home.home_assistant import HomeAssistant, HomeStatus
from hubd.home.mirror import Place
from hubd.home.model import Home, HomeError, Location, ServiceResult, Snapshot
from hubd.paths import Paths
from hubd.store.faults import storage_error
from plugins.api import Storage

PLACE = "place"
log = logging.getLogger(__name__)


class Household:
    """``plugins.api.Home``, and how it stands with Home Assistant."""

    def __init__(
        self,
        paths: Paths,
        *,
        everything: bool = False,
        own: Home | None = None,
        storage: Storage | None = None,
        location: Location | None = None,
    ) -> None:
        """``own`` is the home without Home Assistant; ``everything`` as in ``Mirror``; ``storage``
        keeps what it told of where the house stands; ``location`` counts before that."""
        self._paths = paths
        self._everything = everything
        self._own = own
        self._location, self._storage = location, storage
        self._place = Place()
        self._linked: HomeAssistant | None = None
        self._stack = contextlib.AsyncExitStack()
        self._changing = asyncio.Lock()
        self.problem: HubError | None = None
        """Why the link cannot be used."""
        self.on_connected: Callable[[HomeAssistant], Awaitable[None]] | None = None
        """Work beside each connection, from its beginning to its end."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Household"]:
        """Linked, where there is a link, for the time of the block."""
        if self._storage is not None and (kept := await self._storage.get(PLACE)) is not None:
            self._place = msgspec.convert(kept, Place)
        await self.reload()
        try:
            yield self
        finally:
            await self._stack.aclose()

    async def reload(self) -> None:
        """Look again whether there is a link, and to where."""
        async with self._changing:
            await self._stack.aclose()
            self._linked, self.problem = None, None
            try:
                found = link.load(self._paths)
            except HubError as error:
                log.error("%s", error.message)
                self.problem = error
                return
            if found is None:
                return
            made = HomeAssistant(found, everything=self._everything)
            made.on_place = self._keep
            if (work := self.on_connected) is not None:
                made.on_connected = lambda: work(made)
            self._linked = await self._stack.enter_async_context(made.running())

    @property
    def linked(self) -> HomeAssistant | None:
        return self._linked

    def status(self) -> HomeStatus | None:
        """How it stands with Home Assistant, if it is linked."""
        return self._linked.status() if self._linked else None

    def snapshot(self) -> Snapshot:
        home = self._linked or self._own
        return home.snapshot() if home else Snapshot()

    def location(self) -> Location | None:
        """As it is set by hand, else as Home Assistant told it last; houses do not move, also where
        it is linked no more."""
        return self._location or self._place.location

    def time_zone(self) -> str:
        """That of Home Assistant, likewise; empty where it never told one."""
        return self._place.time_zone

    async def _keep(self, place: Place) -> None:
        """Know it, also after a restart without Home Assistant; a full disk ends no connection."""
        if place == self._place:
            return
        if place.time_zone != self._place.time_zone:
            log.info("home assistant's time zone: %s", place.time_zone or "not told")
        self._place = place
        if self._storage is None:
            return
        try:
            await self._storage.put(PLACE, msgspec.to_builtins(place))
        except Exception as error:
            if (storage := storage_error(error)) is None:
                raise
            log.error("where the house stands is not kept: %s", storage)

    def area_of_device(self, device_id: str) -> str:
        """The id of the area where a device of Home Assistant is; empty where that is not known."""
        return self._linked.area_of_device(device_id) if self._linked else ""

    async def call(
        self, service: str, entities: Sequence[str], data: Mapping[str, Any] = {}
    ) -> ServiceResult:
        return await self._home().call(service, entities, data)

    async def ask(
        self, service: str, entity: str, data: Mapping[str, Any] = {}
    ) -> Mapping[str, Any]:
        return await self._home().ask(service, entity, data)

    def _home(self) -> Home:
        home = self._linked or self._own
        if home is None:
            raise HomeError("This hub knows no home yet: connect one with `hubd home connect URL`.")
        return home
