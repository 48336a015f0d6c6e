"""Questions, commands and stories one after the other, ingest in between: what grows, what stays.

    .venv/bin/python -m bench.soak [--rounds 5000] [--limit SECONDS] [--json]

Starts a daemon of its own in a temporary home, with the sample household and the default model.
Before the first look every kind of work is done for a hundred rounds, so that what is loaded once
is loaded, and long prompts fill the memory for keys and values, which is as large as it may get.
Looked at: private memory, file descriptors and threads of the hub and of its engine. Exits with 1
where private memory grew by `GROWTH` or more, or one of the others grew.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp

from bench.load import daemon, private_mb
from hubd.settings import DEFAULT_MODEL

MODEL = f"raw:{Path(DEFAULT_MODEL).stem}"
SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "household"
WARM_ROUNDS = 100
GROWTH = 0.02
SPARE = 4
"""File descriptors and threads that a process may have more: a connection that is kept alive."""
SAID = (
    "set a timer for 20 minutes",
    "If we want to move out, how much notice do we have to give?",
    "add milk to the shopping list",
    "What does error code E04 on the oven mean?",
    "what is 17 percent of 240?",
    "cancel all timers",
    "What did we pay for the piano?",
    "remove milk from the shopping list",
    "How often does the boiler need a service?",
    "what is on the shopping list?",
)
INGEST_EVERY = 25
WRITE_EVERY = 5
"""So often the language model writes about something that it was not asked before: answers from
documents are kept, and the same question is not written again."""
STORY_TOKENS = 24
LONG_PROMPTS = 16
LONG_LINES = 300
"""Of some ten tokens each. Sixteen such prompts are more than 256 MB hold."""
Look = dict[str, dict[str, float]]


def engine_of(pid: int) -> int:
    """The process id of the engine child."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    named = {int(child): Path(f"/proc/{child}/cmdline").read_text() for child in children}
    return next(child for child, command in named.items() if "engine.server" in command)


def look(pid: int) -> dict[str, float]:
    """Private megabytes, file descriptors and threads of a process."""
    return {
        "private_mb": round(private_mb(pid), 2),
        "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "threads": len(list(Path(f"/proc/{pid}/task").iterdir())),
    }


def grown(before: Look, after: Look) -> list[str]:
    """What grew by more than is allowed."""
    found = []
    for process, figures in before.items():
        now = after[process]
        share = now["private_mb"] / figures["private_mb"] - 1
        if share >= GROWTH:
            found.append(f"{process}: private memory {share:+.1%}")
        for name in ("descriptors", "threads"):
            if now[name] > figures[name] + SPARE:
                found.append(f"{process}: {name} {figures[name]:.0f} → {now[name]:.0f}")
    return found


async def ingest(session: aiohttp.ClientSession, url: str, number: int) -> None:
    """A document that is new each time under one name: read, embedded, the old one forgotten."""
    form = aiohttp.FormData()
    text = f"# Note\n\nThe key to shed number {number} hangs behind door {number % 7}.\n"
    form.add_field("file", text.encode(), filename="note.md", content_type="text/markdown")
    async with session.post(f"{url}/hub/documents", data=form) as response:
        response.raise_for_status()


async def write(session: aiohttp.ClientSession, url: str, number: int) -> None:
    """Some words of the plain model, about a number of its own each time."""
    await complete(session, url, f"Tell a story about {number} lighthouses.", STORY_TOKENS)


async def fill(session: aiohttp.ClientSession, url: str) -> None:
    """Prompts that are new and long, until the oldest has to go."""
    for number in range(LONG_PROMPTS):
        lines = (f"Ship {number}-{line} passed the lighthouse." for line in range(LONG_LINES))
        await complete(session, url, " ".join(lines), 1)


async def complete(session: aiohttp.ClientSession, url: str, prompt: str, tokens: int) -> None:
    """An answer of the plain model."""
    messages = [{"role": "user", "content": prompt}]
    body = {"model": MODEL, "messages": messages, "max_tokens": tokens}
    async with session.post(f"{url}/v1/chat/completions", json=body) as response:
        response.raise_for_status()
        await response.read()


async def one_round(session: aiohttp.ClientSession, url: str, number: int) -> None:
    """One thing said; sometimes something written, sometimes a document."""
    body = {"text": SAID[number % len(SAID)], "conversation": f"soak {number // 20}"}
    async with session.post(f"{url}/hub/ask", json=body) as response:
        response.raise_for_status()
        await response.read()
    if number % WRITE_EVERY == 0:
        await write(session, url, number)
    if number % INGEST_EVERY == 0:
        await ingest(session, url, number)


async def measure(rounds: int, limit_s: float) -> dict[str, Any]:
    """The figures of one run."""
    with tempfile.TemporaryDirectory() as home:
        line = ("-m", "hubd")
        async with daemon(Path(home), tokens=1, command_line=line) as running:
            headers = {"Authorization": f"Bearer {running.tokens[0]}"}
            async with aiohttp.ClientSession(headers=headers) as session:
                for path in sorted(SAMPLES.iterdir())[:12]:
                    form = aiohttp.FormData()
                    form.add_field("file", path.read_bytes(), filename=path.name)
                    async with session.post(f"{running.url}/hub/documents", data=form) as reply:
                        await reply.read()
                for number in range(WARM_ROUNDS):
                    await one_round(session, running.url, number)
                await fill(session, running.url)
                pids = {"hub": running.pid, "engine": engine_of(running.pid)}
                before = {name: look(pid) for name, pid in pids.items()}
                began, done = time.monotonic(), 0
                while done < rounds and time.monotonic() - began < limit_s:
                    await one_round(session, running.url, WARM_ROUNDS + done)
                    done += 1
                after = {name: look(pid) for name, pid in pids.items()}
    return {
        "rounds": done,
        "seconds": round(time.monotonic() - began),
        "before": before,
        "after": after,
        "grown": grown(before, after),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5000)
    parser.add_argument("--limit", type=float, default=4 * 3600)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result = asyncio.run(measure(arguments.rounds, arguments.limit))
    if arguments.json:
        print(json.dumps(result))
    else:
        print("\n".join(f"{name:10} {value}" for name, value in result.items()))
    return 1 if result["grown"] else 0


if __name__ == "__main__":
    sys.exit(main())
