"""``GET /hub/events``: what happens in the house, for every open page."""

from collections.abc import AsyncGenerator

from aiohttp import web

from hubd.errors import BusyError
from hubd.http.services import SERVICES, Services
from hubd.http.sse import frame, stream

LISTENERS_LIMIT = 300


async def events(request: web.Request) -> web.StreamResponse:
    """The engine's state now, then every notice as it comes."""
    services = request.app[SERVICES]
    if services.board.listeners >= LISTENERS_LIMIT:
        raise BusyError("Too many pages are open.", "Close some.")
    return await stream(request, _frames(services))


async def _frames(services: Services) -> AsyncGenerator[bytes, None]:
    async with services.board.listen() as queue:
        yield frame("engine", services.engine.state)
        while (notice := await queue.get()) is not None:
            yield frame(notice.event, notice.data)


ROUTES = [web.get("/hub/events", events)]
