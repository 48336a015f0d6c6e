"""The newest sets of utterances by strangers; see test_latest_strangers.py."""

import pytest

from tests.hubd.assistant.strangers import counts_of, kept

BOUNDS = {
    "strangers35.en": (74, 4, 80), "strangers35.de": (70, 3, 76), "strangers35.zh": (66, 7, 73),
    "strangers36.en": (75, 5, 76), "strangers36.de": (68, 6, 74), "strangers36.zh": (68, 5, 74),
    "strangers37.en": (72, 5, 77), "strangers37.de": (76, 3, 83), "strangers37.zh": (70, 5, 76),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS)
async def test_most_is_understood_and_nothing_is_done_the_other_way_round(
    make_house, assistant_data, name
):
    kept(await counts_of(make_house, assistant_data, name), *BOUNDS[name])
