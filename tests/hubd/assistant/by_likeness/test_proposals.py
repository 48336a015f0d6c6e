"""What is only likely is asked for in words of its own, and done after a "yes" alone."""

from datetime import timedelta

import msgspec
import pytest
import yaml

from hubd.assistant.by_likeness.proposals import KINDS, PHRASES, QUESTIONS, phrase, question
from hubd.assistant.evaluate import judged, samples
from hubd.home.model import Entity
from hubd.policy import OWNER, Person
from hubd.tool_context import Speaker
from plugins.api import ToolCall

ANN = Person(name="Ann", role="member")
HINT = "I've heard this song on the tv so often, I'd rather hear the one after it."
CRUMBS = "There are crumbs all over the house after the party, that's a job for Robbie."
DARK = "It's as black as a coal hole in here."
BOTH = "the Living Room Light, the Reading Lamp"
ASKED = "Shall I skip to the next one on the TV?"


async def proposed(decider, said, language, area):
    parts = await decider.parts(said, language, area)
    return (await decider.with_proposal(parts, said, area))[0].decision


async def test_what_is_likely_is_asked_and_done_after_a_yes(house):
    assert await house.say(HINT) == ASKED
    assert house.called == []
    await house.say("yes please")
    assert house.called == ["media.next"]


@pytest.mark.parametrize("answer", ["no", "never mind"])
async def test_a_no_leaves_it(house, answer):
    await house.say(HINT)
    assert await house.say(answer) == "All right, I leave it."
    assert house.called == []


async def test_a_yes_counts_of_the_same_person_in_time_alone(house):
    await house.say(HINT)
    assert "Only the person who asked" in await house.say("yes", person=ANN)
    assert house.called == []
    await house.say(HINT)
    house.time += timedelta(seconds=61)
    await house.say("yes")
    assert house.called == []


async def test_what_has_become_dangerous_meanwhile_is_asked_for_again(house):
    """The "yes" was to what was harmless then."""
    found = await proposed(house.commands.decider, CRUMBS, "en", "living_room")
    call = ToolCall(tool="home.open", arguments={"entities": ["cover.garage_door"]})
    changed = msgspec.structs.replace(
        found, tool=call.tool, call=call, entities=[call.arguments["entities"][0]]
    )
    house.commands.step_of(changed, "c", CRUMBS, OWNER)
    assert "Garage Door" in await house.say("yes")
    assert house.state("cover.garage_door") == "closed"
    await house.say("yes")
    assert house.state("cover.garage_door") == "open"


async def test_explain_shows_what_would_be_asked(house):
    decision = await house.commands.decider.decide(HINT, "en", "living_room")
    assert (decision.tool, decision.asks, decision.proposed) == ("media.next", "confirm", True)
    assert decision.entities == ["media_player.tv"]


async def test_nobody_says_yes_to_a_routine(house):
    await house.commands.execution.carry_out(CRUMBS, Speaker(language="en", area="living_room"))
    assert house.state("vacuum.robbie") == "docked"
    assert await house.say(CRUMBS) == "Shall I have Robbie clean?"
    assert house.state("vacuum.robbie") == "docked"
    await house.say("yes")
    assert house.state("vacuum.robbie") == "cleaning"


@pytest.mark.parametrize(
    "said",
    [
        "I've got the car outside, the garage door is in the way",
        "the delivery man is waiting at the front door, he has no key",
        "please don't turn off the hallway light just yet, the kids are scared",
        "the soup is far too hot",
        "curtains",
        "movie night tomorrow",
        "how do I descale the coffee machine",
        "what is the warranty of the bathroom fan",
        "turn on the hot tub",
        "Nobody's in the bathroom and it's lit up like a fairground",  # its lights are off
    ],
)
async def test_dangerous_forbidden_and_foreign_things_are_not_proposed(house, said):
    assert not (await proposed(house.commands.decider, said, "en", "living_room")).proposed


