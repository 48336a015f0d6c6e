"""Reminders and alarms: set, listed, rung late but once, repeated, snoozed, cancelled."""

import pytest

from hubd.policy import Person
from hubd.tool_context import Speaker
from plugins.api import Location, MissingArgumentError, ToolCall, ToolError


async def entries(workshop):
    """What is kept and was not cancelled."""
    kept = await workshop.tools._context("reminders", Speaker()).storage.all()
    return {key: entry for key, entry in kept.items() if not entry["ended"]}


async def test_a_reminder_rings_once_and_is_cancelled(workshop):
    result = await workshop("reminders.add", what="water the plants at 6 pm")
    assert result.text == "Water the plants: today 18:00."
    async with workshop.board.listen() as queue:
        await workshop.pass_time(hours=7)
        rung = [queue.get_nowait().data for _ in range(queue.qsize())]
    assert [(r["state"], r["what"]) for r in rung] == [("ringing", "water the plants")]
    assert (await workshop("reminders.cancel")).text == "Stopped: water the plants."
    assert await entries(workshop) == {}


async def test_an_alarm_on_weekdays_skips_the_weekend_and_the_change_of_clocks(workshop):
    result = await workshop("alarms.set", when="every weekday at 7")
    assert result.text == "Alarm: every weekday 07:00."
    async with workshop.board.listen() as queue:
        await workshop.pass_time(days=4)
        rung = [queue.get_nowait().data for _ in range(queue.qsize())]
    ringing = [r["due"] for r in rung if r["state"] == "ringing"]
    assert ringing == ["2026-03-30T07:00:00+02:00", "2026-03-31T07:00:00+02:00"]
    (waiting,) = (await entries(workshop)).values()
    assert waiting["state"] == "waiting"


async def test_what_passed_while_the_power_was_off_is_told_late_but_once(workshop):
    await workshop("reminders.add", what="call Bob", when="in 20 minutes")
    key = next(iter(await entries(workshop)))
    workshop.time = workshop.time.replace(hour=15)
    async with workshop.board.listen() as queue:
        await workshop.tools.run_job("reminders", key)
        await workshop.tools.run_job("reminders", key)
        rung = [queue.get_nowait().data for _ in range(queue.qsize())]
    assert [r["text"] for r in rung] == ["Call Bob (12:20)"]


async def test_snoozing(workshop):
    with pytest.raises(ToolError, match="Nothing rings"):
        await workshop("alarms.snooze")
    await workshop("alarms.set", when="at 1 pm")
    await workshop.pass_time(hours=2)
    assert (await workshop("alarms.snooze", minutes=5)).text == "Again in 5 minutes."
    (entry,) = (await entries(workshop)).values()
    assert entry["state"] == "waiting"
    await workshop.pass_time(minutes=6)
    (entry,) = (await entries(workshop)).values()
    assert entry["state"] == "ringing"


async def test_one_that_repeats_is_snoozed_and_stopped_and_comes_again(workshop):
    await workshop("alarms.set", when="every day at 1 pm")
    await workshop.pass_time(hours=1, minutes=1)
    assert (await workshop("alarms.snooze", minutes=5)).text == "Again in 5 minutes."
    (entry,) = (await entries(workshop)).values()
    assert entry["snoozed"]
    async with workshop.board.listen() as queue:
        await workshop.pass_time(minutes=6)
        rung = [queue.get_nowait().data for _ in range(queue.qsize())]
    assert [r["state"] for r in rung if r["state"] == "ringing"] == ["ringing"]
    await workshop("alarms.cancel")  # stops what rings, and keeps what comes tomorrow
    (entry,) = (await entries(workshop)).values()
    assert (entry["snoozed"], entry["rang"]) == (None, None)
    assert entry["due"].startswith("2026-03-28T13:00")
    await workshop("alarms.cancel")
    assert await entries(workshop) == {}


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
    ).text == "吃药：明天 09:00。"
    assert (await workshop("alarms.set", "de", when="um halb sieben")).text == (
        "Wecker: morgen 06:30."
    )


