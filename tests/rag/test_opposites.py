"""What says the contrary, and what only holds words of both kinds."""

import pytest

from rag.opposites import contradicts


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The lease ends on 1 September 2025.", "The tenancy begins on 1 September 2025."),
        ("The shop closes at nine.", "It opens at nine on Saturdays."),
        ("Take the pills after a meal.", "The pills are taken before a meal."),
        ("The train leaves at 9.", "Arrival: the train arrives at 9."),
        ("At most two bar.", "The pressure is at least two bar."),
        ("租约于九月一日结束。", "租期从九月一日开始。"),
    ],
)
def test_the_contrary_is_told_both_ways(claim, text):
    assert contradicts(claim, text)
    assert contradicts(text, claim)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The lease ends in August.", "It begins in September and ends in August."),
        ("The tenancy begins in September.", "The tenancy begins in September."),
        ("It opens at nine and closes at six.", "It closes at six."),
        ("The weekend rate is 9 euros.", "The rate begins on Fridays."),
        ("租期两年。", "租期从九月一日开始。"),
    ],
)
def test_what_says_the_same_or_something_else(claim, text):
    assert not contradicts(claim, text)
