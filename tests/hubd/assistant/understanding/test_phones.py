"""Words that sound alike have sounds that are alike."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.phones import difference, pronounced, skeleton

SOUNDS = st.text("aeioubdfgklmnprstvzCSTJx", max_size=8)


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("role", "roll", "en"),
        ("pear", "pair", "en"),
        ("write", "right", "en"),
        ("pause", "paws", "en"),
        ("weather", "whether", "en"),
        ("for", "four", "en"),
        ("teimer", "timer", "de"),
        ("fiel", "viel", "de"),
        ("grat", "grad", "de"),
    ],
)
def test_what_is_taken_for_each_other_differs_little(one, other, language):
    assert difference(pronounced(one, language), pronounced(other, language), 1.0) <= 0.6


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [("on", "off", "en"), ("open", "close", "en"), ("ein", "aus", "de"), ("auf", "zu", "de")],
)
def test_opposites_are_not_taken_for_each_other(one, other, language):
    unlike = difference(pronounced(one, language), pronounced(other, language), 9.0)
    assert unlike > 0.3 * max(len(one), len(other))


@given(SOUNDS, SOUNDS)
def test_a_difference_is_the_same_both_ways_and_none_to_itself(one, other):
    assert difference(one, other, 99.0) == pytest.approx(difference(other, one, 99.0))
    assert difference(one, one, 0.0) == 0.0


@given(SOUNDS, SOUNDS, st.floats(0, 5))
def test_a_limit_only_cuts_off(one, other, limit):
    exact = difference(one, other, 99.0)
    assert difference(one, other, limit) == (exact if exact <= limit else math.inf)


@given(SOUNDS, SOUNDS, SOUNDS)
def test_what_is_added_to_both_makes_them_no_more_unlike(one, other, more):
    assert difference(one + more, other + more, 99.0) <= difference(one, other, 99.0) + 1e-9


def test_a_skeleton_has_no_vowels_and_one_sound_for_those_that_are_near():
    assert skeleton(pronounced("bedtime", "en")) == skeleton(pronounced("pattime", "en"))
