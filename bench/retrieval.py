"""Measure retrieval, and fit the models of rag/evidence.py.

    python bench/retrieval.py --eval FOLDER [--cache FILE] [--embedder sentence-transformers]

``FOLDER`` holds xquad.en.json and xquad.zh.json. Prints the tables of docs/retrieval.md and the
weights for rag/evidence.py. Takes about two minutes on one thread, and less when ``--cache`` (a
SQLite file) holds the embeddings already. scikit-learn comes with sentence-transformers.
"""

import argparse
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

from engine.embed import TextEncoder
from rag import db
from rag.embed import model_folder
from rag.evidence import (
    ANSWERABLE,
    MAX_EMBEDDED,
    Candidate,
    Features,
    candidates_of,
    embedded_text,
    lexical_features,
    prefilter,
    take_apart,
)
from rag.language import detect, fts_query
from rag.retrieve import retrieve
from rag.store import NewChunk, Record, Store
from rag.types import Passage

Vectors = NDArray[np.float32]
Condition = Literal["full", "hard", "easy", "home", "home-"]
"""XQuAD with everything, without the gold paragraph, without its article; household yes and no."""

POSITIVE = ("full", "home")
FOLDS = 5
HOUSEHOLD_WEIGHT = 20.0
"""A household question weighs as much as this many of XQuAD's; both sides end up about equal."""
MINING_ROUNDS = 3
PASSAGES = 5


class Question(NamedTuple):
    """A question; ``group`` keeps questions about one text in one fold."""

    text: str
    document: str
    answer: str
    group: int