async def rung(workshop, **time):
    async with workshop.board.listen() as queue:
        await workshop.pass_time(**time)
        heard = [queue.get_nowait().data for _ in range(queue.qsize())]
    return [data["what"] for data in heard if data.get("state") == "ringing"]


async def test_a_reminder_waits_until_somebody_gets_home(workshop):
    result = await workshop("reminders.add", what="water the plants when Bob gets home")
    assert result.text == "Water the plants: when Bob gets home."
    assert await rung(workshop, minutes=5) == []
    await workshop.move("Bob", "home")
    assert await rung(workshop, minutes=1) == ["water the plants"]
    assert await rung(workshop, minutes=5) == []


async def test_who_is_at_home_has_to_leave_first(workshop):
    await workshop("reminders.add", what="call the bank", when="when Ann gets home")
    assert await rung(workshop, minutes=5) == []
    await workshop.move("Ann", "unavailable")
    assert await rung(workshop, minutes=1) == []
    await workshop.move("Ann", "not_home")
    assert await rung(workshop, minutes=1) == []
    await workshop.move("Ann", "home")
    assert await rung(workshop, minutes=1) == ["call the bank"]


async def test_whose_arrival_is_asked_or_known_by_who_speaks(workshop):
    with pytest.raises(ToolError, match="When who gets home: Ann and Bob"):
        await workshop("reminders.add", what="feed the cat when I get home")
    call = ToolCall(tool="reminders.add", arguments={"what": "feed the cat when I get home"})
    spoken = Speaker(person=Person(name="Bob", role="member"))
    kept = await workshop.tools.call(call, spoken)
    assert kept.text == "Feed the cat: when Bob gets home."
    await workshop.undo(kept)
    await workshop.move("Bob", "home")
    assert await rung(workshop, minutes=5) == []


@pytest.mark.parametrize(
    ("language", "what", "text"),
    [
        ("zh", "Bob到家的时候提醒浇花", "提醒浇花：Bob到家时。"),
        ("de", "wenn Bob nach Hause kommt den Müll rausbringen",
         "Den Müll rausbringen: wenn Bob nach Hause kommt."),
        ("fr", "appeler la banque quand Bob rentre", "Appeler la banque : quand Bob rentre."),
        ("es", "llamar al banco cuando Bob llegue a casa",
         "Llamar al banco: cuando Bob llegue a casa."),
    ],
)  # fmt: skip
async def test_arrivals_in_other_languages(workshop, language, what, text):
    assert (await workshop("reminders.add", language, what=what)).text == text


async def test_an_hour_that_the_clocks_skip_and_one_that_comes_twice(workshop):
    """Berlin, 29 March 2026: 2:30 does not exist. 25 October 2026: 2:30 comes twice."""
    await workshop("alarms.set", when="every day at 2:30")
    async with workshop.board.listen() as queue:
        await workshop.pass_time(days=3)
        heard = [queue.get_nowait().data for _ in range(queue.qsize())]
    ringing = [data["due"] for data in heard if data["state"] == "ringing"]
    assert ringing == [
        "2026-03-28T02:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"
    ]  # fmt: skip
    workshop.time = workshop.time.replace(month=10, day=24, hour=12)
    await workshop.pass_time(minutes=1)  # what was missed meanwhile
    async with workshop.board.listen() as queue:
        await workshop.pass_time(days=1)
        heard = [queue.get_nowait().data for _ in range(queue.qsize())]
    assert len([data for data in heard if data["state"] == "ringing"]) == 1


