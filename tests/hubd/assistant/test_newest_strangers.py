"""The newest sets of utterances by strangers; see test_latest_strangers.py."""

import pytest

from tests.hubd.assistant.strangers import counts_of, kept

BOUNDS = {
    "strangers35.en": (77, 3, 83), "strangers35.de": (74, 3, 79), "strangers35.zh": (67, 7, 74),
    "strangers36.en": (76, 5, 77), "strangers36.de": (71, 5, 75), "strangers36.zh": (73, 1, 77),
    "strangers37.en": (75, 4, 78), "strangers37.de": (78, 1, 83), "strangers37.zh": (74, 4, 78),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS)
async def test_most_is_understood_and_nothing_is_done_the_other_way_round(
    make_house, assistant_data, name
):
    kept(await counts_of(make_house, assistant_data, name), *BOUNDS[name])
