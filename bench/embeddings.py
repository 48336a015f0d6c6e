"""How fast the engine embeds, beside sentence-transformers: one thread each, runs interleaved.

    python -m bench.embeddings [--rounds 5] [--model GGUF] [--json]

Chunks of 256 tokens a second, milliseconds for a question, and agreement of the vectors. With
``--model``, a language model: private memory of an engine's process before and after the encoder is
loaded, and the longest pause of a running answer while documents are embedded. Times are given
twice, as they passed and as the processor spent them; they agree on an idle machine.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.client import Answered, EngineClient
from engine.embed import TextEncoder
from engine.errors import EngineError
from engine.protocol import ChatMessage, ChatRequest
from rag.embed import MODEL, model_folder

Embed = Callable[[list[str]], NDArray[np.float32]]

SENTENCES = (
    "The boiler loses pressure over the winter and has to be topped up to one and a half bar.",
    "Bins are collected on Tuesday, paper and glass every second week, in front of the gate.",
    "Descale the kettle with vinegar, rinse it twice and let it dry with the lid open.",
    "The deposit is three months' rent and is paid back within sixty days of moving out.",
    "Peel the apples, mix them with cinnamon, and bake the cake for fifty minutes at 180 degrees.",
    "Water the tomatoes in the morning, never over their leaves, and tie them up in June.",
    "Error E24 means that the pump of the dishwasher is blocked: clean the filter first.",
)
QUESTIONS = [
    *("How do I reset the boiler?", "When is the glass collected?", "What does error E24 mean?"),
    *("How long does the apple cake bake?", "When do we get our deposit back?"),
]
CHUNKS = 8


class Timing(NamedTuple):
    """Seconds of one piece of work."""

    passed: float
    spent: float
    """By the thread that computed."""


def chunks() -> list[str]:
    """Texts of more than 256 tokens, so that each is cut to exactly that many."""
    order = np.random.default_rng(1)
    return [
        " ".join(SENTENCES[i] for i in order.integers(0, len(SENTENCES), 18)) for _ in range(CHUNKS)
    ]


def timed(embed: Embed, texts: list[str]) -> Timing:
    began, spent = time.perf_counter(), time.thread_time()
    embed(texts)
    return Timing(time.perf_counter() - began, time.thread_time() - spent)


def sentence_transformers() -> Embed:
    """On one thread, one text at a time: its fastest way on a CPU, without padding."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(model_folder()), device="cpu", local_files_only=True)

    def embed(texts: list[str]) -> NDArray[np.float32]:
        vectors = model.encode(texts, batch_size=1, normalize_embeddings=True)
        return np.asarray(vectors, np.float32)

    return embed


def measure_speed(rounds: int, cache: Path) -> dict[str, float]:
    """Of both, in turns."""
    documents = chunks()
    with TextEncoder.load(model_folder(), threads=1, cache_directory=cache) as encoder:
        assert {len(ids) for ids in encoder.tokens(documents)} == {256}
        both: dict[str, Embed] = {"engine": encoder.embed, "other": sentence_transformers()}
        for embed in both.values():
            embed([*documents[:2], *QUESTIONS])
        long: dict[str, list[Timing]] = {name: [] for name in both}
        short: dict[str, list[Timing]] = {name: [] for name in both}
        for _ in range(rounds):
            for name, embed in both.items():
                long[name].append(timed(embed, documents))
            for question in QUESTIONS:
                for name, embed in both.items():
                    short[name].append(timed(embed, [question]))
        texts = [*documents, *SENTENCES, *QUESTIONS]
        cosines = (both["engine"](texts) * both["other"](texts)).sum(axis=1)
    result = {}
    for name in both:
        passed, spent = middle(long[name])
        result[f"{name}_chunks_per_s"] = round(CHUNKS / passed, 1)
        result[f"{name}_chunks_per_s_of_cpu"] = round(CHUNKS / spent, 1)
        passed, spent = middle(short[name])
        result[f"{name}_question_ms"] = round(1000 * passed, 2)
        result[f"{name}_question_ms_of_cpu"] = round(1000 * spent, 2)
    return result | {"lowest_cosine": round(float(cosines.min()), 5)}


def middle(timings: Sequence[Timing]) -> Timing:
    """The medians."""
    return Timing(
        statistics.median(t.passed for t in timings), statistics.median(t.spent for t in timings)
    )


@asynccontextmanager
async def engine_process(model: Path, cache: Path) -> AsyncIterator[tuple[int, EngineClient]]:
    """Its process id and a client, once the language model is ready."""
    socket = cache / "engine.sock"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "engine.server", "--model", str(model), "--socket", str(socket)),
        *("--context-length", "2048", "--encoder", str(model_folder()), "--encoder-name", MODEL),
        *("--cache-directory", str(cache), "--exit-with-parent"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        async with EngineClient(socket=socket) as client:
            while not await is_ready(client):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.1)
            yield process.pid, client
    finally:
        process.terminate()
        await process.wait()


async def is_ready(client: EngineClient) -> bool:
    try:
        health = await client.health()
    except EngineError:
        return False
    if health.status == "failed":
        raise SystemExit(health.message)
    return health.status == "ready"


async def measure_process(model: Path, cache: Path) -> dict[str, float]:
    """What the encoder adds to an engine's memory, and what it does to a running answer."""
    story = ChatRequest(messages=[ChatMessage("user", "Tell a long story.")], max_tokens=300)
    async with engine_process(model, cache) as (pid, client):
        alone = await longest_pause(client, story)
        before = private_mb(pid)
        await client.embed(QUESTIONS, model=MODEL)
        loaded = private_mb(pid)
        documents = asyncio.create_task(client.embed(chunks() * 24, model=MODEL))
        await asyncio.sleep(0.2)
        shared = await longest_pause(client, story, until=documents)
        await documents
        return {
            "private_mb_added": round(loaded - before, 1),
            "private_mb_added_after_192_chunks": round(private_mb(pid) - before, 1),
            "pause_of_an_answer_alone_ms": round(1000 * alone, 1),
            "pause_while_embedding_ms": round(1000 * shared, 1),
        }


async def longest_pause(
    client: EngineClient, request: ChatRequest, until: "asyncio.Task[object] | None" = None
) -> float:
    """Seconds, the longest between two pieces of the answer, while `until` goes on."""
    longest, last = 0.0, None
    answer = client.chat(request)
    async for part in answer:
        now = time.perf_counter()
        if isinstance(part, Answered) or (until is not None and until.done()):
            break
        longest, last = max(longest, now - (last or now)), now
    await answer.aclose()
    return longest


def private_mb(pid: int) -> float:
    """Memory that is the process's own: not the mapped files, which the kernel may evict."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("this system does not tell RssAnon")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", type=Path, help="a language model, to measure beside")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure_speed(options.rounds, Path(folder))
        if options.model is not None:
            result |= asyncio.run(measure_process(options.model, Path(folder)))
    if options.json:
        print(json.dumps(result))
    else:
        print("\n".join(f"{name:36s} {value:10g}" for name, value in result.items()))


if __name__ == "__main__":
    main()
