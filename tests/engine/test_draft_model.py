"""A draft model changes nothing but the time: whatever it guesses, answers are the model's own."""

import queue

import numpy as np
import pytest

from engine import Engine, draft_model
from engine.draft_model import CATCH_UP_TOKENS, DraftModel, ModelDrafter
from engine.errors import EngineError
from engine.generate import Finished
from engine.kernels.kv_layout import BLOCK_TOKENS
from engine.quantize import quantize_file
from engine.sampling_params import SamplingParams
from engine.speculation import FirstOf, LookupDrafter

PAYS = [(1.5, 3, True), (2.1, 1, False), (1.9, 1, True), (1.1, 0, False)]
"""Time of a step with guesses, of which so many are right; whether that is less a token than 1."""
TEXT = np.random.default_rng(9).integers(0, 256, 300).tolist()


@pytest.fixture(scope="module")
def small_path(tiny_path, tmp_path_factory):
    """The tiny model in 4 bits: often, not always, of its opinion."""
    path = tmp_path_factory.mktemp("draft") / "small.gguf"
    quantize_file(tiny_path, path, "q4_0", lambda name, fraction: None)
    return path


@pytest.fixture(scope="module")
def plain(tiny_path):
    with Engine.load(tiny_path, threads=1) as engine:
        yield engine


@pytest.fixture(scope="module")
def drafted(tiny_path, small_path):
    with Engine.load(tiny_path, threads=1, draft_model=small_path) as engine:
        yield engine


@pytest.fixture
def always(monkeypatch):
    """Guesses are made whether they pay or not, and all by the draft model."""
    monkeypatch.setattr(draft_model, "_TRIALS", 1 << 60)
    monkeypatch.setattr(draft_model, "_PLAIN_STEPS", 0)
    monkeypatch.setattr(LookupDrafter, "guess", lambda self, tokens, most: [])


def answer(engine, prompt, **options):
    """Tokens of an answer, and its request."""
    params = SamplingParams(ignore_eos=True, **options)
    request, tokens = engine.prepare(prompt, params), []
    outcomes = queue.SimpleQueue()
    engine.scheduler.submit(request, outcomes.put)
    while not isinstance(outcome := outcomes.get(timeout=60), Finished):
        assert not isinstance(outcome, EngineError), outcome
        tokens.append(outcome.token)
    return tokens, request


@pytest.mark.parametrize("length", [1, 31, 64, 200])
def test_greedy_answers_are_identical(plain, drafted, always, length):
    expected, _ = answer(plain, TEXT[:length], temperature=0.0, max_tokens=100)
    found, request = answer(drafted, TEXT[:length], temperature=0.0, max_tokens=100)
    assert found == expected
    assert 0 < request.accepted < request.drafted


def test_sampled_answers_are_identical_with_the_same_seed(plain, drafted, always):
    right = 0
    for seed in range(12):
        options = {"temperature": 0.9, "top_p": 0.95, "seed": seed, "max_tokens": 40}
        expected, _ = answer(plain, TEXT[:50], **options)
        found, request = answer(drafted, TEXT[:50], **options)
        assert found == expected
        right += request.accepted
    assert right > 0


def test_sampled_tokens_have_the_distribution_of_the_model(plain, drafted, always):
    """The second token, the first that is guessed: 500 seeds against the model's probabilities."""
    prompt, seeds = TEXT[:8], 500
    first = softmax(plain.logits(prompt)[-1])
    second = sum(
        first[token] * softmax(plain.logits([*prompt, token])[-1]) for token in range(len(first))
    )
    counted, right = np.zeros(len(second)), 0
    for seed in range(seeds):
        found, request = answer(drafted, prompt, temperature=1.0, seed=seed, max_tokens=3)
        counted[found[1]] += 1
        right += request.accepted
    assert right > seeds / 50
    likely = seeds * second >= 5
    observed = np.append(counted[likely], counted[~likely].sum())
    expected = seeds * np.append(second[likely], second[~likely].sum())
    freedom = len(expected) - 1
    assert ((observed - expected) ** 2 / expected).sum() < freedom + 4 * np.sqrt(2 * freedom)


