"""A slip, a thing that is taken up again, thinking aloud: what the sentence comes to without."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.reworded import rewordings
from hubd.assistant.understanding.words import phrases_of
from hubd.home.model import Snapshot


@pytest.fixture(scope="module")
def reworded(real_router):
    """``reworded(text, language)`` in the household of that language."""
    routers = {language: real_router(f"home4.{language}.yaml") for language in ("en", "de", "zh")}

    def made(text: str, language: str) -> list[str]:
        return rewordings(text, lexicon(language), routers[language].phrases(language))

    return made


@pytest.mark.parametrize(
    ("said", "meant", "language"),
    [
        ("set the island to thirty, no, forty percent", "set the island to forty percent", "en"),
        ("打开吸顶灯，哎不对，是橱柜灯", "打开橱柜灯", "zh"),
        ("客厅窗帘，拉上，哎等等，还是拉开吧", "客厅窗帘拉开", "zh"),
        ("festoon lights, set them to fifty percent", "set festoon lights to fifty percent", "en"),
        ("den ventilator, den mach auf 80 prozent", "den ventilator mach auf 80 prozent", "de"),
    ],
)
def test_it_comes_to_one_sentence(reworded, said, meant, language):
    assert meant in reworded(said, language)


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("turn on the island", "en"),
        ("turn on the island, please", "en"),
        ("turn on the island, unless it rains, please", "en"),
        ("turn on the island, frobnicate, please", "en"),
    ],
)
def test_nothing_that_says_something_is_left_out(reworded, said, language):
    assert reworded(said, language) == []


@given(text=st.text(max_size=60), language=st.sampled_from(["en", "de", "zh"]))
def test_any_text_can_be_reworded(text, language):
    known = lexicon(language)
    assert all(rewordings(text, known, phrases_of(Snapshot(), known)))
