"""Which language model the household uses: the engine child, or a server elsewhere.

Without ``[engine] url`` it is the child. With it, the server answers while it works, and the child
takes over when it is away: started then, ended when it was idle for a while. ``raw:NAME`` is asked
of whoever has that model, and of nobody else. What a server is, is in ``hubd.remote``; the child's
life in ``hubd.supervisor``.
"""

import contextlib
from pathlib import Path
from typing import Self

import msgspec

from engine.client import EngineClient
from engine.protocol import Health
from hubd import settings as sections
from hubd.engine_child import Encoder
from hubd.events import Notice, NoticeBoard
from hubd.paths import Paths
from hubd.remote import RemoteClient, Server, watched
from hubd.supervisor import EngineDown, EngineState, EngineSupervisor

FALLBACK_IDLE_S = 600.0
"""When the child is unloaded that stood in for a server, where the settings do not say."""


class HouseholdEngine:
    """The language model, wherever it is. Use it in an ``async with`` block."""

    def __init__(
        self,
        settings: sections.Engine,
        paths: Paths,
        board: NoticeBoard,
        encoder: Encoder | None = None,
    ) -> None:
        self._board = board
        self._stack = contextlib.AsyncExitStack()
        self._server: Server | None = None
        if not settings.url:
            self.local = EngineSupervisor(settings, paths, board, encoder)
            return
        beside = msgspec.structs.replace(
            settings, idle_unload=settings.idle_unload or FALLBACK_IDLE_S
        )
        of_child = NoticeBoard()
        of_child.observers.append(self._child_changed)
        self.local = EngineSupervisor(beside, paths, of_child)
        self._server = Server(settings.url, settings.server_model, self._tell)
        key = settings.api_key or None
        self._named = RemoteClient(self._server, url=settings.url, api_key=key)
        self._client = RemoteClient(
            self._server, url=settings.url, api_key=key, otherwise=self._instead
        )
        self.failovers = 0
        """Questions that the child answered because the server was away."""

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self.local)
        if self._server is not None:
            await self._stack.enter_async_context(self._named)
            await self._stack.enter_async_context(self._client)
            await self._stack.enter_async_context(watched(self._server, self._named))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def close(self) -> None:
        """End the child. Whoever waits for it, or asks now, gets an ``EngineDown``."""
        await self.local.close()

    @property
    def server(self) -> Server | None:
        """The server elsewhere, if the settings name one."""
        return self._server

    @property
    def state(self) -> EngineState:
        """Of whoever answers now."""
        if self._server is None:
            return self.local.state
        place, away = self._server.place, self._server.away
        if not away:
            return EngineState(state="ready", server=place)
        return msgspec.structs.replace(self.local.state, server=place, away=away)

    @property
    def name(self) -> str:
        """The model's name: what the server calls it, or the file's without the extension."""
        remote = self._server is not None and not self._server.away
        return self._server.model if self._server and remote else self.local.name

    @property
    def model(self) -> Path:
        """The model file of the child; it need not exist."""
        return self.local.model

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return self.local.pid

    @property
    def names(self) -> list[str]:
        """The models that can be asked by name, the household's own first."""
        if self._server is None:
            return [self.local.name]
        here = [self.local.name] if self.local.model.is_file() else []
        return list(dict.fromkeys([*self._server.models, *here]))

    async def client(self) -> EngineClient:
        """A client of whoever answers now.

        Raises:
            NoModel, EngineDown: as ``EngineSupervisor.client``; nobody does.
        """
        if self._server is None:
            return await self.local.client()
        await self._server.first_look()
        return self._client if not self._server.away else await self._instead()

    async def named(self, name: str) -> EngineClient:
        """A client of whoever has the model of that name.

        Raises:
            NoModel, EngineDown: as ``client``; the server that has it is away.
        """
        if self._server is None or name not in self._server.models:
            return await self.local.client()
        if self._server.away:
            raise EngineDown(
                f"The server of {name} is away: {self._server.away}", "Ask again when it is back."
            )
        return self._named

    async def health(self) -> Health | None:
        """What the child says of itself; None while it does not run. Starts nothing."""
        return await self.local.health()

    async def listening(self, *, patient: bool) -> EngineClient:
        """As ``EngineSupervisor.listening``; with a server elsewhere the child has no encoder."""
        if self._server is not None:
            raise EngineDown("The language model is elsewhere.")
        return await self.local.listening(patient=patient)

    async def _instead(self) -> EngineClient:
        """The child's client, in place of the server's."""
        assert self._server is not None
        try:
            client = await self.local.client()
        except EngineDown as error:
            away = f"The server of the language model is away: {self._server.away}"
            raise EngineDown(f"{away}. {error.message}", error.hint) from error
        self.failovers += 1
        return client

    def _child_changed(self, _: Notice) -> None:
        self._tell()

    def _tell(self) -> None:
        self._board.publish("engine", msgspec.to_builtins(self.state))
