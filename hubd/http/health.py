"""How the daemon is: ``/healthz``, ``/readyz`` and ``/hub/status``."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any, Literal

from aiohttp import web

import hubd
from engine.protocol import SchedulerCounts
from hubd.http import replies
from hubd.http.body import reply
from hubd.http.described import describe
from hubd.http.services import SERVICES, Services
from hubd.store.faults import HINTS, State, look
from hubd.turn_events import Done

STORAGE_LIMIT_S = 2.0
PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024


@describe(reply=replies.Health)
async def healthz(_: web.Request) -> web.StreamResponse:
    """The event loop turns."""
    return reply({"status": "ok"})


@describe(reply=replies.Readiness, others={503: replies.Readiness})
async def readyz(request: web.Request) -> web.StreamResponse:
    """Whether a question would be answered, and what it says kept.

    An engine that is unloaded starts when asked. Home Assistant is told of, and not waited for.
    """
    services = request.app[SERVICES]
    database = await storage(services)
    linked = services.household.status()
    checks = {
        "database": database,
        "engine": services.engine.state.state,
        "engine_server": server_state(services),
        "embedder": services.embedder.state,
        "home_assistant": linked.state if linked else "none",
    }
    startable = await asyncio.to_thread(services.engine.model.is_file)
    answers = checks["engine"] == "ready" or (checks["engine"] == "off" and startable)
    ready = answers and database == "ok"
    told = {"hint": HINTS[database]} if database in HINTS else {}
    return reply({"ready": ready, "checks": checks, **told}, 200 if ready else 503)


def server_state(services: Services) -> Literal["none", "up", "away"]:
    """How the server of the language model is, where the settings name one."""
    server = services.engine.server
    return "none" if server is None else "away" if server.away else "up"


async def storage(services: Services) -> State:
    """How the database is; ``locked`` also where it does not answer in time."""
    folder = services.paths.data
    try:
        async with asyncio.timeout(STORAGE_LIMIT_S):
            return await services.database.look(lambda connection: look(connection, folder))
    except TimeoutError:
        return "locked"


@describe(reply=replies.Status)
async def status(request: web.Request) -> web.StreamResponse:
    """What ``hubd status`` and the page show."""
    services = request.app[SERVICES]
    documents = await services.library.documents()
    skipped = sum(document.status == "skipped" for document in documents)
    return reply(
        {
            "version": hubd.__version__,
            "model": services.engine.name,
            "engine": services.engine.state,
            "embedder": services.embedder.state,
            "reranker": services.library.reranker and services.library.reranker.status,
            "storage": await storage(services),
            "set_aside": services.set_aside,
            "documents": {"ready": len(documents) - skipped, "skipped": skipped},
            "memory": await asyncio.to_thread(_memory, services),
            "speed": _speed(services.device.last_answer),
            "load": await _load(services),
            "uptime_s": round(time.monotonic() - services.started),
        }
    )


def _speed(done: Done | None) -> dict[str, float | None]:
    """How fast the last answer was that the language model wrote."""
    first = done.timings.first_token_ms if done else None
    return {"first_token_ms": first, "tokens_per_second": tokens_per_second(done)}


def tokens_per_second(done: Done | None) -> float | None:
    """Of the last answer that the language model wrote: its tokens after the first."""
    if done is None or done.timings.first_token_ms is None:
        return None
    written = done.timings.completion_tokens
    seconds = (done.timings.total_ms - done.timings.first_token_ms) / 1000
    return round((written - 1) / seconds, 1) if written and written > 1 and seconds > 0 else None


async def _load(services: Services) -> dict[str, int]:
    """Questions being answered, the engine's queue, and its counters since it started."""
    health = await services.engine.health()
    counts = (health and health.counts) or SchedulerCounts()
    return {
        "answering": services.turns.running,
        "active": health.active if health else 0,
        "waiting": health.waiting if health else 0,
        "prompt_tokens": counts.prompt_tokens,
        "cached_tokens": counts.cached_tokens,
        "requests": counts.requests,
        "kv_blocks": counts.kv_blocks,
        "kv_blocks_in_use": counts.kv_blocks_in_use,
        "kv_blocks_cached": counts.kv_blocks_cached,
    }


def _memory(services: Services) -> dict[str, Any]:
    """Resident megabytes of the hub and of the engine; None where the system does not tell."""
    engine = services.engine.pid
    return {"hub_mb": resident_mb(os.getpid()), "engine_mb": resident_mb(engine) if engine else 0}


def resident_mb(pid: int) -> int | None:
    """Resident memory of a process in megabytes (Linux: /proc/PID/statm)."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * PAGE_KB // 1024


ROUTES = [
    web.get("/healthz", healthz),
    web.get("/readyz", readyz),
    web.get("/hub/status", status),
]
