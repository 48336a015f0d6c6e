"""HTTP requests into structs, and structs into server-sent events."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import TypeVar

import msgspec
from aiohttp import web

from engine.error_replies import described
from engine.errors import EngineError
from engine.protocol import END_OF_STREAM, ErrorReply, event

log = logging.getLogger(__name__)

Body = TypeVar("Body")


async def body_of(request: web.Request, kind: type[Body]) -> Body:
    """The request's JSON as ``kind``. Raises msgspec's errors, which name the field."""
    raw = await request.read()
    if len(raw) > 64 * 1024:  # decoding 1 MB of JSON takes 3 ms: long ones go to a thread
        return await asyncio.to_thread(msgspec.json.decode, raw, type=kind)
    return msgspec.json.decode(raw, type=kind)


async def send_events(
    request: web.Request, chunks: AsyncIterator[msgspec.Struct]
) -> web.StreamResponse:
    """Send chunks as server-sent events. An error in mid-stream is an event, without [DONE]."""
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
    )
    await response.prepare(request)
    try:
        try:
            async for chunk in chunks:
                await response.write(event(chunk))
        except EngineError as error:
            status, detail = described(error)
            log.warning("a stream ended early (%d): %s", status, detail.message)
            await response.write(event(ErrorReply(detail)))
        else:
            await response.write(END_OF_STREAM)
        await response.write_eof()
    except ConnectionError:
        log.info("a client went away in mid-stream")
    return response
