"""What is only likely is asked for in words of its own, and done after a "yes" alone."""

from datetime import timedelta

import pytest
import yaml

from hubd.assistant.decision import is_open
from hubd.assistant.evaluate import counted, judged, samples
from hubd.assistant.proposals import PHRASES, QUESTIONS, phrase, question
from hubd.home.model import Entity
from hubd.policy import Person
from hubd.tools import Speaker
from plugins.api import ToolCall

ANN = Person(name="Ann", role="member")
HINT = "I've heard this song on the tv so often, I'd rather hear the one after it."
CRUMBS = "There are crumbs all over the house after the party, that's a job for Robbie."
ASKED = "Shall I skip to the next one on the TV?"


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
    await house.say(HINT)
    house.time += timedelta(seconds=61)
    await house.say("yes")
    assert house.called == []


async def test_explain_shows_what_would_be_asked(house):
    decision = await house.commands.decider.decide(HINT, "en", "living_room")
    assert (decision.tool, decision.asks, decision.proposed) == ("media.next", "confirm", True)
    assert decision.entities == ["media_player.tv"]


async def test_nobody_says_yes_to_a_routine(house):
    await house.commands.carry_out(CRUMBS, Speaker(language="en", area="living_room"))
    assert house.state("vacuum.robbie") == "docked"
    assert await house.say(CRUMBS) == "Shall I have Robbie clean?"
    assert house.state("vacuum.robbie") == "docked"
    await house.say("yes")
    assert house.state("vacuum.robbie") == "cleaning"


@pytest.mark.parametrize(
    "said",
    [
        "Ann is standing on the step with all her shopping and no key to the front door",
        "please don't turn off the hallway light just yet, the kids are scared",
        "the soup is far too hot",
        "movie night tomorrow",
        "how do I descale the coffee machine",
        "what is the warranty of the bathroom fan",
        "turn on the hot tub",
    ],
)
async def test_dangerous_forbidden_and_foreign_things_are_not_proposed(house, said):
    assert await house.commands.decider.proposed(said, "en", "living_room") is None


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
        name, _, step = key.partition(" ")
        assert tools[name].risk == "act"
        assert set(worded) == set(QUESTIONS)
        assert step in ("", "up", "down")


LEAST_RIGHT = 0.5


@pytest.mark.parametrize("language", ["en", "de", "zh"])
async def test_most_proposals_are_what_was_meant(make_house, assistant_data, language):
    """Of sentences that were learned from; docs/understanding.md has those that were not."""
    outcomes = []
    for number in (15, 17, 22):
        name = f"strangers{number}.{language}"
        data = yaml.safe_load((assistant_data / f"{name}.yaml").read_text("utf-8"))
        house = await make_house(data["home"])
        decider = house.commands.decider
        area = next(a.id for a in house.home.snapshot().areas if a.name == data["area"])
        for sample in samples(data):
            first, *further = await decider.parts(sample.text, data["language"], area)
            if further or not is_open(first.decision):
                continue
            if proposal := await decider.proposed(sample.text, data["language"], area):
                outcomes.append(judged(sample, proposal))
    counts = counted(outcomes)
    assert counts["wrong"] == counts["opposite"] == 0
    assert counts["proposed"] >= LEAST_RIGHT * len(outcomes) > 3
