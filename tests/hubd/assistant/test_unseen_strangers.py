"""Sets of strangers that are no examples: what somebody new gets, as far as it was not mended."""

import pytest

from tests.hubd.assistant.strangers import UNSEEN, kept


@pytest.mark.parametrize("language", ["en", "de", "zh"])
@pytest.mark.parametrize("number", sorted(UNSEEN))
async def test_most_is_understood_and_nothing_is_done_the_other_way_round(
    make_house, number, language
):
    await kept(make_house, f"strangers{number}.{language}")
