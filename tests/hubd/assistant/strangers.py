"""Utterances of strangers, decided on as the daemon does, joined commands and likeness included."""

from typing import NamedTuple

import yaml

from hubd.assistant.evaluate import counted, judged_parts, samples


class Counts(NamedTuple):
    """How many of a set's utterances were right, wrong, opposite …"""

    understood: dict[str, int]
    """Of what is understood for sure."""
    all: dict[str, int]
    """Of that, and of what is done, told or asked where it is not."""


async def counts_of(make_house, assistant_data, name):
    """The outcomes of a set."""
    data = yaml.safe_load((assistant_data / f"{name}.yaml").read_text("utf-8"))
    house = await make_house(data["home"])
    area = next(a.id for a in house.home.snapshot().areas if a.name == data["area"])
    decider, understood, found = house.commands.decider, [], []
    for sample in samples(data):
        parts = await decider.parts(sample.text, data["language"], area)
        understood.append(judged_parts(sample, [part.decision for part in parts]))
        parts = await decider.with_proposal(parts, sample.text, area)
        found.append(judged_parts(sample, [part.decision for part in parts]))
    return Counts(counted(understood), counted(found))


def kept(counts, right, wrong, worded=0):
    """Whether what was learned from a set is kept, and next to nothing done that was not meant.

    right: of what is understood for sure; worded: with what is done and told where it is not
    """
    assert counts.understood["right"] >= right
    assert counts.all["right"] >= worded
    for found in counts:
        assert found["opposite"] == 0
        assert found["wrong"] <= wrong
