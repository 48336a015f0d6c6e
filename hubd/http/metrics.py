"""``GET /metrics``: figures of the hub and its engine in Prometheus' text format, version 0.0.4.

https://prometheus.io/docs/instrumenting/exposition_formats/. Labels are routes, states and status
codes: their number is bounded, and none of them says what anybody asked.
"""

import asyncio
import os
import time
from collections.abc import Iterable, Iterator

import msgspec
from aiohttp import web

import hubd
from engine.protocol import Health
from hubd.http.counts import Sample
from hubd.http.described import describe
from hubd.http.health import resident_mb
from hubd.http.services import SERVICES, Services

ENGINE_STATES = ("off", "starting", "ready", "restarting", "failed")
ENGINE_LIMIT_S = 1.0
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Figure = tuple[str, str, str, Iterable[Sample]]
"""Name, kind, what it is, samples."""


@describe(reply="text/plain")
async def metrics(request: web.Request) -> web.StreamResponse:
    """All figures as they are now."""
    services = request.app[SERVICES]
    requests = services.requests
    told = [
        ("hubd_requests_total", "counter", "Requests answered.", requests.totals()),
        ("hubd_request_seconds", "histogram", "Time to the end.", requests.histogram()),
        *await figures(services),
    ]
    lines = [line for figure in told for line in family(*figure)]
    body = ("\n".join(lines) + "\n").encode()
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE})


def family(name: str, kind: str, told: str, samples: Iterable[Sample]) -> Iterator[str]:
    """The lines of one metric."""
    yield f"# HELP {name} {told}"
    yield f"# TYPE {name} {kind}"
    for suffix, labels, value in samples:
        inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        number = repr(float(value)) if isinstance(value, float) else str(value)
        yield f"{name}{suffix}{'{' + inner + '}' if inner else ''} {number}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


async def _engine_health(services: Services) -> Health | None:
    """What the engine says of itself; ``None`` where it does not run, or does not answer now."""
    try:
        async with asyncio.timeout(ENGINE_LIMIT_S):
            return await services.engine.health()
    except TimeoutError:
        return None


async def _loop_lag_s() -> float:
    """How long a task that could go on has to wait for its turn, now."""
    began = time.perf_counter()
    await asyncio.sleep(0)
    return time.perf_counter() - began


async def figures(services: Services) -> list[Figure]:
    """Every figure but those of requests."""
    documents = await services.library.documents()
    skipped = sum(document.status == "skipped" for document in documents)
    state = services.engine.state.state
    memory = await asyncio.to_thread(_resident, services)
    found: list[Figure] = [
        ("hubd_info", "gauge", "The version.", [("", {"version": hubd.__version__}, 1)]),
        ("hubd_uptime_seconds", "gauge", "Since the start.",
         [("", {}, time.monotonic() - services.started)]),
        ("hubd_requests_running", "gauge", "Requests being answered.",
         [("", {}, services.traffic.running)]),
        ("hubd_turns_running", "gauge", "Questions being answered.",
         [("", {}, services.turns.running)]),
        ("hubd_pages_open", "gauge", "Pages that listen to events.",
         [("", {}, services.board.listeners)]),
        ("hubd_documents", "gauge", "Documents.",
         [("", {"status": "ready"}, len(documents) - skipped),
          ("", {"status": "skipped"}, skipped)]),
        ("hubd_devices", "gauge", "Tokens.", [("", {}, len(services.access.tokens()))]),
        ("hubd_resident_bytes", "gauge", "Memory in use.", memory),
        ("hubd_event_loop_lag_seconds", "gauge", "Wait for a turn of the event loop, now.",
         [("", {}, await _loop_lag_s())]),
        ("hubd_engine_state", "gauge", "1 for the state that the engine is in.",
         [("", {"state": name}, int(name == state)) for name in ENGINE_STATES]),
    ]  # fmt: skip
    answers = services.assistant.answers
    found += [
        ("hubd_answer_cache_total", "counter", "Questions that were asked before, or not.",
         [("", {"outcome": "hit"}, answers.hits), ("", {"outcome": "miss"}, answers.misses)]),
        *_of_server(services),
    ]  # fmt: skip
    health = await _engine_health(services)
    return found + (list(of_engine(health)) if health else [])


def _of_server(services: Services) -> list[Figure]:
    """Of the server elsewhere, where there is one."""
    server = services.engine.server
    if server is None:
        return []
    return [
        ("hubd_engine_server_up", "gauge", "1 while the server of the language model answers.",
         [("", {}, int(not server.away))]),
        ("hubd_engine_failovers_total", "counter", "Questions answered here in its place.",
         [("", {}, services.engine.failovers)]),
    ]  # fmt: skip


def of_engine(health: Health) -> Iterator[Figure]:
    """The engine's own figures: each of its counts by its own name."""
    yield "hubd_engine_requests_running", "gauge", "Being computed.", [("", {}, health.active)]
    yield "hubd_engine_requests_waiting", "gauge", "In the queue.", [("", {}, health.waiting)]
    if health.neurons:
        told = "Share of a layer's neurons that decoded tokens needed."
        shares = [
            ("", {"layer": str(index), "part": part}, share)
            for index, layer in enumerate(health.neurons)
            for part, share in msgspec.structs.asdict(layer).items()
        ]
        yield "hubd_engine_active_neurons_ratio", "gauge", told, shares
    if health.counts is None:
        return
    for name, value in msgspec.structs.asdict(health.counts).items():
        if name.startswith("kv_"):
            told = f"The engine's {name.replace('_', ' ')}."
            yield f"hubd_engine_{name}", "gauge", told, [("", {}, value)]
        else:
            plain = name.removesuffix("_s") + ("_seconds" if name.endswith("_s") else "")
            told = f"The engine's {plain.replace('_', ' ')} since it started."
            yield f"hubd_engine_{plain}_total", "counter", told, [("", {}, value)]


def _resident(services: Services) -> list[Sample]:
    pids = {"hub": os.getpid(), "engine": services.engine.pid}
    sizes = {name: resident_mb(pid) for name, pid in pids.items() if pid}
    return [
        ("", {"process": name}, megabytes * 2**20)
        for name, megabytes in sizes.items()
        if megabytes is not None
    ]


ROUTES = [web.get("/metrics", metrics)]
