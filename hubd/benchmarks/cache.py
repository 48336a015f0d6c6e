"""What a long prompt costs the second time: in memory, after a restart, with a clock in front.

    hubd bench cache [--model MODEL.gguf] [--threads 2] [--documents DIR --questions FILE] [--json]

Starts engine processes of its own, with an empty cache directory, and asks them as the hub does.
Times are from sending a request to the first token received; figures are medians. Prompts of random
tokens, but for the foreign ones, which are text as Home Assistant sends it, and those of guessing
ahead: what the hub sends for the questions about the documents (the sample household's).
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from engine.client import Answered, EngineClient
from engine.errors import EngineError
from engine.protocol import ChatMessage, ChatRequest, CompletionRequest
from hubd.benchmarks._household import prompts_of
from hubd.config import load_config
from hubd.engine_child import model_path
from hubd.errors import HubError
from hubd.http.volatile import PromptMemory
from hubd.paths import find_paths
from rag.errors import RagError

SYSTEM_TOKENS, NEW_TOKENS = 2000, 30
ROUNDS, RESTARTS, FOREIGN_REQUESTS = 9, 3, 30
CONTEXT, DISK_MB = 4096, 512
IDLE_S = 2.0
START_LIMIT_S = 600.0
VOCABULARY = 20_000
"""Random ids stay below it: every model has so many."""

SAMPLES = Path(__file__).parents[2] / "samples"
"""Documents and questions of a household, where hubd runs from its repository."""
QUESTIONS = (
    "turn the bed lamp on please",
    "is the garage door open?",
    "what is the capital of France?",
    "how warm is it in the living room?",
    "good night",
)
STATIC = (
    "You are a voice assistant for Home Assistant.\nAnswer questions about the world truthfully.\n"
    "Answer in plain text. Keep it simple and to the point.\n"
    "When controlling a device, prefer passing just name and domain.\n"
    "An overview of the areas and the devices in this smart home:\n"
)


class Figures(msgspec.Struct, kw_only=True):
    """Everything that is measured. Times in milliseconds."""

    model: str
    threads: int
    system_tokens: int = SYSTEM_TOKENS
    new_tokens: int = NEW_TOKENS
    ttft_alone_ms: float
    """Of the new tokens alone."""
    ttft_cold_ms: float
    """Of system prompt and new tokens, never seen."""
    ttft_cached_ms: float
    """The same when the system prompt was read by this process."""
    ttft_restart_ms: float
    """The same when it was read by a process that has ended."""
    ttft_restart_idle_ms: float
    """And that had some seconds to bring back what was used last."""
    ttft_cached_ratio: float
    ttft_restart_ratio: float
    restarted_cached_tokens: int
    """Of the prompt after a restart, those that came from disk."""
    foreign_prompt_tokens: float
    """Of a prompt with the time in its first line, on average."""
    foreign_hit_ratio: float
    """Tokens found in the cache, over the requests after the first."""
    foreign_hit_ratio_with_first: float
    foreign_hit_ratio_unmoved: float
    """The same with the time left in its place."""
    streams4_ratio: float | None = None
    """From `hubd bench streams`, with the next one."""
    longest_gap_ms: float | None = None
    """Between two tokens of an answer while prompts of 4 000 tokens arrive."""
    lookup_ratio: float | None = None
    """From `hubd bench guesses`, with the next ones."""
    lookup_identical: bool | None = None
    """Whether all answers were the same with and without guesses."""
    lookup_questions: int = 0
    """How many questions about documents that was; 0: passages to be repeated."""


class _Streams(msgspec.Struct):
    streams4_ratio: float
    longest_gap_s: float


class _Guesses(msgspec.Struct):
    speedup: float
    identical: bool


class Bench:
    """Engine processes on one model and one cache directory."""

    def __init__(self, model: Path, threads: int, directory: Path) -> None:
        self.model = model
        self.threads = threads
        self.directory = directory

    @asynccontextmanager
    async def engine(self) -> AsyncIterator[EngineClient]:
        """A process that is ready; SIGTERM ends it with the block."""
        socket = self.directory / "engine.sock"
        command = [
            *(sys.executable, "-m", "engine.server", "--socket", str(socket)),
            *("--model", str(self.model), "--threads", str(self.threads)),
            *("--context-length", str(CONTEXT), "--cache-directory", str(self.directory)),
            *("--prefix-disk-mb", str(DISK_MB), "--exit-with-parent"),
        ]
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with EngineClient(socket=socket) as client:
                await _ready(client)
                yield client
        finally:
            process.terminate()
            await process.wait()


async def measure(bench: Bench) -> Figures:
    """All of it, in about a minute."""
    chosen = random.Random(1)
    system = _tokens(chosen, SYSTEM_TOKENS)
    async with bench.engine() as client:
        await _first_token(client, _tokens(chosen, 2 * NEW_TOKENS))  # code and memory are touched
        cold, _ = await _first_token(client, [*system, *_tokens(chosen, NEW_TOKENS)])
        alone, cached = [], []
        for _ in range(ROUNDS):  # in turns, so that a noisy neighbour hits both
            alone.append((await _first_token(client, _tokens(chosen, NEW_TOKENS)))[0])
            cached.append((await _first_token(client, [*system, *_tokens(chosen, NEW_TOKENS)]))[0])
    restarted: list[float] = []
    rested: list[float] = []
    from_disk = []
    for pause, times in [(0.0, restarted), (IDLE_S, rested)] * RESTARTS:
        async with bench.engine() as client:
            await _first_token(client, _tokens(chosen, 2 * NEW_TOKENS))
            await asyncio.sleep(pause)
            took, hits = await _first_token(client, [*system, *_tokens(chosen, NEW_TOKENS)])
        times.append(took)
        from_disk.append(hits)
    async with bench.engine() as client:
        unmoved = await _foreign(client, move=False, day=1)
        moved = await _foreign(client, move=True, day=2)
    base = statistics.median(alone)
    return Figures(
        model=bench.model.name,
        threads=bench.threads,
        ttft_alone_ms=_ms(base),
        ttft_cold_ms=_ms(cold),
        ttft_cached_ms=_ms(statistics.median(cached)),
        ttft_restart_ms=_ms(statistics.median(restarted)),
        ttft_restart_idle_ms=_ms(statistics.median(rested)),
        ttft_cached_ratio=round(statistics.median(cached) / base, 2),
        ttft_restart_ratio=round(statistics.median(restarted) / base, 2),
        restarted_cached_tokens=min(from_disk),
        foreign_prompt_tokens=round(statistics.mean(total for total, _ in moved), 1),
        foreign_hit_ratio=_hit_ratio(moved[1:]),
        foreign_hit_ratio_with_first=_hit_ratio(moved),
        foreign_hit_ratio_unmoved=_hit_ratio(unmoved[1:]),
    )


async def with_decoding(
    bench: Bench, figures: Figures, prompts: Sequence[Sequence[ChatMessage]]
) -> Figures:
    """The figures with those of `hubd bench streams` and `hubd bench guesses`.

    prompts: for guessing ahead; none: its own."""
    file = bench.directory / "prompts.jsonl"
    file.write_bytes(b"\n".join(msgspec.json.encode(messages) for messages in prompts))
    of_file = ("--prompts", str(file), "--tokens", "200") if prompts else ()
    streams = msgspec.json.decode(await _said(bench, "streams"), type=_Streams)
    guesses = msgspec.json.decode(await _said(bench, "guesses", *of_file), type=_Guesses)
    return msgspec.structs.replace(
        figures,
        streams4_ratio=round(streams.streams4_ratio, 2),
        longest_gap_ms=_ms(streams.longest_gap_s),
        lookup_ratio=round(guesses.speedup, 2),
        lookup_identical=guesses.identical,
        lookup_questions=len(prompts),
    )


async def _said(bench: Bench, measurement: str, *options: str) -> bytes:
    """What a measurement of the engine, in a process of its own, prints."""
    command = [
        *(sys.executable, "-m", f"engine.benchmarks.{measurement}", str(bench.model), "--json"),
        *("--threads", str(bench.threads), "--cache-directory", str(bench.directory)),
    ]
    process = await asyncio.create_subprocess_exec(
        *command, *options, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    if process.returncode:
        raise EngineError(f"hubd bench {measurement} ended with status {process.returncode}")
    return said


async def _first_token(client: EngineClient, prompt: Sequence[int]) -> tuple[float, int]:
    """Seconds to the first token of an answer, and how many tokens were cached."""
    request = CompletionRequest(prompt=list(prompt), max_tokens=1, temperature=0.0)
    body = msgspec.json.encode(request)
    began = time.perf_counter()
    async with client.proxy("POST", "/v1/completions", body) as reply:
        content = b"".join([chunk async for chunk in reply.chunks()])
    took = time.perf_counter() - began
    if reply.status != 200:
        raise EngineError(content.decode(errors="replace"))
    usage = msgspec.json.decode(content)["usage"]
    return took, usage["prompt_tokens_details"]["cached_tokens"]


async def _foreign(client: EngineClient, *, move: bool, day: int) -> list[tuple[int, int]]:
    """Prompt tokens and cached tokens of requests whose first line tells the time."""
    memory, now = PromptMemory(), datetime(2026, 11, day, 6, 47, 17, tzinfo=UTC)
    devices = "".join(f"- names: Lamp {n}\n  domain: light\n  areas: Room {n}\n" for n in range(90))
    found = []
    for number in range(FOREIGN_REQUESTS):
        now += timedelta(seconds=61)
        told = f"Current time is {now:%H:%M:%S}. Today's date is {now:%Y-%m-%d}.\n"
        messages = [
            {"role": "system", "content": f"{told}Home {day}. {STATIC}{devices}"},
            {"role": "user", "content": QUESTIONS[number % len(QUESTIONS)]},
        ]
        if move:
            messages = memory.rearrange("bench", messages, tools=True, now=now).messages
        found.append(await _usage(client, messages))
    return found


async def _usage(client: EngineClient, messages: Sequence[dict[str, str]]) -> tuple[int, int]:
    """Prompt tokens of a chat, and those that were cached."""
    chat = [msgspec.convert(message, ChatMessage) for message in messages]
    async with aclosing(client.chat(ChatRequest(messages=chat, max_tokens=1))) as answer:
        async for part in answer:
            if isinstance(part, Answered) and part.usage and part.usage.prompt_tokens_details:
                return part.usage.prompt_tokens, part.usage.prompt_tokens_details.cached_tokens
    raise EngineError("the engine sent no account of the tokens")


async def _ready(client: EngineClient) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        try:
            health = await client.health()
        except EngineError:
            await asyncio.sleep(0.05)
            continue
        if health.status == "ready":
            return
        if health.status == "failed":
            raise EngineError(health.message)
        await asyncio.sleep(0.05)
    raise EngineError(f"the engine was not ready within {START_LIMIT_S:.0f} s")


def _tokens(chosen: random.Random, count: int) -> list[int]:
    return [chosen.randrange(1000, VOCABULARY) for _ in range(count)]


def _hit_ratio(found: Sequence[tuple[int, int]]) -> float:
    return round(sum(hits for _, hits in found) / sum(total for total, _ in found), 4)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


def _configured_model() -> Path:
    paths = find_paths()
    return model_path(load_config(paths.config_file).engine, paths)


def show(figures: Figures) -> str:
    """The figures for a person."""
    f = figures
    return "\n".join(
        (
            f"{f.model}, {f.threads} threads; time to the first token",
            f"  {f.new_tokens} new tokens alone                {f.ttft_alone_ms:8.1f} ms",
            f"  {f.system_tokens} tokens before them, cold      {f.ttft_cold_ms:8.1f} ms",
            f"  … cached in memory               {f.ttft_cached_ms:8.1f} ms"
            f"  ({f.ttft_cached_ratio} × alone)",
            f"  … after a restart, from disk     {f.ttft_restart_ms:8.1f} ms"
            f"  ({f.ttft_restart_ratio} × alone, {f.restarted_cached_tokens} tokens from disk)",
            f"  … and {IDLE_S:.0f} s without work         {f.ttft_restart_idle_ms:8.1f} ms",
            f"prompts of {f.foreign_prompt_tokens:.0f} tokens that begin with the time:",
            f"  tokens found in the cache        {f.foreign_hit_ratio:8.1%}"
            f"  ({f.foreign_hit_ratio_with_first:.1%} with the first request,"
            f" {f.foreign_hit_ratio_unmoved:.1%} with the time left in its place)",
            f"four streams: {f.streams4_ratio} times one; beside prompts of 4 000 tokens a token"
            f" waits at most {f.longest_gap_ms} ms (`hubd bench streams` tells more)",
            f"guessing ahead: {f.lookup_ratio} times the decode speed, "
            + (f"{f.lookup_questions} questions" if f.lookup_questions else "passages repeated")
            + f", answers {'' if f.lookup_identical else 'NOT '}the same",
        )
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="hubd bench cache", description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, help="a GGUF file, default the hub's")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cache-directory", type=Path, help="where its own one is made")
    household = SAMPLES / "household" if SAMPLES.is_dir() else None
    parser.add_argument("--documents", type=Path, default=household, help="a folder")
    parser.add_argument(
        "--questions", type=Path, default=SAMPLES / "questions.jsonl", help="a file"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    where, model = given.cache_directory, given.model or _configured_model()
    with tempfile.TemporaryDirectory(prefix="hubd-bench-", dir=where) as directory:
        try:
            bench = Bench(model, given.threads, Path(directory))
            figures = asyncio.run(measure(bench))
            prompts = []
            if given.documents is not None:
                prompts = asyncio.run(prompts_of(given.documents, given.questions))
            figures = asyncio.run(with_decoding(bench, figures, prompts))
        except (EngineError, HubError, RagError, OSError, ValueError) as error:
            raise SystemExit(f"{model.name} cannot be measured: {error}") from error
    print(msgspec.json.encode(figures).decode() if given.json else show(figures))


if __name__ == "__main__":
    main()
