"""The tokens that a step chooses itself, against the sampler in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.kernels.choice_layout import RECORD_BYTES, RECORD_SLOTS, TOKEN, UNIFORM, room_bytes
from engine.kernels.choosing import choose
from engine.sampling import Sampler
from engine.sampling_params import SamplingParams
from engine.threads import ThreadPool
from tests.engine.kernel_runs import run


@pytest.fixture(scope="module")
def pool():
    made = ThreadPool(2)
    yield made
    made.close()


def chosen(pool, logits, sampler, uniforms=None):
    """The token of each row, by the records of a sampler."""
    rows, vocabulary = logits.shape
    width = (vocabulary + 15) // 16 * 16
    padded = np.full((rows, width), np.inf, np.float32)  # what lies behind a row is not looked at
    padded[:, :vocabulary] = logits
    room = np.full(2 * room_bytes(vocabulary) + 64, 0xFF, np.uint8)
    start = (room.ctypes.data + 63) // 64 * 64
    first = sampler.records(rows)
    assert first, "these parameters are not plain"
    if uniforms is not None:
        for row, uniform in enumerate(uniforms):
            sampler._records[RECORD_SLOTS * row + UNIFORM] = uniform
    addresses = np.array([first + RECORD_BYTES * row for row in range(rows)], np.int64)
    operands = (width, vocabulary, start, room_bytes(vocabulary))
    run(pool, choose, operands, rows=rows, outputs=rows, logits=padded, choices=addresses)
    return [int(sampler._records[RECORD_SLOTS * row + TOKEN]) for row in range(rows)]


plain = st.builds(
    SamplingParams,
    temperature=st.sampled_from([0.0, 0.01, 0.3, 0.8, 1.0, 2.0, 50.0]),
    top_k=st.sampled_from([0, 0, 1, 2, 7, 40, 5000]),
    top_p=st.sampled_from([1.0, 1.0, 0.95, 0.5, 0.01, 0.9999]),
    min_p=st.sampled_from([0.0, 0.0, 0.05, 0.5, 1.0]),
    seed=st.integers(0, 2**40),
)


@settings(max_examples=300)
@given(
    plain,
    st.sampled_from([1, 2, 15, 255, 256, 257, 288, 3000]),
    st.sampled_from([0.01, 1.0, 5.0, 40.0]),
    st.integers(0, 2**32 - 1),
)
def test_same_seed_same_tokens_as_the_sampler_in_numpy(pool, params, vocabulary, spread, seed):
    """Weights differ in their last bit, so the same random number could fall on a neighbour where
    it lies within 1e-7 of their border; among these thousands of draws it does not. Tokens of the
    same weight stand in either order."""
    logits = np.random.default_rng(seed).normal(0, spread, (5, vocabulary)).astype(np.float32)
    wanted = Sampler(params, vocabulary, [])
    ours = Sampler(params, vocabulary, [])
    for row, token in zip(logits, chosen(pool, logits, ours), strict=True):
        other = wanted.sample(row)
        assert token == other or alike(row, token, other, params.temperature)


def alike(row, token, other, temperature):
    """Whether two tokens' weights are the same number of 32 bits, though their logits are not."""
    powers = (np.float32(row[one] - row.max()) / np.float32(temperature) for one in (token, other))
    first, second = (np.float32(np.exp(power)) for power in powers)
    return abs(first - second) <= np.spacing(first)


@given(plain, st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1 - 2**-53]))
def test_the_ends_of_the_random_numbers_are_tokens_that_may_be_drawn(pool, params, seed, uniform):
    random = np.random.default_rng(seed)
    logits = random.normal(0, 30, (3, 700)).astype(np.float32)
    logits[:, random.integers(0, 700, 300)] = -np.inf
    tokens = chosen(pool, logits, Sampler(params, 700, []), [uniform] * 3)
    for row, token in zip(logits, tokens, strict=True):
        assert np.isfinite(row[token])
        if params.top_k == 1 or params.temperature == 0.0:
            assert token == row.argmax()


def test_equal_logits_are_taken_in_the_order_of_tokens(pool):
    logits = np.zeros((1, 1000), np.float32)
    logits[0, [300, 301, 900]] = np.float32(2.0)
    assert chosen(pool, logits, Sampler(SamplingParams(temperature=0.0), 1000, [])) == [300]
    logits[0, 0] = -0.0
    params = SamplingParams(top_p=0.5, seed=1)
    drawn = [
        chosen(pool, logits, Sampler(params, 1000, []), [uniform])[0]
        for uniform in np.linspace(0, 0.999, 60)
    ]
    order = [300, 301, 900, *(token for token in range(1000) if token not in (300, 301, 900))]
    places = [order.index(token) for token in drawn]
    assert places == sorted(places)
    assert max(places) < 520


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_logits_without_a_finite_highest_are_left_to_the_sampler(pool, value):
    logits = np.full((2, 300), -np.inf, np.float32)
    logits[0, 17] = value
    logits[1, 5] = 1.0
    sampler = Sampler(SamplingParams(temperature=0.0), 300, [])
    assert chosen(pool, logits, sampler) == [-1, 5]
    assert sampler.chosen(0) is None
    assert sampler.chosen(1) == 5


def test_frequencies_follow_the_filtered_softmax(pool):
    """Chi-squared over 20 000 draws: 37.6 is the 99.9% quantile at 15 degrees of freedom."""
    logits = np.random.default_rng(5).normal(0, 2, 16).astype(np.float32)
    p = np.exp((logits - logits.max()) / 0.8)
    p[np.argsort(-p)[12:]] = 0
    sampler = Sampler(SamplingParams(temperature=0.8, top_k=12, seed=7), 16, [])
    counts = np.zeros(16)
    for _ in range(2500):
        for row, token in enumerate(chosen(pool, np.tile(logits, (8, 1)), sampler)):
            counts[token] += sampler.chosen(row) == token
    expected = p / p.sum() * 20_000
    assert counts.sum() == 20_000
    assert counts[expected == 0].sum() == 0
    common = expected > 5
    assert ((counts - expected)[common] ** 2 / expected[common]).sum() < 37.6


@pytest.mark.parametrize(
    "more",
    [
        {"logit_bias": {1: 1.0}},
        {"repetition_penalty": 1.1},
        {"mirostat": 2},
        {"typical_p": 0.9},
        {"no_repeat_ngram": 3},
        {"banned_phrases": ("a",)},
        {"dynamic_temperature": 0.5},
        {"presence_penalty": 0.1},
    ],
)
def test_what_is_not_plain_is_left_to_the_sampler(more):
    assert Sampler(SamplingParams(**more), 100, []).records(1) == 0


def test_random_numbers_drawn_ahead_are_those_drawn_one_by_one():
    random = np.random.default_rng(9)
    sampler = Sampler(SamplingParams(seed=9), 10, [])
    assert [sampler._uniform() for _ in range(200)] == [random.random() for _ in range(200)]
