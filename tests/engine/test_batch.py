"""Continuous batching against the plain engine: whoever joins, leaves, shares or is preempted,
every answer is, token by token, the one that it would have been alone and without a cache."""

import functools

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Engine
from engine.batch import (
    COPY_SECONDS,
    MIN_SLICE_TOKENS,
    MOST_POSTPONED,
    SHARED_SLICE_SECONDS,
    Batch,
    Ticket,
)
from engine.beam_search import BeamSearch
from engine.errors import ContextLengthError, EngineError
from engine.generate import Finished, Generation, Piece
from engine.kv import BlockPool
from engine.model import Model
from engine.prefix_cache import PrefixCache
from engine.sampling import Sampler, SamplingParams
from engine.step_part import Part
from engine.tokenizer import Tokenizer

TEXT = np.random.default_rng(3).integers(0, 256, 400).tolist()
FEW = {7: 100.0, 8: 100.0, 9: 99.0}
"""A bias after which an answer repeats itself, so that guesses ahead are often right."""


class Home:
    """A model, its tokenizer, and answers computed one by one without any cache."""

    def __init__(self, path):
        self.model = Model.load(path, threads=1)
        self.tokenizer = Tokenizer(self.model.gguf.metadata)
        self.alone = functools.cache(self._alone)

    def _alone(self, length, seed, tokens, biased):
        prompt, params = TEXT[:length], sampling(seed, tokens, biased)
        sampler, cache = Sampler(params, 288, prompt), self.model.new_cache()
        logits = self.model.forward(np.array(prompt, np.int32), cache)
        answer = [sampler.sample(logits[0])]
        while len(answer) < tokens:
            logits = self.model.forward(np.array(answer[-1:], np.int32), cache)
            answer.append(sampler.sample(logits[0]))
        return answer

    def until_stop(self, answer, at):
        """The answer up to the token that completes what its text is at some token; that text."""
        text = self.tokenizer.decode(answer[at : at + 2])
        if not text or "\N{REPLACEMENT CHARACTER}" in text:
            return answer, ()
        ends = range(1, len(answer) + 1)
        end = next(end for end in ends if text in self.tokenizer.decode(answer[:end]))
        return answer[:end], (text,)

    def batch(self, blocks, **options):
        return Traffic(self, blocks, **options)


class Traffic:
    """A batch whose steps the test makes, and what became of every request."""

    def __init__(self, home, blocks, max_active=16):
        self.home = home
        self.cache = PrefixCache(BlockPool(home.model.kv_layout, blocks))
        self.batch = Batch(home.model, self.cache, max_active)
        self.tickets, self.wanted, self.outcomes, self.ended = [], [], [], []
        self.expected = []

    def submit(
        self,
        length,
        seed=None,
        tokens=10,
        biased=False,
        priority=0,
        stop_at=None,
        gone_after=None,
        leader=None,
        **more,
    ):
        """stop_at: the answer's text there is its stop string; gone_after: pieces that its receiver
        takes."""
        expected = self.home.alone(length, seed, tokens, biased)
        params = sampling(seed, tokens, biased)
        if stop_at is not None:
            expected, stop = self.home.until_stop(expected, stop_at)
            params = msgspec.structs.replace(params, stop=stop)
        request = Generation(TEXT[:length], params, self.home.tokenizer, 512)
        number, outcomes = len(self.tickets), []

        def sink(outcome):
            if gone_after is not None and len(outcomes) >= gone_after:
                outcomes.append(None)
                raise RuntimeError("Event loop is closed")
            outcomes.append(outcome)
            if not isinstance(outcome, Piece):
                self.ended.append(number)

        leader = None if leader is None else self.tickets[leader]
        ticket = Ticket(request, sink, (priority, number), lambda: None, leader, **more)
        self.tickets.append(ticket)
        self.wanted.append((length, seed, tokens, biased))
        self.expected.append(expected)
        self.outcomes.append(outcomes)
        self.batch.add(ticket)

    def step(self):
        self.batch.step(busy=False)
        assert self.cache.pool.free <= self.cache.pool.blocks

    def run(self, limit=4000):
        while self.batch.active or self.batch.waiting:
            self.step()
            limit -= 1
            assert limit, "it does not come to an end"

    def check(self):
        """Every answer is right, none is lost, and no block either."""
        for ticket, expected, outcomes in zip(
            self.tickets, self.expected, self.outcomes, strict=True
        ):
            tokens = [outcome.token for outcome in outcomes if isinstance(outcome, Piece)]
            if None in outcomes:
                assert ticket.cancelled
                assert tokens == expected[: outcomes.index(None)]
                continue
            assert isinstance(outcomes[-1], Finished), outcomes[-1]
            if ticket.cancelled:
                assert tokens == expected[: len(tokens)]
            else:
                assert tokens == expected
                assert outcomes[-1].completion_tokens == len(expected)
        assert self.cache.make_room(self.cache.pool.blocks), "a block is lost"


