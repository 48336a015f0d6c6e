"""Utterances of strangers, decided on as the daemon does, joined commands and likeness included.

What each set gave at the first try is in docs/understanding.md; the tests hold that what was
learned from it is kept, and that next to nothing is done that was not meant.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from hubd.assistant.evaluate import counted, judged_parts, samples

DATA = Path(__file__).parents[2] / "data/assistant"
UNSEEN = frozenset({"44", "45", "46", "47", "48", "49", "50", "51", "52", "53", "54", "55", "56"})
"""Sets that are no examples."""


class Counts(NamedTuple):
    """How many of a set's utterances were right, wrong, opposite …"""

    understood: dict[str, int]
    """Of what is understood for sure."""
    all: dict[str, int]
    """Of that, and of what is done, told or asked where it is not."""


@cache
def bounds(language):
    """Set → right at least, wrong at most, right at least with what is told or done unsurely."""
    return yaml.safe_load((DATA / "bounds.yaml").read_text("utf-8"))[language]


def learned(language):
    """The sets of a language that are examples."""
    return [name for name in bounds(language) if not _is_unseen(name)]


def unseen(language):
    """Those that are no examples."""
    return [name for name in bounds(language) if _is_unseen(name)]


def _is_unseen(name):
    return re.search(r"\d+", name)[0] in UNSEEN


async def counts_of(make_house, name):
    """The outcomes of a set."""
    data = yaml.safe_load((DATA / f"{name}.yaml").read_text("utf-8"))
    house = await make_house(data["home"])
    area = next(a.id for a in house.home.snapshot().areas if a.name == data["area"])
    decider, understood, found = house.commands.decider, [], []
    for sample in samples(data):
        parts = await decider.parts(sample.text, data["language"], area)
        understood.append(judged_parts(sample, [part.decision for part in parts]))
        parts = await decider.with_proposal(parts, sample.text, area)
        found.append(judged_parts(sample, [part.decision for part in parts]))
    return Counts(counted(understood), counted(found))


async def kept(make_house, name):
    """Whether what was learned from a set is kept."""
    within(await counts_of(make_house, name), *bounds(name.rpartition(".")[2])[name])


def within(counts, right, wrong, worded=0):
    """Whether a set's outcomes are within bounds, and none is the opposite of what was meant."""
    assert counts.understood["right"] >= right
    assert counts.all["right"] >= worded
    for found in counts:
        assert found["opposite"] == 0
        assert found["wrong"] + found["worded"] <= wrong
