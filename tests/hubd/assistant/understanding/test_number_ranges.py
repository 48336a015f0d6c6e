"""Numbers in words keep their sign, whatever was said before."""

import pytest
from hassil.intents import RangeSlotList

from hubd.assistant.understanding.grammar import Grammar


@pytest.mark.parametrize("language", ["en", "de", "zh", "fr", "es"])
def test_lists_of_other_signs_have_other_bounds(language):
    """hassil keeps the words of a range by its bounds, for all lists that have them."""
    lists = Grammar(language, [])._home.slot_lists.values()
    signs = {}
    for one in lists:
        if isinstance(one, RangeSlotList):
            bounds = (one.start, one.stop, one.step, one.fraction_type)
            signs.setdefault(bounds, set()).add(one.multiplier)
    assert any(None not in of_these for of_these in signs.values())
    assert all(len(of_these) == 1 for of_these in signs.values()), signs