async def test_alarms_and_reminders_are_one_list_and_one_word_stops_them(workshop):
    await workshop("alarms.set", when="at 1 pm")
    await workshop("reminders.add", what="call Bob", when="at 1 pm")
    await workshop("reminders.add", what="water the plants", when="at 6 pm")
    listed = (await workshop("reminders.list")).data["reminders"]
    assert sorted(one["kind"] for one in listed) == ["alarm", "reminder", "reminder"]
    (alarm,) = (await workshop("alarms.list")).data["reminders"]
    assert alarm["kind"] == "alarm"
    await workshop.pass_time(hours=2)
    assert (await workshop("alarms.snooze", minutes=5)).text == "Again in 5 minutes."
    await workshop.pass_time(minutes=6)
    assert "Stopped" in (await workshop("timers.cancel", timer="ringing")).text
    (left,) = (await entries(workshop)).values()
    assert left["what"] == "water the plants"
    with pytest.raises(ToolError, match="no such reminder"):
        await workshop("alarms.cancel")  # the reminder is none of its own
    with pytest.raises(ToolError, match="Nothing rings"):
        await workshop("reminders.stop")


async def test_one_that_repeats_rings_for_those_who_look_and_is_stopped_by_its_id(workshop):
    await workshop("alarms.set", when="every day at 1 pm")
    await workshop.pass_time(hours=1, minutes=1)
    (shown,) = (await workshop("reminders.list")).data["reminders"]
    assert shown["state"] == "ringing"
    async with workshop.board.listen() as queue:
        await workshop("reminders.stop", which=shown["id"])
        assert queue.get_nowait().data["state"] == "waiting"
    (shown,) = (await workshop("reminders.list")).data["reminders"]
    assert (shown["state"], shown["due"][:13]) == ("waiting", "2026-03-28T13")
    await workshop("reminders.cancel", which=shown["id"])
    assert await entries(workshop) == {}


async def test_a_crash_while_one_that_repeats_rings_does_not_end_it(workshop):
    await workshop("alarms.set", when="every day at 1 pm")
    context = workshop.tools._context("reminders", Speaker())
    ((key, stored),) = (await entries(workshop)).items()
    await context.storage.put(key, {**stored, "state": "ringing"})
    workshop.time = workshop.time.replace(hour=13)
    await workshop.tools.run_job("reminders", key)  # as after the crash
    assert (await entries(workshop))[key]["due"].startswith("2026-03-28T13")


async def test_one_for_the_sun_ends_with_a_word_where_nobody_knows_the_place_any_more(workshop):
    workshop.home.location = lambda: Location(52.52, 13.41)
    await workshop("reminders.add", "de", what="Gießen", when="jeden Tag bei Sonnenuntergang")
    workshop.home.location = lambda: None
    async with workshop.board.listen() as queue:
        await workshop.pass_time(hours=10)
        heard = [queue.get_nowait() for _ in range(queue.qsize())]
    assert [e.data["state"] for e in heard if e.event == "reminder"] == ["ringing"]
    (said,) = [e.data["text"] for e in heard if e.event == "announcement"]
    assert said.startswith("Gießen: Ich weiß nicht, wann die Sonne untergeht")
    assert (await workshop("reminders.stop")).text == "Stopped: Gießen."
    assert await entries(workshop) == {}


async def test_all_of_a_kind_are_cancelled(workshop):
    await workshop("alarms.set", when="at 11 pm")
    await workshop("reminders.add", what="call Bob", when="at 11 pm")
    await workshop("reminders.cancel", which="all")
    (left,) = (await entries(workshop)).values()
    assert left["kind"] == "alarm"


async def alarms(workshop, *whens):
    for when in whens:
        await workshop("alarms.set", when=when)


async def lines(workshop, tool="alarms.list"):
    return (await workshop(tool)).text


@pytest.mark.parametrize(
    ("which", "left"),
    [
        ("seven", "at 9"), ("7 am", "at 9"), ("at 9:00", "at 7"), ("tomorrow at 9", "at 7"),
        ("9 pm", None), ("Sunday", None), ("six", None),
    ],
)  # fmt: skip
async def test_an_alarm_is_cancelled_by_its_time(workshop, which, left):
    await alarms(workshop, "tomorrow at 7", "tomorrow at 9")
    if left is None:
        with pytest.raises(ToolError, match=r"no such reminder or alarm. Alarm: tomorrow 07:00"):
            await workshop("alarms.cancel", which=which)
        return
    done = await workshop("alarms.cancel", which=which)
    assert done.text.startswith("Cancelled: alarm (tomorrow 0")
    hour = left.split()[-1]
    assert await lines(workshop) == f"Alarm: tomorrow 0{hour}:00."
    await workshop.undo(done)
    assert await lines(workshop) == "Alarm: tomorrow 07:00. Alarm: tomorrow 09:00."


