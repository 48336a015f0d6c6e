"""The engine as a process: how soon its first word comes, its memory, its idle load.

    hubd bench process MODEL.gguf [--threads 2] [--starts 5] [--requests 1000] [--json]

Starts `engine.server` as the hub does. The first start fills the caches and does not count. Then it
is left alone, answers many short requests, and its memory is looked at before and after.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from engine.benchmarks._command import command, tell
from engine.benchmarks._machine import Machine, this_machine
from engine.benchmarks._memory import ProcessMemory, process_memory
from engine.client import EngineClient, TextDelta
from engine.errors import EngineError, EngineUnavailable
from engine.protocol import ChatMessage, ChatRequest

START_SECONDS = 300.0
_POLL_SECONDS = 0.02
_ANSWER_TOKENS = 8
_QUESTIONS = 5
"""Different ones, over and over: what the prefix cache keeps of them is no leak."""


class Result(msgspec.Struct, kw_only=True):
    """Everything that is measured. Times in seconds, memory in bytes."""

    model: str
    machine: Machine
    threads: int
    ready_s: float
    """From the start of the process until it is ready: the median of the starts."""
    first_token_s: float
    """The same until the first word of an answer has arrived."""
    first_token_cpu_s: float
    """CPU time that this took: what a start takes on a machine with nothing else to do."""
    model_file: int
    loaded: ProcessMemory
    """Once every question has been answered."""
    idle_share: float
    """Of one core, left alone."""
    requests: int
    requests_s: float
    worked: ProcessMemory
    """After the requests."""


class Started(msgspec.Struct):
    """A running engine, and how long it took to come."""

    pid: int
    client: EngineClient
    ready_s: float
    first_token_s: float
    cpu_s: float
    """That the process took for both."""


def question(number: int) -> ChatRequest:
    """A short request."""
    text = f"Say the number {number % _QUESTIONS} in words."
    message = ChatMessage(role="user", content=text)
    return ChatRequest(messages=[message], max_tokens=_ANSWER_TOKENS, temperature=0.0)


async def answer(client: EngineClient, request: ChatRequest) -> float:
    """Ask, read to the end; gives the moment of the first word."""
    first = 0.0
    async for event in client.chat(request):
        if isinstance(event, TextDelta) and not first:
            first = time.perf_counter()
    return first


async def wait_ready(client: EngineClient, process: asyncio.subprocess.Process) -> None:
    """Until the engine says that it is ready. Raises EngineError if it cannot be."""
    deadline = time.perf_counter() + START_SECONDS
    while process.returncode is None and time.perf_counter() < deadline:
        with suppress(EngineUnavailable):
            health = await client.health()
            if health.status == "ready":
                return
            if health.status == "failed":
                raise EngineError(health.message)
        await asyncio.sleep(_POLL_SECONDS)
    raise EngineError("the engine's process did not become ready")


@asynccontextmanager
async def started(given: argparse.Namespace, folder: Path) -> AsyncIterator[Started]:
    """An engine that has answered once; it ends with the block."""
    path = folder / "engine.sock"
    command = [sys.executable, "-m", "engine.server", "--model", given.model, "--socket", path]
    command += ["--context-length", given.context_length, "--exit-with-parent"]
    command += ["--cache-directory", given.cache_directory or folder, "--threads", given.threads]
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with EngineClient(socket=path) as client:
            await wait_ready(client, process)
            ready = time.perf_counter() - began
            first = await answer(client, question(0)) - began
            yield Started(process.pid, client, ready, first, cpu_seconds(process.pid))
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def cpu_seconds(pid: int) -> float:
    """CPU time that a process has had (proc_pid_stat(5))."""
    fields = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def idle_share(pid: int, seconds: float) -> float:
    """The share of a core that a process takes that nobody asks anything."""
    await asyncio.sleep(0.5)  # what the last answer left to do is done
    before, began = cpu_seconds(pid), time.perf_counter()
    await asyncio.sleep(seconds)
    return (cpu_seconds(pid) - before) / (time.perf_counter() - began)


async def run(given: argparse.Namespace) -> Result:
    """Start, wait, ask."""
    starts: list[tuple[float, float, float]] = []
    with tempfile.TemporaryDirectory(prefix="hubd-bench-") as name:
        folder = Path(name)
        for _ in range(given.starts):
            async with started(given, folder) as engine:
                starts.append((engine.ready_s, engine.first_token_s, engine.cpu_s))
        async with started(given, folder) as engine:
            starts.append((engine.ready_s, engine.first_token_s, engine.cpu_s))
            for number in range(_QUESTIONS):
                await answer(engine.client, question(number))
            loaded = process_memory(engine.pid)
            idle = await idle_share(engine.pid, given.idle)
            began = time.perf_counter()
            for number in range(given.requests):
                await answer(engine.client, question(number + 1))
            seconds, worked = time.perf_counter() - began, process_memory(engine.pid)
    ready, first, cpu = (statistics.median(times) for times in zip(*starts[1:], strict=True))
    return Result(
        model=given.model.name,
        machine=this_machine(),
        threads=given.threads,
        ready_s=ready,
        first_token_s=first,
        first_token_cpu_s=cpu,
        model_file=given.model.stat().st_size,
        loaded=loaded,
        idle_share=idle,
        requests=given.requests,
        requests_s=seconds,
        worked=worked,
    )


def report(r: Result) -> str:
    """For people."""

    def megabytes(memory: ProcessMemory) -> str:
        beyond = (memory.resident - r.model_file) / 1e6
        return (
            f"{memory.private / 1e6:.0f} MB private,"
            f" {memory.resident / 1e6:.0f} MB resident (file {beyond:+.0f} MB)"
        )

    lines = [
        f"{r.model}: {r.threads} threads",
        str(r.machine),
        "",
        f"start    ready after {r.ready_s:.2f} s, first word after {r.first_token_s:.2f} s"
        f" ({r.first_token_cpu_s:.2f} s of CPU time)",
        f"memory   {megabytes(r.loaded)} after {_QUESTIONS} answers",
        f"         {megabytes(r.worked)} after {r.requests} requests in {r.requests_s:.0f} s",
        f"idle     {r.idle_share:.2%} of a core",
    ]
    return "\n".join(lines)


def main() -> int:
    """The command line; gives the exit code."""
    parser = command("process", __doc__)
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--context-length", type=int, default=8192, help="tokens")
    parser.add_argument("--starts", type=int, default=5, help="that count")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--idle", type=float, default=10.0, help="seconds to be left alone")
    given = parser.parse_args()
    if given.starts < 1 or given.requests < 0:
        parser.error("--starts is at least 1, --requests at least 0")
    return tell(lambda: asyncio.run(run(given)), report, json=given.json)


if __name__ == "__main__":
    sys.exit(main())
