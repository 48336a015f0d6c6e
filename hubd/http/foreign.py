"""Chat requests of other programs on their way to the engine: what is static goes first.

What both families of endpoints for foreign clients (OpenAI's and Ollama's) do with a request before
they pass it on.
"""

import hashlib
import logging
from typing import Any

import msgspec
from aiohttp import web

from engine.protocol import ChatRequest
from hubd.http.services import SERVICES

log = logging.getLogger(__name__)

MOVED_LINES = "X-Hubd-Moved-Lines"
"""Header of a reply: how many lines of the system message were moved to the user's message."""


def static_first(request: web.Request, body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The body of a chat request with what is volatile behind what is static, and how many lines
    were moved. Headers of the reply: `moved_header`.

    `hubd.http.volatile` says which lines; ``[http] move_volatile = false`` leaves all in place.
    """
    services = request.app[SERVICES]
    messages = body.get("messages")
    if not services.config.http.move_volatile or not isinstance(messages, list) or not messages:
        return body, 0
    client = _client(request, body)
    found = services.prompts.rearrange(
        client, messages, tools=bool(body.get("tools")), now=services.clock()
    )
    if not found.moved:
        return body, 0
    log.info("volatile lines moved client=%s lines=%d", client, found.moved)
    return body | {"messages": found.messages}, found.moved


def static_first_of(request: web.Request, wanted: ChatRequest) -> tuple[ChatRequest, int]:
    """The same for a request that was made from a body of another form."""
    body, moved = static_first(request, msgspec.to_builtins(wanted))
    return (msgspec.convert(body, ChatRequest), moved) if moved else (wanted, 0)


def moved_header(moved: int) -> dict[str, str]:
    """What a reply tells about it: nothing where nothing was moved."""
    return {MOVED_LINES: str(moved)} if moved else {}


def _client(request: web.Request, body: dict[str, Any]) -> str:
    """Who sends prompts of the same form again: a name that keeps the token secret."""
    headers = (request.headers.get(name, "") for name in ("Authorization", "User-Agent"))
    parts = (request.remote or "", request.path, str(body.get("model")), *headers)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
