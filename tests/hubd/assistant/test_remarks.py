"""What nobody means to have done: remarks, the past, thanks, other people's houses, bare names; and
what only hints at a wish."""

import pytest

from tests.hubd.assistant.strangers import counts_of

WRONG = {"remarks2.en": 3, "remarks2.zh": 1}
"""How many of a set have something done all the same; of the others none has."""
MOST_ASKED = 0.09
"""How many may be asked about: "the party next door is too loud"."""
SETS = [f"remarks{number}.{language}" for number in (1, 2) for language in ("en", "de", "zh")]


@pytest.mark.parametrize("name", SETS)
async def test_a_remark_has_nothing_done(make_house, name):
    counts = await counts_of(make_house, name)
    said = sum(counts.all.values())
    for found in counts:
        assert found["opposite"] == 0
        assert found["wrong"] + found["worded"] <= WRONG.get(name, 0)
    assert counts.understood["right"] >= said - WRONG.get(name, 0) - 1
    assert counts.all["asks"] <= MOST_ASKED * said


async def test_two_thirds_of_english_hints_are_understood(make_house):
    counts = await counts_of(make_house, "hints.en")
    for found in counts:
        assert found["opposite"] == 0
        assert found["wrong"] + found["worded"] <= 3
    assert counts.understood["right"] >= 40


async def test_what_shall_run_for_a_while_is_no_remark(make_house):
    house = await make_house("home4.en.yaml")
    parts = await house.commands.decider.parts("run the extractor for ten minutes", "en", "")
    now, then = [part.decision for part in parts]
    assert (now.tool, now.entities) == ("home.turn_on", ["fan.extractor"])
    assert (then.tool, then.arguments["when"]) == ("routines.later", "in 10 minutes")


@pytest.mark.parametrize(
    ("home", "language", "said"),
    [
        ("home.en.yaml", "en", "they loved movie night"),
        ("home.en.yaml", "en", "we watched movie night"),
        ("home.de.yaml", "de", "wir hatten Filmabend"),
        ("home.zh.yaml", "zh", "观影模式挺好的"),
    ],
)
async def test_how_a_scene_was_starts_it_not_unasked(make_house, home, language, said):
    house = await make_house(home)
    (part,) = await house.commands.decider.parts(said, language, "")
    assert part.decision.call is None or part.decision.asks == "confirm"
