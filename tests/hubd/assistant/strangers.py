"""Utterances of strangers, decided on as the daemon does, joined commands and likeness included.

What each set gave at the first try is in docs/understanding.md; ``python -m bench.strangers`` tells
what becomes of all of them. The tests look at every fourth of a set that was learned from: all
14 000 take two cores ten minutes.
"""

import re
from functools import cache
from typing import NamedTuple

import yaml

from hubd.assistant.evaluate import counted, judged_parts, samples
from tests.hubd.assistant.conftest import DATA

EVERY = 4
UNSEEN = frozenset({"44", "45"})
"""Sets that are no examples, of which all is looked at."""


class Counts(NamedTuple):
    """How many of a set's utterances were right, wrong, opposite …"""

    understood: dict[str, int]
    """Of what is understood for sure."""
    all: dict[str, int]
    """Of that, and of what is done, told or asked where it is not."""


def number(name):
    """Of a set: "44" of "strangers44.en"."""
    return re.search(r"\d+", name)[0]


@cache
def bounds(language):
    """Set → right at least, wrong at most, right at least with what is told or done unsurely."""
    return yaml.safe_load((DATA / "bounds.yaml").read_text("utf-8"))[language]


def learned(language):
    """The sets of a language that are examples."""
    return [name for name in bounds(language) if number(name) not in UNSEEN]


async def counts_of(make_house, name, every=1, first=0):
    """The outcomes of a set, or of every so many-th of its utterances."""
    data = yaml.safe_load((DATA / f"{name}.yaml").read_text("utf-8"))
    house = await make_house(data["home"])
    area = next(a.id for a in house.home.snapshot().areas if a.name == data["area"])
    decider, understood, found = house.commands.decider, [], []
    for sample in samples(data)[first::every]:
        parts = await decider.parts(sample.text, data["language"], area)
        understood.append(judged_parts(sample, [part.decision for part in parts]))
        parts = await decider.with_proposal(parts, sample.text, area)
        found.append(judged_parts(sample, [part.decision for part in parts]))
    return Counts(counted(understood), counted(found))


async def kept(make_house, name):
    """Whether what was learned from a set is kept, and next to nothing done that was not meant."""
    every = 1 if number(name) in UNSEEN else EVERY
    counts = await counts_of(make_house, name, every, int(number(name)) % every)
    within(counts, *bounds(name.rpartition(".")[2])[name])


def within(counts, right, wrong, worded=0):
    """Whether a set's outcomes are within bounds, and none is the opposite of what was meant."""
    assert counts.understood["right"] >= right
    assert counts.all["right"] >= worded
    for found in counts:
        assert found["opposite"] == 0
        assert found["wrong"] <= wrong
