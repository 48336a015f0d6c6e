"""A person's conversations as the page shows them: list, search, read, rename, shorten, delete."""

from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from hubd.errors import NotFoundError
from hubd.http import replies
from hubd.http.body import LARGEST, query, read_body, reply
from hubd.http.callers import caller_of
from hubd.http.described import describe
from hubd.http.services import SERVICES
from hubd.store.conversations import Conversation, Transcript


class Search(msgspec.Struct, kw_only=True):
    containing: Annotated[str, Meta(max_length=200)] = ""
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


class Title(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    title: Annotated[str, Meta(max_length=120)]


class Keep(msgspec.Struct, kw_only=True):
    keep: Annotated[int, Meta(ge=0, le=LARGEST)]


@describe(query=Search, reply=list[Conversation])
async def conversations(request: web.Request) -> web.StreamResponse:
    """The latest first."""
    asked = query(request, Search)
    found = await request.app[SERVICES].conversations.list(
        asked.limit, asked.containing.strip(), _person(request)
    )
    return reply(found)


@describe(reply=Transcript)
async def show(request: web.Request) -> web.StreamResponse:
    """All turns of one."""
    name = request.match_info["conversation"]
    found = await request.app[SERVICES].conversations.transcript(name, _person(request))
    if found is None:
        raise _unknown()
    return reply(found)


@describe(body=Title, reply=replies.Renamed)
async def rename(request: web.Request) -> web.StreamResponse:
    """Give it a title."""
    title = " ".join((await read_body(request, Title)).title.split())
    name = request.match_info["conversation"]
    done = await request.app[SERVICES].conversations.rename(name, title, _person(request))
    return _changed(request, "renamed", done)


@describe(query=Keep, reply=replies.Shortened)
async def shorten(request: web.Request) -> web.StreamResponse:
    """Forget the turns after the first ``keep``: what was said there is about to be said anew."""
    name = request.match_info["conversation"]
    keep = query(request, Keep).keep
    done = await request.app[SERVICES].conversations.shorten(name, keep, _person(request))
    return _changed(request, "shortened", done)


@describe(reply=replies.Deleted)
async def delete(request: web.Request) -> web.StreamResponse:
    """Put it aside for a day."""
    name = request.match_info["conversation"]
    done = await request.app[SERVICES].conversations.delete(name, _person(request))
    return _changed(request, "deleted", done)


@describe(reply=replies.Restored)
async def restore(request: web.Request) -> web.StreamResponse:
    """Take back a deletion."""
    name = request.match_info["conversation"]
    done = await request.app[SERVICES].conversations.restore(name, _person(request))
    return _changed(request, "restored", done)


def _person(request: web.Request) -> str:
    """Whose conversations they are."""
    return caller_of(request).person.name


def _changed(request: web.Request, change: str, done: bool) -> web.Response:
    """Tell every page, and reply."""
    if not done:
        raise _unknown()
    name = request.match_info["conversation"]
    board = request.app[SERVICES].board
    board.publish("conversation", {"conversation": name, "change": change})
    return reply({change: True})


def _unknown() -> NotFoundError:
    return NotFoundError("there is no such conversation")


ROUTES = [
    web.get("/hub/conversations", conversations),
    web.get("/hub/conversations/{conversation}", show),
    web.patch("/hub/conversations/{conversation}", rename),
    web.delete("/hub/conversations/{conversation}/turns", shorten),
    web.delete("/hub/conversations/{conversation}", delete),
    web.post("/hub/conversations/{conversation}/restore", restore),
]
