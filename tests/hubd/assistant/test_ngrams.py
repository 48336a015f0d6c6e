"""Vectors of words and pieces: of length 1, the same for the same text, near for a near one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.ngrams import Ngrams

SAID = ["mach die lampe an", "mach die lampe aus", "öffne den rollladen"]


@given(st.lists(st.text(max_size=40), min_size=1, max_size=5), st.booleans())
def test_rows_have_length_one_or_nothing(texts, spaces):
    lengths = np.linalg.norm(Ngrams(texts, spaces).vectors(texts), axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


def test_a_misspelled_sentence_is_nearest_to_its_own():
    ngrams = Ngrams(SAID, spaces=True)
    said, known = ngrams.vectors(["öfne den roladen"]), ngrams.vectors(SAID)
    assert int(np.argmax(known @ said[0])) == 2


def test_what_shares_nothing_is_zero():
    assert not Ngrams(SAID, spaces=True).vectors(["xyz"]).any()


def test_chinese_is_taken_apart_by_characters():
    ngrams = Ngrams(["打开灯", "关闭窗帘"], spaces=False)
    assert (
        int(np.argmax(ngrams.vectors(["打开灯", "关闭窗帘"]) @ ngrams.vectors(["把灯打开"])[0]))
        == 0
    )
