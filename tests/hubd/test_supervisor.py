"""The engine child: real engine, real model; killed, broken, missing, idle."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from engine.errors import EngineUnavailable
from engine.protocol import ChatMessage, ChatRequest
from hubd import supervisor as supervisor_module
from hubd.events import NoticeBoard
from hubd.settings import Engine
from hubd.supervisor import EngineDown, EngineSupervisor, NoModel

LONG = ChatRequest(
    messages=[ChatMessage("user", "Tell a long story about a house.")], max_tokens=2000
)
SHORT = ChatRequest(messages=[ChatMessage("user", "Say hello.")], max_tokens=3)


def engine(model, paths, board=None, **settings):
    settings = Engine(model=str(model), context_length=512, **settings)
    return EngineSupervisor(settings, paths, board or NoticeBoard())


async def drained(parts):
    async for _ in parts:
        pass


async def text_of(client, request):
    return "".join([getattr(part, "text", "") async for part in client.chat(request)])


async def test_killed_in_mid_answer_the_request_fails_and_the_next_one_works(model_path, paths):
    board = NoticeBoard()
    async with board.listen() as queue, engine(model_path, paths, board) as supervisor:
        client = await supervisor.client()
        first = supervisor.pid
        answer = client.chat(LONG)
        await anext(answer)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(EngineUnavailable):
            await drained(answer)
        again = await supervisor.client()
        assert await text_of(again, SHORT)
        assert supervisor.pid != first
    states = [queue.get_nowait().data["state"] for _ in range(queue.qsize())]
    told = list(dict.fromkeys(states))
    assert told == ["starting", "ready", "restarting"]
    assert states.count("ready") == 2


async def test_an_idle_engine_is_unloaded_and_comes_back(model_path, paths):
    async with engine(model_path, paths, idle_unload=0.5) as supervisor:
        await supervisor.client()
        async with asyncio.timeout(20):
            while supervisor.state.state != "off":  # noqa: ASYNC110 - seen from outside
                await asyncio.sleep(0.05)
        assert await text_of(await supervisor.client(), SHORT)


async def test_the_time_that_a_start_takes_is_not_idle(model_path, paths, monkeypatch):
    """A first start compiles for minutes, longer than an engine may be idle: it stays for the one
    who waited for it."""
    monkeypatch.setattr(supervisor_module, "IN_USE_EVERY_S", 0.01)
    asked = time.monotonic()
    async with engine(model_path, paths, idle_unload=0.5) as supervisor:
        await supervisor.client()
        ready = time.monotonic()
        child = supervisor.pid
        assert ready - asked > 0.5
        async with asyncio.timeout(20):
            while supervisor.state.state != "off":  # noqa: ASYNC110 - seen from outside
                await asyncio.sleep(0.01)
        assert time.monotonic() - ready > 0.49
    with pytest.raises(ProcessLookupError):  # it was on its way out when the supervisor was closed
        os.kill(child, 0)


async def test_an_engine_that_hangs_is_replaced(model_path, paths, monkeypatch):
    monkeypatch.setattr(supervisor_module, "HEALTH_EVERY_S", 0.2)
    monkeypatch.setattr(supervisor_module, "SILENCE_LIMIT_S", 1.0)
    async with engine(model_path, paths) as supervisor:
        await supervisor.client()
        hanging = supervisor.pid
        os.kill(hanging, signal.SIGSTOP)
        async with asyncio.timeout(20):
            while supervisor.pid == hanging:  # noqa: ASYNC110 - seen from outside
                await asyncio.sleep(0.05)
        assert await text_of(await supervisor.client(), SHORT)


async def test_a_child_does_not_outlive_its_supervisor(model_path, paths):
    async with engine(model_path, paths) as supervisor:
        await supervisor.client()
        child = supervisor.pid
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


async def test_the_engine_is_the_first_to_go_when_memory_is_short(model_path, paths):
    async with engine(model_path, paths) as supervisor:
        await supervisor.client()
        assert oom_handicap(supervisor.pid) == min(1000, oom_handicap("self") + 500)


def oom_handicap(process):
    return int(Path(f"/proc/{process}/oom_score_adj").read_text())


async def test_callers_wait_together_for_one_child(model_path, paths):
    async with engine(model_path, paths) as supervisor:
        clients = await asyncio.gather(*(supervisor.client() for _ in range(5)))
        assert len(set(map(id, clients))) == 1


async def test_without_a_model_the_error_says_what_to_do(paths):
    async with engine(paths.models / "none.gguf", paths) as supervisor:
        with pytest.raises(NoModel, match=r"none\.gguf is missing") as caught:
            await supervisor.client()
    assert "hubd model pull" in caught.value.hint


async def test_a_file_that_is_no_model_fails_with_the_reason(paths, monkeypatch):
    monkeypatch.setattr(supervisor_module, "FAILURES", 2)
    broken = paths.models / "broken.gguf"
    broken.write_bytes(b"this is no model")
    async with engine(broken, paths) as supervisor:
        with pytest.raises(EngineDown, match=r"broken\.gguf"):
            await supervisor.client()
        assert supervisor.state.state == "failed"
        with pytest.raises(EngineDown, match="broken") as caught:
            await supervisor.client()
        assert "tried again" in caught.value.hint


async def test_adapters_go_to_the_engine(model_path, paths, monkeypatch):
    """By their names in the model folder, with their scales; a missing one is named."""
    monkeypatch.setattr(supervisor_module, "FAILURES", 1)
    async with engine(model_path, paths, adapters=["style.gguf:0.5"]) as supervisor:
        with pytest.raises(EngineDown, match=r"No such file.*models/style\.gguf'"):
            await supervisor.client()


async def test_a_program_that_cannot_be_started_is_a_failure_and_not_a_hang(paths, monkeypatch):
    monkeypatch.setattr(supervisor_module, "FAILURES", 1)
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    model = paths.models / "any.gguf"
    model.touch()
    async with engine(model, paths) as supervisor:
        with pytest.raises(EngineDown, match="No such file"):
            await supervisor.client()
