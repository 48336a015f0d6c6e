"""The sets of Chinese utterances by strangers that were learned from."""

import pytest

from tests.hubd.assistant.strangers import kept, learned


@pytest.mark.parametrize("name", learned("zh"))
async def test_most_is_understood_and_nothing_is_done_the_other_way_round(make_house, name):
    await kept(make_house, name)
