"""Coins, dice and numbers."""

import pytest

from plugins.api import ToolError


async def test_a_coin_has_two_sides(workshop):
    sides = {(await workshop("chance.coin")).text for _ in range(64)}
    assert sides == {"Heads.", "Tails."}
    assert (await workshop("chance.coin", "de")).text in ("Kopf.", "Zahl.")


async def test_dice_show_what_they_have(workshop):
    thrown = [(await workshop("chance.dice")).data["thrown"][0] for _ in range(200)]
    assert set(thrown) == {1, 2, 3, 4, 5, 6}
    three = await workshop("chance.dice", count=3, sides=20)
    assert three.data["sum"] == sum(three.data["thrown"])
    assert str(three.data["sum"]) in three.text


async def test_a_number_lies_between_both(workshop):
    picked = {(await workshop("chance.number", low=3, high=1)).data["number"] for _ in range(64)}
    assert picked == {1, 2, 3}


async def test_one_of_several(workshop):
    async def picked(between):
        return {(await workshop("chance.pick", between=between)).text for _ in range(64)}

    assert await picked("pizza, pasta or salad") == {"Pizza.", "Pasta.", "Salad."}
    assert await picked("fish and chips or soup") == {"Fish and chips.", "Soup."}
    assert await picked("pizza and pasta") == {"Pizza.", "Pasta."}
    with pytest.raises(ToolError, match="Between what"):
        await workshop("chance.pick", between="pizza")


@pytest.mark.parametrize(
    ("text", "language", "call"),
    [
        ("flip a coin", "en", ("chance.coin", {})),
        ("roll two dice", "en", ("chance.dice", {"count": 2})),
        ("pick a number between 1 and 10", "en", ("chance.number", {"low": 1, "high": 10})),
        ("Wirf eine Münze", "de", ("chance.coin", {})),
        ("würfel mit zwei Würfeln", "de", ("chance.dice", {"count": 2})),
        ("扔两个骰子", "zh", ("chance.dice", {"count": 2})),
        ("pile ou face", "fr", ("chance.coin", {})),
        ("tira un dado", "es", ("chance.dice", {})),
    ],
)
def test_sentences(understood, text, language, call):
    assert understood(text, language) == call
