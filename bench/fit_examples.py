"""Fit what tells intents apart to the example sentences of hubd/assistant/understanding/examples,
and to what people said (``bench.spoken_examples``).

    python -m bench.fit_examples [LANGUAGE…] [--check]

Writes LANGUAGE.npz beside each LANGUAGE.yaml, and has to be run after every change of either,
or of the words (the lexicon) that are known in them. With ``--check`` nothing is written: every
fifth sentence in turn is left out of a fit and guessed, which prints how often the likeliest intent
was the right one, and the same for guesses of at least 50 %.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from engine.embed import TextEncoder
from hubd.assistant.by_likeness.conditions import ACCEPTED
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.likeness import (
    ENCODED,
    FOLDER,
    SHARPNESS,
    Fitted,
    digest_of,
    examples_of,
    group_of,
    inputs_of,
    intents_of,
    softmax,
    spoken_of,
)
from hubd.assistant.understanding.ngrams import Vectors, counted, rarity
from rag.embed import model_folder

STEPS, RATE, DECAY = 300, 1.0, 5e-4
FOLDS = 5
AT_ONCE = 64
"""Texts that the encoder gets together."""


class Inputs(NamedTuple):
    """What the regression sees of sentences."""

    dense: Vectors
    """(texts, d + 1): the encoder's vectors, which may have no columns, and a one."""
    words: csr_array
    """float32 (texts, PLACES): some 40 places of a sentence are not 0."""

    def of(self, rows: NDArray[np.bool_]) -> "Inputs":
        """Those of some of the sentences."""
        return Inputs(self.dense[rows], self.words[rows])

    def scores(self, weights: Vectors) -> Vectors:
        """(texts, intents); weights: (d + 1 + PLACES, intents)."""
        constant = self.dense.shape[1]
        return np.asarray(self.dense @ weights[:constant] + self.words @ weights[constant:])


def regression(inputs: Inputs, labels: NDArray[np.intp], intents: int) -> Vectors:
    """Weights (d + 1 + PLACES, intents) of multinomial logistic regression.

    By gradient descent with momentum; every intent counts alike, however many examples it has.
    """
    wanted = np.eye(intents, dtype=np.float32)[labels]
    exact = 1.0 / (intents * np.bincount(labels, minlength=intents)[labels])
    share = exact.astype(np.float32)[:, None]
    by_place = inputs.words.T.tocsr()
    weights = np.zeros((inputs.dense.shape[1] + len(by_place.indptr) - 1, intents), np.float32)
    speed = np.zeros_like(weights)
    for _ in range(STEPS):
        error = (softmax(inputs.scores(weights)) - wanted) * share
        speed *= 0.9
        speed -= RATE * (np.vstack((inputs.dense.T @ error, by_place @ error)) + DECAY * weights)
        weights += speed
    return weights


def vectors_of(texts: Sequence[str]) -> Vectors:
    """The encoder's, float32 (texts, d)."""
    encoder = TextEncoder.load(model_folder())
    parts = range(0, len(texts), AT_ONCE)
    return np.vstack([encoder.embed(list(texts[part : part + AT_ONCE])) for part in parts])


def fitted(
    inputs: Inputs, rare: Vectors, labels: NDArray[np.intp], intents: int, made_of: bytes
) -> Fitted:
    """The weights of a regression as they are kept; made_of: a digest of what it is fitted to."""
    weights = regression(inputs, labels, intents)
    dense = inputs.dense.shape[1]
    vector, constant, words = np.split(weights, [dense - 1, dense])
    unit = np.abs(words).max(axis=0) / 127
    return Fitted(
        rarity=rare,
        words=np.rint(words / unit).astype(np.int8),
        unit=unit,
        vector=vector,
        constant=constant[0],
        made_of=np.frombuffer(made_of, np.uint8),
    )


def left_out(inputs: Inputs, labels: NDArray[np.intp], tools: Sequence[str]) -> str:
    """How well sentences are told apart that took no part in the fit."""
    chances = np.zeros((len(labels), len(tools)), np.float32)
    for fold in range(FOLDS):
        out = np.arange(len(labels)) % FOLDS == fold
        weights = regression(inputs.of(~out), labels[~out], len(tools))
        chances[out] = softmax(inputs.of(out).scores(weights))
    best = chances.argmax(axis=1)
    # What is no command has several groups of examples: any of them will do.
    no_command = np.array([tool == "none" for tool in tools])
    right = (best == labels) | (no_command[best] & no_command[labels])
    sure = chances.max(axis=1) >= ACCEPTED
    return (
        f"{right.mean():.1%} right; {sure.mean():.1%} sure, {right[sure].mean():.1%} of them right"
    )


def all_of(language: str) -> tuple[list[str], NDArray[np.intp]]:
    """The examples and what people said for the same intents, and the numbers of these."""
    intents = intents_of(language)
    texts = list(examples_of(language))
    labels = [at for at, intent in enumerate(intents) for _ in intent.said]
    for one in spoken_of(language):
        if (at := group_of(one, intents)) is not None:
            texts += one.said
            labels += [at] * len(one.said)
    return texts, np.array(labels)


def fit(language: str, *, write: bool) -> None:
    texts, labels = all_of(language)
    intents = intents_of(language)
    counts = counted(texts, lexicon(language).spaces)
    rare = rarity(counts)
    constant = np.ones((len(texts), 1), np.float32)
    encoded = [vectors_of(texts) * SHARPNESS] if language in ENCODED else []
    inputs = Inputs(np.hstack([*encoded, constant]), csr_array(inputs_of(counts, rare)))
    print(f"{language}: {len(texts)} sentences", flush=True)
    if not write:
        print("left out:", left_out(inputs, labels, [intent.tool for intent in intents]))
    else:
        stored = fitted(inputs, rare, labels, len(intents), digest_of(language))
        path = FOLDER / f"{language}.npz"
        np.savez_compressed(path, **stored._asdict())
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


def asked(purpose: str, folder: Path, suffix: str = ".yaml") -> tuple[list[str], bool]:
    """The languages of ``folder`` (its files of that suffix) that the command line names, all where
    it names none; and whether only to check."""
    parser = argparse.ArgumentParser(description=purpose.splitlines()[0])
    known = sorted(path.stem for path in folder.glob(f"??{suffix}"))
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE")
    parser.add_argument(
        "--check", action="store_true", help="write nothing, guess what is left out"
    )
    given = parser.parse_args()
    return given.languages or known, given.check


def main() -> None:
    languages, check = asked(__doc__ or "", FOLDER)
    for language in languages:
        fit(language, write=not check)


if __name__ == "__main__":
    main()
