"""What shall be done later is not done at once, whichever way its time is said."""

from datetime import UTC, datetime

import pytest

from plugins.when import parse


async def decisions(make_house, text, language):
    house = await make_house(f"home.{language}.yaml")
    decider = house.commands.decider
    parts = await decider.parts(text, language, "")
    return [one.decision for one in await decider.with_proposal(parts, text, "")]


def delay(decision):
    """Minutes until what is left for later, in whichever form it was understood."""
    said = decision.arguments
    if "minutes" in said:
        return said["minutes"]
    return parse(said["when"], decision.language, datetime.now(UTC)).delay.total_seconds() / 60


@pytest.mark.parametrize(
    ("text", "language", "minutes"),
    [
        ("in twenty minutes, no, in half an hour, switch off the fountain", "en", 30),
        ("in ten minutes, I mean in an hour, turn off the TV", "en", 60),
        ("in ten minutes, well, a quarter of an hour, turn off the fountain", "en", 15),
        ("wait ten minutes and then turn off the fountain", "en", 10),
        ("May I ask you to wait twenty-five minutes and switch off the fountain then, I only want "
         "the garden aired.", "en", 25),
        ("wait half an hour, then switch off the fountain", "en", 30),
        ("in zwanzig Minuten, nein, in dreißig Minuten, schalt den Brunnen aus", "de", 30),
        ("warte zehn Minuten und schalt dann den Fernseher aus", "de", 10),
        ("二十分钟后，不对，半小时后，把喷泉关了", "zh", 30),
    ],
)  # fmt: skip
async def test_the_time_that_is_meant(make_house, text, language, minutes):
    (decision,) = await decisions(make_house, text, language)
    assert decision.tool == "routines.later"
    assert delay(decision) == minutes


@pytest.mark.parametrize(
    ("text", "language", "command"),
    [
        ("in ten minutes turn off the TV, no, turn off the fountain", "en",
         "turn off the fountain"),
        ("十分钟后把电视关了，不对，把喷泉关了", "zh", "把喷泉关了"),
    ],
)  # fmt: skip
async def test_another_thing_at_the_time_that_was_said(make_house, text, language, command):
    (decision,) = await decisions(make_house, text, language)
    assert decision.tool == "routines.later"
    assert decision.arguments["conversation_command"] == command


@pytest.mark.parametrize(
    ("text", "language", "command", "minutes"),
    [
        ("turn the fountain off in ten minutes, no, turn it off in twenty", "en",
         "turn the fountain off", 20),
        ("switch the fountain off in ten minutes, sorry, switch it off in half an hour", "en",
         "switch the fountain off", 30),
        ("in ten minutes, well, a quarter of an hour, turn off the fountain", "en",
         "turn off the fountain", 15),
        ("in ten minutes, well, a quarter of an hour, turn off the reading lamp", "en",
         "turn off the reading lamp", 15),
        ("turn the fountain on, no, turn it off in ten minutes", "en",
         "turn fountain off", 10),
        ("Mach den Fernseher an, nein, mach ihn in zehn Minuten aus", "de",
         "mach Fernseher aus", 10),
        ("Schalt den Brunnen in zehn Minuten aus, nein, schalt ihn in einer halben Stunde aus",
         "de", "schalt den Brunnen aus", 30),
    ],
)  # fmt: skip
async def test_it_is_the_thing_that_was_named(make_house, text, language, command, minutes):
    (decision,) = await decisions(make_house, text, language)
    assert decision.tool == "routines.later"
    left = decision.arguments
    assert (left.get("conversation_command") or left["command"]) == command
    assert delay(decision) == minutes


async def test_a_thing_that_is_taken_up_by_a_verb_that_is_a_kind_of_thing(make_house):
    text = "turn the living room lights on, no, switch them off"
    (decision,) = await decisions(make_house, text, "en")
    assert decision.tool == "home.turn_off"
    assert decision.entities
    assert all(entity.startswith("light.") for entity in decision.entities)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("tonight, turn the coffee machine on", "en"),
        ("tomorrow, no, tonight, turn the coffee machine on", "en"),
        ("turn the coffee machine on in a while", "en"),
        ("turn the TV off in a bit", "en"),
        ("after dinner, turn the coffee machine on", "en"),
        ("heute Abend, mach den Brunnen aus", "de"),
        ("nach dem Essen, schalt die Kaffeemaschine ein", "de"),
        ("mach nachher die Kaffeemaschine an", "de"),
        ("今晚，打开阅读灯", "zh"),
        ("吃完饭，把阅读灯打开", "zh"),
    ],
)
async def test_a_time_that_nobody_can_tell_does_nothing(make_house, text, language):
    for decision in await decisions(make_house, text, language):
        assert decision.asks or not decision.entities


@pytest.mark.parametrize(
    "text", ["I'm going out tomorrow, turn off the fountain", "wait, turn off the fountain"]
)
async def test_a_reason_with_a_day_in_it_is_no_time(make_house, text):
    (decision,) = await decisions(make_house, text, "en")
    assert (decision.tool, decision.entities) == ("home.turn_off", ["switch.fountain"])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Fish or pies, we've been at it for twenty minutes and somebody has to decide.", "en"),
        ("The train to town goes in ten minutes and I can't find my shoes.", "en"),
        ("请您跟各屋都说一声，饺子已经下锅了，十分钟之后开饭。", "zh"),
        ("火车十分钟后开", "zh"),
    ],
)
async def test_a_duration_that_is_told_starts_no_timer(make_house, text, language):
    for decision in await decisions(make_house, text, language):
        assert decision.tool != "timers.start" or decision.asks
