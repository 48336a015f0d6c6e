"""How the daemon is: ``/healthz``, ``/readyz`` and ``/hub/status``."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from aiohttp import web

import hubd
from hubd.http.body import reply
from hubd.http.services import SERVICES, Services
from hubd.store.faults import HINTS, State, look

STORAGE_LIMIT_S = 2.0
PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024


async def healthz(_: web.Request) -> web.StreamResponse:
    """The event loop turns."""
    return reply({"status": "ok"})


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
        "embedder": services.embedder.state,
        "home_assistant": linked.state if linked else "none",
    }
    startable = await asyncio.to_thread(services.engine.model.is_file)
    answers = checks["engine"] == "ready" or (checks["engine"] == "off" and startable)
    ready = answers and database == "ok"
    told = {"hint": HINTS[database]} if database in HINTS else {}
    return reply({"ready": ready, "checks": checks, **told}, 200 if ready else 503)


async def storage(services: Services) -> State:
    """How the database is; ``locked`` also where it does not answer in time."""
    folder = services.paths.data
    try:
        async with asyncio.timeout(STORAGE_LIMIT_S):
            return await services.database.look(lambda connection: look(connection, folder))
    except TimeoutError:
        return "locked"


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
            "storage": await storage(services),
            "documents": {"ready": len(documents) - skipped, "skipped": skipped},
            "memory": await asyncio.to_thread(_memory, services),
            "uptime_s": round(time.monotonic() - services.started),
        }
    )


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
