"""Words are tagged as the likeliest tags together, and parts come back in their own words."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.tagger import (
    ABOUT,
    ABOUT_ON,
    OUTSIDE,
    TAGS,
    WHEN,
    WHEN_ON,
    parts_of,
    scores_of,
    tagged,
    tokens_of,
    unmarked,
)

WORDS = st.sampled_from(["milk", "to", "the", "list", "half", "six", "o'clock", "2,5"])
PIECES = st.tuples(st.sampled_from(["", "[]", "{}"]), st.lists(WORDS, min_size=1, max_size=3))


def is_allowed(tags):
    begins = {ABOUT_ON: {ABOUT, ABOUT_ON}, WHEN_ON: {WHEN, WHEN_ON}}
    return all(
        before in begins.get(tag, range(TAGS))
        for before, tag in itertools.pairwise([OUTSIDE, *tags])
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_the_likeliest_tags_are_those_that_trying_all_finds(seed, words):
    chance = np.random.default_rng(seed)
    scores = chance.normal(size=(words, TAGS)).astype(np.float32)
    moves = chance.normal(size=(TAGS, TAGS)).astype(np.float32)

    def worth(tags):
        steps = sum(moves[a, b] for a, b in itertools.pairwise(tags))
        return sum(scores[i, tag] for i, tag in enumerate(tags)) + steps

    allowed = filter(is_allowed, itertools.product(range(TAGS), repeat=words))
    assert tagged(scores, moves) == list(max(allowed, key=worth))


@given(st.lists(PIECES, min_size=1, max_size=5))
def test_what_is_marked_comes_back_as_it_was_said(pieces):
    marked = " ".join(f"{mark[:1]}{' '.join(words)}{mark[1:]}" for mark, words in pieces)
    text, tokens, tags = unmarked(marked, spaces=True)
    assert text == " ".join(word for _, words in pieces for word in words)
    about, when = (
        tuple(" ".join(words) for mark, words in pieces if mark == wanted)
        for wanted in ("[]", "{}")
    )
    found = parts_of(text, tokens, tags)
    assert (found.about, found.when) == (about, when)
    assert found.whole in text
    assert not about or about[0] in found.whole or len(about) > 1


def test_chinese_is_tagged_by_characters():
    text, tokens, tags = unmarked("把[酱油]和[2斤豆腐]加到清单", spaces=False)
    assert [token.text for token in tokens] == list("把酱油和2斤豆腐加到清单")
    assert parts_of(text, tokens, tags).about == ("酱油", "2斤豆腐")


@pytest.mark.parametrize("marked", ["put [milk on the list", "put milk] on the list", "m[il]k"])
def test_a_bracket_that_is_not_closed_is_an_error(marked):
    with pytest.raises(ValueError, match="bracket"):
        unmarked(marked, spaces=True)


def test_times_and_shortened_words_are_one_word():
    said = tokens_of("We're out, at 7:30! Milk.", spaces=True)
    assert [token.text for token in said] == ["we're", "out", ",", "at", "7:30", "milk"]
    assert [token.sentence for token in said] == [0, 0, 0, 0, 0, 1]


def test_no_part_goes_on_in_the_next_sentence():
    tokens = tokens_of("Milk. Bread", spaces=True)
    weights = np.zeros((1, TAGS), np.float32)
    weights[0, ABOUT], weights[0, ABOUT_ON] = 1, 2
    scores = scores_of(weights, np.zeros((2, 3), np.intp), tokens)
    assert tagged(scores, np.zeros((TAGS, TAGS), np.float32)) == [ABOUT, ABOUT]


def test_what_little_stands_between_belongs_together():
    text, tokens, tags = unmarked("play the [Brighouse] and [Rastrick Brass Band] now", spaces=True)
    assert parts_of(text, tokens, tags).whole == "Brighouse and Rastrick Brass Band"


@pytest.mark.parametrize(
    ("text", "marked", "about"),
    [("那个Wi-Fi密码是什么", "Fi密码", "Wi-Fi密码"), ("咱们家车位是多少号", "家车位", "车位")],
)
def test_a_part_is_no_piece_of_a_word(text, marked, about):
    tokens, at = tokens_of(text, spaces=False), text.index(marked)
    inside = [i for i, one in enumerate(tokens) if at <= one.begin < at + len(marked)]
    tags = [OUTSIDE if i not in inside else ABOUT_ON for i in range(len(tokens))]
    tags[inside[0]] = ABOUT
    assert parts_of(text, tokens, tags).about == (about,)