async def test_which_of_several_is_asked(workshop):
    await alarms(workshop, "every weekday at 7", "every Sunday at 7")
    with pytest.raises(ToolError, match=r"Which one\? Alarm: Sunday 07:00. Alarm: every weekday"):
        await workshop("alarms.cancel", which="7 o'clock")
    await workshop("alarms.cancel", which="every Sunday")
    assert await lines(workshop) == "Alarm: every weekday 07:00."


async def test_a_day_without_the_alarm_that_repeats(workshop):
    await alarms(workshop, "every day at 7", "tomorrow at 9")
    done = await workshop("alarms.cancel", which="tomorrow")
    assert done.text == (
        "Cancelled: alarm (tomorrow 09:00). "
        "Alarm does not ring tomorrow 07:00; it does again after that."
    )
    async with workshop.board.listen() as queue:
        await workshop.pass_time(days=2)
        rung = [queue.get_nowait().data for _ in range(queue.qsize())]
    assert [r["due"] for r in rung if r["state"] == "ringing"] == ["2026-03-29T07:00:00+02:00"]


async def test_a_day_without_it_is_taken_back(workshop):
    await alarms(workshop, "every day at 7")
    await workshop.undo(await workshop("alarms.cancel", which="tomorrow"))
    ((_, entry),) = (await entries(workshop)).items()
    assert entry["due"].startswith("2026-03-28T07:00")


@pytest.mark.parametrize(
    ("at", "to", "line"),
    [
        ("tomorrow at 7", "eight", "Alarm: tomorrow 08:00."),
        ("at 8 pm", "nine", "Alarm: today 21:00."),
        ("tomorrow at 7", "sunday at 9", "Alarm: Sunday 29 March 09:00."),
        ("tomorrow at 7", "sunday", "Alarm: Sunday 29 March 07:00."),
        ("tomorrow at 7", "in 20 minutes", "Alarm: today 12:20."),
        ("tomorrow at 7", "every weekday at 6:30", "Alarm: every weekday 06:30."),
        ("every weekday at 7", "6:30", "Alarm: every weekday 06:30."),
    ],
)
async def test_an_alarm_is_moved(workshop, at, to, line):
    await alarms(workshop, at)
    before = await lines(workshop)
    done = await workshop("alarms.change", to=to)
    assert done.text == line == await lines(workshop)
    await workshop.undo(done)
    assert await lines(workshop) == before


async def test_one_that_repeats_is_moved_for_a_day(workshop):
    await alarms(workshop, "every day at 7")
    done = await workshop("alarms.change", to="tomorrow at 9")
    async with workshop.board.listen() as queue:
        await workshop.pass_time(days=2)
        rung = [queue.get_nowait().data for _ in range(queue.qsize())]
    at = [r["due"][:13] for r in rung if r["state"] == "ringing"]
    assert at == ["2026-03-28T09", "2026-03-29T07"]
    assert done.undo is not None


async def test_one_that_repeats_is_moved_for_a_day_and_back(workshop):
    await alarms(workshop, "every day at 7")
    await workshop.undo(await workshop("alarms.change", to="tomorrow at 9"))
    assert await lines(workshop) == "Alarm: every day 07:00."
    (entry,) = (await entries(workshop)).values()
    assert entry["due"].startswith("2026-03-28T07:00")


