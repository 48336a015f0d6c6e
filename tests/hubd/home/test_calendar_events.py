"""What Home Assistant tells its own calendar page, and what is said where it does not."""

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from hubd.home.calendar_events import read, write
from hubd.home.connection import CommandError
from hubd.home.link import Link
from plugins.api import Entity, HomeError

FAMILY = Entity(id="calendar.family", name="Family")
SPAN = {"start": "2026-03-27T00:00:00+01:00", "end": "2026-03-28T00:00:00+01:00"}
EVENTS = [
    {"start": {"dateTime": "2026-03-27T15:00:00+01:00"}, "summary": "Dentist", "uid": "7",
     "end": {"dateTime": "2026-03-27T16:00:00+01:00"}, "rrule": None},
    {"start": {"date": "2026-03-28"}, "end": {"date": "2026-03-29"}, "summary": "Holiday"},
]  # fmt: skip


async def asked(handler):
    """What is read from a server of this machine that answers so."""
    app = web.Application()
    app.router.add_get("/api/calendars/{id}", handler)
    async with TestServer(app) as server, aiohttp.ClientSession() as session:
        link = Link(url=str(server.make_url("")).rstrip("/"), token="secret")
        return await read(session, link, FAMILY, SPAN)


async def test_events_have_their_times_in_one_word_and_their_ids():
    seen = {}

    async def answer(request):
        seen.update(
            request.query, id=request.match_info["id"], token=request.headers["Authorization"]
        )
        return web.json_response(EVENTS)

    dentist, holiday = (await asked(answer))["events"]
    assert seen == {**SPAN, "id": "calendar.family", "token": "Bearer secret"}
    assert (dentist["start"], dentist["end"], dentist["uid"]) == (
        "2026-03-27T15:00:00+01:00", "2026-03-27T16:00:00+01:00", "7"
    )  # fmt: skip
    assert (holiday["start"], holiday["end"]) == ("2026-03-28", "2026-03-29")


async def _refuses(request):
    return web.Response(status=401)


async def _says_something_else(request):
    return web.json_response([{"summary": "no time"}])


async def _says_nothing_of_use(request):
    return web.Response(text="<html>", content_type="application/json")


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        (_refuses, r"Family does not answer now \(401\)"),
        (_says_something_else, "Family is not understood"),
        (_says_nothing_of_use, "Family is not understood"),
    ],
)
async def test_what_is_no_answer_is_said(handler, words):
    with pytest.raises(HomeError, match=words):
        await asked(handler)


async def test_nobody_there_is_said():
    async with aiohttp.ClientSession() as session:
        with pytest.raises(HomeError, match="Family does not answer now"):
            await read(session, Link(url="http://127.0.0.1:9", token="secret"), FAMILY, SPAN)


async def test_a_change_that_is_refused_says_why():
    class Refusing:
        async def command(self, kind, **data):
            assert (kind, data) == ("calendar/event/delete", {"entity_id": FAMILY.id, "uid": "7"})
            raise CommandError("not_supported", "this calendar is not yours")

    with pytest.raises(HomeError, match="Family was not changed: this calendar is not yours"):
        await write(Refusing(), "calendar.delete_event", FAMILY, {"uid": "7"})
