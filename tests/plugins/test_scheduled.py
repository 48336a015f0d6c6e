"""Commands that repeat, or wait for the sun: done at their times, told, cancelled, brought back."""

from datetime import datetime, timedelta

import pytest

from hubd.schedule import Schedule
from hubd.store.plugin_storage import PluginStorage
from plugins.api import Location, MissingArgumentError, ToolError

BERLIN = Location(52.52, 13.41)


@pytest.fixture
def done(workshop):
    """What was carried out, and when."""
    carried_out = []

    async def carry_out(utterance, speaker):
        carried_out.append((utterance, workshop.time.strftime("%d. %H:%M")))
        return f"({utterance})"

    workshop.tools.set_carry_out(carry_out)
    return carried_out


@pytest.fixture
def in_berlin(workshop):
    workshop.home.location = lambda: BERLIN


async def test_a_command_is_done_every_day_at_its_time(workshop, done):
    said = await workshop("routines.later", command="lights on", every="every evening", when="at 7")
    assert said.text == "“lights on”: every day 19:00."
    await workshop.pass_time(days=3)  # the clocks change on the 29th
    assert done == [("lights on", f"{day}. 19:00") for day in (27, 28, 29)]
    told = await workshop("routines.scheduled")
    assert told.text == "“lights on”: every day 19:00."


async def test_one_on_some_days(workshop, done):
    await workshop("routines.later", "zh", command="扫地", every="每周一和周四", when="上午10点")
    await workshop.pass_time(days=8)
    assert done == [("扫地", "30. 10:00"), ("扫地", "02. 10:00")]


async def test_the_sun_is_waited_for(workshop, done, in_berlin):
    said = await workshop("routines.later", command="lights on", when="half an hour after sunset")
    assert said.text == "“lights on”: today 19:01."
    await workshop.pass_time(days=2)
    assert done == [("lights on", "27. 19:01")]


async def test_the_sun_is_waited_for_every_day(workshop, done, in_berlin):
    said = await workshop(
        "routines.later", "de", command="an", every="jeden Tag", when="bei Sonnenuntergang"
    )
    assert said.text == "„an“: jeden Tag bei Sonnenuntergang (18:31)."
    await workshop.pass_time(days=3)
    assert done == [("an", "27. 18:31"), ("an", "28. 18:33"), ("an", "29. 19:34")]


async def test_where_nobody_knows_where_the_house_stands(workshop):
    with pytest.raises(ToolError, match="do not say where"):
        await workshop("routines.later", command="lights on", when="at sunset")


async def test_it_ends_with_a_word_where_nobody_knows_the_place_any_more(workshop, done, in_berlin):
    await workshop(
        "routines.later", "de", command="an", every="jeden Tag", when="bei Sonnenuntergang"
    )
    workshop.home.location = lambda: None
    async with workshop.board.listen() as queue:
        await workshop.pass_time(hours=10)
        heard = [queue.get_nowait() for _ in range(queue.qsize())]
    assert done == [("an", "27. 18:31")]
    told = [event.data["text"] for event in heard if event.event == "announcement"]
    assert told[0] == "(an)"
    assert told[1].startswith("„an“: Ich weiß nicht, wann die Sonne untergeht")
    assert (await workshop("routines.scheduled")).text == "Nothing is left for later."
    (ended,) = {event.data["id"] for event in heard if event.event == "scheduled"}
    with pytest.raises(ToolError, match="Ich weiß nicht"):
        await workshop("routines.restore", which=ended)


async def test_where_the_sun_does_not_set(workshop):
    workshop.home.location = lambda: Location(78.2, 15.6)
    workshop.time = datetime(2026, 6, 20, 12, tzinfo=workshop.time.tzinfo)
    with pytest.raises(ToolError, match="The sun does not do that"):
        await workshop("routines.later", command="lights on", when="tomorrow at sunset")
    every = {"every": "every day", "when": "at sunset"}
    said = await workshop("routines.later", command="lights on", **every)
    assert said.text == "“lights on”: every day at sunset (23:51)."
    assert said.data["due"].startswith("2026-08-25")  # the first after the polar day


async def test_what_comes_behind_another_command_is_later(workshop, done, in_berlin):
    workshop.time = workshop.time.replace(hour=9)
    every = {"every": "every day"}
    await workshop("routines.later", command="on", when="at sunset", **every)
    off = await workshop("routines.later", command="off", when="at 11", after="at sunset", **every)
    assert off.text == "“off”: every day 23:00."
    once = await workshop("routines.later", command="off", when="at 10", after="at 8")
    assert once.text == "“off”: today 22:00."  # 8 is 20:00: the next one
    await workshop.pass_time(hours=20)
    assert [what for what, _ in done] == ["on", "off", "off"]


