"""Server-sent events out: one task owns the source, heartbeats keep the line, slow readers go.

The source is iterated by a single task, because a turn has time limits that belong to the task
which runs it. Whoever goes away cancels that task.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import msgspec
from aiohttp import web

from hubd.http.callers import plain_path

log = logging.getLogger(__name__)

HEARTBEAT_S = 15.0
HEARTBEAT = b": \n\n"
WRITE_LIMIT_S = 20.0
"""A reader that takes nothing for this long is dropped."""
QUEUE_LIMIT = 64

HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}


def frame(event: str, data: Any) -> bytes:
    """One event with a name, its data as JSON."""
    return b"event: %s\ndata: %s\n\n" % (event.encode(), msgspec.json.encode(data))


async def stream(
    request: web.Request,
    frames: AsyncGenerator[bytes],
    headers: Mapping[str, str] = HEADERS,
    heartbeat: bytes = HEARTBEAT,
) -> web.StreamResponse:
    """Write ``frames`` as they come until they end or the reader goes.

    A fault in the source must be a frame of its own: nothing can be said after the headers. Other
    line protocols than server-sent events give ``headers`` of their own, and a ``heartbeat`` that
    their readers skip, or an empty one.
    """
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    queue: asyncio.Queue[bytes | None] = asyncio.Queue(QUEUE_LIMIT)
    pump = asyncio.create_task(_pump(frames, queue))
    try:
        while (piece := await _next(queue, heartbeat)) is not None:
            if piece:
                async with asyncio.timeout(WRITE_LIMIT_S):
                    await response.write(piece)
        await response.write_eof()
    except (ConnectionError, TimeoutError):
        log.debug("a reader went away path=%s", plain_path(request))
    finally:
        pump.cancel()
        await asyncio.gather(pump, return_exceptions=True)
    return response


async def _next(queue: "asyncio.Queue[bytes | None]", heartbeat: bytes) -> bytes | None:
    """The next frame, or a heartbeat when none comes; ``None`` at the end."""
    try:
        async with asyncio.timeout(HEARTBEAT_S):
            return await queue.get()
    except TimeoutError:
        return heartbeat


async def _pump(frames: AsyncGenerator[bytes], queue: "asyncio.Queue[bytes | None]") -> None:
    try:
        async with contextlib.aclosing(frames):
            async for piece in frames:
                await queue.put(piece)
    except Exception:  # the reader must not wait for ever
        log.exception("a stream broke off")
    await queue.put(None)