class Sample(NamedTuple):
    """A question under a condition, with the features and labels of its candidate sentences."""

    condition: Condition
    group: int
    features: NDArray[np.float64]
    """(candidates, features)"""
    right: NDArray[np.bool_]


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
    """Put the passages into ``store``, those of one name as pages of one document."""
    by_name: dict[str, list[Passage]] = {}
    for passage in passages:
        by_name.setdefault(passage.document, []).append(passage)
    for name, parts in by_name.items():
        vectors = encode([f"{p.heading}: {p.text}" if p.heading else p.text for p in parts])
        chunks = [
            NewChunk(number, 0, p.end, p.text, p.heading, vector)
            for number, (p, vector) in enumerate(zip(parts, vectors, strict=True), start=1)
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


def sample(
    store: Store,
    question: Question,
    condition: Condition,
    encode: Encoder | None,
    hidden: Callable[[str], bool],
) -> Sample | None:
    """What ``rag.evidence`` sees of ``question`` when the ``hidden`` documents are not there."""
    asked = take_apart(question.text)
    use_encoder = encode is not None and asked.language == "en"
    vector = encode([question.text])[0] if encode is not None and use_encoder else None
    found = [
        p for p in retrieve(store, question.text, vector, 24).passages if not hidden(p.document)
    ]
    candidates = candidates_of(found[:PASSAGES])
    features = lexical_features(asked, candidates)
    if encode is not None and use_encoder and candidates:
        kept = sorted(range(len(candidates)), key=lambda i: -prefilter(features[i]))[:MAX_EMBEDDED]
        candidates, features = [candidates[i] for i in kept], [features[i] for i in kept]
        cosines = encode([embedded_text(c) for c in candidates]) @ encode([question.text])[0]
        features = [f._replace(cosine=float(c)) for f, c in zip(features, cosines, strict=True)]
    if not candidates:
        return None
    answerable = condition in POSITIVE
    right = [answerable and _answers(candidate, question) for candidate in candidates]
    return Sample(condition, question.group, np.array(features), np.array(right))


def _answers(candidate: Candidate, question: Question) -> bool:
    text = " ".join(candidate.sentence.text.split())
    return candidate.passage.document == question.document and question.answer in text


def xquad_samples(
    store: Store, questions: Sequence[Question], encode: Encoder | None
) -> Iterable[Sample | None]:
    """Each question with all documents and without its own; every fourth without its article."""
    for number, question in enumerate(questions):
        article = question.document.split("/")[0] + "/"
        yield sample(store, question, "full", encode, lambda _: False)
        yield sample(store, question, "hard", encode, question.document.__eq__)
        if number % 4 == 0:
            yield sample(store, question, "easy", encode, partial(_begins, article))


def _begins(prefix: str, name: str) -> bool:
    return name.startswith(prefix)


def household_samples(
    store: Store, questions: Sequence[Question], encode: Encoder | None
) -> Iterable[Sample | None]:
    for question in questions:
        condition: Condition = "home" if question.answer else "home-"
        yield sample(store, question, condition, encode, lambda _: False)


class Fit(NamedTuple):
    """Log odds = bias + features · weights."""

    bias: float
    weights: NDArray[np.float64]

    def scores(self, one: Sample) -> NDArray[np.float64]:
        return self.bias + one.features @ self.weights


def fit(samples: Sequence[Sample], used: NDArray[np.bool_]) -> Fit:
    """Logistic regression on the right sentences against the best wrong ones, found in rounds."""
    current = Fit(0.0, np.where(used, [8.0, 5.0, *[0.0] * (len(used) - 2)], 0.0))
    for _ in range(MINING_ROUNDS + 1):
        rows, labels, weights = [], [], []
        for one in samples:
            weight = HOUSEHOLD_WEIGHT if one.condition.startswith("home") else 1.0
            weight *= 4.0 if one.condition == "easy" else 1.0
            order = np.argsort(-current.scores(one), kind="stable")
            wrong = [i for i in order if not one.right[i]]
            right = [i for i in order if one.right[i]][:1]
            answerable = one.condition in POSITIVE
            picked = [(i, True, 2.0) for i in right]
            picked += [(i, False, 0.5) for i in wrong[:1]] if answerable else []
            picked += [(i, False, 1.0) for i in wrong[:2]] if not answerable else []
            for i, label, factor in picked:
                rows.append(np.where(used, one.features[i], 0.0))
                labels.append(label)
                weights.append(weight * factor)
        model = LogisticRegression(max_iter=3000).fit(rows, labels, sample_weight=weights)
        current = Fit(float(model.intercept_[0]), np.where(used, model.coef_[0], 0.0))
    return current


def calibrate(samples: Sequence[Sample], tops: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and shift from the best score to log odds, both sides of a condition weighing alike."""
    conditions = np.array([one.condition for one in samples])
    labels = np.isin(conditions, POSITIVE)
    weights = np.ones(len(samples))
    for side in (("full", "hard", "easy"), ("home", "home-")):
        for label in (True, False):
            chosen = np.isin(conditions, side) & (labels == label)
            weights[chosen] = len(samples) / max(1, chosen.sum())
    model = LogisticRegression(C=1e3).fit(tops[:, None], labels, sample_weight=weights)
    return float(model.coef_[0][0]), float(model.intercept_[0])


def measure_evidence(samples: Sequence[Sample], used: Sequence[str]) -> None:
    """Cross-validate, print the table, then fit on everything and print the weights."""
    mask = np.array([name in used for name in Features._fields])
    scores: list[NDArray[np.float64]] = [np.empty(0)] * len(samples)
    for fold in range(FOLDS):
        model = fit([one for one in samples if one.group % FOLDS != fold], mask)
        for i, one in enumerate(samples):
            if one.group % FOLDS == fold:
                scores[i] = model.scores(one)
    tops = np.array([s.max() for s in scores])
    slope, shift = calibrate(samples, tops)
    probabilities = 1 / (1 + np.exp(-(slope * tops + shift)))
    _print_rates(samples, scores, probabilities)
    final = fit(samples, mask)
    weights = [round(slope * float(w), 1) for w in final.weights]
    print(
        f"\nbias {slope * final.bias + shift:.1f}",
        dict(zip(Features._fields, weights, strict=True)),
    )


def _print_rates(
    samples: Sequence[Sample],
    scores: Sequence[NDArray[np.float64]],
    probabilities: NDArray[np.float64],
) -> None:
    conditions = np.array([one.condition for one in samples])
    print(
        "| answerable / not | right sentence @1 | @3 | ROC AUC | wrong refusals | right refusals |"
    )
    print("|---|---|---|---|---|---|")
    for yes, no in (("full", "hard"), ("full", "easy"), ("home", "home-")):
        is_yes, is_no = conditions == yes, conditions == no
        if not is_yes.any() or not is_no.any():
            continue
        ranks = [
            _best_rank(one, s) for one, s, yes_ in zip(samples, scores, is_yes, strict=True) if yes_
        ]
        auc = roc_auc_score(is_yes[is_yes | is_no], probabilities[is_yes | is_no])
        row = (
            np.mean([rank == 1 for rank in ranks]),
            np.mean([rank is not None and rank <= 3 for rank in ranks]),
            auc,
            np.mean(probabilities[is_yes] < ANSWERABLE),
            np.mean(probabilities[is_no] < ANSWERABLE),
        )
        cells = " | ".join(f"{value:.3f}" for value in row)
        print(f"| {yes} ({is_yes.sum()}) / {no} ({is_no.sum()}) | {cells} |")


def _best_rank(one: Sample, scores: NDArray[np.float64]) -> int | None:
    order = list(np.argsort(-scores, kind="stable"))
    return next((rank for rank, i in enumerate(order, start=1) if one.right[i]), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--eval", type=Path, required=True, help="folder with the XQuAD files")
    parser.add_argument("--cache", type=Path, help="SQLite file for embeddings")
    parser.add_argument("--embedder", choices=("engine", "sentence-transformers"), default="engine")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        encode = Encoder(options.cache or Path(folder) / "embeddings.db", options.embedder)
        stores, questions = {}, {}
        home = Path(__file__).parent / "household.json"
        for name, path in (("en", options.eval), ("zh", options.eval), ("home", home)):
            read = (
                read_household(path) if name == "home" else read_xquad(path / f"xquad.{name}.json")
            )
            stores[name] = Store(db.connect(Path(folder) / f"{name}.db"))
            fill(stores[name], read[0], encode)
            questions[name] = read[1]
        for name in ("en", "zh"):
            print(f"\nXQuAD-{name}: {len(questions[name])} questions\n")
            measure_retrieval(stores[name], questions[name], encode)
        english = [q for q in questions["home"] if detect(q.text) == "en"]
        chinese = [q for q in questions["home"] if detect(q.text) == "zh"]
        fitted = (
            "sentence",
            "untyped",
            "untyped_strict",
            "unnamed",
            "missing",
            "elsewhere",
            "absent",
        )
        for title, model, name, own, used in (
            ("with encoder", encode, "en", english, ("cosine", *fitted)),
            ("without encoder", None, "en", english, fitted),
            ("Chinese", None, "zh", chinese, ("sentence", "untyped", "absent")),
        ):
            print(f"\nEvidence, {title}\n")
            samples = [
                *xquad_samples(stores[name], questions[name], model),
                *household_samples(stores["home"], own, model),
            ]
            measure_evidence([one for one in samples if one is not None], used)


if __name__ == "__main__":
    main()
