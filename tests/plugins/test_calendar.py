"""The calendar: fetched from a real server and from files, asked in words, old where it must be."""

import asyncio
import contextlib
import logging

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from plugins import calendars, ics
from plugins.api import ToolError
from plugins.calendars import Source, sources

FAMILY = b"""BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test
BEGIN:VEVENT
UID:1
SUMMARY:Dentist
LOCATION:Main Street 5
DTSTART;TZID=Europe/Berlin:20260328T100000
DTEND;TZID=Europe/Berlin:20260328T103000
END:VEVENT
BEGIN:VEVENT
UID:2
SUMMARY:Choir
DTSTART;TZID=Europe/Berlin:20260105T190000
DURATION:PT2H
RRULE:FREQ=WEEKLY
END:VEVENT
BEGIN:VEVENT
UID:3
SUMMARY:Ann's birthday
DTSTART;VALUE=DATE:19800328
RRULE:FREQ=YEARLY
END:VEVENT
END:VCALENDAR
""".replace(b"\n", b"\r\n")


@pytest.fixture
async def family(workshop, tmp_path):
    """A workshop whose calendar is a file that has been read."""
    (tmp_path / "family.ics").write_bytes(FAMILY)
    workshop.settings["calendar"] = {"sources": [f"Family = {tmp_path / 'family.ics'}"]}
    await workshop.tools.start()
    await workshop.pass_time(seconds=1)
    return workshop


async def test_what_is_on_a_day(family):
    result = await family("calendar.agenda", day="tomorrow")
    assert result.text == (
        "Tomorrow: Ann's birthday: all day (Family); Dentist: 10:00, Main Street 5 (Family)."
    )
    assert [event["calendar"] for event in result.data["events"]] == ["Family", "Family"]
    assert (await family("calendar.agenda")).text == "Nothing is in the calendar today."
    nothing = await family("calendar.agenda", day="on the 29th")
    assert nothing.text == "Nothing is in the calendar Sunday 29 March."
    week = await family("calendar.agenda", day="next week")
    assert week.text == "Next week: Choir: Monday 30 March 19:00 (Family)."
    coming = await family("calendar.agenda", day="the next three days")
    assert [event["title"] for event in coming.data["events"]] == ["Ann's birthday", "Dentist"]
    between = await family("calendar.agenda", day="2026-03-28/2026-03-30")
    titles = [event["title"] for event in between.data["events"]]
    assert titles == ["Ann's birthday", "Dentist", "Choir"]


async def test_a_week_that_ends_today_is_not_told_as_today(family):
    await family.pass_time(days=2)
    assert family.time.weekday() == 6
    week = await family("calendar.agenda", day="this week")
    assert week.text.startswith("Nothing is in the calendar this week. Next is: Choir: ")
    assert "Monday 30 March 19:00" in week.text or "tomorrow 19:00" in week.text
    today = await family("calendar.agenda", day="today")
    assert today.text == "Nothing is in the calendar today."
    german = await family("calendar.agenda", "de", day="diese Woche")
    assert german.text.startswith("Diese Woche steht nichts im Kalender. Als Nächstes: ")


async def test_when_something_is_next(family):
    dentist = await family("calendar.next", event="dentist appointment")
    assert dentist.text == "Dentist: tomorrow 10:00, Main Street 5 (Family)."
    assert (await family("calendar.next")).text.startswith("Ann's birthday: tomorrow")
    assert (
        await family("calendar.next", event="choir")
    ).text == "Choir: Monday 30 March 19:00 (Family). That is in 3 days."
    with pytest.raises(ToolError, match="plumber"):
        await family("calendar.next", event="plumber")


async def test_in_other_languages(family):
    assert "Dentist：10:00" in (await family("calendar.agenda", "zh", day="明天")).text
    assert (
        await family("calendar.agenda", "de", day="heute")
    ).text == "Heute steht nichts im Kalender."


async def test_it_answers_when_something_is_and_nothing_else(family):
    asked = {
        "when is my dentist thing?": "dentist",
        "what time is choir": "choir",
        "where is the dentist appointment": "dentist",
        "how many days until choir": "choir",
        "where is the dentist": None,
        "when is the bin collection": None,
        "who is the dentist": None,
        "when is it": None,
    }
    for question, event in asked.items():
        call = await family.tools.answer(question)
        assert (call is not None) == (event is not None), question
        if call:
            told = await family.tools.call(call)
            assert event in told.text.casefold()


async def test_without_calendars_it_says_how_to_name_one(workshop):
    assert await workshop.tools.answer("when is the dentist") is None
    told = await workshop("calendar.agenda")
    assert "settings" in told.text
    assert told.data == {"events": [], "calendars": 0}
    with pytest.raises(ToolError, match=r"settings"):
        await workshop("calendar.next")


async def test_it_is_read_again_and_what_left_the_configuration_is_forgotten(family, tmp_path):
    moved = FAMILY.replace(b"20260328T10", b"20260328T11").replace(b"T103000", b"T113000")
    (tmp_path / "family.ics").write_bytes(moved)
    await family.pass_time(minutes=31)
    assert "11:00" in (await family("calendar.next", event="dentist")).text
    family.settings["calendar"] = {"sources": []}
    await family.pass_time(minutes=31)
    with pytest.raises(ToolError):
        await family("calendar.next", event="dentist")


