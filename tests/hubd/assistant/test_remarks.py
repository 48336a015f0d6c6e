"""What nobody means to have done: remarks, the past, thanks, other people's houses, bare names; and
what only hints at a wish."""

import pytest
import yaml

from hubd.assistant.evaluate import counted, judged_parts, samples

WRONG = {"remarks2.en": 3, "remarks2.zh": 2}
"""How many of a set have something done all the same; of the others none has."""
SETS = [f"remarks{number}.{language}" for number in (1, 2) for language in ("en", "de", "zh")]


async def counts_of(make_house, assistant_data, name):
    data = yaml.safe_load((assistant_data / f"{name}.yaml").read_text("utf-8"))
    house = await make_house(data["home"])
    area = next(a.id for a in house.home.snapshot().areas if a.name == data["area"])
    found = []
    for sample in samples(data):
        parts = await house.commands.decider.parts(sample.text, data["language"], area)
        found.append(judged_parts(sample, [part.decision for part in parts]))
    return counted(found)


@pytest.mark.parametrize("name", SETS)
async def test_a_remark_has_nothing_done(make_house, assistant_data, name):
    counts = await counts_of(make_house, assistant_data, name)
    assert counts["opposite"] == 0
    assert counts["wrong"] <= WRONG.get(name, 0)
    assert counts["right"] >= sum(counts.values()) - WRONG.get(name, 0) - 1


async def test_two_thirds_of_english_hints_are_understood(make_house, assistant_data):
    counts = await counts_of(make_house, assistant_data, "hints.en")
    assert counts["opposite"] == 0
    assert counts["wrong"] <= 3
    assert counts["right"] >= 40