def test_a_prompt_is_read_in_slices_and_known_afterwards(tiny_path, small_path, drafted):
    """And what was guessed wrong, or by others, does not stay."""
    draft = DraftModel.load(small_path, drafted.model, None)
    try:
        drafter = rested(draft)
        calls = 1
        while not (guesses := drafter.guess(TEXT[:200], 4)):
            drafter.learn(0, 0)
            calls += 1
        assert calls == -(-200 // CATCH_UP_TOKENS)
        expected = greedy(draft.model, TEXT[:200], len(guesses))
        assert guesses == expected
        drafter.learn(len(guesses), 1)
        wrong = [*TEXT[:200], guesses[0], (guesses[1] + 1) % 256]
        assert drafter.guess(wrong, 4) == greedy(draft.model, wrong, len(guesses) - 1)
        drafter.release()
        assert draft.cache.available() == draft.cache.pool.blocks
        again = rested(draft)
        assert again.guess(TEXT[:200], 2) == expected[:2]  # at once: it is in the cache
        assert again.guess([], 0) == []
        again.release()
    finally:
        draft.close()


def test_it_rests_while_it_does_not_pay(small_path, drafted):
    """Time is the test's own: plain steps take 1, those with guesses as long as said."""
    draft = DraftModel.load(small_path, drafted.model, None)
    now = [0.0]
    try:
        for takes, right, pays in [
            (1.5, 3, True),
            (2.1, 1, False),
            (1.9, 1, True),
            (1.1, 0, False),
        ]:
            draft.resting, draft.next_rest = 0, draft_model._SHORT_REST
            drafter = ModelDrafter(draft, lambda: now[0])
            tokens, guessed = list(TEXT[:40]), []
            for _ in range(60):
                guesses = drafter.guess(tokens, 3)
                guessed.append(bool(guesses))
                now[0] += takes if guesses else 1.0
                drafter.learn(len(guesses), min(right, len(guesses)))
            drafter.release()
            assert not any(guessed[:3])
            assert all(guessed[3:7])
            assert guessed[7:] == [True] * 53 if pays else not any(guessed[7:39])
            assert pays or guessed[39]  # it is tried again
    finally:
        draft.close()


def test_the_next_answer_goes_on_with_the_rest(small_path, drafted):
    """32 steps after the first failure, 64 after the second, of whichever answer."""
    draft, now, guessed = DraftModel.load(small_path, drafted.model, None), [0.0], []
    try:
        for _ in range(12):
            drafter = ModelDrafter(draft, lambda: now[0])
            for _ in range(10):
                guesses = drafter.guess(TEXT[:40], 3)
                guessed.append(bool(guesses))
                now[0] += 2.1 if guesses else 1.0
                drafter.learn(len(guesses), 0)
            drafter.release()
    finally:
        draft.close()
    assert guessed[:7] == [False] * 3 + [True] * 4
    assert not any(guessed[7:39])
    assert guessed[39:47] == [True] + [False] * 3 + [True] * 4, "the fifth answer begins at 40"
    assert not any(guessed[47:111])
    assert not any(guessed[111:113])
    assert guessed[113]


def test_without_room_nothing_is_guessed(small_path, drafted):
    draft = DraftModel.load(small_path, drafted.model, None)
    try:
        taken = [draft.cache.pool.take() for _ in range(draft.cache.pool.free)]
        drafter = rested(draft)
        assert drafter.guess(TEXT[:40], 3) == []
        for block in taken[: 40 // BLOCK_TOKENS + 2]:
            draft.cache.pool.release(block)
        assert rested(draft).guess(TEXT[:40], 3)
    finally:
        draft.close()


def test_who_guesses_learns(small_path, drafted):
    """Prompt lookup comes first; the draft model where that knows nothing."""

    class Scripted:
        def __init__(self, guesses):
            self.guesses, self.learned = guesses, []

        def guess(self, tokens, most):
            return self.guesses[:most]

        def learn(self, guessed, right):
            self.learned.append((guessed, right))

        def release(self):
            self.learned.append("released")

    first, second = Scripted([]), Scripted([1, 2, 3])
    both = FirstOf(first, second)
    assert both.guess([5], 2) == [1, 2]
    both.learn(2, 1)
    first.guesses, second.guesses = [7], []
    assert both.guess([5], 2) == [7]
    both.learn(1, 1)
    both.release()
    assert (first.learned, second.learned) == ([(1, 1), "released"], [(2, 1), "released"])


def test_another_vocabulary_is_refused(tiny_path, model_path):
    with pytest.raises(ValueError, match=r"tiny.gguf has 288 tokens and .* 49152, which"):
        Engine.load(model_path, threads=1, context_length=64, draft_model=tiny_path)


def rested(draft):
    """A drafter that guesses at once."""
    drafter = ModelDrafter(draft)
    for _ in range(3):
        assert drafter.guess([1], 3) == []
    return drafter


def greedy(model, tokens, count):
    """The model's own answer, without anything cached."""
    cache, answer = model.new_cache(), []
    following = list(tokens)
    for _ in range(count):
        logits = model.forward(np.array(following, np.int32), cache)
        following = [int(logits[0].argmax())]
        answer += following
    return answer


def softmax(logits):
    weights = np.exp(logits.astype(np.float64) - logits.max())
    return weights / weights.sum()
