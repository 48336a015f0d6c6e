"""Vectors of words and pieces: of length 1, the same for the same text, near for a near one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.ngrams import PLACES, counted, rarity, scaled

SAID = ["mach die lampe an", "mach die lampe aus", "öffne den rollladen"]


def vectors(texts, among, *, spaces=True):
    return scaled(counted(texts, spaces), rarity(counted(among, spaces)))


@given(st.lists(st.text(max_size=40), min_size=1, max_size=5), st.booleans())
def test_rows_have_length_one_or_nothing(texts, spaces):
    rows = vectors(texts, texts, spaces=spaces)
    assert rows.shape == (len(texts), PLACES)
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


def test_a_misspelled_sentence_is_nearest_to_its_own():
    likeness = vectors(SAID, SAID) @ vectors(["öfne den roladen"], SAID)[0]
    assert int(np.argmax(likeness)) == 2


def test_what_is_said_by_few_weighs_more():
    rare = rarity(counted(SAID, spaces=True))
    weight = {word: rare @ counted([word], spaces=True)[0] for word in ("die", "den")}
    assert weight["den"] > weight["die"]


def test_what_says_nothing_is_zero():
    assert not vectors([""], SAID).any()


def test_chinese_is_taken_apart_by_characters():
    said = ["打开灯", "关闭窗帘"]
    likeness = vectors(said, said, spaces=False) @ vectors(["把灯打开"], said, spaces=False)[0]
    assert int(np.argmax(likeness)) == 0
