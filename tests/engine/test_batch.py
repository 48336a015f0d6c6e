"""Continuous batching against the plain engine: whoever joins, leaves, shares or is preempted,
every answer is, token by token, the one that it would have been alone and without a cache."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Engine
from engine.batch import Ticket
from engine.beam_search import BeamSearch
from engine.errors import ContextLengthError, EngineError
from engine.generate import Finished, Generation
from engine.kv import BlockPool
from engine.prefix_cache import PrefixCache
from engine.sampling_params import SamplingParams
from engine.step_part import Part
from tests.engine.traffic import TEXT


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
