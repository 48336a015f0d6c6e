"""Fit the models of rag/evidence.py, and say how well they refuse questions not fitted on.

    python -m bench.evidence --eval FOLDER [--cache FILE] [--reader FILE]
        [--embedder sentence-transformers]

``FOLDER`` holds xquad.en.json and xquad.zh.json; bench/household.json, bench/refusals/ and those
questions of samples/ that are not held out come besides. Prints the tables of docs/retrieval.md,
cross-validated, and the weights. Takes some minutes on one thread, and less when ``--cache`` (a
SQLite file) holds the embeddings already.
"""

import argparse
import asyncio
import tempfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

from bench.papers import FOLDER, Paper, read_papers
from bench.retrieval import Embedder, Encoder, Question, fill, read_household, read_xquad
from engine.cross_encoder import CrossEncoder
from rag import db
from rag.candidates import Candidate, candidates_of, embedded_sentence, read_text
from rag.embed import model_folder
from rag.evaluate import Case, holds_answer, read_cases
from rag.evidence import (
    ADAPTER,
    ANSWERABLE,
    CHINESE,
    CLOSE,
    LEXICAL,
    MAX_EMBEDDED,
    WITH_ENCODER,
    WITH_READER,
    Features,
    Model,
    lexical_features,
    prefilter,
)
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
PAIRS: tuple[tuple[Condition, Condition], ...] = (
    ("full", "hard"),
    ("full", "easy"),
    ("home", "home-"),
    ("families", "families-"),
    ("known", "known-"),
    ("spoken", "spoken-"),
    ("unseen", "unseen-"),
    ("later", "later-"),
    ("samples", "samples-"),
)
POSITIVE = ("full", "home", "families", "known", "spoken", "unseen", "later", "samples")
MEASURED = ("spoken", "spoken-", "unseen", "unseen-", "later", "later-")
"""Nothing is fitted on these."""
FOLDS = 5
WEIGHT = {"full": 0.5, "hard": 0.1, "easy": 1.0, "home": 10.0, "home-": 10.0}
WEIGHT |= {"families": 2.0, "families-": 2.0, "known": 2.0, "known-": 2.0}
WEIGHT |= {"samples": 20.0, "samples-": 20.0}
"""Of a question: the household's and the samples weigh about equal, the families and XQuAD half."""
OF_FAMILY: dict[str, tuple[Condition, Condition]] = {
    "family-mill": ("known", "known-"),
    "family-quay": ("spoken", "spoken-"),
    "family-tower": ("unseen", "unseen-"),
    "family-orchard": ("later", "later-"),
    "family-arcade": ("later", "later-"),
}
"""Measured by themselves; the others together."""
MINING_ROUNDS = 3
PASSAGES = 5
SET = ("foreign_code", "foreign_owner", "foreign_year")
"""Features whose weights are set: too few questions name codes, owners or years."""


class Sample(NamedTuple):
    """A question under a condition, with the features and labels of its candidate sentences."""

    condition: Condition
    group: int
    features: NDArray[np.float64]
    """(candidates, features)"""
    right: NDArray[np.bool_]


class Fit(NamedTuple):
    """Log odds = bias + features · weights."""

    bias: float
    weights: NDArray[np.float64]

    def scores(self, one: Sample) -> NDArray[np.float64]:
        return self.bias + one.features @ self.weights


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


def fit(samples: Sequence[Sample], used: NDArray[np.bool_], start: Model) -> Fit:
    """Logistic regression on the right sentences against the best wrong ones, found in rounds.

    The weights of ``SET`` stay as they are in ``start``.
    """
    names = Features._fields
    fixed = np.array([w if n in SET else 0.0 for n, w in zip(names, start.weights, strict=True)])
    current = Fit(0.0, np.array(start.weights))
    for _ in range(MINING_ROUNDS + 1):
        rows, labels, weights = [], [], []
        for one in samples:
            weight = WEIGHT[one.condition]
            order = np.argsort(-current.scores(one), kind="stable")
            wrong = [i for i in order if not one.right[i]]
            right = [i for i in order if one.right[i]][:1]
            answerable = one.condition in POSITIVE
            picked = [(i, True, 2.0) for i in right]
            picked += [(i, False, 0.5) for i in wrong[:1]] if answerable else []
            picked += [(i, False, 1.0) for i in wrong[:2]] if not answerable else []
            for i, label, factor in picked:
                if not (one.features[i] @ fixed):  # decided already
                    rows.append(np.where(used, one.features[i], 0.0))
                    labels.append(label)
                    weights.append(weight * factor)
        model = LogisticRegression(max_iter=3000).fit(rows, labels, sample_weight=weights)
        current = Fit(float(model.intercept_[0]), np.where(used, model.coef_[0], 0.0) + fixed)
    return current


