"""Questions with what their candidate sentences look like, for bench/evidence.py to fit models to.

Those of XQuAD, of bench/household.json, of the invented families of bench/refusals/, and of
samples/ as far as they are not held out; each with its answer in the library and, where that can
be, without.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.papers import FOLDER, Paper, read_papers
from bench.retrieval import Embedder, Encoder, Question
from rag.candidates import Candidate, candidates_of, embedded_sentence, read_text
from rag.evaluate import Case, holds_answer, read_cases
from rag.evidence import MAX_EMBEDDED, lexical_features, prefilter
from rag.language import detect
from rag.library import Library
from rag.question import take_apart
from rag.retrieve import retrieve
from rag.store import Store
from rag.types import Passage

Condition = Literal[
    "full", "hard", "easy", "home", "home-", "families", "families-", "known", "known-", "spoken",
    "spoken-", "unseen", "unseen-", "later", "later-", "samples", "samples-",
]  # fmt: skip
"""XQuAD with everything, without the gold paragraph, without its article; bench/household.json,
bench/refusals/, of that the families at the mill, at the quay, in the tower, and two later ones,
and samples/, yes and no."""
POSITIVE = ("full", "home", "families", "known", "spoken", "unseen", "later", "samples")
OF_FAMILY: dict[str, tuple[Condition, Condition]] = {
    "family-mill": ("known", "known-"),
    "family-quay": ("spoken", "spoken-"),
    "family-tower": ("unseen", "unseen-"),
    "family-orchard": ("later", "later-"),
    "family-arcade": ("later", "later-"),
}
"""Measured by themselves; the others together."""
PASSAGES = 5


class Sample(NamedTuple):
    """A question under a condition, with the features and labels of its candidate sentences."""

    condition: Condition
    group: int
    features: NDArray[np.float64]
    """(candidates, features)"""
    right: NDArray[np.bool_]


Read = Callable[[str, Sequence[str]], NDArray[np.float32]]
"""A question and texts → log odds of the reader."""


class Encoders(NamedTuple):
    """What reads sentences; None for full text alone."""

    encode: Encoder | None
    read: Read | None


def sample(
    condition: Condition,
    group: int,
    question: str,
    passages: Sequence[Passage],
    encoders: Encoders,
    answers: Callable[[Candidate], bool],
) -> Sample | None:
    """What ``rag.evidence`` sees of a question and its passages."""
    asked = take_apart(question)
    candidates = candidates_of(passages)
    features = lexical_features(asked, candidates)
    encode, read = encoders
    if encode is not None and asked.language == "en" and candidates:
        kept = sorted(range(len(candidates)), key=lambda i: -prefilter(features[i]))[:MAX_EMBEDDED]
        candidates, features = [candidates[i] for i in kept], [features[i] for i in kept]
        cosines = encode([embedded_sentence(c) for c in candidates]) @ encode([question])[0]
        features = [f._replace(cosine=float(c)) for f, c in zip(features, cosines, strict=True)]
        if read is not None:
            scores = read(question, [read_text(c) for c in candidates])
            features = [f._replace(read=float(s)) for f, s in zip(features, scores, strict=True)]
    if not candidates:
        return None
    right = [condition in POSITIVE and answers(candidate) for candidate in candidates]
    return Sample(condition, group, np.array(features), np.array(right))


def _has_answer(question: Question, candidate: Candidate) -> bool:
    text = " ".join(candidate.sentence.text.split())
    return candidate.passage.document == question.document and question.answer in text


def _has_expected(case: Case, candidate: Candidate) -> bool:
    right = candidate.passage.document == case.document
    return right and holds_answer(candidate.sentence.text, case.answer or "")


def xquad_samples(
    store: Store, questions: Sequence[Question], encoders: Encoders
) -> Iterable[Sample | None]:
    """Each question with all documents and without its own; every fourth without its article."""
    encode = encoders.encode
    for number, question in enumerate(questions):
        english = encode is not None and detect(question.text) == "en"
        vector = encode([question.text])[0] if encode is not None and english else None
        found = retrieve(store, question.text, vector, 24).passages
        article = question.document.split("/")[0] + "/"
        hidden: dict[Condition, Callable[[str], bool]] = {
            "full": lambda _: False,
            "hard": question.document.__eq__,
        }
        if number % 4 == 0:
            hidden["easy"] = partial(_begins, article)
        for condition, is_hidden in hidden.items():
            seen = [p for p in found if not is_hidden(p.document)][:PASSAGES]
            answers = partial(_has_answer, question)
            yield sample(condition, question.group, question.text, seen, encoders, answers)


def _begins(prefix: str, name: str) -> bool:
    return name.startswith(prefix)


def household_samples(
    store: Store, questions: Sequence[Question], encoders: Encoders
) -> Iterable[Sample | None]:
    encode = encoders.encode
    for question in questions:
        condition: Condition = "home" if question.answer else "home-"
        english = encode is not None and detect(question.text) == "en"
        vector = encode([question.text])[0] if encode is not None and english else None
        found = retrieve(store, question.text, vector, PASSAGES).passages
        answers = partial(_has_answer, question)
        yield sample(condition, question.group, question.text, found, encoders, answers)


async def library_of(papers: Sequence[Paper], home: Path, encode: Encoder) -> Library:
    """A library of a family's papers, in a new folder; the caller's to close."""
    (home / "papers").mkdir(parents=True)
    (home / "uploads").mkdir()
    for paper in papers:
        (home / "papers" / paper.name).write_text(paper.text, encoding="utf-8")
    library = await Library.open(
        home / "library.db", embedder=Embedder(encode), uploads=home / "uploads"
    )
    await library.ingest([home / "papers"])
    return library


async def family_passages(folder: Path, encode: Encoder) -> list[tuple[Case, int, list[Passage]]]:
    """What a library of each family's papers finds for their questions, and the paper's number.

    A case's id is its family's name.
    """
    found = []
    for file in sorted(FOLDER.glob("family-*.txt")):
        papers = read_papers(file)
        library = await library_of(papers, folder / file.stem, encode)
        for paper in papers:
            group = zlib.crc32(f"{file.stem}/{paper.name}".encode())
            for asked in paper.asked:
                case = Case(
                    id=file.stem,
                    question=asked.question,
                    answerable=bool(asked.answer),
                    document=paper.name,
                    answer=asked.answer,
                )
                passages = (await library.retrieve(asked.question, PASSAGES)).passages
                found.append((case, group, passages))
        await library.close()
    return found


def family_samples(
    found: Sequence[tuple[Case, int, list[Passage]]], encoders: Encoders, language: str
) -> Iterable[Sample | None]:
    """The invented families' questions in one language; those about one paper are of one group."""
    for case, group, passages in found:
        if detect(case.question) == language:
            condition = _family_condition(case)
            answers = partial(_holds_words, case)
            yield sample(condition, group, case.question, passages, encoders, answers)


