"""Fit the weights of rag/retrieve.py for English questions with an encoder, and say what they find.

    python -m bench.fit_retrieval --eval FOLDER [--cache FILE]

On XQuAD-en (``FOLDER`` holds xquad.en.json), a document a paragraph, and on bench/reading/. What is
learnt is which of the candidates is right: the loss is the cross-entropy of a softmax over them.
Prints how often the right one comes first, among three and among five: of XQuAD cross-validated by
article, of the families of bench/refusals/ and of samples/, on which nothing is fitted, as it is.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from bench.evidence_samples import library_of, tuning_cases
from bench.papers import FOLDER, READING, read_papers
from bench.retrieval import Embedder, Encoder
from rag.evaluate import Case, holds_answer
from rag.language import detect
from rag.library import Library
from rag.question_files import squad
from rag.retrieve import HYBRID, Chunk, Features, gather

FITTED = ("bm25", "sentence", "cosine", "said", "untyped", "untyped_strict")
"""The others stay as they are: XQuAD has no documents with names, hardly a question of a year, and
no question of another script."""
READING_WEIGHT = 2.0
"""All of bench/reading/ weighs as much as twice XQuAD."""
FOLDS = 6
PENALTY = 1e-3


class Asked(NamedTuple):
    """A question, and its candidates."""

    group: int
    features: NDArray[np.float64]
    """(candidates, features)"""
    right: NDArray[np.bool_]


Right = Callable[[Case, Chunk], bool]


def asked_of(library: Library, cases: Sequence[Case], encode: Encoder, right: Right) -> list[Asked]:
    """What the library proposes for each English question, before it is scored."""
    english = [case for case in cases if detect(case.question) == "en"]
    vectors = encode([case.question for case in english]) if english else np.empty((0, 0))
    found = []
    for case, vector in zip(english, vectors, strict=True):
        gathered = gather(library._store, case.question, vector)
        numbers = list(gathered.chunks)
        found.append(
            Asked(
                int(case.id) if case.id.isdecimal() else 0,
                np.array([gathered.features[n] for n in numbers]).reshape(
                    -1, len(Features._fields)
                ),
                np.array([right(case, gathered.chunks[n]) for n in numbers], np.bool_),
            )
        )
    return found


def fit(parts: Sequence[tuple[Sequence[Asked], float]]) -> NDArray[np.float64]:
    """Weights of all features, those of ``FITTED`` made new. parts: with how much each weighs."""
    free = np.isin(Features._fields, FITTED)
    fixed = np.where(free, 0.0, np.array(HYBRID[1:]))

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = fixed.copy()
        weights[free] = values
        total, slope = PENALTY * values @ values, 2 * PENALTY * values
        for questions, weight in parts:
            for one in questions:
                if one.right.any():
                    scores = one.features @ weights
                    every, right = logsumexp(scores), logsumexp(scores[one.right])
                    share = np.exp(scores - every)
                    share[one.right] -= np.exp(scores[one.right] - right)
                    total += weight / len(questions) * (every - right)
                    slope = slope + weight / len(questions) * (share @ one.features)[free]
        return float(total), slope

    found = minimize(loss, np.array(HYBRID[1:])[free], jac=True, method="L-BFGS-B")
    fixed[free] = found.x
    return fixed


def bias_of(parts: Sequence[tuple[Sequence[Asked], float]], weights: NDArray[np.float64]) -> float:
    """With it the probabilities of all candidates together are as many as are right."""
    low, high = -40.0, 0.0
    for _ in range(60):
        middle = (low + high) / 2
        over = sum(
            weight / len(questions) * (expit(one.features @ weights + middle) - one.right).sum()
            for questions, weight in parts
            for one in questions
        )
        low, high = (low, middle) if over > 0 else (middle, high)
    return (low + high) / 2


def ranks(questions: Sequence[Asked], weights: NDArray[np.float64]) -> list[int]:
    """Of the first right candidate, from 0."""
    found = []
    for one in questions:
        right = one.right[np.argsort(-(one.features @ weights), kind="stable")]
        found.append(int(right.argmax()) if right.any() else 99)
    return found


def row(name: str, found: Sequence[int]) -> str:
    first, three, five = (np.mean(np.array(found) < k) for k in (1, 3, 5))
    return f"| {name} ({len(found)}) | {first:.4f} | {three:.4f} | {five:.4f} |"


def _same_document(case: Case, chunk: Chunk) -> bool:
    return chunk.document == case.document


def _holds_words(case: Case, chunk: Chunk) -> bool:
    words, text = ("".join((t or "").split()) for t in (case.answer, chunk.text))
    return chunk.document == case.document and words in text


def _holds_answer(case: Case, chunk: Chunk) -> bool:
    return chunk.document == case.document and holds_answer(chunk.text, case.answer or "")


def families_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.txt"))


async def of_families(files: Sequence[Path], home: Path, encode: Encoder) -> list[Asked]:
    found: list[Asked] = []
    for file in files:
        papers = read_papers(file)
        library = await library_of(papers, home / file.stem, encode)
        cases = [
            Case(id=file.stem, question=one.question, answerable=True, document=paper.name,
                 answer=one.answer)
            for paper in papers
            for one in paper.asked
            if one.answer
        ]  # fmt: skip
        found += asked_of(library, cases, encode, _holds_words)
        await library.close()
    return found


async def of_folders(
    folders: Sequence[Path], cases: Sequence[Case], home: Path, encode: Encoder, right: Right
) -> list[Asked]:
    (home / "uploads").mkdir(parents=True)
    library = await Library.open(
        home / "hub.db", embedder=Embedder(encode), uploads=home / "uploads"
    )
    await library.ingest(list(folders))
    found = asked_of(library, cases, encode, right)
    await library.close()
    return found


async def measure(evaluation: Path, home: Path, encode: Encoder) -> None:
    papers = home / "xquad"
    papers.mkdir()
    file = evaluation / "xquad.en.json"
    cases = squad(file, papers)
    articles = json.loads(file.read_bytes())["data"]
    article = [n for n, one in enumerate(articles) for _ in one["paragraphs"]]
    cases = [
        Case(id=str(article[int((case.document or "")[:4])]), question=case.question,
             answerable=True, document=case.document, answer=case.answer)
        for case in cases
    ]  # fmt: skip
    xquad = await of_folders([papers], cases, home / "of-xquad", encode, _same_document)
    reading = await of_families(families_in(READING), home / "reading", encode)
    families = await of_families(families_in(FOLDER), home / "families", encode)
    samples = Path(__file__).parents[1] / "samples"
    own = await of_folders(
        [samples / "household", samples / "cabinet"],
        [case for case in tuning_cases() if case.answerable],
        home / "samples",
        encode,
        _holds_answer,
    )
    before = np.array(HYBRID[1:])
    crossed: list[int] = []
    for fold in range(FOLDS):
        learnt = [one for one in xquad if one.group % FOLDS != fold]
        weights = fit([(learnt, 1.0), (reading, READING_WEIGHT)])
        crossed += ranks([one for one in xquad if one.group % FOLDS == fold], weights)
    parts = [(xquad, 1.0), (reading, READING_WEIGHT)]
    weights = fit(parts)
    print("| | first | in three | in five |\n|---|---|---|---|")
    print(row("XQuAD, as it is", ranks(xquad, before)))
    print(row("XQuAD, cross-validated", crossed))
    for name, questions in (("reading", reading), ("refusals", families), ("samples", own)):
        print(row(f"{name}, as it is", ranks(questions, before)))
        print(row(f"{name}, fitted", ranks(questions, weights)))
    told = {n: round(float(w), 1) for n, w in zip(Features._fields, weights, strict=True)}
    print(f"\nbias {bias_of(parts, weights):.1f}", told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--eval", type=Path, required=True, help="folder with xquad.en.json")
    parser.add_argument("--cache", type=Path, help="SQLite file for embeddings")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        encode = Encoder(options.cache or Path(name) / "embeddings.db", "engine")
        asyncio.run(measure(options.eval, Path(name), encode))


if __name__ == "__main__":
    main()
