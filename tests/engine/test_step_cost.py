"""How much of a prompt goes into a step so that nobody waits long, on boxes of any speed."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.batch import MIN_SLICE_TOKENS, SHARED_SLICE_SECONDS, STEP_TOKENS
from engine.step_cost import StepCost
from engine.step_part import Part

LONGEST_S = 0.15


def part(position, tokens):
    return Part(np.zeros(tokens, np.int32), SimpleNamespace(length=position), 0)


@given(st.floats(0, 1e4), st.integers(0, 200_000), st.floats(50, 1e6))
def test_tokens_are_the_most_that_are_no_more_work(work, position, doubled_at):
    cost = StepCost(doubled_at)
    tokens = cost.tokens(work, position)
    assert cost.work([part(position, tokens)]) <= work * 1.0001 + 1e-6
    assert cost.work([part(position, tokens + 1)]) > work * 0.9999


def test_work_is_counted_in_tokens_at_the_beginning():
    cost = StepCost(1000)
    assert cost.work([part(0, 1)]) == pytest.approx(1, rel=1e-3)
    assert cost.work([part(1000, 1), part(3000, 1)]) == pytest.approx(2 + 4, rel=1e-3)
    assert cost.tokens(0, 0) == cost.tokens(-1, 0) == 0


def test_the_slowest_of_the_last_steps_says_what_fits():
    cost = StepCost(1000)
    for seconds in (1.0, 2.0, 0.5, 1.0):
        cost.learn(1000.0, seconds)
    assert cost.within(0.1) == pytest.approx(50)
    cost.learn(1000.0, 1.0)
    assert cost.within(0.1) == pytest.approx(100)


@given(
    rate=st.floats(250, 20_000),
    doubled_at=st.floats(500, 50_000),
    misjudged=st.floats(0.85, 1.2),
    prompts=st.lists(st.tuples(st.integers(0, 30_000), st.integers(16, 4000)), max_size=4),
    noise=st.lists(st.floats(0.85, 1.2), min_size=1, max_size=7),
)
def test_no_slice_of_any_prompt_keeps_a_running_answer_waiting(
    rate, doubled_at, misjudged, prompts, noise
):
    """Prompts one after the other, each behind a cached beginning of its own, on a box whose
    attention is not quite as slow as it is thought to be and whose speed changes all the time."""
    cost, number = StepCost(doubled_at), 0

    def seconds(position, tokens):
        attention = (position + tokens / 2) / (doubled_at * misjudged)
        return tokens * (1 + attention) / rate * noise[number % len(noise)]

    for position, left in prompts:
        while left:
            fitting = cost.tokens(cost.within(SHARED_SLICE_SECONDS), position)
            tokens = min(left, STEP_TOKENS, max(MIN_SLICE_TOKENS, fitting))
            took = seconds(position, tokens)
            assert took <= LONGEST_S or tokens <= MIN_SLICE_TOKENS
            cost.learn(cost.work([part(position, tokens)]), took)
            position, left, number = position + tokens, left - tokens, number + 1