def _family_condition(case: Case) -> Condition:
    yes, no = OF_FAMILY.get(case.id, ("families", "families-"))
    return yes if case.answerable else no


def _holds_words(case: Case, candidate: Candidate) -> bool:
    words, text = ("".join((t or "").split()) for t in (case.answer, candidate.sentence.text))
    return candidate.passage.document == case.document and words in text


async def sample_passages(
    folder: Path, encode: Encoder, cases: Sequence[Case]
) -> list[tuple[Case, list[Passage]]]:
    """The passages that a library of the sample household finds for each case."""
    papers = Path(__file__).parents[1] / "samples"
    uploads = folder / "uploads"
    uploads.mkdir()
    library = await Library.open(folder / "samples.db", embedder=Embedder(encode), uploads=uploads)
    await library.ingest([papers / "household", papers / "cabinet"])
    found = [(case, (await library.retrieve(case.question, PASSAGES)).passages) for case in cases]
    await library.close()
    return found


def tuning_cases() -> list[Case]:
    """The questions of samples/ that were not put aside."""
    samples = Path(__file__).parents[1] / "samples"
    files = (samples / "questions.jsonl", samples / "cabinet-questions.jsonl")
    return [case for file in files for case in read_cases(file) if not case.held_out]


def own_samples(
    found: Sequence[tuple[Case, list[Passage]]], encoders: Encoders, language: str
) -> Iterable[Sample | None]:
    """The family's questions in one language; those about one document are of one group."""
    for case, passages in found:
        if detect(case.question) == language:
            condition: Condition = "samples" if case.answerable else "samples-"
            group = zlib.crc32((case.document or case.id).encode())
            answers = partial(_has_expected, case)
            yield sample(condition, group, case.question, passages, encoders, answers)