async def test_a_calendar_that_is_away_keeps_what_it_said_and_says_how_old_it_is(family, tmp_path):
    (tmp_path / "family.ics").unlink()
    await family.pass_time(hours=2)
    assert "(As of" not in (await family("calendar.next", event="choir")).text
    await family.pass_time(hours=24)
    answer = (await family("calendar.next", event="choir")).text
    assert answer.startswith("Choir: Monday 30 March 19:00 (Family). That is in 2 days.")
    assert "(As of Friday 27 March 12:00: the calendar cannot be read now.)" in answer


async def test_a_calendar_comes_from_a_server(workshop):
    async def serve(request):
        return web.Response(body=FAMILY, content_type="text/calendar")

    async with server(serve) as address:
        workshop.settings["calendar"] = {"sources": [f"Work = {address}/secret-name.ics"]}
        await workshop.tools.start()
        await workshop.pass_time(seconds=1)
    assert "(Work)" in (await workshop("calendar.next", event="choir")).text


def server(handler):
    """``async with server(handler) as address``: a server of this machine."""

    @contextlib.asynccontextmanager
    async def running():
        app = web.Application()
        app.router.add_get("/{path:.*}", handler)
        async with TestServer(app) as started:
            yield str(started.make_url("")).rstrip("/")

    return running()


async def _forbidden(request):
    return web.Response(status=403)


async def _round_and_round(request):
    raise web.HTTPFound(f"/{int(request.match_info['path'] or 0) + 1}")


async def _without_end(request):
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(10_000):
        await response.write(b"X" * 65_536)
    return response


async def _silent(request):
    await asyncio.sleep(10)


@pytest.mark.parametrize("handler", [_forbidden, _round_and_round, _without_end, _silent])
async def test_a_server_that_misbehaves_is_given_up_and_its_secret_kept(
    workshop, handler, monkeypatch, caplog
):
    monkeypatch.setattr(calendars, "FETCH_LIMIT_S", 0.5)
    monkeypatch.setattr(ics, "MAXIMUM_BYTES", 1_000_000)
    async with server(handler) as address:
        workshop.settings["calendar"] = {"sources": [f"Work = {address}/0?key=s3cret"]}
        with caplog.at_level(logging.DEBUG):
            await workshop.tools.start()
            await workshop.pass_time(seconds=1)
    assert "calendar not read name=Work" in caplog.text
    logged = [
        r.getMessage() for r in caplog.records if not r.name.startswith(("aiohttp", "asyncio"))
    ]
    assert not any("s3cret" in line for line in logged)
    with pytest.raises(ToolError, match="choir"):
        await workshop("calendar.next", event="choir")


async def test_only_the_web_and_files_are_read():
    with pytest.raises(ics.CalendarError, match="does not begin"):
        await calendars.fetched("ftp://example.org/a.ics")
    with pytest.raises(ics.CalendarError, match="cannot be read"):
        await calendars.fetched("/nowhere/at/all.ics")


def test_calendars_are_named():
    settings = {
        "sources": ["Family = https://x.org/a?b=c", "webcal://y.org/b.ics", "/home/z/work.ics"]
    }
    assert sources(settings) == [
        Source("Family", "https://x.org/a?b=c"),
        Source("y.org", "webcal://y.org/b.ics"),
        Source("work", "/home/z/work.ics"),
    ]


SENTENCES = [
    ("en", "What's on tomorrow?", "calendar.agenda", {"day": "tomorrow"}),
    ("en", "what do we have planned this weekend", "calendar.agenda", {"day": "this weekend"}),
    ("en", "am I free on Friday", "calendar.agenda", {"day": "Friday"}),
    ("en", "what's on my calendar", "calendar.agenda", {}),
    (
        "en",
        "when is the next dentist appointment",
        "calendar.next",
        {"event": "dentist"},
    ),
    ("en", "when is my next appointment", "calendar.next", {}),
    (
        "en",
        "put down the dentist in the calendar for the fourteenth of December at four",
        "calendar.add",
        {"title": "the dentist", "when": "for the fourteenth of December at four"},
    ),
    ("zh", "明天有什么安排", "calendar.agenda", {"day": "明天"}),
    ("zh", "周末有安排吗", "calendar.agenda", {"day": "周末"}),
    ("zh", "接下来有什么安排", "calendar.next", {}),
    ("de", "was steht morgen an", "calendar.agenda", {"day": "morgen"}),
    ("de", "wann ist mein nächster termin", "calendar.next", {}),
    ("fr", "qu'est-ce que j'ai de prévu demain", "calendar.agenda", {"day": "demain"}),
    ("es", "qué tengo mañana", "calendar.agenda", {"day": "mañana"}),
]


@pytest.mark.parametrize(("language", "text", "tool", "arguments"), SENTENCES)
def test_a_question_is_understood(understood, language, text, tool, arguments):
    assert understood(text, language) == (tool, arguments)


@pytest.mark.parametrize("text", ["what's on TV tonight", "what's on the shopping list"])
def test_what_is_no_question_for_a_calendar(understood, text):
    call = understood(text)
    assert call is None or not call[0].startswith("calendar.")
