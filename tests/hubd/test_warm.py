"""Static prompts are read ahead of questions, by a real engine, and never in their way."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager

import pytest

from engine.client import Answered
from engine.protocol import ChatMessage, ChatRequest
from hubd import warm
from hubd.events import NoticeBoard
from hubd.http.services import Turns
from hubd.settings import Engine
from hubd.supervisor import EngineSupervisor

RULES = "".join(f"Rule {n}: be kind to whoever asks for the {n}th time. " for n in range(40))


@pytest.fixture
async def engine(model_path, paths, monkeypatch):
    monkeypatch.setattr(warm, "LOOK_EVERY_S", 0.05)
    settings = Engine(model=str(model_path), context_length=4096)
    async with EngineSupervisor(settings, paths, NoticeBoard()) as supervisor:
        yield supervisor


@asynccontextmanager
async def warming(engine, turns, static_parts):
    task = asyncio.create_task(warm.keep_warm(engine, turns, static_parts))
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def cached(client, system):
    """The share of a prompt's tokens that the engine has read already."""
    messages = [ChatMessage("system", system), ChatMessage("user", "Say hello.")]
    async for part in client.chat(ChatRequest(messages=messages, max_tokens=1)):
        if isinstance(part, Answered):
            return part.usage.prompt_tokens_details.cached_tokens / part.usage.prompt_tokens
    raise AssertionError("no end")


async def until(client, *, busy):
    """Until the engine has work, or has none."""
    async with asyncio.timeout(60):
        while bool((await client.health()).active) != busy:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)


async def quiet_again(client):
    await asyncio.sleep(0.3)
    await until(client, busy=False)


async def test_each_engine_process_reads_it_once_and_a_change_is_read_too(engine):
    static = [RULES]
    async with warming(engine, Turns(), lambda: static):
        await asyncio.sleep(0.2)
        assert engine.pid is None, "reading ahead starts no engine"
        client = await engine.client()
        await quiet_again(client)
        assert await cached(client, RULES) > 0.9
        static[:] = [f"{RULES} Speak French."]
        await quiet_again(client)
        assert await cached(client, static[0]) > 0.9
        killed = engine.pid
        os.kill(killed, signal.SIGKILL)
        async with asyncio.timeout(60):
            while engine.pid in (None, killed):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.01)
        client = await engine.client()
        await quiet_again(client)
        assert await cached(client, static[0]) > 0.9


async def test_it_waits_for_people_and_gives_way_to_them(engine):
    turns = Turns()
    client = await engine.client()
    static = [RULES * 3]
    async with warming(engine, turns, lambda: static):
        async with turns.one():
            await asyncio.sleep(0.3)
            assert (await client.health()).active == 0, "somebody is being answered"
        await until(client, busy=True)
        async with turns.one():
            await until(client, busy=False)
            assert await cached(client, static[0]) < 0.9, "abandoned, not finished"


async def test_what_was_abandoned_is_read_when_it_is_quiet_again(engine):
    turns = Turns()
    client = await engine.client()
    static = [RULES * 3]
    async with warming(engine, turns, lambda: static):
        await until(client, busy=True)
        async with turns.one():
            await until(client, busy=False)
        await quiet_again(client)
    assert await cached(client, static[0]) > 0.9
