"""Sets of strangers that are no examples: what somebody new gets, as far as it was not mended."""

import pytest

from tests.hubd.assistant.strangers import kept, unseen


@pytest.mark.parametrize("name", [name for one in ("en", "de", "zh") for name in unseen(one)])
async def test_most_is_understood_and_nothing_is_done_the_other_way_round(make_house, name):
    await kept(make_house, name)
