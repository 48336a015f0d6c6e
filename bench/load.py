"""The hub under load: idle event streams, light calls at a fixed rate, and chats, all at once.

    .venv/bin/python -m bench.load [--seconds 600] [--streams 200] [--rate 50] [--chats 4] [--json]

Starts a daemon of its own in a temporary home, with the default model where `hubd model pull` put
it. Light calls are sent on a clock and not after each other's replies, so that a hub that stands
still is not asked less (coordinated omission); each counts from the moment at which it was due.
Memory is private memory, after a tenth of the time and at the end. What held the event loop longest
is named with milliseconds by the wall clock and of its own work (`bench/timed_loop.py`).
"""

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

from hubd.paths import find_paths
from hubd.settings import DEFAULT_MODEL

DEVICES = 10
"""The streams are theirs: one device may have 40 open."""
LIGHT: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/hub/me", None),
    ("GET", "/hub/tools", None),
    ("GET", "/hub/status", None),
    ("POST", "/hub/tools/timers.list", {}),
)
ENDLESS = aiohttp.ClientTimeout(total=None)
"""A stream is open for as long as its page."""
STORY = [{"role": "user", "content": "Tell a story about a lighthouse."}]


class Running(NamedTuple):
    """A daemon that is ready."""

    url: str
    tokens: list[str]
    """Of its devices."""
    pid: int
    ready_at: float
    """Of ``time.perf_counter``."""


@contextlib.asynccontextmanager
async def daemon(
    home: Path, tokens: int = DEVICES, command_line: tuple[str, ...] = ("-m", "hubd")
) -> AsyncIterator[Running]:
    """A daemon in ``home``, ended with the block."""
    environment = os.environ | {"HUBD_HOME": str(home), "HUBD_PORT": "0"}
    environment["HUBD_ENGINE_MODEL"] = str(find_paths().models / DEFAULT_MODEL)

    def command(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "hubd", *arguments],
            env=environment, check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip

    with (home / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command_line, "serve", env=environment, stdout=log, stderr=log
        )
    try:
        while "hubd is ready: " not in (said := (home / "log").read_text()):
            if process.returncode is not None:
                raise SystemExit(said)
            await asyncio.sleep(0.02)
        ready_at = time.perf_counter()
        url = said.partition("hubd is ready: ")[2].split()[0]
        made = [command("token", "add", f"device {n}", "-q") for n in range(tokens)]
        yield Running(url, made, process.pid, ready_at)
    finally:
        process.terminate()
        await process.wait()


async def listen(session: aiohttp.ClientSession, url: str, headers: dict[str, str]) -> None:
    """One page that is open and does nothing."""
    async with session.get(f"{url}/hub/events", headers=headers) as response:
        response.raise_for_status()
        async for _ in response.content:
            pass


async def chat(session: aiohttp.ClientSession, url: str, headers: dict[str, str]) -> None:
    """One answer of the language model after the other."""
    async with session.get(f"{url}/v1/models", headers=headers) as response:
        cards = (await response.json())["data"]
    model = next(card["id"] for card in cards if card["id"].startswith("raw:"))
    body = {"model": model, "messages": STORY, "max_tokens": 100, "temperature": 1}
    while True:
        async with session.post(
            f"{url}/v1/chat/completions", json=body, headers=headers
        ) as response:
            response.raise_for_status()
            await response.read()


async def light_calls(
    session: aiohttp.ClientSession, url: str, tokens: list[str], rate: float, seconds: float
) -> tuple[list[float], Counter[str]]:
    """Milliseconds of each call from when it was due, and how many failed, by route and status."""
    took: list[float] = []
    failed: Counter[str] = Counter()
    began = time.perf_counter()

    async def call(number: int) -> None:
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        method, path, body = LIGHT[number % len(LIGHT)]
        # As a page does; by its header alone, /hub/me would count as a stranger's at its address.
        headers = {"Cookie": f"hubd_session={tokens[number % len(tokens)]}", "Origin": url}
        async with session.request(method, url + path, json=body, headers=headers) as response:
            await response.read()
            if response.status != 200:
                failed[f"{path} {response.status}"] += 1
        took.append((time.perf_counter() - due) * 1000)

    async with asyncio.TaskGroup() as calls:
        for number in range(int(rate * seconds)):
            calls.create_task(call(number))
    return took, failed


def private_mb(pid: int) -> float:
    """Private memory of a process (Linux: /proc/PID/smaps_rollup)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    found = [int(line.split()[1]) for line in lines if line.startswith("Private_")]
    return sum(found) / 1024


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """The figures of one run."""
    connector = aiohttp.TCPConnector(limit=0)
    with tempfile.TemporaryDirectory() as home:
        slow = Path(home) / "slow.json"
        timed = (str(Path(__file__).with_name("timed_loop.py")), str(slow))
        async with (
            daemon(Path(home), command_line=timed) as (url, tokens, pid, _),
            aiohttp.ClientSession(connector=connector, timeout=ENDLESS) as session,
        ):
            headers = [{"Authorization": f"Bearer {token}"} for token in tokens]
            listeners = [
                asyncio.create_task(listen(session, url, headers[n % DEVICES]))
                for n in range(arguments.streams)
            ]
            chats = [
                asyncio.create_task(chat(session, url, headers[n % DEVICES]))
                for n in range(arguments.chats)
            ]
            tenth = arguments.seconds / 10
            await light_calls(session, url, tokens, arguments.rate, tenth)
            before = private_mb(pid)
            took, failed = await light_calls(
                session, url, tokens, arguments.rate, arguments.seconds - tenth
            )
            after = private_mb(pid)
            broken = [task for task in (*listeners, *chats) if task.done()]
            for task in (*listeners, *chats):
                task.cancel()
            await asyncio.gather(*listeners, *chats, return_exceptions=True)
        held = json.loads(slow.read_text())
    ordered = sorted(took)
    return {
        "seconds": arguments.seconds,
        "load_average": round(os.getloadavg()[0], 1),
        "light_calls": len(took),
        "failed": dict(failed),
        "streams_and_chats_that_broke_off": len(broken),
        "median_ms": round(statistics.median(ordered), 1),
        "p99_ms": round(ordered[int(0.99 * len(ordered))], 1),
        "slowest_ms": round(ordered[-1], 1),
        "loop_held_for_ms": [
            {
                "what": what,
                "ms": round(wall * 1000),
                "own_ms": round(own * 1000),
                "at_s": round(at, 1),
            }
            for what, wall, own, at in held[:10]
        ],
        "private_mb_at_a_tenth": round(before, 1),
        "private_mb_at_the_end": round(after, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--chats", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    result = asyncio.run(measure(parser.parse_args()))
    print(json.dumps(result) if result and "--json" in sys.argv else _table(result))


def _table(result: dict[str, Any]) -> str:
    return "\n".join(f"{name:34} {value}" for name, value in result.items())


if __name__ == "__main__":
    main()
