"""Measure retrieval on XQuAD: each leg, their fusion by rank, and rag/retrieve.py.

    python -m bench.retrieval --eval FOLDER [--cache FILE] [--embedder sentence-transformers]

``FOLDER`` holds xquad.en.json and xquad.zh.json. Prints the tables of docs/retrieval.md. Takes
about a minute on one thread, less when ``--cache`` (a SQLite file) holds the embeddings already.
"""

import argparse
import asyncio
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.embed import TextEncoder
from rag import db
from rag.embed import DIMENSION, MODEL, model_folder
from rag.embed_chunks import Text, embed_chunks
from rag.language import detect, fts_query
from rag.retrieve import retrieve
from rag.store import NewChunk, Record, Store
from rag.types import Passage
from rag.worker import State

Vectors = NDArray[np.float32]


class Question(NamedTuple):
    """A question; ``group`` keeps questions about one text in one fold."""

    text: str
    document: str
    answer: str
    group: int


class Encoder:
    """all-MiniLM-L6-v2 on one thread, with a cache on disk."""

    def __init__(self, cache: Path, embedder: str) -> None:
        """embedder: engine or sentence-transformers. The cache is to be of the same one."""
        self._embedder = embedder
        self._cache = sqlite3.connect(cache)
        self._cache.execute("CREATE TABLE IF NOT EXISTS e (t TEXT PRIMARY KEY, v BLOB)")
        self._model: Any = None

    def __call__(self, texts: Sequence[str]) -> Vectors:
        known = {text: self._cached(text) for text in set(texts)}
        missing = sorted((text for text, vector in known.items() if vector is None), key=len)
        for start in range(0, len(missing), 16):
            batch = missing[start : start + 16]
            for text, vector in zip(batch, self._encode(batch), strict=True):
                known[text] = vector
                self._cache.execute("INSERT INTO e VALUES (?, ?)", (text, vector.tobytes()))
            self._cache.commit()
        return np.stack([np.asarray(known[text], np.float32) for text in texts])

    def _cached(self, text: str) -> Vectors | None:
        row = self._cache.execute("SELECT v FROM e WHERE t = ?", (text,)).fetchone()
        return np.frombuffer(row[0], np.float32) if row else None

    def _encode(self, batch: list[str]) -> Vectors:
        if self._model is None:
            self._model = _model(self._embedder)
        return np.asarray(self._model(batch), np.float32)