def calibrate(samples: Sequence[Sample], tops: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and shift from the best score to log odds, both sides of a condition weighing alike."""
    conditions = np.array([one.condition for one in samples])
    labels = np.isin(conditions, POSITIVE)
    weights = np.ones(len(samples))
    sides = (("full", "hard", "easy"), *(pair for pair in PAIRS if pair[0] != "full"))
    for side in sides:
        for label in (True, False):
            chosen = np.isin(conditions, side) & (labels == label)
            weights[chosen] = len(samples) / max(1, chosen.sum())
    model = LogisticRegression(C=1e3).fit(tops[:, None], labels, sample_weight=weights)
    return float(model.coef_[0][0]), float(model.intercept_[0])


def measure_evidence(samples: Sequence[Sample], used: Sequence[str], start: Model) -> None:
    """Cross-validate, print the table, then fit on everything and print the weights.

    Of ``MEASURED`` there are the rates of what is fitted on all others.
    """
    mask = np.array([name in used for name in Features._fields])
    learnt = [one for one in samples if one.condition not in MEASURED]
    scores: list[NDArray[np.float64]] = [np.empty(0)] * len(samples)
    for fold in range(FOLDS):
        seen = [one for one in learnt if one.group % FOLDS != fold]
        model = fit(seen, mask, start)
        tops = np.array([model.scores(one).max() for one in seen])
        slope, shift = calibrate(seen, tops)
        for i, one in enumerate(samples):
            if one.group % FOLDS == fold:
                scores[i] = slope * model.scores(one) + shift
    print("cross-validated")
    print_rates(samples, scores)
    final = fit(learnt, mask, start)
    slope, shift = calibrate(learnt, np.array([final.scores(one).max() for one in learnt]))
    raw = [final.scores(one) for one in samples]
    print("fitted on all")
    print_rates(samples, [slope * one + shift for one in raw])
    weights = [
        float(w) if n in SET else round(slope * float(w), 2 if n == "read" else 1)
        for n, w in zip(Features._fields, final.weights, strict=True)
    ]
    bias = slope * final.bias + shift
    print(f"\nbias {bias:.1f}", dict(zip(Features._fields, weights, strict=True)))


def print_rates(samples: Sequence[Sample], scores: Sequence[NDArray[np.float64]]) -> None:
    """A row for each pair of conditions."""
    conditions = np.array([one.condition for one in samples])
    probabilities = 1 / (1 + np.exp(-np.array([one.max() for one in scores])))
    close = (probabilities >= CLOSE) & (probabilities < ANSWERABLE)
    print(
        "| answerable / not | right sentence @1 | @3 | ROC AUC | wrong refusals | right refusals"
        " | wrong, closest shown | of these right | right, closest shown |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for yes, no in PAIRS:
        is_yes, is_no = conditions == yes, conditions == no
        if not is_yes.any() or not is_no.any():
            continue
        ranks = [
            _best_rank(one, s) for one, s, yes_ in zip(samples, scores, is_yes, strict=True) if yes_
        ]
        row = (
            np.mean([rank == 1 for rank in ranks]),
            np.mean([rank is not None and rank <= 3 for rank in ranks]),
            roc_auc_score(is_yes[is_yes | is_no], probabilities[is_yes | is_no]),
            np.mean(probabilities[is_yes] < ANSWERABLE),
            np.mean(probabilities[is_no] < ANSWERABLE),
            np.mean(close[is_yes]),
            np.mean([r == 1 for r, c in zip(ranks, close[is_yes], strict=True) if c] or [False]),
            np.mean(close[is_no]),
        )
        cells = " | ".join(f"{value:.3f}" for value in row)
        print(f"| {yes} ({is_yes.sum()}) / {no} ({is_no.sum()}) | {cells} |")


def _best_rank(one: Sample, scores: NDArray[np.float64]) -> int | None:
    order = list(np.argsort(-scores, kind="stable"))
    return next((rank for rank, i in enumerate(order, start=1) if one.right[i]), None)


LEXICAL_FEATURES = (
    *("sentence", "evenly", "untyped", "untyped_strict", "unnamed", "missing"),
    *("elsewhere", "foreign_subject", "bare", "absent", "behind"),
)
CHINESE_FEATURES = (
    *("sentence", "evenly", "untyped", "untyped_strict", "elsewhere"),
    *("foreign_subject", "absent", "behind"),
)
MODELS = (
    ("with reader", "en", 2, WITH_READER, ("read", "cosine", *LEXICAL_FEATURES)),
    ("with encoder", "en", 1, WITH_ENCODER, ("cosine", *LEXICAL_FEATURES)),
    ("without encoder", "en", 0, LEXICAL, LEXICAL_FEATURES),
    ("Chinese", "zh", 0, CHINESE, CHINESE_FEATURES),
)
"""Title, language, how many encoders read along, the weights to start with, features."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--eval", type=Path, required=True, help="folder with the XQuAD files")
    parser.add_argument("--cache", type=Path, help="SQLite file for embeddings")
    parser.add_argument("--reader", type=Path, default=ADAPTER, help="by bench.train_reader")
    parser.add_argument("--embedder", choices=("engine", "sentence-transformers"), default="engine")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        encode = Encoder(options.cache or folder / "embeddings.db", options.embedder)
        home = Store(db.connect(folder / "home.db"))
        passages, home_questions = read_household(Path(__file__).parent / "household.json")
        fill(home, passages, encode)
        found = asyncio.run(sample_passages(folder, encode, tuning_cases()))
        families = asyncio.run(family_passages(folder, encode))
        reader = CrossEncoder.load_adapted(model_folder(), options.reader)
        for title, language, reading, start, used in MODELS:
            print(f"\nEvidence, {title}\n")
            model = Encoders(encode if reading else None, reader.read if reading > 1 else None)
            store = Store(db.connect(folder / f"{title}.db"))
            passages, questions = read_xquad(options.eval / f"xquad.{language}.json")
            fill(store, passages, encode)
            own = [q for q in home_questions if detect(q.text) == language]
            samples = [
                *xquad_samples(store, questions, model),
                *household_samples(home, own, model),
                *family_samples(families, model, language),
                *own_samples(found, model, language),
            ]
            measure_evidence([one for one in samples if one is not None], used, start)


if __name__ == "__main__":
    main()
