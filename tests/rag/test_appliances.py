"""Appliances that a text names."""

import pytest

from rag.appliances import appliances_in


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("How do I clean the filter of the washing machine?", {"washing machine"}),
        ("dishwasher manual", {"dishwasher"}),
        ("Put the washing-up liquid into the machine", set()),
        ("the cooker hood over the hob", {"cooker hood", "hob"}),
        ("the rice cooker, not the cooker", {"rice cooker", "oven"}),
        ("the dehumidifier in the cellar", {"dehumidifier"}),
        ("Wie entkalke ich die Spülmaschine?", {"dishwasher"}),
        ("洗衣机的滤网怎么清洗？", {"washing machine"}),
        ("an ovenproof dish and a television", {"television"}),
    ],
)
def test_appliances_are_named_by_one_word_each(text: str, named: set[str]) -> None:
    assert appliances_in(text) == named


def test_every_appliance_has_words_in_each_script() -> None:
    for name in ("boiler", "mower", "oven", "vacuum"):
        assert appliances_in(name) == {name}
