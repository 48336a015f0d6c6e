"""Sets of strangers that are no examples: what somebody new gets, as far as it was not mended."""

import pytest

from tests.hubd.assistant.strangers import counts_of, kept

BOUNDS = {
    "strangers38.en": (75, 1, 80), "strangers38.de": (80, 1, 85), "strangers38.zh": (73, 4, 75),
    "strangers40.en": (84, 1, 89), "strangers40.de": (76, 2, 80), "strangers40.zh": (83, 3, 85),
    "strangers41.en": (68, 2, 75), "strangers41.de": (79, 2, 78), "strangers41.zh": (74, 9, 74),
}  # fmt: skip
"""Of 100: how many were right when the bound was set, less a few, and how many wrong; and how many
were right with what is told by its wording."""


@pytest.mark.parametrize("name", BOUNDS)
async def test_what_was_learned_is_kept(make_house, assistant_data, name):
    kept(await counts_of(make_house, assistant_data, name), *BOUNDS[name])
