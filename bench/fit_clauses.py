"""Fit what tells idle clauses to those of hubd/assistant/understanding/clauses.

    python -m bench.fit_clauses [LANGUAGE…] [--check]

Writes LANGUAGE.npz beside each LANGUAGE.yaml, and has to be run after every change of the clauses.
With ``--check`` nothing is written: every fifth clause in turn is left out of a fit and guessed,
which prints how many of the idle ones are found, and how many others are taken for idle.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bench.fit_examples import FOLDS, Inputs, asked, regression
from hubd.assistant.understanding.idle import (
    FOLDER,
    SURE,
    Clauses,
    Fitted,
    clauses_of,
    counts_of,
    digest_of,
    inputs_of,
)
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.likeness import softmax
from hubd.assistant.understanding.ngrams import Vectors, rarity


def inputs(texts: Sequence[str], rare: Vectors, language: str) -> Inputs:
    """What the regression sees: words, and a one."""
    words = csr_array(inputs_of(texts, rare, lexicon(language)))
    return Inputs(np.ones((len(texts), 1), np.float32), words)


def fitted_to(clauses: Clauses, language: str) -> Fitted:
    """The weights of clauses: those of "idle" less those of "needed"."""
    texts = [*clauses.needed, *clauses.idle]
    rare = rarity(counts_of(texts, lexicon(language)))
    weights = regression(inputs(texts, rare, language), labels_of(clauses), 2)
    difference = weights[:, 1] - weights[:, 0]
    unit = np.float32(np.abs(difference[1:]).max() / 127)
    return Fitted(
        rarity=rare,
        words=np.rint(difference[1:] / unit).astype(np.int8),
        unit=np.asarray(unit),
        constant=difference[0],
        made_of=np.frombuffer(digest_of(clauses), np.uint8),
    )


def labels_of(clauses: Clauses) -> NDArray[np.intp]:
    """0 for what is needed, 1 for what is idle, in that order."""
    return np.repeat([0, 1], [len(clauses.needed), len(clauses.idle)]).astype(np.intp)


def left_out(language: str) -> str:
    """How well clauses are told apart that took no part in the fit."""
    clauses = clauses_of(language)
    texts = [*clauses.needed, *clauses.idle]
    labels = labels_of(clauses)
    every = inputs(texts, rarity(counts_of(texts, lexicon(language))), language)
    idle = np.zeros(len(texts), np.float32)
    for fold in range(FOLDS):
        out = np.arange(len(texts)) % FOLDS == fold
        weights = regression(every.of(~out), labels[~out], 2)
        idle[out] = softmax(every.of(out).scores(weights))[:, 1]
    sure = idle >= SURE
    return f"idle found: {sure[labels == 1].mean():.1%}; others: {sure[labels == 0].mean():.1%}"


def main() -> None:
    languages, check = asked(__doc__ or "", FOLDER)
    for language in languages:
        if check:
            print(f"{language}: {left_out(language)}")
        else:
            weights = fitted_to(clauses_of(language), language)
            np.savez_compressed(FOLDER / f"{language}.npz", **weights._asdict())


if __name__ == "__main__":
    main()
