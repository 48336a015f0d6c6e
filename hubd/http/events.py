"""``GET /hub/events``: what happens in the house, for every open page."""

import asyncio
from collections.abc import AsyncGenerator

from aiohttp import web

from hubd.errors import BusyError
from hubd.events import Notice
from hubd.http.services import SERVICES, Services
from hubd.http.sse import frame, stream
from plugins.api import Snapshot

LISTENERS_LIMIT = 300
LOOK_S = 0.25
"""How often a page's stream looks at the household: comparing two references costs nothing, and a
home whose sensors chatter makes four events a second at most."""


async def events(request: web.Request) -> web.StreamResponse:
    """The engine's state now, then every notice as it comes, and what changes in the house."""
    services = request.app[SERVICES]
    if services.board.listeners >= LISTENERS_LIMIT:
        raise BusyError("Too many pages are open.", "Close some.")
    return await stream(request, _frames(services))


async def _frames(services: Services) -> AsyncGenerator[bytes, None]:
    seen = services.household.snapshot()
    async with services.board.listen() as queue:
        yield frame("engine", services.engine.state)
        while True:
            try:
                async with asyncio.timeout(LOOK_S):
                    notice: Notice | None = await queue.get()
                if notice is None:
                    return
                yield frame(notice.event, notice.data)
            except TimeoutError:
                now = services.household.snapshot()
                if now is not seen:
                    yield frame("home", changes(seen, now))
                    seen = now


def changes(before: Snapshot, now: Snapshot) -> dict[str, object]:
    """The entities that are not as they were, and the household's version."""
    known = {entity.id: entity for entity in before.entities}
    changed = [entity for entity in now.entities if known.get(entity.id) != entity]
    return {"version": now.version, "entities": changed}


ROUTES = [web.get("/hub/events", events)]
