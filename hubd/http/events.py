"""``GET /hub/events``: what happens in the house, for every open page."""

import asyncio
from collections.abc import AsyncGenerator

from aiohttp import web

from hubd.errors import BusyError
from hubd.events import Notice
from hubd.http.described import SERVER_SENT_EVENTS, describe
from hubd.http.services import SERVICES, Services
from hubd.http.sse import frame, stream
from plugins.api import Snapshot

LISTENERS_LIMIT = 300
LOOK_S = 0.25
"""How often a page's stream looks at the household: comparing two references costs nothing, and a
home whose sensors chatter makes four events a second at most."""


@describe(reply=SERVER_SENT_EVENTS)
async def events(request: web.Request) -> web.StreamResponse:
    """The engine's state now, then every notice as it comes, and what changes in the house."""
    services = request.app[SERVICES]
    if services.board.listeners >= LISTENERS_LIMIT:
        raise BusyError("Too many pages are open.", "Close some.")
    return await stream(request, _frames(services))


async def _frames(services: Services) -> AsyncGenerator[bytes, None]:
    seen, now_s = services.household.snapshot(), asyncio.get_running_loop().time
    look_at = now_s() + LOOK_S
    async with services.board.listen() as queue:
        yield frame("engine", services.engine.state)
        while True:
            try:
                async with asyncio.timeout_at(look_at):
                    notice: Notice | None = await queue.get()
                if notice is None:
                    return
                yield frame(notice.event, notice.data)
            except TimeoutError:
                now, look_at = services.household.snapshot(), now_s() + LOOK_S
                if now is not seen:
                    yield frame("home", changes(seen, now))
                    seen = now


def changes(before: Snapshot, now: Snapshot) -> dict[str, object]:
    """The entities that something happened to, and the household's version.

    One that went and came back since the last look is among them, though it is equal: a page may
    have fetched the household in between.
    """
    known = {entity.id: entity for entity in before.entities}
    changed = [entity for entity in now.entities if known.get(entity.id) is not entity]
    return {"version": now.version, "entities": changed}


ROUTES = [web.get("/hub/events", events)]
