"""Reminders and alarms: set, listed, rung late but once, repeated, snoozed, cancelled."""

import pytest

from hubd.tools import Speaker
from plugins.api import MissingArgumentError, ToolError


async def entries(workshop, plugin="reminders"):
    return await workshop.tools._context(plugin, Speaker()).storage.all()


async def test_a_reminder_rings_once_and_is_cancelled(workshop):
    result = await workshop("reminders.add", what="water the plants at 6 pm")
    assert result.text == "Water the plants: today 18:00."
    async with workshop.board.listen() as queue:
        await workshop.pass_time(hours=7)
        rung = [queue.get_nowait().data for _ in range(queue.qsize())]
    assert [(r["state"], r["what"]) for r in rung] == [("ringing", "water the plants")]
    assert (await workshop("reminders.cancel")).text == "Cancelled: water the plants."
    assert await entries(workshop) == {}


async def test_an_alarm_on_weekdays_skips_the_weekend_and_the_change_of_clocks(workshop):
    result = await workshop("alarms.set", when="every weekday at 7")
    assert result.text == "Alarm: every weekday 07:00."
    async with workshop.board.listen() as queue:
        await workshop.pass_time(days=4)
        rung = [queue.get_nowait().data for _ in range(queue.qsize())]
    ringing = [r["due"] for r in rung if r["state"] == "ringing"]
    assert ringing == ["2026-03-30T07:00:00+02:00", "2026-03-31T07:00:00+02:00"]
    (waiting,) = (await entries(workshop, "alarms")).values()
    assert waiting["state"] == "waiting"


async def test_what_passed_while_the_power_was_off_is_told_late_but_once(workshop):
    await workshop("reminders.add", what="call Bob", when="in 20 minutes")
    key = next(iter(await entries(workshop)))
    workshop.time = workshop.time.replace(hour=15)
    async with workshop.board.listen() as queue:
        await workshop.tools.run_job("reminders", key)
        await workshop.tools.run_job("reminders", key)
        rung = [queue.get_nowait().data for _ in range(queue.qsize())]
    assert [r["text"] for r in rung] == ["call Bob (12:20)"]


async def test_snoozing(workshop):
    with pytest.raises(ToolError, match="Nothing rings"):
        await workshop("alarms.snooze")
    await workshop("alarms.set", when="at 1 pm")
    await workshop.pass_time(hours=2)
    assert (await workshop("alarms.snooze", minutes=5)).text == "Again in 5 minutes."
    (entry,) = (await entries(workshop, "alarms")).values()
    assert entry["state"] == "waiting"
    await workshop.pass_time(minutes=6)
    (entry,) = (await entries(workshop, "alarms")).values()
    assert entry["state"] == "ringing"


async def test_undo_and_list(workshop):
    first = await workshop("reminders.add", what="call Bob", when="tomorrow at 9")
    await workshop("reminders.add", what="feed the cat", when="at 2 pm")
    assert (await workshop("reminders.list")).text == (
        "Feed the cat: today 14:00. Call Bob: tomorrow 09:00."
    )
    await workshop.undo(first)
    assert len(await entries(workshop)) == 1
    with pytest.raises(ToolError, match="no such"):
        await workshop("reminders.cancel", which="dentist")


async def test_no_time_asks_and_a_past_day_is_refused(workshop):
    with pytest.raises(MissingArgumentError, match="When"):
        await workshop("reminders.add", what="call Bob")
    with pytest.raises(ToolError, match="passed"):
        await workshop("reminders.add", what="call Bob", when="today at 9")


async def test_chinese_and_german(workshop):
    assert (
        await workshop("reminders.add", "zh", what="明天早上九点吃药")
    ).text == "吃药: 明天 09:00."
    assert (await workshop("alarms.set", "de", when="um halb sieben")).text == (
        "Wecker: morgen 06:30."
    )