class Embedder:
    """An encoder as a library takes one."""

    model, dimension = MODEL, DIMENSION
    state: State = "ready"

    def __init__(self, encode: Encoder) -> None:
        self._encode = encode

    async def start(self) -> None:
        """Nothing: it is loaded with the first text."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return self._encode(texts) if texts else np.empty((0, DIMENSION), np.float32)

    async def close(self) -> None:
        """Nothing."""


def _model(embedder: str) -> Callable[[list[str]], Vectors]:
    if embedder == "engine":
        return TextEncoder.load(model_folder(), threads=1).embed
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(model_folder()), device="cpu")
    return partial(model.encode, normalize_embeddings=True)


def read_xquad(path: Path) -> tuple[list[Passage], list[Question]]:
    """Paragraphs as documents "article/number", and their questions."""
    passages, questions = [], []
    for number, article in enumerate(json.loads(path.read_bytes())["data"]):
        for index, paragraph in enumerate(article["paragraphs"]):
            name, text = f"{number}/{index}", paragraph["context"]
            passages.append(_passage(name, None, text, ""))
            for q in paragraph["qas"]:
                questions.append(Question(q["question"], name, q["answers"][0]["text"], number))
    return passages, questions


def read_household(path: Path) -> tuple[list[Passage], list[Question]]:
    """The sections, and their questions; the answer is empty where nothing answers."""
    data = json.loads(path.read_bytes())
    sections = {s["id"]: s for s in data["sections"]}
    passages = [
        _passage(s["document"], s["page"], s["text"], s["heading"]) for s in sections.values()
    ]
    questions = [
        Question(
            q["question"],
            sections[q["section"]]["document"] if q["section"] else "",
            q["answer"] or "",
            number,
        )
        for number, q in enumerate(data["questions"])
    ]
    return passages, questions


def _passage(document: str, page: int | None, text: str, heading: str) -> Passage:
    return Passage(
        document=document,
        page=page,
        start=0,
        end=len(text),
        text=text,
        score=0.0,
        heading=heading,
    )


def fill(store: Store, passages: Sequence[Passage], encode: Encoder) -> None:
    """Put the passages into ``store``, those of one name as pages of one document.

    The names, which are invented, are not embedded.
    """
    by_name: dict[str, list[Passage]] = {}
    for passage in passages:
        by_name.setdefault(passage.document, []).append(passage)
    for name, parts in by_name.items():
        texts = [Text("", p.heading, p.text) for p in parts]
        made = asyncio.run(embed_chunks(Embedder(encode), texts))
        chunks = [
            NewChunk(number, 0, p.end, p.text, p.heading, one)
            for number, (p, one) in enumerate(zip(parts, made, strict=True), start=1)
        ]
        record = Record(
            name=name,
            path=name,
            type="md",
            bytes=0,
            stamp="",
            sha256="",
            made_by="",
            ingested_at="",
            paged=True,
        )
        store.replace(record, [p.text for p in parts], chunks)


def hits(ranks: Iterable[int | None]) -> str:
    """hit@1, hit@5 and mean reciprocal rank at 10."""
    all_ranks = list(ranks)
    first = np.mean([rank == 1 for rank in all_ranks])
    five = np.mean([rank is not None and rank <= 5 for rank in all_ranks])
    mrr = np.mean([1 / rank if rank is not None and rank <= 10 else 0.0 for rank in all_ranks])
    return f"{first:.3f} | {five:.3f} | {mrr:.3f}"


def rank_of(documents: Sequence[str], wanted: str) -> int | None:
    return documents.index(wanted) + 1 if wanted in documents else None


def reciprocal_rank_fusion(
    legs: Sequence[list[tuple[int, float]]], weights: Sequence[float], constant: int
) -> list[int]:
    """Chunk ids by the sum of weight / (constant + rank) over the legs."""
    scores: dict[int, float] = {}
    for leg, weight in zip(legs, weights, strict=True):
        for rank, (chunk, _) in enumerate(leg, start=1):
            scores[chunk] = scores.get(chunk, 0.0) + weight / (constant + rank)
    return sorted(scores, key=lambda chunk: -scores[chunk])


def measure_retrieval(store: Store, questions: Sequence[Question], encode: Encoder) -> None:
    """Print the table of legs, their fusion by rank, and ``rag.retrieve``."""
    names = {n: c.document for n, c in store.chunks(range(1, store.chunk_count() + 1)).items()}
    texts = [
        store.search_text(query, 50) if (query := fts_query(q.text)) else [] for q in questions
    ]
    rows: list[tuple[str, list[list[str]]]] = [
        ("full text (BM25)", [[names[n] for n, _ in leg] for leg in texts])
    ]
    vectors: list[Vectors | None] = [None] * len(questions)
    if detect(questions[0].text) == "en":
        vectors = list(encode([q.text for q in questions]))
        dense = [store.search_vector(v, 50) for v in vectors if v is not None]
        rows.append(("vectors (cosine)", [[names[n] for n, _ in leg] for leg in dense]))
        for constant, weight in ((60, 1.0), (60, 0.4), (10, 0.5)):
            fused = [
                reciprocal_rank_fusion(legs, (1.0, weight), constant)
                for legs in zip(texts, dense, strict=True)
            ]
            label = f"rank fusion, constant {constant}, vectors weigh {weight}"
            rows.append((label, [[names[n] for n in leg] for leg in fused]))
        rows.append(
            ("rag.retrieve without vectors", _retrieved(store, questions, [None] * len(texts)))
        )
    rows.append(("rag.retrieve", _retrieved(store, questions, vectors)))
    print("| method | hit@1 | hit@5 | MRR@10 |\n|---|---|---|---|")
    for name, found in rows:
        ranks = [rank_of(f, q.document) for f, q in zip(found, questions, strict=True)]
        print(f"| {name} | {hits(ranks)} |")


def _retrieved(
    store: Store, questions: Sequence[Question], vectors: Sequence[Vectors | None]
) -> list[list[str]]:
    return [
        [p.document for p in retrieve(store, q.text, v, 10).passages]
        for q, v in zip(questions, vectors, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--eval", type=Path, required=True, help="folder with the XQuAD files")
    parser.add_argument("--cache", type=Path, help="SQLite file for embeddings")
    parser.add_argument("--embedder", choices=("engine", "sentence-transformers"), default="engine")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        encode = Encoder(options.cache or Path(folder) / "embeddings.db", options.embedder)
        for name in ("en", "zh"):
            passages, questions = read_xquad(options.eval / f"xquad.{name}.json")
            store = Store(db.connect(Path(folder) / f"{name}.db"))
            fill(store, passages, encode)
            print(f"\nXQuAD-{name}: {len(questions)} questions\n")
            measure_retrieval(store, questions, encode)


if __name__ == "__main__":
    main()
