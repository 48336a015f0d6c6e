"""What no grammar has words for is put on lists and told by its wording."""

import pytest

from hubd.assistant.by_likeness.wording import (
    adds_goods,
    is_plain,
    later_command,
    may_be_meant,
)
from hubd.assistant.for_later.later import LATER
from hubd.assistant.understanding.tagger import Parts
from plugins.api import ToolCall

SURE = [
    ("bog roll and teabags, list", "lists.add", {"items": ["bog roll", "teabags"]}),
    ("how much is ten stone in kilos would you say", "units.convert",
     {"quantity": "ten stone", "unit": "kilos"}),
    ("sleeps till Christmas please love", "dates.until", {"day": "Christmas"}),
]  # fmt: skip


async def decided(house, said, area="living_room"):
    parts = await house.commands.decider.parts(said, "en", area)
    return (await house.commands.decider.with_proposal(parts, said, area))[0].decision


@pytest.mark.parametrize(("said", "tool", "arguments"), SURE)
async def test_what_is_sure_is_done(house, said, tool, arguments):
    found = await decided(house, said)
    assert found.tool == tool, found
    assert {name: found.arguments.get(name) for name in arguments} == arguments
    assert (found.asks, found.proposed) == (None, False)


@pytest.mark.parametrize(
    "said",
    [
        "what do I do with the eggs that are off",
        "which list are the eggs on in the recipe",
        "don't put any milk on the shopping list",
        "we had eggs and milk for breakfast",
        "when is the next service of the boiler due",
        "where is the spare key of the shed",
        "the humidity is at 50 percent",
    ],
)
async def test_questions_to_the_documents_and_remarks_do_nothing(house, said):
    found = await decided(house, said)
    assert found.tool is None or found.proposed, found


async def test_what_is_left_for_later_is_what_would_be_done_now(house):
    said = "in about twenty minutes I want you to turn the hallway light off"
    left = await house.commands.decider.semantics.left_for_later(said, "en")
    assert left == ("I want you to turn the hallway light off", "in twenty minutes")
    assert (await decided(house, said)).tool == LATER


def test_a_command_is_what_is_left_without_its_time():
    parts = Parts(("turn off the lamp",), ("twenty minutes",), "turn off the lamp")
    said = "turn off the lamp in about twenty minutes"
    assert later_command(said, parts, "en") == ("turn off the lamp", "in twenty minutes")
    assert later_command("20分钟后关灯", Parts(("关灯",), ("20分钟后",)), "zh") == (
        "关灯",
        "20分钟后",
    )
    assert later_command("turn off the lamp", Parts((), ()), "en") is None


@pytest.mark.parametrize(
    ("said", "tool", "may"),
    [
        ("put milk on the list", "lists.add", True),
        ("don't put milk on the list", "lists.add", False),
        ("we don't need milk any more", "lists.remove", True),
        ("what shall I put on the list", "lists.add", False),
    ],
)
def test_a_not_and_a_question_speak_against_it(said, tool, may):
    assert may_be_meant(tool, said, "en") is may


@pytest.mark.parametrize(
    ("said", "tool", "plain"),
    [
        ("bog roll and teabags, list", "lists.add", True),
        ("we're down to the last tea bag", "lists.add", False),
        (
            "remind me in half an hour, no, make it an hour, to call",
            "reminders.add",
            False,
        ),
        ("remind me in half an hour to call Bob", "reminders.add", True),
        ("the humidity at fifty would be lovely", "humidifiers.set", False),
    ],
)
def test_hints_and_corrections_are_asked_about(said, tool, plain):
    assert is_plain(tool, said, "en") is plain


@pytest.mark.parametrize(
    ("said", "items", "goods"),
    [
        ("add milk, eggs and a loaf of bread", ["milk", "eggs", "loaf of bread"], True),
        ("Can you add two pints of milk, please?", ["two pints of milk"], True),
        ("add salt to the soup", ["salt"], False),
        ("add Tom", ["Tom"], False),
        ("milk and eggs", ["milk", "eggs"], False),
    ],
)
def test_goods_are_put_on_the_list_unasked_where_nothing_else_is_said(said, items, goods):
    call = ToolCall(tool="lists.add", arguments={"items": items})
    assert adds_goods(call, said, "en") is goods
