"""The library's embedding model: which it is, and another one in its place."""

from collections.abc import AsyncGenerator
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from hubd.config import is_loopback
from hubd.errors import BadRequestError
from hubd.http.body import read_body, reply
from hubd.http.described import SERVER_SENT_EVENTS, describe
from hubd.http.security import over_unix_socket
from hubd.http.services import SERVICES, Services
from hubd.http.sse import frame, stream
from hubd.reindexing import ReindexState


class Reindex(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    embedder: Annotated[
        str, Meta(pattern=r"^(|engine|sentence-transformers|[/~].*)$", max_length=4096)
    ] = ""
    """``engine`` for the household's own model, or the folder of another; empty follows what is
    under way."""
    stream: bool = False


@describe(reply=ReindexState)
async def state(request: web.Request) -> web.StreamResponse:
    """The embedding model whose vectors are searched, and the one that is to come."""
    return reply(request.app[SERVICES].reindexing.state)


@describe(body=Reindex, reply=ReindexState, streamed=SERVER_SENT_EVENTS)
async def start(request: web.Request) -> web.StreamResponse:
    """Make the vectors anew with another model, in the background; the old ones answer meanwhile.

    A reader that goes away ends nothing.
    """
    services = request.app[SERVICES]
    if not (over_unix_socket(request) or is_loopback(request.remote or "")):
        raise BadRequestError("embedder: only its owner, on this machine, may name a folder")
    body = await read_body(request, Reindex)
    if body.embedder:
        await services.reindexing.start(body.embedder)
    else:
        await services.reindexing.go_on()
    if body.stream or "text/event-stream" in request.headers.get("Accept", ""):
        return await stream(request, _frames(services))
    return reply(services.reindexing.state)


async def _frames(services: Services) -> AsyncGenerator[bytes, None]:
    """``progress`` events, then ``done`` or ``error``."""
    async for now in services.reindexing.news():
        if now.state == "running":
            yield frame("progress", now)
        elif now.state == "failed":
            hint = "The old vectors go on answering; `hubd rag reindex` tries again."
            yield frame("error", {"code": "internal", "message": now.message, "hint": hint})
        else:
            yield frame("done", now)


ROUTES = [
    web.get("/hub/documents/reindex", state),
    web.post("/hub/documents/reindex", start),
]
