"""Samplers against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from engine.distribution import candidates
from engine.errors import InvalidRequestError
from engine.sampling import Sampler, token_logprobs
from engine.sampling_params import Grammar, SamplingParams

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


def limited_mass(p, params):
    """What top-k leaves."""
    return np.sort(p)[-params.top_k :].sum()


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
    on_edge = len(rest) == 1 and got[:count].sum() / limited_mass(p, params) == pytest.approx(
        params.top_p, abs=1e-5
    )
    assert rest.sum() < 1e-5 or on_edge or np.allclose(rest, params.min_p * p.max(), rtol=1e-4)
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


@given(
    logits=hnp.arrays(np.float32, st.integers(2, 60), elements=st.floats(-20, 20, width=32)),
    typical_p=st.floats(0.05, 0.99),
    temperature=st.floats(0.2, 3),
)
def test_typical_p_keeps_the_least_surprising_surprises(logits, typical_p, temperature):
    params = SamplingParams(typical_p=typical_p, temperature=temperature)
    tokens, kept = candidates(logits, params)
    p = softmax(logits, temperature)
    distance = np.abs(-np.log(p) + (p * np.log(p)).sum())
    assert kept.sum() == pytest.approx(1.0)
    assert p[tokens].sum() >= typical_p - 1e-5
    left_out = np.setdiff1d(np.arange(logits.size), tokens)
    if left_out.size:
        assert distance[tokens].max() <= distance[left_out].min() + 1e-3
        farthest = tokens[np.argmax(distance[tokens])]
        assert p[tokens].sum() - p[farthest] < typical_p + 1e-5  # no more than are needed


def entropy_of_temperature(logits, params):
    """The temperature under which the kept probabilities came about."""
    _, p = candidates(np.asarray(logits, np.float32), params)
    ratio = np.log(p.max() / p.min())
    return (max(logits) - min(logits)) / ratio


def test_dynamic_temperature_follows_the_entropy():
    params = SamplingParams(temperature=1.0, dynamic_temperature=0.5)
    sure = entropy_of_temperature([9.0, 0.0, 0.0], params)
    unsure = entropy_of_temperature([0.2, 0.0, 0.0], params)
    assert 0.5 <= sure < 0.55
    assert 1.45 < unsure <= 1.5
    middle = [2.0, 0.0, 0.0]
    bent = SamplingParams(
        temperature=1.0, dynamic_temperature=0.5, dynamic_temperature_exponent=4.0
    )
    assert entropy_of_temperature(middle, bent) < entropy_of_temperature(middle, params)


@pytest.mark.parametrize("tau", [2.0, 4.0])
def test_mirostat_steers_the_surprise(tau):
    """Mean surprise of what is drawn comes near tau, on Zipf's law (Basu et al., section 5)."""
    logits = -np.log(np.arange(1, 5001, dtype=np.float32))
    sampler = Sampler(SamplingParams(mirostat=2, mirostat_tau=tau, seed=3), logits.size, [])
    drawn = [sampler.sample(logits) for _ in range(1500)][300:]
    weights = np.exp(logits.astype(np.float64))
    # Surprise within what the cut leaves, as the algorithm itself observes it.
    largest = max(drawn) + 1
    p = weights[:largest] / weights[:largest].sum()
    assert -np.log2(p[drawn]).mean() == pytest.approx(tau, abs=0.5)
    free = Sampler(SamplingParams(seed=3), logits.size, [])
    assert max(free.sample(logits) for _ in range(1500)) > largest


@given(tokens=st.lists(st.integers(0, 3), max_size=12), n=st.integers(1, 4), seed=st.integers(0, 9))
def test_no_run_of_tokens_comes_twice(tokens, n, seed):
    sampler = Sampler(SamplingParams(no_repeat_ngram=n, seed=seed), 400, tokens)
    logits = np.full(400, -5.0, np.float32)
    logits[:4] = 5.0
    text = [*tokens, *(sampler.sample(logits) for _ in range(20))]
    runs = [tuple(text[at : at + n]) for at in range(len(text) - n + 1)]
    fresh = runs[max(0, len(tokens) - n + 1) :]
    assert not any(run in runs[: len(runs) - len(fresh) + at] for at, run in enumerate(fresh))


ALPHABET = [b"a", b"b", b"ab", b"ba", b" ", b"bab"]


@given(
    phrases=st.lists(st.text("ab ", min_size=1, max_size=4), max_size=4, unique=True),
    seed=st.integers(0, 20),
    temperature=st.sampled_from([0.0, 1.0]),
)
def test_banned_phrases_never_appear_however_they_are_cut(phrases, seed, temperature):
    spelled = [*ALPHABET, b"c"]  # "c" is always free
    params = SamplingParams(banned_phrases=tuple(phrases), seed=seed, temperature=temperature)
    sampler = Sampler(params, len(spelled), [], spelled.__getitem__)
    logits = np.random.default_rng(seed).normal(size=len(spelled)).astype(np.float32)
    text = b"".join(spelled[sampler.sample(logits)] for _ in range(40)).decode()
    assert not any(phrase in text for phrase in phrases)


@given(logits=hnp.arrays(np.float32, st.integers(3, 80), elements=st.floats(-40, 40, width=32)))
def test_log_probabilities_are_those_of_the_model(logits):
    found = token_logprobs(logits, 1, 2)
    expected = np.log(softmax(logits))
    assert found.logprob == pytest.approx(expected[1], rel=1e-5, abs=1e-5)
    values = [logprob for _, logprob in found.top]
    assert values == pytest.approx(np.sort(expected)[::-1][:2], rel=1e-5, abs=1e-5)
    assert all(expected[token] == pytest.approx(value, abs=1e-4) for token, value in found.top)


def test_only_allowed_tokens_come():
    logits = np.array([5.0, 1.0, 0.0, -3.0], np.float32)
    allowed = np.array([False, False, True, True])
    sampler = Sampler(SamplingParams(seed=0), 4, [])
    assert {sampler.sample(logits, allowed) for _ in range(100)} == {2, 3}


@pytest.mark.parametrize(
    "params",
    [
        *({"mirostat": 1}, {"typical_p": 0.0}, {"dynamic_temperature": -1}, {"logprobs": 21}),
        *({"banned_phrases": ("",)}, {"banned_phrases": ("x",) * 65}, {"no_repeat_ngram": -1}),
        {"prefix": "x", "grammar": Grammar("regex", "x")},
    ],
)
def test_parameters_out_of_range_are_refused(params):
    with pytest.raises(InvalidRequestError) as refused:
        SamplingParams(**params)
    assert refused.value.param in params


@given(logits=logits_arrays, seed=st.integers(0, 2**32), forbidden=st.floats(0, 0.9))
def test_a_token_is_drawn_where_the_random_number_falls(logits, seed, forbidden):
    """Without filters: the first token whose cumulative probability is above the number."""
    random = np.random.default_rng(seed)
    uniform = random.random()
    allowed = random.random(logits.size) >= forbidden
    allowed[random.integers(logits.size)] = True
    token = Sampler(SamplingParams(seed=seed), logits.size, [0]).sample(logits, allowed)
    p = softmax(np.where(allowed, logits.astype(np.float64), -np.inf))
    assert allowed[token]
    below = p[:token].sum()
    assert below - 1e-5 <= uniform <= below + p[token] + 1e-5
