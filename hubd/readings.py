"""How the hub is doing, as its sensors in Home Assistant show it."""

import asyncio
import os
from collections.abc import Mapping

from hubd.home.device import Reading
from hubd.http.health import resident_mb, tokens_per_second
from hubd.http.services import Services
from plugins.api import ToolCall, ToolError

TEXT_LIMIT = 2_000


async def read(services: Services) -> Mapping[str, Reading]:
    """All readings, by the sensors' ids."""
    memory = await asyncio.to_thread(_memory, services)
    documents = await services.library.documents()
    done = services.device.last_answer
    engine = {"engine": services.engine.state.state}
    told = {"answer": done.answer[:TEXT_LIMIT], "refused": done.refused} if done else {}
    return {
        "model": Reading(state=services.engine.name, attributes=engine),
        "tokens_per_second": Reading(state=tokens_per_second(done)),
        "first_token": Reading(state=done.timings.first_token_ms if done else None),
        "queue": Reading(state=services.turns.running),
        "memory": Reading(state=memory),
        "documents": Reading(state=len(documents)),
        "next_timer": Reading(state=await _next_timer(services)),
        "last_answer": Reading(state=done.answer if done else None, attributes=told),
    }


def _memory(services: Services) -> int | None:
    """Megabytes of the hub and its engine, in steps of ten: a sensor that never rests is noise."""
    engine = services.engine.pid
    own = resident_mb(os.getpid())
    of_engine = resident_mb(engine) if engine else 0
    return None if own is None else round((own + (of_engine or 0)) / 10) * 10


async def _next_timer(services: Services) -> str | None:
    """When the next timer rings, ISO 8601."""
    try:
        listed = await services.tools.call(ToolCall(tool="timers.list"))
    except ToolError:
        return None
    running = [
        timer["due"] for timer in listed.data.get("timers", []) if timer["state"] == "running"
    ]
    return min(running, default=None)