async def test_reminders_are_found_by_text_or_time(workshop):
    for what, when in (("call Bob", "at 6 pm"), ("call Ann", "tomorrow at 9")):
        await workshop("reminders.add", what=what, when=when)
    with pytest.raises(ToolError, match=r"Which one\? Call Bob: today 18:00. Call Ann"):
        await workshop("reminders.cancel", which="call")
    await workshop("reminders.change", to="7", which="bob")
    assert await lines(workshop, "reminders.list") == (
        "Call Bob: today 19:00. Call Ann: tomorrow 09:00."
    )
    await workshop("reminders.cancel", which="tomorrow")
    assert await lines(workshop, "reminders.list") == "Call Bob: today 19:00."


async def test_what_was_cancelled_is_forgotten_after_a_day(workshop):
    await workshop("reminders.add", what="call Bob", when="at 6 pm")
    await workshop("reminders.cancel", which="call Bob")
    await workshop.pass_time(days=2)
    await workshop("reminders.list")
    assert await workshop.tools._context("reminders", Speaker()).storage.all() == {}


@pytest.mark.parametrize(
    ("what", "language", "line"),
    [
        ("in 20 minutes to call Bob", "en", "Call Bob: today 12:20."),
        ("in 20 Minuten daran, Bob anzurufen", "de", "Bob anrufen: heute 12:20."),
        ("in zwei Stunden ans Umrühren", "de", "Umrühren: heute 14:00."),
        ("dans 20 minutes d'appeler Bob", "fr", "Appeler Bob : aujourd'hui 12:20."),
        ("total the bill at 6 pm", "en", "Total the bill: today 18:00."),
    ],
)
async def test_what_joins_the_time_to_the_task_is_no_part_of_it(workshop, what, language, line):
    assert (await workshop("reminders.add", language, what=what)).text == line


@pytest.mark.parametrize(
    ("what", "language"),
    [("in half an hour", "en"), ("in einer halben Stunde", "de"), ("半小时后", "zh")],
)
async def test_what_it_is_about_is_asked(workshop, what, language):
    with pytest.raises(MissingArgumentError) as asked:
        await workshop("reminders.add", language, what=what)
    assert asked.value.argument == "what"


@pytest.mark.parametrize(
    ("at", "by", "language", "line"),
    [
        ("tomorrow at 7", "half an hour earlier", "en", "Alarm: tomorrow 06:30."),
        ("every weekday at 7", "10 minutes later", "en", "Alarm: every weekday 07:10."),
        ("morgen um 7", "um eine Stunde später", "de", "Wecker: morgen 08:00."),
        ("明天七点", "提前十分钟", "zh", "闹钟：明天 06:50。"),
    ],
)
async def test_an_alarm_is_earlier_or_later(workshop, at, by, language, line):
    await workshop("alarms.set", language, when=at)
    assert (await workshop("alarms.change", language, by=by)).text == line


@pytest.mark.parametrize(
    ("language", "said", "told"),
    [
        ("en", "in an hour of the meeting", "The meeting"),
        ("en", "too pick up Emma in an hour", "Pick up Emma"),
        ("en", "in an hour to call Ann", "Call Ann"),
        ("de", "in einer Stunde an die Wäsche", "Wäsche"),
    ],
)
async def test_what_joins_the_time_is_no_part_of_what_it_is(workshop, language, said, told):
    added = await workshop("reminders.add", language, what=said)
    assert added.text.startswith(f"{told}: ")


async def test_of_two_on_a_day_only_the_one_that_is_named_is_left_out(workshop):
    await workshop("reminders.add", what="take the pills every day at 9")
    await workshop("reminders.add", what="feed the cat every day at 9")
    skipped = await workshop("reminders.cancel", which="the cat tomorrow")
    assert skipped.text == "Feed the cat does not ring tomorrow 09:00; it does again after that."
    with pytest.raises(ToolError, match="no such reminder"):
        await workshop("reminders.cancel", which="the dog tomorrow")
    cancelled = await workshop("reminders.cancel", which="the pills")
    assert cancelled.text.startswith("Cancelled: take the pills")
