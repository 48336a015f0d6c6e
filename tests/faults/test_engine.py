"""The engine crashes, hangs or runs out of memory: a clear word in time, and the next one works."""

import contextlib
import json
import os
import resource
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.conftest import LANGUAGE_MODEL
from tests.faults.conftest import STORY, raw_model

HUNG_LIMIT_S = 10.0
DEAD_LIMIT_S = 2.0
BUSY_S = 8.0
"""What a test allows beyond these, beside others on a machine that is busy."""


def begun(client, raw):
    """A stream of the bare model."""
    body = STORY | {"model": raw, "max_tokens": 3000, "stream": True}
    return client.stream("POST", "/v1/chat/completions", json=body)


def rest_of(lines):
    """What a stream still says, and how long that took."""
    began = time.monotonic()
    said = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    return said, time.monotonic() - began


def hurt_in_the_middle(hub, hurt):
    """Hurt the engine while it answers; the last thing that was said, and after how long."""
    with hub.client() as client, begun(client, raw_model(client)) as response:
        lines = response.iter_lines()
        next(lines)
        hurt(hub.engine())
        said, seconds = rest_of(lines)
    assert "error" in json.loads(said[-1])
    return seconds


def works_again(hub):
    """The next question, and no process left over."""
    with hub.client() as client:
        body = STORY | {"model": raw_model(client), "max_tokens": 4}
        reply = client.post("/v1/chat/completions", json=body)
        assert reply.status_code == 200, reply.text
        assert client.get("/healthz").status_code == 200
    children = Path(f"/proc/{hub.process.pid}/task/{hub.process.pid}/children").read_text().split()
    engines = [
        child for child in children if LANGUAGE_MODEL in Path(f"/proc/{child}/cmdline").read_text()
    ]
    assert len(engines) == 1


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV"])
def test_an_engine_that_dies_is_told_at_once_and_comes_back(hub, name):
    engine = hub.engine()
    seconds = hurt_in_the_middle(hub, lambda pid: os.kill(pid, signal.Signals[name]))
    assert seconds < DEAD_LIMIT_S + BUSY_S
    works_again(hub)
    assert not Path(f"/proc/{engine}").exists()


def test_an_engine_that_hangs_is_told_within_ten_seconds_and_replaced(hub):
    engine = hub.engine()
    seconds = hurt_in_the_middle(hub, lambda pid: os.kill(pid, signal.SIGSTOP))
    assert seconds < HUNG_LIMIT_S + BUSY_S
    works_again(hub)
    assert not Path(f"/proc/{engine}").exists()


def test_an_engine_without_memory_is_told_and_comes_back(hub):
    """It refuses what needs more than it may have; or it ends, and another one answers."""
    works_again(hub)  # and does not still start, after another test
    engine = hub.engine()
    resource.prlimit(engine, resource.RLIMIT_AS, (2**20, resource.RLIM_INFINITY))
    try:
        with hub.client() as client, ThreadPoolExecutor(8) as askers:
            much = [{"role": "user", "content": "story " * 140_000}]
            body = {"model": raw_model(client), "messages": much, "max_tokens": 4}

            def ask(_):
                began = time.monotonic()
                reply = client.post("/v1/chat/completions", json=body)
                return reply.status_code, time.monotonic() - began

            replies = [reply for _ in range(4) for reply in askers.map(ask, range(8))]
            assert {status for status, _ in replies} <= {400, 429, 503}  # 400: it is too long
            assert max(seconds for _, seconds in replies) < DEAD_LIMIT_S + BUSY_S
            told = any(status == 503 for status, _ in replies)
            assert told or not Path(f"/proc/{engine}").exists(), "it never ran out of memory"
            assert client.get("/healthz").status_code == 200
        works_again(hub)
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(engine, resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