def sampling(seed, tokens, biased):
    return SamplingParams(
        temperature=0.0 if seed is None else 1.0,
        seed=seed,
        max_tokens=tokens,
        ignore_eos=True,
        logit_bias=FEW if biased else {},
    )


@pytest.mark.parametrize("pin", [True, False])
def test_traffic_does_not_evict_a_pinned_prompt(home, pin):
    """Prompts of others, together many times the cache; without a pin the first one is gone."""
    traffic = home.batch(blocks=16)
    traffic.submit(130, tokens=2, pin=pin)
    traffic.run()
    for number in range(6):
        text = TEXT[200 + number :] + TEXT[: 20 + number]
        params = SamplingParams(temperature=0, max_tokens=4, ignore_eos=True)
        request = Generation(text[:200], params, home.tokenizer, 512)
        ticket = Ticket(request, lambda outcome: None, (0, 100 + number), lambda: None)
        traffic.batch.add(ticket)
        traffic.run()
    assert traffic.cache.evicted_blocks > 16
    assert traffic.cache.cached_length(TEXT[:130]) == (128 if pin else 0)
    traffic.submit(131, tokens=3)
    traffic.run()
    traffic.check()


@pytest.fixture(scope="module")
def home(tiny_path):
    made = Home(tiny_path)
    yield made
    made.model.close()


