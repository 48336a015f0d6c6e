"""A library of 100 000 chunks: how large, how fast to ask, how much memory, and what is found.

    python -m bench.large_library --xquad ../shared/eval/xquad.en.json [--chunks 100000]

The paragraphs of XQuAD are documents; the rest are chunks of 120 of their words, drawn by chance,
with vectors around theirs, and those of eight sentences around that. Every twelfth question is
asked of the library. The embedding of the question is not measured here (it takes 7 ms). ``--keep``
leaves the library in FILE, and with ``--into`` chunks are added to one that is there, for a daemon
to serve.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag.db import connect
from rag.embed import DIMENSION
from rag.embed_chunks import Text, embed_chunks
from rag.retrieve import retrieve
from rag.store import NewChunk, Record, Store
from rag.vectors import Embedded, signs_of
from rag.worker_embedder import WorkerEmbedder

SPREAD = 0.8
"""Of a vector around a paragraph's: its cosine with it is then about .78."""
CHUNKS_A_DOCUMENT = 200
WORDS_A_CHUNK = 120
WORDS_A_SENTENCE = 15
EVERY = 12
MEBIBYTE = 1024 * 1024

Vectors = NDArray[np.float32]


class Paragraphs(NamedTuple):
    """XQuAD: texts, and questions with the number of the paragraph that answers each."""

    texts: list[str]
    questions: list[tuple[str, int]]


def read(path: Path) -> Paragraphs:
    found = Paragraphs([], [])
    for article in json.loads(path.read_bytes())["data"]:
        for paragraph in article["paragraphs"]:
            found.questions.extend((one["question"], len(found.texts)) for one in paragraph["qas"])
            found.texts.append(paragraph["context"])
    return found


async def embedded(
    paragraphs: Sequence[str], questions: Sequence[str]
) -> tuple[list[Embedded], Vectors]:
    """What is made of the paragraphs, and the vectors of the questions."""
    embedder = WorkerEmbedder()
    try:
        texts = [Text(f"paragraph-{n}.txt", "", text) for n, text in enumerate(paragraphs)]
        return await embed_chunks(embedder, texts), await embedder.embed(questions)
    finally:
        await embedder.close()


def resident() -> float:
    """This process's memory in MiB, without what it only maps from files."""
    fields = Path("/proc/self/status").read_text().split()
    return int(fields[fields.index("RssAnon:") + 1]) / 1024


def drawn(chance: random.Random, words: Sequence[str]) -> str:
    """A chunk of words in sentences; frequent words are drawn often."""
    chosen = chance.choices(words, k=WORDS_A_CHUNK)
    starts = range(0, WORDS_A_CHUNK, WORDS_A_SENTENCE)
    return " ".join(f"{' '.join(chosen[at : at + WORDS_A_SENTENCE])}." for at in starts)


def near(chance: np.random.Generator, centre: Vectors, count: int) -> Vectors:
    """``count`` unit vectors around a centre."""
    spread = chance.standard_normal((count, DIMENSION), dtype=np.float32)
    vectors = centre + SPREAD * spread / np.linalg.norm(spread, axis=1, keepdims=True)
    units: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def invented(chance: np.random.Generator, centres: Vectors) -> Embedded:
    """A chunk around one of the centres, and its sentences around it."""
    (vector,) = near(chance, centres[chance.integers(len(centres))], 1)
    sentences = near(chance, vector, WORDS_A_CHUNK // WORDS_A_SENTENCE)
    return Embedded(vector, signs_of(sentences))


def put(store: Store, name: str, texts: Sequence[str], embedded: Sequence[Embedded]) -> None:
    made, start = [], 0
    for text, one in zip(texts, embedded, strict=True):
        made.append(NewChunk(1, start, start + len(text), text, "", one))
        start += len(text) + 1
    record = Record(
        name=name, path=f"/papers/{name}", type="txt", bytes=start,
        stamp="", sha256=name, made_by="bench", ingested_at="",
    )  # fmt: skip
    store.replace(record, [" ".join(texts)], made)


def fill(store: Store, chunks: int, paragraphs: Sequence[str], centres: Vectors) -> None:
    """Documents of ``CHUNKS_A_DOCUMENT`` chunks until there are ``chunks``."""
    chance, vectors = random.Random(1), np.random.default_rng(1)
    words = [word.strip(".,;:()\"'") for text in paragraphs for word in text.split()]
    while (there := store.chunk_count()) < chunks:
        count = min(CHUNKS_A_DOCUMENT, chunks - there)
        texts = [drawn(chance, words) for _ in range(count)]
        put(store, f"filler-{there}.txt", texts, [invented(vectors, centres) for _ in texts])
        print(f"\r{there + count:,} of {chunks:,} chunks", end="", file=sys.stderr)
    print(file=sys.stderr)


def measure(path: Path, questions: Sequence[tuple[str, int]], vectors: Vectors) -> str:
    """A row of a table: times, memory, hits."""
    connection = connect(path)
    store = Store(connection)
    before = resident()
    elapsed, ranks = [], []
    for (question, paragraph), vector in zip(questions, vectors, strict=True):
        began = time.perf_counter()
        passages = retrieve(store, question, vector, 5).passages
        elapsed.append((time.perf_counter() - began) * 1000)
        names = [passage.document for passage in passages]
        wanted = f"paragraph-{paragraph}.txt"
        ranks.append(names.index(wanted) if wanted in names else 99)
    added = resident() - before
    first, later = elapsed[0], sorted(elapsed[1:])
    p50, p95 = later[len(later) // 2], later[int(0.95 * len(later))]
    hit_1, hit_5 = (sum(rank < k for rank in ranks) / len(ranks) for k in (1, 5))
    chunks = store.chunk_count()
    connection.close()
    size = path.stat().st_size / MEBIBYTE
    return (
        f"| {chunks:,} | {size:.0f} MiB | {p50:.0f} ms | {p95:.0f} ms | {first:.0f} ms "
        f"| {added:.0f} MiB | {hit_1:.2f} | {hit_5:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--xquad", type=Path, required=True)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="Leave the library here; measure what is there.")
    parser.add_argument("--into", type=Path, help="Add chunks to this library, and no more.")
    given = parser.parse_args()
    paragraphs = read(given.xquad)
    asked = paragraphs.questions[::EVERY]
    made, questions = asyncio.run(embedded(paragraphs.texts, [question for question, _ in asked]))
    centres = np.stack([one.vector for one in made])
    with tempfile.TemporaryDirectory() as folder:
        path = given.into or given.keep or Path(folder) / "hub.db"
        connection = connect(path)
        store = Store(connection)
        for number, text in enumerate(paragraphs.texts):
            if given.into is None and not store.record_named(f"paragraph-{number}.txt"):
                put(store, f"paragraph-{number}.txt", [text], [made[number]])
        fill(store, given.chunks, paragraphs.texts, centres)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()
        if given.into:
            return
        print(
            "| chunks | database | question to passages, p50 | p95 | the first | memory added ",
            end="",
        )
        print("| hit@1 | hit@5 |\n|---|---|---|---|---|---|---|---|")
        print(measure(path, asked, questions))


if __name__ == "__main__":
    main()
