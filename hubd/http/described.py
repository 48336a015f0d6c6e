"""What each handler takes and gives, said beside it and kept for ``/openapi.json``.

A handler without a description is not let into the application. Knows nothing of OpenAPI.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec
from aiohttp import web

Handler = TypeVar("Handler", bound=Callable[[web.Request], Awaitable[web.StreamResponse]])

SERVER_SENT_EVENTS = "text/event-stream"
LINES = "application/x-ndjson"
JSON = "application/json"


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """What a handler takes and gives. Types are those that validate; texts are media types."""

    body: Any = None
    """Of a JSON body: the type that it is decoded to; ``None``: none is read."""
    files: bool = False
    """Takes ``multipart/form-data`` with files too."""
    form: bool = False
    """Takes ``application/x-www-form-urlencoded`` with the same fields too."""
    query: type[msgspec.Struct] | None = None
    reply: Any = None
    """Of a JSON reply: its type; or the media type of another reply."""
    streamed: str = ""
    """The media type in which the reply comes piece by piece where that is asked for."""
    status: int = 200
    others: Mapping[int, Any] = {}
    """Further statuses and the types of their JSON replies, where these are no errors."""


_DESCRIBED: dict[Any, Described] = {}


def describe(**parts: Any) -> Callable[[Handler], Handler]:
    """Say what a handler takes and gives: the fields of ``Described``."""
    described = Described(**parts)

    def keep(handler: Handler) -> Handler:
        _DESCRIBED[handler] = described
        return handler

    return keep


def described(handler: Any) -> Described:
    """What was said of a handler.

    Raises:
        LookupError: nothing was.
    """
    try:
        return _DESCRIBED[handler]
    except KeyError:
        where = f"{handler.__module__}.{handler.__qualname__}"
        raise LookupError(f"{where} answers a route and has no @describe(…)") from None
