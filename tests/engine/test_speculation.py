"""Prompt lookup: where its guesses come from, how many, and when it gives up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.speculation import FEW_GUESSES, MOST_GUESSES, SHORTEST_MATCH, LookupDrafter


def test_what_followed_the_last_tokens_before_is_guessed():
    text = [1, 2, 3, 4, 5, 6, 7, 8, 9, 2, 3]
    assert LookupDrafter().guess(text, MOST_GUESSES) == [4, 5, 6]
    assert LookupDrafter().guess(text, 2) == [4, 5]
    assert LookupDrafter().guess([1, 2, 3, 4, 9, 3], MOST_GUESSES) == [], "one token is no match"


def test_the_longest_match_is_preferred_and_of_equals_the_last():
    assert LookupDrafter().guess([1, 2, 3, 40, 9, 2, 3, 50, 1, 2, 3], 1) == [40]
    assert LookupDrafter().guess([1, 2, 3, 40, 1, 2, 3, 50, 1, 2, 3], 1) == [50]


@pytest.mark.parametrize(
    ("right", "next_time"), [(FEW_GUESSES, MOST_GUESSES), (FEW_GUESSES - 1, FEW_GUESSES)]
)
def test_it_guesses_further_ahead_while_all_is_right(right, next_time):
    drafter, text = LookupDrafter(), [*range(20), 1, 2]
    guessed = drafter.guess(text, MOST_GUESSES)
    drafter.learn(len(guessed), right)
    assert len(drafter.guess(text, MOST_GUESSES)) == next_time


def test_it_rests_while_guesses_are_wrong_and_tries_again():
    drafter, text, guessed = LookupDrafter(), [*range(20), 1, 2], []
    for _ in range(100):
        guessed.append(len(drafter.guess(text, MOST_GUESSES)))
        drafter.learn(guessed[-1], 0)
    assert 3 <= sum(map(bool, guessed)) <= 20
    assert any(guessed[40:]), "it tries again"


@given(st.lists(st.integers(0, 3), max_size=80), st.integers(0, MOST_GUESSES))
def test_guesses_stand_behind_the_same_tokens_further_up(tokens, most):
    """Token by token, as an answer grows, against a search through all of the text."""
    drafter = LookupDrafter()
    for length in range(len(tokens) + 1):
        text = tokens[:length]
        guesses = drafter.guess(text, most)
        places = [end for end in range(SHORTEST_MATCH, length) if text[end - 2 : end] == text[-2:]]
        assert bool(guesses) == bool(places and most)
        assert not guesses or any(text[end : end + len(guesses)] == guesses for end in places)
