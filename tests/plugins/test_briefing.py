"""The briefing: what is told, when it is announced, and that a missing part is no fault."""

import pytest

from plugins.api import MissingArgumentError, ToolError

FAMILY = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test
BEGIN:VEVENT
UID:1
SUMMARY:Dentist
DTSTART;TZID=Europe/Berlin:20260327T150000
END:VEVENT
END:VCALENDAR
"""


async def announced(workshop, **time):
    async with workshop.board.listen() as queue:
        await workshop.pass_time(**time)
        heard = [queue.get_nowait() for _ in range(queue.qsize())]
    return [event.data["text"] for event in heard if event.event == "announcement"]


async def test_the_day_in_a_few_sentences(workshop, tmp_path):
    (tmp_path / "family.ics").write_bytes(FAMILY.replace("\n", "\r\n").encode())
    workshop.settings["calendar"] = {"sources": [str(tmp_path / "family.ics")]}
    await workshop.tools.start()
    await workshop.pass_time(seconds=1)
    await workshop("reminders.add", what="call Bob", when="at 6 pm")
    await workshop("reminders.add", what="pay the rent", when="tomorrow at 9")
    await workshop("timers.start", minutes=9, name="pasta")
    assert (await workshop("briefing.tell")).text == (
        "It is Friday, 27 March 2026. Home: rainy, 8 °C. Today: Dentist: 15:00 (family)."
        " 18:00 call Bob. The pasta timer has 9 minutes left."
    )


async def test_what_is_not_there_is_left_out(workshop):
    await workshop.home.load("entities: [{id: light.a, name: A, state: off}]")
    assert (await workshop("briefing.tell")).text == "It is Friday, 27 March 2026."
    assert (await workshop("briefing.tell", "zh")).text == "今天是2026年3月27日星期五。"


async def test_it_is_announced_at_its_time_over_the_change_of_clocks(workshop):
    result = await workshop("briefing.schedule", "de", when="jeden Tag um 7 Uhr")
    assert result.text == "Dein Überblick: jeden Tag 07:00."
    told = await announced(workshop, days=3)
    assert [text.split(".")[0] for text in told] == [
        "Heute ist Samstag, 28", "Heute ist Sonntag, 29", "Heute ist Montag, 30"
    ]  # fmt: skip
    (job,) = await pending(workshop)
    assert job.due.astimezone(workshop.time.tzinfo).isoformat() == "2026-03-31T07:00:00+02:00"


async def pending(workshop):
    from hubd.store import jobs

    return [job for job in await jobs.pending(workshop.database) if job.plugin == "briefing"]


async def test_one_that_comes_hours_too_late_is_left_out(workshop):
    await workshop("briefing.schedule", when="every weekday at 7")
    workshop.time = workshop.time.replace(day=30, hour=12)  # the box was off on Monday morning
    async with workshop.board.listen() as queue:
        await workshop.tools.run_job("briefing", "daily")
        assert queue.qsize() == 0
    (job,) = await pending(workshop)
    assert job.due.astimezone(workshop.time.tzinfo).day == 31


async def test_it_is_set_again_and_stopped(workshop):
    with pytest.raises(MissingArgumentError, match="When"):
        await workshop("briefing.schedule")
    await workshop("briefing.schedule", when="at 7")
    result = await workshop("briefing.schedule", when="at 8")
    assert len(await pending(workshop)) == 1
    assert (await workshop.undo(result)).text == "There is no daily briefing any more."
    assert await announced(workshop, days=2) == []
    with pytest.raises(ToolError, match="No daily briefing"):
        await workshop("briefing.stop")


SENTENCES = [
    ("en", "give me my daily briefing", "briefing.tell", {}),
    ("en", "brief me every weekday at 7", "briefing.schedule", {"when": "every weekday at 7"}),
    ("en", "stop the daily briefing", "briefing.stop", {}),
    ("zh", "今日播报", "briefing.tell", {}),
    ("zh", "每天早上七点给我播报", "briefing.schedule", {"when": "每天早上七点"}),
    ("zh", "取消每日播报", "briefing.stop", {}),
    ("de", "wie sieht mein Tag aus", "briefing.tell", {}),
    ("fr", "résumé du jour", "briefing.tell", {}),
    ("es", "resumen del día", "briefing.tell", {}),
]


@pytest.mark.parametrize(("language", "text", "tool", "arguments"), SENTENCES)
def test_a_sentence_is_understood(understood, language, text, tool, arguments):
    assert understood(text, language) == (tool, arguments)
