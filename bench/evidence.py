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
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

from bench.evidence_samples import (
    POSITIVE,
    Condition,
    Encoders,
    Sample,
    family_passages,
    family_samples,
    household_samples,
    own_samples,
    sample_passages,
    tuning_cases,
    xquad_samples,
)
from bench.retrieval import Encoder, fill, read_household, read_xquad
from engine.cross_encoder import CrossEncoder
from rag import db
from rag.embed import model_folder
from rag.evidence import (
    ADAPTER,
    ANSWERABLE,
    CHINESE,
    CLOSE,
    LEXICAL,
    WITH_ENCODER,
    WITH_READER,
    Features,
    Model,
)
from rag.language import detect
from rag.store import Store

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
MEASURED = ("spoken", "spoken-", "unseen", "unseen-", "later", "later-")
"""Nothing is fitted on these."""
FOLDS = 5
WEIGHT = {"full": 0.5, "hard": 0.1, "easy": 1.0, "home": 10.0, "home-": 10.0}
WEIGHT |= {"families": 2.0, "families-": 2.0, "known": 2.0, "known-": 2.0}
WEIGHT |= {"samples": 20.0, "samples-": 20.0}
"""Of a question: the household's and the samples weigh about equal, the families and XQuAD half."""
MINING_ROUNDS = 3
SET = ("foreign_code", "foreign_owner", "foreign_year", "foreign_appliance")
"""Features whose weights are set: too few questions name codes, owners, years or appliances."""


class Fit(NamedTuple):
    """Log odds = bias + features · weights."""

    bias: float
    weights: NDArray[np.float64]

    def scores(self, one: Sample) -> NDArray[np.float64]:
        return self.bias + one.features @ self.weights


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
