"""A polite request is done without what is said beside it, or asked about."""

import pytest


@pytest.mark.parametrize(
    ("language", "text", "tool"),
    [
        ("en", "Would you please turn on the reading lamp, in case I forget?", "home.turn_on"),
        (
            "en",
            "Could you turn off the fountain for me, it's been dripping on our neighbours.",
            "home.turn_off",
        ),
        (
            "de",
            "Könntest du bitte das Küchenlicht ausmachen, sonst brennt es wieder ewig",
            "home.turn_off",
        ),
        ("zh", "劳驾把客厅的灯关一下，我们都吃完了，没必要一直亮着", "home.turn_off"),
        ("zh", "请你把客厅的灯关掉好吗，作业都写完了，别让它一直亮着", "home.turn_off"),
    ],
)
async def test_its_reason_is_left_out(make_house, language, text, tool):
    house = await make_house(f"home.{language}.yaml")
    (part,) = await house.commands.decider.parts(text, language, "")
    assert part.decision.tool == tool
    assert part.decision.asks is None


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("Could you turn on the reading lamp, but not yet?", []),
        ("Could you please turn on the reading lamp, no, the fountain", ["switch.fountain"]),
        ("Please close the blinds, well, not all the way, let's say to thirty percent", []),
        ("Would you please turn on the reading lamp, unless Tom is asleep?", []),
        ("Would you please turn on the reading lamp, when Tom is asleep?", []),
        (
            "Would you please turn on the reading lamp, the sauna and the rocket?",
            ["light.reading_lamp"],
        ),
    ],
)
async def test_what_may_take_some_of_it_back_is_heeded(make_house, text, done):
    house = await make_house("home.en.yaml")
    parts = await house.commands.decider.parts(text, "en", "")
    parts = await house.commands.decider.with_proposal(parts, text, "")
    unasked = [part.decision for part in parts if part.decision.tool and not part.decision.asks]
    assert [entity for decision in unasked for entity in decision.entities] == done


async def test_what_is_not_here_is_told_beside_what_is_done(make_house):
    house = await make_house("home.en.yaml")
    text = "Would you please turn on the reading lamp, the sauna and the rocket?"
    parts = await house.commands.decider.parts(text, "en", "")
    assert [part.text for part in parts if part.decision.tool is None] == [
        "the sauna",
        "the rocket",
    ]
