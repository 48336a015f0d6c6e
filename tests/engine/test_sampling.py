"""Samplers against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from engine.errors import InvalidRequestError
from engine.sampling import Sampler, SamplingParams, candidates

logits_arrays = hnp.arrays(np.float32, st.integers(1, 600), elements=st.floats(-50, 50, width=32))
filters = st.builds(
    SamplingParams,
    temperature=st.floats(0.05, 5),
    top_k=st.integers(0, 50),
    top_p=st.floats(0.01, 1),
    min_p=st.floats(0, 1),
)


def softmax(logits, temperature=1.0):
    """The definition, in float64."""
    exponents = (logits.astype(np.float64) - logits.max()) / temperature
    return np.exp(exponents) / np.exp(exponents).sum()


def naive_candidates(logits, params):
    """The definition, one filter after the other on fully sorted probabilities."""
    p = softmax(logits, params.temperature)
    order = np.argsort(-p, kind="stable")
    if params.top_k:
        order = order[: params.top_k]
    if params.top_p < 1:
        kept = p[order] / p[order].sum()
        before = np.concatenate([[0.0], np.cumsum(kept)[:-1]])
        order = order[before < params.top_p]
    return order[p[order] >= params.min_p * p[order[0]]], p


@given(logits=logits_arrays, params=filters)
def test_filters_keep_what_their_definitions_keep(logits, params):
    tokens, kept = candidates(logits, params)
    expected, p = naive_candidates(logits, params)
    assert kept.sum() == pytest.approx(1.0)
    order = np.argsort(-kept, kind="stable")
    got, wanted = p[tokens[order]], p[expected]
    count = min(len(got), len(wanted))
    np.testing.assert_allclose(got[:count], wanted[:count], rtol=1e-4, atol=1e-30)
    # float32 against float64: what lies on the very edge of a filter may fall on either side
    rest = np.concatenate([got[count:], wanted[count:]])
    assert rest.sum() < 1e-5 or np.allclose(rest, params.min_p * p.max(), rtol=1e-4)
    assert len(set(tokens.tolist())) == len(tokens)


@given(logits=logits_arrays)
def test_greedy_takes_the_largest_logit(logits):
    sampler = Sampler(SamplingParams(temperature=0.0), logits.size, [])
    assert logits[sampler.sample(logits)] == logits.max()


@given(logits=logits_arrays, seed=st.integers(-(2**63), 2**63 - 1))
def test_the_same_seed_draws_the_same_tokens(logits, seed):
    params = SamplingParams(seed=seed, temperature=1.5)
    first, second = (Sampler(params, logits.size, []) for _ in range(2))
    draws = [first.sample(logits) for _ in range(8)]
    assert draws == [second.sample(logits) for _ in range(8)]


def test_top_p_keeps_the_token_that_crosses():
    logits = np.log(np.array([0.5, 0.3, 0.15, 0.05], dtype=np.float32))
    kept = [candidates(logits, SamplingParams(top_p=p))[0].tolist() for p in (0.4, 0.6, 0.9)]
    assert kept == [[0], [0, 1], [0, 1, 2]]


def test_min_p_is_relative_to_the_most_likely():
    logits = np.log(np.array([0.5, 0.3, 0.15, 0.05], dtype=np.float32))
    assert candidates(logits, SamplingParams(min_p=0.25))[0].tolist() == [0, 1, 2]


def test_frequencies_follow_softmax():
    """Chi-squared over 20 000 draws: 37.6 is the 99.9% quantile at 15 degrees of freedom."""
    random = np.random.default_rng(5)
    logits = random.normal(0, 2, 16).astype(np.float32)
    sampler = Sampler(SamplingParams(temperature=0.8, seed=7), 16, [])
    counts = np.bincount([sampler.sample(logits) for _ in range(20_000)], minlength=16)
    expected = softmax(logits, 0.8) * 20_000
    common = expected > 5
    chi_squared = ((counts - expected)[common] ** 2 / expected[common]).sum()
    assert chi_squared < 37.6


def test_repetition_penalty_counts_the_prompt_both_signs():
    sampler = Sampler(SamplingParams(temperature=0.0, repetition_penalty=2.0), 4, [0, 1])
    assert sampler.sample(np.array([3.0, -1.0, 1.6, -1.9], dtype=np.float32)) == 2
    sampler = Sampler(SamplingParams(temperature=0.0, repetition_penalty=2.0), 2, [0])
    assert sampler.sample(np.array([-1.0, -1.9], dtype=np.float32)) == 1


def test_frequency_and_presence_penalties_count_the_answer_alone():
    logits = np.array([2.0, 1.5, 1.0], dtype=np.float32)
    presence = Sampler(SamplingParams(temperature=0.0, presence_penalty=0.7), 3, [0, 0])
    assert [presence.sample(logits) for _ in range(4)] == [0, 1, 0, 0]
    frequency = Sampler(SamplingParams(temperature=0.0, frequency_penalty=0.4), 3, [0])
    assert [frequency.sample(logits) for _ in range(6)] == [0, 0, 1, 0, 1, 2]


def test_logit_bias_bans_and_forces_without_touching_the_logits():
    logits = np.array([2.0, 1.0, 0.0], dtype=np.float32)
    banned = Sampler(SamplingParams(temperature=0.0, logit_bias={0: -100.0}), 3, [])
    forced = Sampler(SamplingParams(seed=1, logit_bias={2: 100.0}), 3, [])
    assert banned.sample(logits) == 1
    assert {forced.sample(logits) for _ in range(50)} == {2}
    assert logits.tolist() == [2.0, 1.0, 0.0]


@pytest.mark.parametrize("temperature", [1e-40, 1e-6, 100.0])
def test_extreme_temperatures_stay_finite(temperature):
    logits = np.array([1e4, 0.0, -1e4], dtype=np.float32)
    tokens, p = candidates(logits, SamplingParams(temperature=temperature))
    assert np.isfinite(p).all()
    assert tokens[p.argmax()] == 0


def test_a_flat_distribution_needs_every_token():
    """No weight stands out, so that no short cut applies."""
    logits = np.zeros(5000, dtype=np.float32)
    assert len(candidates(logits, SamplingParams(top_p=0.5))[0]) in (2500, 2501)
    assert len(candidates(logits, SamplingParams(top_k=100))[0]) == 100
    peaked = np.where(np.arange(5000) == 7, np.float32(20.0), np.float32(0.0))
    assert candidates(peaked, SamplingParams(top_k=3))[0][0] == 7
    assert len(candidates(peaked, SamplingParams(top_k=3))[0]) == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -0.1),
        ("temperature", float("nan")),
        ("temperature", float("inf")),
        ("top_k", -1),
        ("top_p", 0.0),
        ("top_p", 1.1),
        ("min_p", -0.5),
        ("repetition_penalty", 0.0),
        ("frequency_penalty", 2.5),
        ("presence_penalty", -2.5),
        ("logit_bias", {1: 101.0}),
        ("logit_bias", {-1: 1.0}),
        ("logit_bias", dict.fromkeys(range(1025), 0.0)),
        ("seed", 2**63),
        ("max_tokens", 0),
        ("stop", ("",)),
        ("stop", ("x" * 257,)),
        ("stop", ("x",) * 17),
    ],
)
def test_values_out_of_range_are_refused_by_name(name, value):
    with pytest.raises(InvalidRequestError, match=name) as caught:
        SamplingParams(**{name: value})
    assert caught.value.param == name


def test_a_bias_outside_the_vocabulary_is_refused():
    with pytest.raises(InvalidRequestError, match="token 7; the vocabulary has 7"):
        Sampler(SamplingParams(logit_bias={7: 1.0}), 7, [])
