"""Utterances of strangers, decided on as the daemon does, joined commands and likeness included."""

import yaml

from hubd.assistant.evaluate import counted, judged_parts, samples


async def counts_of(make_house, assistant_data, name):
    """How many of a set's utterances were right, wrong, opposite …"""
    data = yaml.safe_load((assistant_data / f"{name}.yaml").read_text("utf-8"))
    house = await make_house(data["home"])
    area = next(a.id for a in house.home.snapshot().areas if a.name == data["area"])
    found = []
    for sample in samples(data):
        parts = await house.commands.decider.parts(sample.text, data["language"], area)
        parts = await house.commands.decider.with_proposal(parts, sample.text, area)
        found.append(judged_parts(sample, [part.decision for part in parts]))
    return counted(found)


def kept(counts, right, wrong):
    """Whether what was learned from a set is kept, and next to nothing done that was not meant."""
    assert counts["opposite"] == 0
    assert counts["wrong"] <= wrong
    assert counts["right"] >= right
