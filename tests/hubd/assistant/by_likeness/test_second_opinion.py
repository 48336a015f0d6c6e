"""Nothing is done unasked where rules and examples contradict each other."""

import pytest

from hubd.assistant.by_likeness.second_opinion import (
    asked_about,
    beyond_doubt,
    contradicted,
    named_otherwise,
)
from hubd.assistant.decision import Decision
from hubd.assistant.understanding.tagger import Parts
from hubd.home.model import Snapshot
from plugins.api import ToolCall


def decided(tool, *, route="grammar", language="de", **arguments):
    """A decision to call a tool."""
    call = ToolCall(tool=tool, arguments=arguments)
    return Decision(
        route=route, tool=tool, arguments=arguments, call=call, reason="said", language=language
    )


def test_a_much_likelier_tool_contradicts_free_text():
    chances = {"notes.add": 0.02, "timers.list": 0.9}
    assert contradicted(decided("notes.add"), "remember how long is left", chances)
    assert not contradicted(decided("notes.add"), "remember", {"notes.add": 0.4, "none": 0.6})
    assert not contradicted(decided("reminders.list"), "what, then", chances)  # nothing is known


def test_a_sentence_of_one_clause_is_beyond_doubt():
    chances = {"timers.cancel": 0.05, "timers.start": 0.9}
    cancel = decided("timers.cancel")
    assert not contradicted(cancel, "cancel the 5 minute timer", chances)
    assert contradicted(cancel, "the 5 minute timer, stop", chances)
    assert contradicted(decided("timers.cancel", route="semantic"), "cancel it", chances)


def test_a_plain_command_waits_for_no_encoder():
    add = decided("lists.add", language="en", items=["milk"])
    assert beyond_doubt(add, "add milk to the list")
    assert not beyond_doubt(add, "add milk to the list, would you")
    assert beyond_doubt(decided("lists.add", items=["Milch"]), "setz Milch auf die Liste")
    assert not beyond_doubt(decided("notes.add", text="Milch"), "merk dir Milch")


def test_tools_that_are_asked_for_in_the_same_words_do_not_contradict_each_other():
    chances = {"lights.change": 0.1, "lights.set": 0.8}
    brighter = decided("lights.change", route="words", step="up", by=20)
    assert not contradicted(brighter, "brighter by 20, please", chances)


def test_what_is_named_otherwise_is_named_in_fewer_words():
    said = "put, hmm, bananas and, the usual of course, oat milk on the list"
    add = decided("lists.add", items=["bananas", "the usual of course", "oat milk"])
    other = named_otherwise(add, Parts(("bananas", "oat milk"), (), "", said))
    assert other.call.arguments == {"items": ["bananas", "oat milk"]}
    assert named_otherwise(other, Parts(("oat milk", "bananas"), (), "", said)) is None
    assert named_otherwise(add, Parts((), (), "", "put bananas on the list")) is None


def test_what_there_are_no_words_for_is_not_done():
    scheduled = decided("briefing.schedule", when="7")
    assert asked_about(scheduled, "good morning, my briefing at 7", Snapshot()).tool is None
    assert asked_about(scheduled, "briefing at 7", Snapshot()) is scheduled
    asked = asked_about(decided("notes.add", text="the key is with Ann"), "so, …", Snapshot())
    assert asked.proposed
    assert asked.asks == "confirm"


@pytest.mark.parametrize(
    ("language", "said", "understood"),
    [
        ("zh", "记时器还胜多少时间", "timers.list"),
        (
            "en",
            "Put, hmm, bananas and, what else, oh yes, oat milk on the shopping list",
            "lists.add",
        ),
        ("en", "nine minutes, rigatoni", "timers.start"),
        ("en", "add milk and eggs to the shopping list", "lists.add"),
        ("de", "Setz Milch und zwei Dutzend Eier auf die Einkaufsliste", "lists.add"),
        ("de", "ergänze Milch auf der Einkaufsliste", "lists.add"),
        ("de", "lösch Milch aus meinem Einkauf raus", "lists.complete"),
    ],
)
async def test_what_is_said_is_understood_still(make_house, language, said, understood):
    house = await make_house(f"home.{language}.yaml")
    parts = await house.commands.decider.parts(said, language, "")
    (part,) = await house.commands.decider.with_proposal(parts, said, "")
    assert part.decision.tool == understood
    assert not part.decision.proposed


async def test_a_hint_beside_what_is_not_understood_is_asked_about(make_house):
    """It may be its reason: the awning, and not the curtain, was to be moved."""
    house = await make_house("home.zh.yaml")
    said = "劳烦把露台的遮阳棚整到七成吧，太阳晒得花都蔫了"
    parts = await house.commands.decider.parts(said, "zh", "")
    parts = await house.commands.decider.with_proposal(parts, said, "")
    assert all(part.decision.tool is None or part.decision.proposed for part in parts)
