"""Numbers in words keep their sign, whatever was said before."""

from pathlib import Path

import pytest
import yaml
from hassil.intents import RangeSlotList

from hubd.assistant.understanding.grammar import Grammar

SENTENCES = Path(__file__).parents[4] / "plugins"


@pytest.mark.parametrize("language", ["en", "de", "zh", "fr", "es"])
def test_lists_of_other_signs_have_other_bounds(language):
    """hassil keeps the words of a range by its bounds, for all lists that have them."""
    lists = Grammar(language, [])._home.intents.slot_lists.values()
    signs = {}
    for one in lists:
        if isinstance(one, RangeSlotList):
            bounds = (one.start, one.stop, one.step, one.fraction_type)
            signs.setdefault(bounds, set()).add(one.multiplier)
    assert any(None not in of_these for of_these in signs.values())
    assert all(len(of_these) == 1 for of_these in signs.values()), signs


@pytest.mark.parametrize("path", sorted(SENTENCES.glob("*.??.yaml")), ids=lambda path: path.name)
def test_no_range_has_more_numbers_than_can_be_spelled_out_in_a_moment(path):
    lists = (yaml.safe_load(path.read_text("utf-8")) or {}).get("lists") or {}
    ranges = [one["range"] for one in lists.values() if "range" in one]
    assert all(one["to"] <= 1_000 or one.get("words") is False for one in ranges)
