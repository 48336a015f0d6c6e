"""A library of 100 000 chunks: how large, how fast to ask, how much memory.

    python bench/large_library.py --chunks 100000

Chunks are sections of invented documents with a household's vocabulary; vectors are unit vectors
around a thousand centres. The embedding of the question is not measured here (it takes 7 ms).
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.db import connect
from rag.embed import DIMENSION
from rag.retrieve import retrieve
from rag.store import NewChunk, Record, Store

CENTRES, SPREAD = 1_000, 0.8
CHUNKS_A_DOCUMENT = 200
WORDS_A_CHUNK = 130
VOCABULARY = 20_000
QUESTIONS = 100
MEBIBYTE = 1024 * 1024


def resident() -> float:
    """This process's memory in MiB, without what it only maps from files."""
    fields = Path("/proc/self/status").read_text().split()
    return int(fields[fields.index("RssAnon:") + 1]) / 1024


def words(chance: random.Random, count: int) -> list[str]:
    """Invented words, frequent ones far more often than rare ones (Zipf)."""
    return [f"w{int(VOCABULARY ** chance.random())}" for _ in range(count)]


def near(chance: np.random.Generator, centres: NDArray[np.float32]) -> NDArray[np.float32]:
    """A unit vector around one of the centres."""
    centre = centres[chance.integers(len(centres))]
    spread = chance.standard_normal(DIMENSION, dtype=np.float32)
    vector = centre + SPREAD * spread / np.linalg.norm(spread)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def fill(store: Store, chunks: int, centres: NDArray[np.float32]) -> None:
    """Documents of ``CHUNKS_A_DOCUMENT`` chunks until there are ``chunks``."""
    chance, vectors = random.Random(1), np.random.default_rng(1)
    for number in range(chunks // CHUNKS_A_DOCUMENT):
        texts = [" ".join(words(chance, WORDS_A_CHUNK)) for _ in range(CHUNKS_A_DOCUMENT)]
        made = []
        start = 0
        for text in texts:
            end = start + len(text)
            made.append(NewChunk(1, start, end, text, "Heading", near(vectors, centres)))
            start = end + 1
        record = Record(
            name=f"document-{number}.txt", path=f"/papers/{number}", type="txt", bytes=start,
            stamp="", sha256=str(number), made_by="bench", ingested_at="",
        )  # fmt: skip
        store.replace(record, [" ".join(texts)], made)
        print(
            f"\r{(number + 1) * CHUNKS_A_DOCUMENT:,} of {chunks:,} chunks", end="", file=sys.stderr
        )
    print(file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--chunks", type=int, default=100_000)
    given = parser.parse_args()
    chance, vectors = random.Random(2), np.random.default_rng(2)
    centres = vectors.standard_normal((CENTRES, DIMENSION), dtype=np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hub.db"
        connection = connect(path)
        store = Store(connection)
        began = time.perf_counter()
        fill(store, given.chunks, centres)
        filled = time.perf_counter() - began
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()

        connection = connect(path)
        store = Store(connection)
        before = resident()
        elapsed = []
        for _ in range(QUESTIONS):
            question = "what " + " ".join(words(chance, 6))
            vector = near(vectors, centres)
            began = time.perf_counter()
            retrieve(store, question, vector, 5)
            elapsed.append((time.perf_counter() - began) * 1000)
        added = resident() - before
        connection.close()
        size = path.stat().st_size / MEBIBYTE
    ordered = sorted(elapsed)
    print("| chunks | stored in | database | question to passages, p50 | p95 | memory added |")
    print("|---|---|---|---|---|---|")
    median, late = ordered[len(ordered) // 2], ordered[int(0.95 * len(ordered))]
    print(
        f"| {given.chunks:,} | {filled:.0f} s | {size:.0f} MiB "
        f"| {median:.0f} ms | {late:.0f} ms | {added:.0f} MiB |"
    )


if __name__ == "__main__":
    main()
