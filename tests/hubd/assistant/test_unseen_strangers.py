"""Sets of strangers that are no examples: what somebody new gets, as far as it was not mended."""

import pytest

from tests.hubd.assistant.strangers import counts_of, kept

BOUNDS = {
    "strangers38.en": (75, 0, 81), "strangers38.de": (81, 0, 86), "strangers38.zh": (74, 3, 76),
    "strangers40.en": (84, 0, 89), "strangers40.de": (76, 1, 80), "strangers40.zh": (84, 2, 85),
    "strangers41.en": (68, 1, 75), "strangers41.de": (79, 0, 78), "strangers41.zh": (75, 7, 75),
}  # fmt: skip
"""Of 100: how many were right when the bound was set, less a few, and how many wrong; and how many
were right with what is told by its wording."""


@pytest.mark.parametrize("name", BOUNDS)
async def test_what_was_learned_is_kept(make_house, assistant_data, name):
    kept(await counts_of(make_house, assistant_data, name), *BOUNDS[name])