submits = st.tuples(
    st.just("submit"),
    st.sampled_from([1, 20, 31, 32, 33, 64, 150, 151, 300]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([1, 5, 40]),
    st.booleans(),
    st.sampled_from([0, 0, 1, 2]),
    st.none() | st.integers(0, 12),
    st.sampled_from([None, None, None, 0, 3, 7]),
)
others = st.tuples(st.sampled_from(["cancel", "follow", "steps"]), st.integers(0, 20))


@settings(max_examples=60)
@given(st.lists(submits | others, max_size=25), st.sampled_from([14, 24, 200]))
def test_any_traffic_gives_the_answers_of_each_alone(home, actions, blocks):
    traffic = home.batch(blocks)
    for action, *values in actions:
        if action == "submit":
            traffic.submit(*values)
        elif action == "steps":
            for _ in range(values[0]):
                traffic.step()
        elif traffic.tickets:
            index = values[0] % len(traffic.tickets)
            if action == "cancel":
                traffic.tickets[index].cancel()
            else:
                length, _, tokens, biased = traffic.wanted[index]
                priority = traffic.tickets[index].order[0]
                traffic.submit(length, 3, tokens, biased, priority, leader=index)
    traffic.run()
    traffic.check()


def watched(model, monkeypatch):
    """How many sequences each step computes, where what the one before gave is shown meanwhile."""
    overlapped, step = [], model.step

    def counted(parts, meanwhile=None):
        if meanwhile is not None:
            overlapped.append(len(parts))
        return step(parts, meanwhile)

    monkeypatch.setattr(model, "step", counted)
    return overlapped


def test_what_a_step_gave_is_shown_while_the_next_is_computed(home, monkeypatch):
    overlapped = watched(home.model, monkeypatch)
    traffic = home.batch(200)
    for number in range(3):
        traffic.submit(20 + number, number or None, tokens=20)
    traffic.run()
    traffic.check()
    assert sum(overlapped) > 3 * 15


@pytest.mark.parametrize("biased", [False, True])
def test_an_answer_that_ended_unseen_gives_back_the_step_too_many(home, monkeypatch, biased):
    """Its stop string is found while the next step computes for it; the other goes on. Biased:
    several tokens are right at once, and those after the stop string do not count."""
    overlapped, stopped = watched(home.model, monkeypatch), 0
    for stop_at in range(8, 24):
        traffic = home.batch(200)
        traffic.submit(64, tokens=40, biased=biased, stop_at=stop_at)
        traffic.submit(50, 1, tokens=30)
        while not traffic.ended:
            traffic.step()
        ended = traffic.tickets[traffic.ended[0]]
        assert not ended.request.sequences
        tokens = ended.request.tokens
        assert traffic.cache.cached_length(tokens) == (len(tokens) - 1) // 32 * 32
        traffic.submit(64, tokens=40, biased=biased)  # on what is cached of it
        traffic.run()
        stopped += traffic.outcomes[0][-1].reason == "stop"
        traffic.check()
    assert overlapped
    assert stopped >= 4  # elsewhere its text is half a character


def test_a_step_too_many_that_fails_does_not_take_the_answer_along(home, monkeypatch):
    real = home.model.step
    traffic = home.batch(200)
    traffic.submit(40, tokens=30, stop_at=9)

    def step(parts, meanwhile=None):
        if parts[0].sequence.length >= 40 + len(traffic.expected[0]) - 1:
            raise MemoryError("no room")
        return real(parts, meanwhile)

    monkeypatch.setattr(home.model, "step", step)
    traffic.run()
    traffic.check()


def test_sixteen_at_once_in_little_memory_end_in_order_of_priority(home):
    traffic = home.batch(40)
    priorities = [2, 0, 1, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 0]
    for number, priority in enumerate(priorities):
        traffic.submit(200 + number, tokens=30, priority=priority)
    traffic.run()
    traffic.check()
    ended = [priorities[number] for number in traffic.ended]
    assert ended == sorted(priorities)


def test_a_higher_priority_takes_the_blocks_of_a_lower(home):
    traffic = home.batch(11)
    traffic.submit(300, tokens=40, priority=2)
    while len(traffic.outcomes[0]) < 5:
        traffic.step()
    traffic.submit(151, 1, tokens=40)
    traffic.run()
    assert traffic.ended == [1, 0]
    assert traffic.batch.preemptions >= 1
    traffic.check()


def test_a_running_answer_goes_on_while_a_long_prompt_is_computed(home):
    traffic = home.batch(200)
    traffic.batch._cost.learn(400.0, 1.0)  # 32 tokens in a slice
    traffic.submit(5, tokens=40)
    for _ in range(3):
        traffic.step()
    traffic.submit(300, tokens=2)
    steps = 0
    while not traffic.outcomes[1]:
        before = len(traffic.outcomes[0])
        traffic.step()
        traffic.batch._cost.learn(400.0, 1.0)
        steps += 1
        assert len(traffic.outcomes[0]) > before
    assert steps >= 8
    traffic.run()
    traffic.check()


class SlowDisk:
    """Has more of every prompt, and takes all the time that it is given."""

    def __init__(self):
        self.restore_s, self.restored_tokens = 0.0, 0
        self.waiting, self.copy_s = False, 0.0

    def restore(self, tokens, seconds):
        self.restore_s += seconds
        return True

    def keep(self, tokens):
        """Nothing is written."""

    def copy_some(self, seconds):
        self.copy_s += seconds


def test_copying_for_the_disk_has_a_little_of_each_step_and_less_beside_a_prompt(home):
    traffic, disk = home.batch(200), SlowDisk()
    traffic.submit(5, tokens=60)
    traffic.step()
    traffic.batch._kept, disk.waiting = disk, True
    for number in range(1, 4):
        traffic.step()
        assert disk.copy_s == pytest.approx(number * COPY_SECONDS)
    disk.restore = lambda tokens, seconds: False
    traffic.submit(300, tokens=2)
    traffic.submit(200, 1, tokens=2)
    copied = []
    while not traffic.outcomes[2]:
        traffic.batch._cost.learn(400.0, 1.0)
        before = disk.copy_s
        traffic.step()
        copied.append(disk.copy_s > before)
    assert len(copied) >= 10
    assert sum(copied) <= len(copied) // MOST_POSTPONED
    while traffic.batch.waiting or not all(ticket.decoding for ticket in traffic.batch.active):
        traffic.step()
    before = disk.copy_s
    traffic.step()
    assert disk.copy_s == pytest.approx(before + COPY_SECONDS), "at once when nobody waits"
    traffic.batch._kept = None
    traffic.run()
    traffic.check()


def test_all_that_wait_for_a_slow_disk_share_the_time_of_a_slice(home):
    traffic, disk = home.batch(200), SlowDisk()
    traffic.submit(5, tokens=10)
    traffic.step()
    traffic.batch._kept = disk
    for _ in range(3):
        traffic.submit(100)
    for number in range(1, 6):
        before = len(traffic.outcomes[0])
        traffic.step()
        assert disk.restore_s == pytest.approx(number * SHARED_SLICE_SECONDS)
        assert len(traffic.outcomes[0]) > before
    traffic.batch._kept = None
    traffic.run()
    traffic.check()


def test_a_slice_is_shorter_by_what_the_disk_took(home):
    traffic = home.batch(200)
    traffic.batch._cost.learn(400.0, 1.0)
    traffic.submit(300, tokens=2)
    traffic.submit(5, tokens=2, priority=1)
    traffic.step()
    traffic.batch._cost.learn(400.0, 1.0)
    assert MIN_SLICE_TOKENS < len(traffic.batch._plan(busy=True)[0][1][0].tokens) <= 32
    traffic.batch._disk_s = SHARED_SLICE_SECONDS
    plan = traffic.batch._plan(busy=True)
    assert sum(len(part.tokens) for _, parts in plan for part in parts) == MIN_SLICE_TOKENS
    traffic.run()
    traffic.check()


def test_followers_share_the_prompt_of_their_leader(home):
    traffic = home.batch(200)
    for number in range(4):
        traffic.submit(300, number, tokens=3, leader=0 if number else None)
    while not traffic.batch.active or len(traffic.batch.active) < 4:
        traffic.step()
    held = {b for t in traffic.batch.active for s in t.request.sequences for b in s.blocks}
    assert len(held) <= 300 // 32 + 4
    traffic.run()
    traffic.check()


def test_what_one_computes_others_with_the_same_prompt_need_not(home, monkeypatch):
    """Also where both began before it was known."""
    traffic, computed, step = home.batch(200), [], home.model.step

    def counted(parts, meanwhile=None):
        computed.append(sum(len(part.tokens) for part in parts))
        return step(parts, meanwhile)

    monkeypatch.setattr(home.model, "step", counted)
    traffic.submit(300, tokens=2)
    traffic.submit(300, 1, tokens=2)
    traffic.run()
    assert 300 < sum(computed) < 450
    traffic.check()


def test_followers_of_a_cancelled_leader_are_not_lost(home):
    traffic = home.batch(200, max_active=1)
    traffic.submit(20, tokens=5)
    traffic.submit(300, tokens=3)
    traffic.submit(300, 1, tokens=3, leader=1)
    traffic.step()
    traffic.tickets[1].cancel()
    traffic.run()
    traffic.check()


def test_guesses_are_used_and_counted(home):
    traffic = home.batch(200)
    traffic.submit(64, tokens=120, biased=True)
    traffic.run()
    traffic.check()
    counts = traffic.batch.counts()
    assert counts.accepted_tokens > 40
    assert counts.drafted_tokens >= counts.accepted_tokens


def test_a_search_with_beams_survives_preemption(home):
    params = SamplingParams(temperature=0.0, max_tokens=60, beam_width=3, ignore_eos=True)
    answers = []
    for blocks in (200, 14):
        traffic = home.batch(blocks)
        request = BeamSearch(TEXT[:200], params, home.tokenizer, 512)
        found = []
        traffic.batch.add(Ticket(request, found.append, (2, 100), lambda: None))
        while not request.sequences or request.pending > 1:
            traffic.step()
        for _ in range(10):
            traffic.step()
        traffic.submit(300, 1, tokens=60)
        traffic.run()
        traffic.check()
        answers.append([piece.token for piece in found[:-1]])
    assert traffic.batch.preemptions
    assert answers[0] == answers[1]
    assert len(answers[0]) == 60


def test_the_memory_for_keys_and_values_bounds_the_context(tiny_path):
    with Engine.load(tiny_path, threads=1) as engine:
        block = engine.model.kv_layout.block_bytes
    with Engine.load(tiny_path, threads=1, kv_bytes=3 * block + 100) as engine:
        assert engine.context_length == 96
        assert engine.scheduler.counts().kv_blocks == 3
        params = SamplingParams(temperature=0.0, ignore_eos=True)
        *pieces, finished = engine.generate_fully(TEXT[:90], params)
        assert (len(pieces), finished.reason) == (6, "length")
        with pytest.raises(ContextLengthError):
            engine.prepare(TEXT[:96], params)
    with pytest.raises(ValueError, match="kv_bytes is 100"):
        Engine.load(tiny_path, threads=1, kv_bytes=100)


def test_what_can_never_fit_is_refused(home):
    traffic = home.batch(3)
    traffic.submit(90, tokens=40)
    traffic.run()
    assert isinstance(traffic.outcomes[0][-1], EngineError)
    assert "too small" in str(traffic.outcomes[0][-1])
    traffic.submit(20, tokens=5)
    traffic.run()
    assert isinstance(traffic.outcomes[1][-1], Finished)


def test_one_that_fails_takes_nobody_along(home, monkeypatch):
    traffic = home.batch(200)
    traffic.submit(40, tokens=8)
    traffic.submit(50, tokens=8)
    real = home.model.step

    def step(parts, meanwhile=None):
        if any(part.sequence.length + len(part.tokens) == 50 for part in parts):
            raise MemoryError("no room")
        return real(parts, meanwhile)

    monkeypatch.setattr(home.model, "step", step)
    traffic.run()
    assert "no room" in str(traffic.outcomes[1][-1])
    assert isinstance(traffic.outcomes[0][-1], Finished)


def test_a_step_of_several_has_the_bits_of_each_alone(home):
    model = home.model
    pool = BlockPool(model.kv_layout, 100)
    caches = [PrefixCache(pool).begin([1], 512) for _ in range(3)]
    prompts = [np.array(TEXT[:n], np.int32) for n in (5, 40, 100)]
    together = model.step(
        [Part(p, c, n) for p, c, n in zip(prompts, caches, (5, 1, 0), strict=True)]
    )
    first = model.forward(prompts[0], model.new_cache(), want="all")
    second = model.forward(prompts[1], model.new_cache())
    np.testing.assert_array_equal(together, np.concatenate([first, second]))
    with pytest.raises(ValueError, match="a step of 300 tokens"):
        model.step([Part(np.array(TEXT[:300], np.int32), caches[0], 1)])
