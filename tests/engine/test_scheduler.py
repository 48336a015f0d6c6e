"""The compute thread: fairness, cancelling, bounds and a clean end, on the real model."""

import asyncio
import queue
import threading
import time

import numpy as np
import pytest

from engine import Engine, SamplingParams
from engine.engine import EMBED_SLICE_TOKENS
from engine.errors import EngineClosedError, EngineError, QueueFullError
from engine.generate import Finished, Piece

LONG = SamplingParams(temperature=0.0, max_tokens=300, ignore_eos=True)
SHORT = SamplingParams(temperature=0.0, max_tokens=4, ignore_eos=True)


@pytest.fixture(scope="module")
def engine(model_path):
    with Engine.load(model_path, threads=1, context_length=2048) as loaded:
        yield loaded


def submit(engine, text, params):
    """A submitted request and the queue that its outcomes land in."""
    outcomes = queue.SimpleQueue()
    prompt = engine.tokenizer.encode(text, add_special=False)
    return engine.scheduler.submit(engine.prepare(prompt, params), outcomes.put), outcomes


def drain(outcomes):
    """All outcomes up to the last."""
    got = [outcomes.get(timeout=30)]
    while isinstance(got[-1], Piece):
        got.append(outcomes.get(timeout=30))
    return got


def wait_until_idle(engine, seconds=5.0):
    deadline = time.monotonic() + seconds
    while (load := engine.scheduler.load()).active or load.waiting:
        assert time.monotonic() < deadline, load
        time.sleep(0.005)


def test_requests_take_turns(engine):
    """Two answers that run together arrive interleaved, not one after the other."""
    order = []
    tickets = []
    done = threading.Semaphore(0)
    params = SamplingParams(temperature=0.0, max_tokens=20, ignore_eos=True)
    for name in "ab":

        def sink(outcome, name=name):
            order.append(name)
            if isinstance(outcome, Finished):
                done.release()

        prompt = engine.tokenizer.encode(f"Story {name}: once upon")
        tickets.append(engine.scheduler.submit(engine.prepare(prompt, params), sink))
    assert done.acquire(timeout=30)
    assert done.acquire(timeout=30)
    middle = "".join(order)[4:28]
    assert "aaa" not in middle
    assert "bbb" not in middle


def test_a_long_prompt_does_not_stop_a_running_answer(engine):
    endless = SamplingParams(temperature=0.0, max_tokens=1900, ignore_eos=True)
    ticket, outcomes = submit(engine, "Count:", endless)
    for _ in range(3):
        outcomes.get(timeout=30)
    prefilling, later = submit(engine, "Some long document. " * 400, SHORT)
    shown = 0
    while later.empty():
        outcomes.get(timeout=30)
        shown += 1
    ticket.cancel()
    prefilling.cancel()
    assert shown >= 1600 // 256 - 1
    wait_until_idle(engine)


@pytest.mark.parametrize("moment", ["waiting", "prefill", "decode"])
def test_cancelling_takes_effect_within_a_slice(engine, moment):
    blockers = []
    if moment == "waiting":
        blockers = [submit(engine, f"{n} blocks", LONG)[0] for n in range(16)]
    text = "Hi" if moment == "decode" else f"A {moment} document that is long. " * 250
    ticket, outcomes = submit(engine, text, LONG)
    if moment == "decode":
        outcomes.get(timeout=30)
    else:
        time.sleep(0.05)
    began = time.monotonic()
    ticket.cancel()
    last = drain(outcomes)[-1]
    for blocker in blockers:
        blocker.cancel()
    assert last.reason == "cancelled"
    assert last.completion_tokens == 0 or moment == "decode"
    assert time.monotonic() - began < 3.0
    wait_until_idle(engine)


def test_the_queue_is_bounded(engine):
    begun, go_on = threading.Event(), threading.Event()
    held = engine.scheduler.run(lambda model: (begun.set(), go_on.wait(30)))
    assert begun.wait(10)  # nothing is begun or ended while the queue is filled
    tickets = []
    try:
        tickets += [submit(engine, f"{n} fills the queue", LONG)[0] for n in range(80)]
        with pytest.raises(QueueFullError, match="64 requests"):
            submit(engine, "one too many", SHORT)
    finally:
        for ticket in tickets:
            ticket.cancel()
        go_on.set()
    assert held.result(timeout=10)
    wait_until_idle(engine)
    assert drain(submit(engine, "fits again", SHORT)[1])[-1].reason == "length"


def test_an_idle_scheduler_uses_no_cpu(engine):
    wait_until_idle(engine)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.05


def test_a_failing_model_fails_one_request_and_leaves_the_next_alone(engine, monkeypatch):
    step = engine.model.step

    def fail(*args, **kwargs):
        monkeypatch.setattr(engine.model, "step", step)
        raise MemoryError("no room")

    expected = drain(submit(engine, "After the storm", SHORT)[1])[:-1]
    monkeypatch.setattr(engine.model, "step", fail)
    (error,) = drain(submit(engine, "After the storm", SHORT)[1])
    assert isinstance(error, EngineError)
    assert "no room" in str(error)
    assert drain(submit(engine, "After the storm", SHORT)[1])[:-1] == expected


def test_a_receiver_that_is_gone_ends_its_request(engine):
    """As a closed event loop does: it raises when a piece is handed to it."""

    def sink(outcome):
        raise RuntimeError("Event loop is closed")

    prompt = engine.tokenizer.encode("To nobody")
    engine.scheduler.submit(engine.prepare(prompt, LONG), sink)
    wait_until_idle(engine, 2.0)


async def test_pieces_reach_the_event_loop_in_order(engine):
    prompt = engine.tokenizer.encode("One, two,")
    expected = [p.token for p in engine.generate(prompt, SHORT)]
    stream = engine.stream(engine.prepare(prompt, SHORT))
    outcomes = [outcome async for outcome in stream]
    assert [outcome.token for outcome in outcomes[:-1]] == expected
    assert isinstance(outcomes[-1], Finished)


async def test_jobs_run_between_the_steps_of_an_answer(engine):
    ticket, outcomes = submit(engine, "Go on", LONG)
    await asyncio.to_thread(outcomes.get, timeout=30)
    vector = await asyncio.wait_for(engine.embed(engine.tokenizer.encode("A sentence.")), 20)
    assert (vector**2).sum() == pytest.approx(1.0, abs=1e-5)
    ticket.cancel()
    assert drain(outcomes)[-1].reason == "cancelled"  # it was still going on


async def test_an_embedding_in_slices_is_the_mean_of_the_hidden_states(engine):
    tokens = engine.tokenizer.encode("The cat sat on the mat, and then it left. " * 20)
    assert len(tokens) > 2 * EMBED_SLICE_TOKENS
    mean = engine.model.hidden(np.asarray(tokens, np.int32)).mean(axis=0)
    np.testing.assert_allclose(await engine.embed(tokens), mean / np.linalg.norm(mean), atol=1e-5)


def test_closing_ends_what_runs_and_waits(model_path):
    engine = Engine.load(model_path, threads=1, context_length=1024)
    submitted = [submit(engine, f"{n} will not finish", LONG) for n in range(6)]
    submitted[0][1].get(timeout=30)
    began = time.monotonic()
    assert engine.close(timeout=5.0)
    assert time.monotonic() - began < 2.0
    for _, outcomes in submitted:
        assert isinstance(drain(outcomes)[-1], EngineClosedError)
    with pytest.raises(EngineClosedError):
        submit(engine, "too late", SHORT)
