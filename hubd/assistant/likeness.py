"""How like an utterance is to the example sentences of each intent.

The names of things and rooms are replaced by their kinds, and so are the numbers: "um the redding
lamp at fourty" is "the lamp at 20". What is left is compared with the examples by logistic
regression over words and pieces of words (``ngrams``), in English over an encoder's vector as well;
it is fitted when it is first needed: six hundred sentences take a second. Knows nothing of tools
but their names, nor where an encoder's vectors come from.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from hubd.assistant.data_files import values
from hubd.assistant.grammar import LANGUAGES
from hubd.assistant.lexicon import Lexicon, lexicon, plain
from hubd.assistant.ngrams import Ngrams
from hubd.assistant.polarity import undoes
from hubd.assistant.words import Phrases, phrases_of, pieces_of
from hubd.home.model import Snapshot

FOLDER = Path(__file__).parent / "examples"
COMMON = 6
"""Tools whose examples have a word that says nothing about which of them is meant."""
STEPS, RATE, DECAY = 300, 1.0, 2e-4
SHARPNESS = 8.0
"""Unit vectors are scaled by this, so that the regression converges in few steps."""

WORDS_WEIGH = 0.7
"""The words against the encoder's vector."""

Vectors = NDArray[np.float32]


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """One group of the examples file."""

    tool: str
    said: list[str]
    arguments: dict[str, Any] = {}
    domains: list[str] = []
    needs: str = ""
    """``number``, ``time`` or ``area``: what must have been said besides."""


class Guess(msgspec.Struct, frozen=True, kw_only=True):
    """The likeliest intent of an utterance."""

    intent: Intent
    confidence: float
    """0 to 1: the probability that the regression gives it."""


@cache
def intents_of(language: str) -> tuple[Intent, ...]:
    """The intents of the examples in a language; empty where there are none."""
    path = FOLDER / f"{language}.yaml"
    if language not in LANGUAGES or not path.is_file():
        return ()
    return tuple(msgspec.convert(values(path.read_text("utf-8")), list[Intent]))


def vocabulary(tool: str, language: str) -> frozenset[str]:
    """The words that say nothing against a tool: those of its examples, and those that the examples
    of many tools have."""
    return _words(tool, language) | _common_words(language)


def opposed(one: Intent, other: Intent) -> bool:
    """Whether one undoes the other."""
    if one.tool == other.tool:
        return one.arguments.get("step") != other.arguments.get("step")
    return undoes(one.tool, other.tool)


@cache
def _words(tool: str, language: str) -> frozenset[str]:
    return frozenset(
        word
        for intent in intents_of(language)
        if intent.tool == tool
        for text in intent.said
        for word in (plain(text).split() if lexicon(language).spaces else plain(text))
    )


@cache
def _common_words(language: str) -> frozenset[str]:
    counts = Counter(
        word for tool in {i.tool for i in intents_of(language)} for word in _words(tool, language)
    )
    return frozenset(word for word, count in counts.items() if count >= COMMON)


class Classifier:
    """Multinomial logistic regression from sentences to intents."""

    def __init__(
        self, intents: Sequence[Intent], texts: Sequence[str], vectors: Vectors | None, spaces: bool
    ) -> None:
        """texts, and vectors, float32 (texts, d) of length 1, if an encoder knows the language: of
        the examples, in the order of ``examples_of``."""
        self._intents = list(intents)
        self._ngrams = Ngrams(texts, spaces)
        labels = np.repeat(np.arange(len(intents)), [len(intent.said) for intent in intents])
        inputs = self._inputs(texts, vectors)
        # In the space that the examples span, the fit is ten times as fast and the same.
        lengths, directions = np.linalg.eigh(inputs @ inputs.T)
        kept = lengths > 1e-4 * lengths[-1]
        basis = inputs.T @ (directions[:, kept] / np.sqrt(lengths[kept]))
        fitted = _fitted(_extended(inputs @ basis), labels, len(intents))
        self._weights = np.vstack((basis @ fitted[:-1], fitted[-1:])).astype(np.float32)

    def guesses(self, text: str, vector: Vectors | None) -> list[Guess]:
        """All intents, likeliest first, of a masked utterance; vector: float32 (d,)."""
        inputs = self._inputs([text], None if vector is None else vector[None])
        chances = _softmax(_extended(inputs) @ self._weights)[0]
        order = np.argsort(-chances)
        return [Guess(intent=self._intents[i], confidence=float(chances[i])) for i in order]

    def _inputs(self, texts: Sequence[str], vectors: Vectors | None) -> Vectors:
        """What the regression sees: float32 (texts, features)."""
        pieces = self._ngrams.vectors(texts)
        if vectors is None:
            return pieces * SHARPNESS
        return np.hstack((vectors * SHARPNESS, pieces * (SHARPNESS * WORDS_WEIGH)))


def examples_of(language: str) -> list[str]:
    """The example sentences as they are embedded, in the order of the intents."""
    known = lexicon(language)
    phrases = phrases_of(Snapshot(), known)
    return [
        masked(text, known, phrases, Snapshot())
        for intent in intents_of(language)
        for text in intent.said
    ]


def masked(text: str, lexicon: Lexicon, phrases: Phrases, snapshot: Snapshot) -> str:
    """``text`` without politeness, names as their kinds, numbers as 20."""
    by_name = {
        name.casefold(): entity
        for entity in snapshot.entities
        for name in (entity.name, *entity.aliases)
    }
    said = lexicon.fixed(lexicon.stripped(text))
    parts: list[str] = []
    for piece in pieces_of(said, lexicon, phrases):
        tag = next((tag for tag in piece.tags if tag.kind in ("entity", "area", "floor")), None)
        if piece.number is not None:
            parts.append("20")
        elif tag is None:
            parts.append(piece.text)
        elif tag.kind == "entity" and (entity := by_name.get(tag.value.casefold())):
            parts.append(lexicon.stand_in(entity.domain, entity.attributes.get("device_class")))
        else:
            room = lexicon.stand_in("area")
            article = room.split()[0] if " " in room else ""
            said_already = article and " ".join(parts).endswith(article)
            parts.append(room.removeprefix(article).strip() if said_already else room)
    return (" " if lexicon.spaces else "").join(parts)


def _fitted(inputs: Vectors, labels: NDArray[np.intp], count: int) -> Vectors:
    """Weights (d + 1, count) of a regression with every intent counted alike, whatever its number
    of examples; plain gradient descent with momentum."""
    wanted = np.eye(count, dtype=np.float32)[labels]
    counts = np.bincount(labels, minlength=count)
    share = (1.0 / (count * counts[labels])).astype(np.float32)[:, None]
    weights = np.zeros((inputs.shape[1], count), np.float32)
    speed = np.zeros_like(weights)
    for _ in range(STEPS):
        error = (_softmax(inputs @ weights) - wanted) * share
        speed *= 0.9
        speed -= RATE * (inputs.T @ error + DECAY * weights)
        weights += speed
    return weights


def _extended(vectors: Vectors) -> Vectors:
    """With a constant column."""
    ones = np.ones((len(vectors), 1), np.float32)
    return np.concatenate([vectors, ones], axis=1, dtype=np.float32)


def _softmax(scores: Vectors) -> Vectors:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float32)
