"""How soon Home Assistant gets the first token when the hub is its conversation agent.

    .venv/bin/python -m bench.home_assistant [--recorded FOLDER] [--rounds 9] [--json]

Starts a daemon of its own and sends it requests that Home Assistant's Ollama integration sent, as
they are, but for the model's name, the time that stands in them, and the user's words: light
commands, another one each time. The first request to a model is cold; then come the rounds. Times
are the client's own, from the request to the first line that carries text or a tool call; the
cached share is what the engine counted. Household is the hub's own assistant, raw the language
model with Home Assistant's prompt and tools.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp

from engine.client import EngineClient
from engine.errors import EngineError
from engine.protocol import SchedulerCounts
from hubd.paths import find_paths

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT.parent / "shared" / "ha" / "recorded"
VERSIONS = ("2025.4.4", "2026.11.0")
READY_WITHIN_S = 300.0
CONTEXT = 8192
TOKEN = secrets.token_hex(16)
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
TIME = re.compile(r"\d\d:\d\d:\d\d")
COMMANDS = (
    "turn on the bed light",
    "turn off the kitchen lights",
    "turn on the ceiling lights",
    "dim the bed light to 40 percent",
    "turn off the bed light please",
    "switch the kitchen lights on",
)


@contextlib.contextmanager
def daemon(home: Path, model: str, threads: int) -> Iterator[str]:
    """A ``hubd serve`` in a home of its own; its address."""
    environment = os.environ | {
        "HUBD_HOME": str(home),
        "HUBD_PORT": "0",
        "HUBD_HTTP_TOKEN": TOKEN,
        "HUBD_ENGINE_CONTEXT_LENGTH": str(CONTEXT),
        "HUBD_ENGINE_THREADS": str(threads),
        "HUBD_RAG_PRELOAD": "false",
        "HUBD_ENGINE_MODEL": model,
    }
    log = home / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "hubd", "serve"],
            env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + READY_WITHIN_S
        while not (said := re.search(r"hubd is ready: (http://\S+)", log.read_text())):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"hubd did not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.1)
        yield said[1]
    finally:
        process.terminate()
        process.wait(30)


def recorded(folder: Path, version: str) -> dict[str, Any]:
    """The body of the first request that carried tools: the beginning of a conversation."""
    file = folder / f"ha-{version}-ollama.jsonl"
    if not file.is_file():
        raise SystemExit(f"no recorded requests at {file}")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    bodies: list[dict[str, Any]] = [row["body"] for row in rows if row["path"] == "/api/chat"]
    return next(body for body in bodies if body.get("tools"))


def asked(body: dict[str, Any], model: str, number: int) -> dict[str, Any]:
    """The same request at another time, with other words of the user."""
    at = datetime(2026, 11, 21, 6, 47, 17) + timedelta(seconds=73 * number)
    system, *_ = body["messages"]
    told = TIME.sub(f"{at:%H:%M:%S}", system["content"])
    words = {"role": "user", "content": COMMANDS[number % len(COMMANDS)]}
    return body | {"model": model, "messages": [system | {"content": told}, words]}


async def first_token(
    session: aiohttp.ClientSession, url: str, body: dict[str, Any]
) -> tuple[float, dict[str, Any]]:
    """Seconds to the first line that says something, and that line. The rest is not waited for."""
    began = time.perf_counter()
    async with session.post(f"{url}/api/chat", json=body) as response:
        if response.status != 200:
            raise SystemExit(f"refused: {await response.text()}")
        async for line in response.content:
            message = json.loads(line).get("message", {})
            if message.get("content") or message.get("tool_calls") or message.get("thinking"):
                return time.perf_counter() - began, message
    raise SystemExit("an answer without a word: see hubd's log")


async def _counts(engine: EngineClient) -> SchedulerCounts:
    """What the engine has done so far, once it is ready."""
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        with contextlib.suppress(EngineError):
            health = await engine.health()
            if health.status == "failed":
                raise SystemExit(f"the engine failed: {health.message}")
            if health.counts is not None and health.status == "ready":
                return health.counts
        await asyncio.sleep(0.1)
    raise SystemExit(f"the engine was not ready within {READY_WITHIN_S:.0f} s")


async def measure(
    url: str, engine: EngineClient, body: dict[str, Any], model: str, rounds: int
) -> dict[str, Any]:
    """One model and one recorded request: cold, then the rounds."""
    times, prompts, shares = [], [], []
    last: dict[str, Any] = {}
    limit = aiohttp.ClientTimeout(total=300)
    async with aiohttp.ClientSession(timeout=limit, headers=HEADERS) as session:
        for number in range(rounds + 1):
            before = await _counts(engine)
            took, last = await first_token(session, url, asked(body, model, number))
            await asyncio.sleep(0.3)  # the answer that nobody reads any more is given up
            after = await _counts(engine)
            prompt = after.prompt_tokens - before.prompt_tokens
            times.append(took * 1000)
            prompts.append(prompt)
            shares.append((after.cached_tokens - before.cached_tokens) / prompt if prompt else None)
    of_engine = model != "household"  # which needs none: what it counted then is another's prompt
    known = [share for share in shares[1:] if share is not None and of_engine]
    return {
        "model": model,
        "prompt_tokens": statistics.median_low(prompts[1:]) if of_engine else 0,
        "cold_ms": round(times[0], 1),
        "median_ms": round(statistics.median(times[1:]), 1),
        "slowest_ms": round(max(times[1:]), 1),
        "cached_share": round(statistics.median(known), 4) if known else None,
        "first": last,
    }


async def measure_all(folder: Path, home: Path, url: str, rounds: int) -> list[dict[str, Any]]:
    async with (
        aiohttp.ClientSession(headers=HEADERS) as session,
        session.get(f"{url}/api/tags") as response,
    ):
        names = [model["model"] for model in (await response.json())["models"]]
    raw = next(name for name in names if name.startswith("raw:"))
    rows = []
    async with EngineClient(socket=find_paths({"HUBD_HOME": str(home)}).engine_socket) as engine:
        for version in VERSIONS:
            body = recorded(folder, version)
            for model in ("household", raw):
                row = await measure(url, engine, body, model, rounds)
                rows.append({"home_assistant": version} | row)
    return rows


def show(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| Home Assistant | model | prompt tokens | cold | cached, median | slowest | cached |"
    ]
    lines.append("|---|---|---|---|---|---|---|")
    for row in rows:
        share = "—" if row["cached_share"] is None else f"{row['cached_share']:.1%}"
        lines.append(
            f"| {row['home_assistant']} | `{row['model']}` | {row['prompt_tokens'] or '—'} "
            f"| {row['cold_ms']:.0f} ms | {row['median_ms']:.0f} ms | {row['slowest_ms']:.0f} ms "
            f"| {share} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recorded", type=Path, default=RECORDED)
    parser.add_argument("--model", type=Path, help="a GGUF file, default the hub's")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    model = given.model or find_paths().models / "SmolLM2-135M-Instruct.Q4_1.gguf"
    with tempfile.TemporaryDirectory(prefix="hubd-bench-") as folder:
        home = Path(folder)
        with daemon(home, str(model.resolve()), given.threads) as url:
            rows = asyncio.run(measure_all(given.recorded, home, url, given.rounds))
    print(json.dumps(rows) if given.json else show(rows))


if __name__ == "__main__":
    main()
