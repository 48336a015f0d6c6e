"""The static beginnings of prompts, read by the engine before anyone asks.

At boot, when the engine is a new process, and when a prompt's static part changed (a tool, a
device, the configuration). It never starts an engine, begins only when nobody waits for an answer,
and is abandoned the moment somebody asks: what was read until then is kept, and the rest is read
when it is quiet again. What is read stays in the engine's prefix cache, whatever else comes.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Protocol

from engine.client import EngineClient
from engine.errors import EngineError
from engine.protocol import ChatMessage, ChatRequest
from hubd.errors import HubError
from hubd.supervisor import EngineState

log = logging.getLogger(__name__)

LOOK_EVERY_S = 4.0
LIMIT_S = 300.0
"""A prompt that takes longer is left to whoever asks."""

StaticParts = Callable[[], Sequence[str]]
"""System messages as they are now."""


class Engine(Protocol):
    """What is used of the supervisor."""

    pid: int | None

    @property
    def state(self) -> EngineState: ...

    async def client(self) -> EngineClient: ...


class Quiet(Protocol):
    """Whether people wait for answers."""

    async def wait_until_idle(self) -> None: ...

    async def wait_until_busy(self) -> None: ...


async def keep_warm(engine: Engine, quiet: Quiet, static_parts: StaticParts) -> None:
    """Have every static part read once by every engine process, for as long as the daemon runs."""
    known: set[str] = set()
    process: int | None = None
    while True:
        if engine.state.state == "ready" and engine.pid is not None:
            if engine.pid != process:
                process, known = engine.pid, set()
            wanted = list(dict.fromkeys(static_parts()))
            known.intersection_update(wanted)
            for text in wanted:
                if text not in known and await _read(engine, quiet, text):
                    known.add(text)
        await asyncio.sleep(LOOK_EVERY_S)


async def _read(engine: Engine, quiet: Quiet, text: str) -> bool:
    """Have the engine read a system message; whether that is settled (or hopeless)."""
    await quiet.wait_until_idle()
    reading = asyncio.create_task(_ask(engine, text))
    asked = asyncio.create_task(quiet.wait_until_busy())
    try:
        await asyncio.wait({reading, asked}, return_when=asyncio.FIRST_COMPLETED)
        return reading.done() and reading.result()
    finally:
        reading.cancel()
        asked.cancel()
        await asyncio.gather(reading, asked, return_exceptions=True)


async def _ask(engine: Engine, text: str) -> bool:
    messages = [ChatMessage(role="system", content=text), ChatMessage(role="user", content="…")]
    request = ChatRequest(messages=messages, max_tokens=1, priority="background", pin=True)
    try:
        async with asyncio.timeout(LIMIT_S):
            client = await engine.client()
            async with aclosing(client.chat(request)) as answer:
                async for _ in answer:
                    pass
    except EngineError as error:
        if getattr(error, "status", None) == 429:
            return False  # busy: later
        log.info("static part of the prompt not read ahead: %s", error)
    except (HubError, TimeoutError) as error:
        log.info("static part of the prompt not read ahead: %s", error or "it took too long")
    return True