async def test_days_without_a_time_are_asked_about(workshop):
    with pytest.raises(MissingArgumentError, match="At what time"):
        await workshop("routines.later", command="lights on", every="every day")


async def test_one_that_repeats_is_left_out_where_the_hub_was_off(workshop, done):
    await workshop("routines.later", command="blinds up", every="every day", when="at 7 am")
    await workshop("routines.later", command="heating off", when="tomorrow at 7 am")
    workshop.time += timedelta(hours=22)  # 10:00, and nothing ran
    await workshop.pass_time(hours=1)
    assert done == [("heating off", "28. 10:00")]
    await workshop.pass_time(days=1)
    assert done[1:] == [("blinds up", "29. 07:00")]


@pytest.mark.parametrize(
    ("which", "language", "left"),
    [
        ("the garden lights", "en", ["open the curtains", "den Brunnen an"]),
        (
            "turning on the garden lights every evening",
            "en",
            ["open the curtains", "den Brunnen an"],
        ),
        ("opening the curtains", "en", ["Turn on the Garden Lights", "den Brunnen an"]),
        ("every day at 7", "en", ["Turn on the Garden Lights", "den Brunnen an"]),
        ("mach den Brunnen abends", "de", ["open the curtains", "Turn on the Garden Lights"]),
        ("all", "en", []),
    ],
)
async def test_one_is_cancelled_by_what_it_does_or_when(workshop, done, which, language, left):
    days = {"every": "every day"}
    await workshop("routines.later", command="open the curtains", when="at 7 am", **days)
    await workshop("routines.later", command="Turn on the Garden Lights", when="at 7:30 pm", **days)
    await workshop("routines.later", command="den Brunnen an", when="at 8 pm")
    cancelled = await workshop("routines.cancel", language, which=which)
    told = (await workshop("routines.scheduled")).data["scheduled"]
    assert sorted(one["command"] for one in told) == sorted(left)
    await workshop.undo(cancelled)
    assert len((await workshop("routines.scheduled")).data["scheduled"]) == 3
    await workshop.pass_time(days=1)
    assert len(done) == 3


async def test_which_one_is_asked(workshop):
    await workshop("routines.later", command="lights on", every="every day", when="at 7 pm")
    await workshop("routines.later", command="lights off", every="every day", when="at 11 pm")
    with pytest.raises(ToolError, match="Which one"):
        await workshop("routines.cancel", which="the lights")
    cancelled = await workshop("routines.cancel", which="lights off")
    assert cancelled.text == "Cancelled: “lights off”: every day 23:00."
    with pytest.raises(ToolError, match="Nothing like that is left for later"):
        await workshop("routines.cancel", which="the sprinkler")
    assert (await workshop("routines.cancel")).text == "Cancelled: “lights on”: every day 19:00."


async def test_what_was_cancelled_is_not_done(workshop, done):
    await workshop("routines.later", command="lights on", minutes=5)
    await workshop("routines.cancel")
    await workshop.pass_time(minutes=10)
    assert done == []
    assert (await workshop("routines.scheduled")).text == "Nothing is left for later."


async def test_the_pages_hear_of_it(workshop, done):
    async with workshop.board.listen() as queue:
        await workshop("routines.later", command="lights on", every="every day", when="at 7 pm")
        await workshop.pass_time(hours=8)
        heard = [queue.get_nowait() for _ in range(queue.qsize())]
    assert [notice.event for notice in heard] == ["scheduled", "scheduled", "announcement"]
    assert heard[1].data["due"] == "2026-03-28T19:00:00+01:00"
    assert heard[2].data["text"] == "(lights on)"


async def test_one_that_was_left_before_there_was_more_to_keep(workshop, done):
    storage = PluginStorage(workshop.database, "routines")
    await storage.put("later-1", {"command": "lights on", "language": "en", "area": ""})
    await Schedule(workshop.database).run_at("routines", "later-1", workshop.time)
    assert "lights on" in (await workshop("routines.scheduled")).text
    await workshop.pass_time(minutes=1)
    assert [what for what, _ in done] == ["lights on"]


async def test_a_command_is_put_so_much_later_or_earlier(workshop, done):
    await workshop("routines.later", command="lights off", minutes=10)
    later = await workshop("routines.change", by=5)
    due = datetime.fromisoformat(later.data["due"])
    assert due - workshop.time == timedelta(minutes=15)
    earlier = await workshop("routines.change", by=-10)
    assert datetime.fromisoformat(earlier.data["due"]) - workshop.time == timedelta(minutes=5)


async def test_one_that_repeats_stays_on_its_days_when_it_is_put_later(workshop, done):
    await workshop("routines.later", command="lights on", every="on Mondays", when="at 7 am")
    changed = await workshop("routines.change", by=30)
    assert changed.text == "“lights on”: Monday 07:30."
