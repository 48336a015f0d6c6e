"""Timers on the real toolbox and database: start, look, cancel, ring, ring late, once."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.events import NoticeBoard
from hubd.schedule import Schedule
from hubd.store import jobs
from hubd.store.database import Database
from hubd.tool_context import Speaker
from hubd.tools import ToolBox
from plugins.api import ToolCall, ToolError
from plugins.running_timers import LONGEST, Length, clean_name, duration_of
from plugins.spoken import duration
from plugins.timers import plugin


class House:
    """A toolbox with the timers plugin, a clock to move, and what the pages heard."""

    def __init__(self, database, queue, board):
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)
        self.database = database
        self._queue = queue
        self.tools = ToolBox(
            [plugin],
            database=database,
            schedule=Schedule(database),
            board=board,
            clock=lambda: self.time,
        )

    async def __call__(self, tool, **arguments):
        return await self.tools.call(ToolCall(tool=f"timers.{tool}", arguments=arguments))

    def heard(self):
        """The states and names that pages heard since the last look."""
        events = [self._queue.get_nowait() for _ in range(self._queue.qsize())]
        return [(event.data["state"], event.data["name"]) for event in events]

    def texts(self):
        return [self._queue.get_nowait().data["text"] for _ in range(self._queue.qsize())]

    def pass_time(self, **parts):
        self.time += timedelta(**parts)

    async def ring_what_is_due(self):
        """What the scheduler does at its time."""
        for job in await jobs.pending(self.database):
            if job.due <= self.time:
                await self.tools.run_job(job.plugin, job.key)
                await jobs.finish(self.database, job.id)


@pytest.fixture
async def house(tmp_path):
    database = await Database.open(tmp_path / "hubd.db")
    board = NoticeBoard()
    async with board.listen() as queue:
        yield House(database, queue, board)
    await database.close()


async def test_a_timer_is_started_shown_and_kept(house):
    result = await house("start", minutes=9, name="pasta")
    assert result.text == "The pasta timer is set for 9 minutes."
    assert house.heard() == [("started", "pasta")]
    assert result.data["due"] == "2026-03-01T12:09:00+00:00"
    (job,) = await jobs.pending(house.database)
    assert job.due == house.time + timedelta(minutes=9)


async def test_how_long_is_left(house):
    await house("start", minutes=9, name="pasta")
    await house("start", minutes=3, name="eggs")
    house.pass_time(minutes=2, seconds=30)
    assert (await house("list")).text == (
        "The eggs timer has 30 seconds left. The pasta timer has 6 minutes and 30 seconds left."
    )
    assert (await house("list", name="the pasta timer")).data["timers"][0]["left_s"] == 390


async def test_nothing_is_running(house):
    assert (await house("list")).text == "No timer is running."
    with pytest.raises(ToolError, match="No timer is running"):
        await house("cancel")


async def test_it_is_the_timer_started_last(house):
    await house("start", minutes=1, name="eggs")
    house.pass_time(seconds=1)
    await house("start", minutes=9, name="pasta")
    assert (await house("cancel", timer="latest")).text == "The pasta timer is cancelled."
    assert [job.due for job in await jobs.pending(house.database)] == [
        datetime(2026, 3, 1, 12, 1, tzinfo=UTC)
    ]


async def test_a_timer_is_cancelled_by_name_or_id(house):
    await house("start", minutes=1, name="eggs")
    started = await house("start", minutes=9, name="pasta")
    await house("cancel", timer="My Eggs timer")
    await house("cancel", timer=started.data["id"])
    assert await jobs.pending(house.database) == []
    with pytest.raises(ToolError, match="No timer"):
        await house("list", name="eggs")


async def test_an_unknown_name_is_answered_with_those_that_there_are(house):
    await house("start", minutes=1, name="eggs")
    with pytest.raises(ToolError, match=r"no rice timer.*eggs"):
        await house("cancel", timer="rice")


async def test_the_only_one_is_meant_by_any_name_if_it_has_none(house):
    await house("start", minutes=5)
    told = await house("add", minutes=2, timer="rice")
    assert told.text == "The 5-minute timer has 7 minutes left now."
    await house("start", minutes=1, name="eggs")
    with pytest.raises(ToolError, match=r"no rice timer"):
        await house("add", minutes=2, timer="rice")


async def test_an_id_that_is_gone_means_no_other_timer(house):
    gone = await house("start", minutes=1)
    await house("cancel", timer=gone.data["id"])
    await house("start", minutes=5)
    for tool in ("cancel", "pause"):
        with pytest.raises(ToolError, match=r"no .* timer"):
            await house(tool, timer=gone.data["id"])
    assert len((await house("list")).data["timers"]) == 1


async def test_all_are_cancelled(house):
    await house("start", minutes=1)
    await house("start", minutes=2)
    assert (await house("cancel", timer="all")).text == "2 timers are cancelled."
    assert (await house("list")).data == {"timers": []}


async def test_starting_can_be_undone(house):
    result = await house("start", minutes=1)
    await house.tools.call(result.undo)
    assert (await house("list")).text == "No timer is running."


async def test_a_timer_rings_and_goes_on_ringing_until_it_is_stopped(house):
    await house("start", minutes=9, name="pasta")
    house.pass_time(minutes=9)
    house.heard()
    await house.ring_what_is_due()
    assert house.heard() == [("ringing", "pasta")]
    assert (await house("list")).text == "The pasta timer is ringing."
    assert (await house("cancel")).text == "The pasta timer is stopped."
    assert house.heard() == [("cancelled", "pasta")]


async def test_of_a_timer_that_nobody_stopped_it_is_told_when_it_ran_out(house):
    await house("start", minutes=9, name="pasta")
    house.pass_time(minutes=9)
    await house.ring_what_is_due()
    house.pass_time(minutes=4)
    assert (await house("list")).text == "The pasta timer is ringing."
    house.pass_time(minutes=30)
    assert re.fullmatch(r"The pasta timer ran out at \d\d:\d\d\.", (await house("list")).text)
    assert (await house("cancel")).text == "The pasta timer is stopped."


async def test_what_rings_is_stopped_before_what_runs_is_cancelled(house):
    await house("start", minutes=1, name="eggs")
    await house("start", minutes=9, name="pasta")
    house.pass_time(minutes=1)
    await house.ring_what_is_due()
    assert (await house("cancel")).text == "The eggs timer is stopped."
    assert (await house("list")).data["timers"][0]["name"] == "pasta"


async def test_a_timer_rings_late_but_once_and_says_how_late(house):
    await house("start", minutes=9, name="pasta")
    house.pass_time(hours=2, minutes=9)
    house.texts()
    await house.ring_what_is_due()
    assert house.texts() == ["The pasta timer was done 2 hours ago."]
    await house.ring_what_is_due()
    assert house.texts() == []


async def test_a_job_that_runs_twice_rings_once(house):
    timer = (await house("start", minutes=9)).data["id"]
    house.pass_time(minutes=9)
    house.heard()
    await house.tools.run_job("timers", timer)
    await house.tools.run_job("timers", timer)
    assert house.heard() == [("ringing", "")]


async def test_a_job_whose_timer_was_cancelled_is_silent(house):
    timer = (await house("start", minutes=9)).data["id"]
    await house("cancel")
    house.heard()
    await house.tools.run_job("timers", timer)
    assert house.heard() == []


async def test_ringing_is_forgotten_after_half_a_day(house):
    await house("start", minutes=9)
    house.pass_time(minutes=9)
    await house.ring_what_is_due()
    house.pass_time(hours=13)
    assert (await house("list")).text == "No timer is running."


@pytest.mark.parametrize(
    "arguments",
    [{}, {"minutes": 0}, {"seconds": 0.2}, {"hours": 169}, {"hours": 100, "minutes": 9e4}],
)
async def test_a_duration_that_makes_no_sense_is_refused(house, arguments):
    with pytest.raises(ToolError):
        await house("start", **arguments)


@pytest.mark.parametrize("value", [-1, "nan", "inf", "soon"])
async def test_an_amount_that_is_none_is_refused(house, value):
    with pytest.raises(ToolError):
        await house("start", minutes=value)


@given(st.integers(0, 100), st.integers(0, 300), st.integers(0, 5000))
def test_hours_minutes_and_seconds_add_up(hours, minutes, seconds):
    total = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    length = Length(hours=hours, minutes=minutes, seconds=seconds)
    if timedelta(seconds=1) <= total <= LONGEST:
        assert duration_of("en", length) == total
    else:
        with pytest.raises(ToolError):
            duration_of("en", length)


UNITS = {"day": 86_400, "hour": 3600, "minute": 60, "second": 1}


@given(st.integers(1, 7 * 86_400))
def test_spoken_durations_say_every_second(seconds):
    words = duration(timedelta(seconds=seconds)).replace(",", "").replace(" and", "").split()
    amounts = zip(words[::2], words[1::2], strict=True)
    assert sum(int(count) * UNITS[unit.rstrip("s")] for count, unit in amounts) == seconds


@given(st.text())
def test_cleaning_a_name_twice_is_cleaning_it_once_or_shorter(name):
    cleaned = clean_name(name)
    assert cleaned == " ".join(cleaned.split())
    assert len(clean_name(cleaned)) <= len(cleaned)


def test_names_are_told_as_people_mean_them():
    assert clean_name("The Pasta timer") == "pasta"
    assert clean_name("rice is on the hob") == "rice"
    assert clean_name("my  egg   timer") == "egg"
    assert clean_name("pasta only") == clean_name("the pasta just") == "pasta"


LANGUAGES = {
    "en": ("The pasta timer is set for 1 hour and 2 minutes.", "The pasta timer is done."),
    "zh": ("“pasta”计时器已设定，时长1小时2分钟。", "“pasta”计时器时间到了。"),
    "de": ("Der Timer „Pasta“ läuft: 1 Stunde und 2 Minuten.", "Der Timer „Pasta“ ist abgelaufen."),
    "fr": (
        "Le minuteur « pasta » est réglé : 1 heure et 2 minutes.",
        "Le minuteur « pasta » est terminé.",
    ),
    "es": (
        "El temporizador «pasta» está puesto: 1 hora y 2 minutos.",
        "El temporizador «pasta» ha terminado.",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_timer_speaks_the_language_it_was_set_in(house, language):
    said, rung = LANGUAGES[language]
    call = ToolCall(tool="timers.start", arguments={"hours": 1, "minutes": 2, "name": "pasta"})
    assert (await house.tools.call(call, Speaker(language=language))).text == said
    house.pass_time(hours=1, minutes=2)
    house.texts()
    await house.ring_what_is_due()
    assert house.texts() == [rung]


async def test_a_timer_is_paused_moved_and_resumed(house):
    await house("start", minutes=9, name="pasta")
    await house("start", minutes=3, name="eggs")
    assert (await house("pause", of_minutes=9)).text == "The pasta timer is paused."
    house.pass_time(minutes=1)
    assert (await house("add", minutes=1, timer="pasta")).text == (
        "The pasta timer has 10 minutes left now."
    )
    assert (await house("resume")).text == "The pasta timer runs again."
    moved = await house("subtract", minutes=4, timer="pasta")
    assert moved.text == "The pasta timer has 6 minutes left now."
    assert (await house.tools.call(moved.undo)).data["timers"][0]["left_s"] == 600
    with pytest.raises(ToolError, match=r"Which timer\? The eggs timer has 2 minutes left"):
        await house("add", minutes=1, timer="all")


async def test_a_word_that_stops_what_rings_ends_no_timer_that_runs(workshop):
    await workshop("timers.start", minutes=9, name="pasta")
    stop = ToolCall(tool="timers.cancel", arguments={"timer": "ringing"})
    with pytest.raises(ToolError, match=r"Nothing rings. The pasta timer has 9 minutes left"):
        await workshop.tools.call(stop, Speaker(area="bedroom"))
    await workshop.pass_time(minutes=10)
    assert (await workshop("timers.cancel", timer="ringing")).text == "The pasta timer is stopped."


async def test_where_nothing_rings_it_pauses_what_plays_in_the_room(workshop):
    stop = ToolCall(tool="timers.cancel", arguments={"timer": "ringing"})
    with pytest.raises(ToolError, match="Nothing rings"):
        await workshop.tools.call(stop, Speaker(area="bedroom"))
    done = await workshop.tools.call(stop, Speaker(area="kitchen"))
    assert "Radio" in done.text
    assert workshop.entity("media_player.radio").state == "paused"


async def test_what_was_done_to_a_timer_is_taken_back(workshop):
    await workshop("timers.start", minutes=9, name="pasta")
    await workshop.pass_time(minutes=2)
    await workshop.undo(await workshop("timers.cancel", timer="pasta"))
    assert (await workshop("timers.list")).text == "The pasta timer has 7 minutes left."
    await workshop.undo(await workshop("timers.pause", timer="pasta"))
    await workshop.pass_time(minutes=1)
    assert (await workshop("timers.list")).text == "The pasta timer has 6 minutes left."
    await workshop("timers.pause")
    await workshop.undo(await workshop("timers.resume"))
    assert (await workshop("timers.list")).text.startswith("The pasta timer is paused")


async def test_a_timer_is_found_by_the_beginning_of_its_name(workshop):
    await workshop("timers.start", "de", minutes=9, name="Nudeln")
    await workshop("timers.start", "de", minutes=5, name="Eier")
    assert (
        await workshop("timers.pause", "de", timer="Nudel-")
    ).text == "Der Timer „Nudeln“ ist angehalten."
    assert "„Eier“" in (await workshop("timers.cancel", "de", timer="Eiertimer")).text
    with pytest.raises(ToolError, match="Einen Timer „pizza“ gibt es nicht"):
        await workshop("timers.cancel", "de", timer="Pizza")
