"""What the page's status view shows besides ``/hub/status``: settings, and what was done."""

from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from aiohttp import web
from msgspec import Meta

from hubd.http import replies
from hubd.http.body import LARGEST, query, reply
from hubd.http.described import describe
from hubd.http.services import SERVICES

SECRET = ("token", "key", "secret", "password")
"""A setting with one of these words in its name is never told."""


class Window(msgspec.Struct, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    before: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None


@describe(query=Window, reply=list[replies.AuditLine])
async def audit(request: web.Request) -> web.StreamResponse:
    """What was done in the house, newest first."""
    asked = query(request, Window)
    found = await request.app[SERVICES].audit.latest(asked.limit, asked.before)
    return reply([{"number": number, **msgspec.to_builtins(entry)} for number, entry in found])


@describe(reply=dict[str, dict[str, Any]])
async def settings(request: web.Request) -> web.StreamResponse:
    """The configuration in use, by section, without what is secret."""
    return reply(shown(msgspec.to_builtins(request.app[SERVICES].config)))


def shown(settings: dict[str, Any]) -> dict[str, Any]:
    """``settings`` without secrets: neither by their names, nor inside of addresses."""
    return {
        name: shown(value) if isinstance(value, dict) else _plain(value)
        for name, value in settings.items()
        if not any(word in name for word in SECRET)
    }


def _plain(value: Any) -> Any:
    if isinstance(value, str) and "://" in value:
        return f"{urlsplit(value).scheme}://{urlsplit(value).hostname or ''}"
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


ROUTES = [web.get("/hub/audit", audit), web.get("/hub/settings", settings)]
