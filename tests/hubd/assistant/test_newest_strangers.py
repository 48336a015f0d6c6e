"""The newest sets of utterances by strangers; see test_latest_strangers.py."""

import pytest

from tests.hubd.assistant.strangers import counts_of, kept

BOUNDS = {
    "strangers35.en": (80, 2, 86), "strangers35.de": (76, 2, 80), "strangers35.zh": (72, 4, 78),
    "strangers36.en": (82, 1, 83), "strangers36.de": (73, 4, 78), "strangers36.zh": (75, 1, 79),
    "strangers37.en": (78, 3, 82), "strangers37.de": (80, 0, 85), "strangers37.zh": (77, 3, 81),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS)
async def test_most_is_understood_and_nothing_is_done_the_other_way_round(
    make_house, assistant_data, name
):
    kept(await counts_of(make_house, assistant_data, name), *BOUNDS[name])
