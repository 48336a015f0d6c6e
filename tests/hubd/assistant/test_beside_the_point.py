"""What is told beside a wish is no part of it: values that are so already, reasons, old times."""

import pytest


async def decided(make_house, text, language, home=""):
    house = await make_house(home or f"home.{language}.yaml")
    decider = house.commands.decider
    parts = await decider.parts(text, language, "")
    (part,) = await decider.with_proposal(parts, text, "")
    return part.decision


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("It's only sixteen degrees in the office, and Ann is sitting there in her coat.", "en"),
        ("Im Wohnzimmer sind es gerade einmal sechzehn Grad, Oma sitzt im Mantel da.", "de"),
        ("客厅里才十六度，奶奶穿着棉袄坐着呢。", "zh"),
    ],
)
async def test_how_warm_it_is_sets_nothing(make_house, text, language):
    assert (await decided(make_house, text, language)).tool != "climate.set"


async def test_what_is_half_down_is_not_to_be_half_down(make_house):
    text = "The sun's right in my eyes, and the living room blinds are only half down."
    assert (await decided(make_house, text, "en")).tool != "home.set_position"


@pytest.mark.parametrize(
    ("text", "language", "tool", "arguments"),
    [
        ("Do please strike the tomatoes off the shopping list, if you would, since Mavis over the "
         "road has given us a whole bucket of hers.", "en", "lists.remove", {"item": "tomatoes"}),
        ("The ferry's delayed, so eight o'clock would do me fine for the alarm instead of ten to "
         "six.", "en", "alarms.change", {"to": "eight o'clock"}),
        ("下午四点一课提醒我去接孩子", "zh", "reminders.add", {"when": "下午四点一刻"}),
    ],
)  # fmt: skip
async def test_what_is_meant(make_house, text, language, tool, arguments):
    decision = await decided(make_house, text, language)
    assert decision.tool == tool
    assert decision.call.arguments.items() >= arguments.items()


async def test_of_two_timers_the_one_that_is_named_runs_longer(house):
    await house.say("set an egg timer for five minutes")
    await house.say("set a bread timer for nine minutes")
    await house.say("Another ten minutes on the egg timer")
    assert house.called == ["timers.add"]
    told = await house.say("how long is left on the egg timer?")
    assert "15 minutes" in told


async def test_a_wish_about_an_event_is_no_event(make_house):
    text = (
        "Im Kalender müsste bitte, wenn du so nett bist, dem Luca sein Zahnarzttermin vom Dienstag "
        "auf den Donnerstag rücken, er schreibt doch am Dienstag Mathe."
    )
    decision = await decided(make_house, text, "de")
    assert decision.tool != "calendar.add" or decision.asks


@pytest.mark.parametrize("text", ["都有啥闹钟", "我有哪几个闹钟", "我的闹钟都有哪些"])
async def test_alarms_are_asked_for_and_not_set(make_house, text):
    assert (await decided(make_house, text, "zh")).tool == "alarms.list"


async def test_kelvins_are_no_percents(make_house):
    text = "The chart lamp, em, make it a bit, I don't know, well, four thousand kelvin, that's it."
    decision = await decided(make_house, text, "en", "home40.en.yaml")
    assert decision.tool == "lights.set"
    assert decision.call.arguments["kelvin"] == 4000


@pytest.mark.parametrize(
    ("text", "language", "tool"),
    [
        ("cold out now?", "en", "climate.change"),
        ("up at 5:40 in the morning, alarm", "en", "routines.later"),
        ("okay the phone's finished, so, right, the timer I stopped, let you carry on with that",
         "en", "media.play"),
        ("the hood yoke over the cooker, you can knock that off now, sure the rashers are, "
         "they're done like", "en", "vacuum.stop"),
        ("put on, oh who are they, I had it, Kneecap, no wait, The Frank and Walters, on Aoife's "
         "speaker there", "en", "home.turn_on"),
        ("the neighbours daughter left there gate open again the cheek", "en", "home.close"),
        ("Garagentor eh zu?", "de", "home.close"),
        ("Die Badheizung, äh, stell die auf zweiund, na, dreiundzwanzig Grad, die Kloane soll ja "
         "nit frieren", "de", "climate.change"),
        ("电热毯打开奶奶要睡觉了", "zh", "home.activate"),
    ],
)  # fmt: skip
async def test_what_only_sounds_so_is_not_done(make_house, text, language, tool):
    decision = await decided(make_house, text, language, f"home42.{language}.yaml")
    assert decision.tool != tool


async def test_what_only_sounds_like_another_thing_is_not_worked_as_well(make_house):
    text = "open the sit in room curtains would you its day light"
    decision = await decided(make_house, text, "en", "home42.en.yaml")
    assert decision.entities == ["cover.sitting_room_curtains"]


async def test_what_is_off_the_list_again(make_house):
    decision = await decided(make_house, "Germ wieder runter vom Einkaufszettel", "de")
    assert (decision.tool, decision.call.arguments["item"]) == ("lists.remove", "Germ")


@pytest.mark.parametrize(
    ("text", "language", "tool", "entity"),
    [
        ("I wonder could you open the front door lock", "en", "home.unlock", "lock.front_door"),
        ("院门锁上，别忘了", "zh", "home.lock", "lock.yuanmen"),
    ],
)
async def test_verbs_as_they_are_said(make_house, text, language, tool, entity):
    decision = await decided(make_house, text, language, f"home42.{language}.yaml")
    assert (decision.tool, decision.entities) == (tool, [entity])
    assert decision.asks == ("confirm" if tool == "home.unlock" else None)