async def test_what_a_room_has_is_meant_where_nothing_is_named(house):
    said = "The neighbours can see right onto our plates from over there."
    decision = await proposed(house.commands.decider, said, "en", "living_room")
    assert (decision.tool, decision.entities) == ("home.close", ["cover.living_room_blinds"])
    assert decision.proposed


async def test_all_things_that_are_meant_are_named(house):
    decision = await proposed(house.commands.decider, DARK, "en", "living_room")
    assert decision.entities == ["light.living_room", "light.reading_lamp"]
    assert await house.say(DARK, area="living_room") == f"Shall I turn on {BOTH}?"


async def test_a_cover_is_asked_about_by_as_much_as_was_said(make_house):
    house = await make_house("home42.en.yaml")
    asked = await house.say("let Nana's blind down a small bit more", area="kitchen")
    assert asked == "Shall I close Nana's Blind a bit more?"
    await house.say("yes", area="kitchen")
    assert house.called == ["home.move"]


async def test_what_only_tells_is_told_at_once(house):
    said = "Funny weather, will we be needing our brollies on Saturday do you reckon"
    decision = await proposed(house.commands.decider, said, "en", "living_room")
    assert (decision.tool, decision.asks, decision.proposed) == ("weather.on", None, False)


def test_a_phrase_says_all_that_would_be_done():
    lamp = Entity(id="light.lamp", name="Desk Lamp", state="on")
    call = ToolCall(tool="lights.change", arguments={"entities": ["light.lamp"], "step": "up"})
    assert question(call, [lamp], "en") == "Shall I make the Desk Lamp brighter?"
    assert question(call, [lamp], "de") == "Soll ich „Desk Lamp“ heller machen?"
    assert question(call, [lamp], "zh") == "要我把Desk Lamp调亮吗？"
    by_ten = ToolCall(tool=call.tool, arguments={**call.arguments, "by": 10})
    assert phrase(by_ten, [lamp], "en") is None
    assert phrase(ToolCall(tool="home.unlock"), [lamp], "en") is None
    assert phrase(call, [], "en") is None


def test_phrases_are_of_tools_that_there_are_and_in_all_languages(house):
    tools = {tool.name: tool for tool in house.tools.tools()}
    for key, worded in yaml.safe_load(PHRASES.read_text("utf-8")).items():
        name, _, kind = key.partition(" ")
        assert tools[name].risk == "act"
        assert set(worded) == set(QUESTIONS)
        assert kind in ("", "up", "down", *KINDS)


LEAST_RIGHT = 0.7


async def test_most_proposals_are_what_was_meant(make_house, assistant_data):
    """Of sentences that were learned from; docs/understanding.md has those that were not."""
    outcomes = []
    for name in ("strangers15.de", "strangers17.zh", "strangers22.en", "strangers25.de"):
        data = yaml.safe_load((assistant_data / f"{name}.yaml").read_text("utf-8"))
        decider = (await make_house(data["home"])).commands.decider
        for sample in samples(data):
            decision = await proposed(decider, sample.text, data["language"], data["area"])
            outcomes += [judged(sample, decision)] if decision.proposed else []
    assert outcomes.count("proposed") >= LEAST_RIGHT * len(outcomes) > 7


@pytest.mark.parametrize(
    ("text", "language", "tool"),
    [
        ("Thank you ever so much, that was a real help with the dinner.", "en", "help.welcome"),
        ("真是谢谢你了，今天帮了我们一大家子不少忙", "zh", "help.welcome"),
        ("Thanks, where is the manual of the dishwasher?", "en", None),
    ],
)
async def test_thanks_are_heard_whatever_they_are_for(make_house, text, language, tool):
    house = await make_house(f"home.{language}.yaml")
    decider = house.commands.decider
    parts = await decider.with_proposal(await decider.parts(text, language, ""), text, "")
    assert [part.decision.tool for part in parts] == [tool]
