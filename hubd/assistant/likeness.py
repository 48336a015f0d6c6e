"""How like an utterance is to the example sentences of each intent.

The names of things and rooms are replaced by their kinds, and so are the numbers: "um the redding
lamp at fourty" is "the lamp at 20". Its vector is compared with those of the examples by logistic
regression, fitted when the examples' vectors are there: half a thousand sentences take a second.
Knows nothing of tools but their names, nor where vectors come from.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import yaml
from numpy.typing import NDArray

from hubd.assistant.grammar import LANGUAGES
from hubd.assistant.lexicon import Lexicon, lexicon, plain
from hubd.assistant.polarity import undoes
from hubd.assistant.words import Phrases, phrases_of, pieces_of
from hubd.home.model import Snapshot

FOLDER = Path(__file__).parent / "examples"
KINDS = {
    "light": "lamp",
    "switch": "machine",
    "fan": "fan",
    "cover": "blinds",
    "valve": "valve",
    "lock": "door",
    "climate": "heating",
    "media_player": "television",
    "vacuum": "vacuum",
    "lawn_mower": "mower",
    "scene": "scene",
    "script": "scene",
    "sensor": "sensor",
    "binary_sensor": "window",
    "person": "ann",
    "weather": "weather",
}
"""Domain → the word that stands for its things in the examples."""
CLASSES = {"garage": "garage", "gate": "gate", "curtain": "curtains", "shutter": "shutters"}
COMMON = 6
"""Tools whose examples have a word that says nothing about which of them is meant."""
STEPS, RATE, DECAY = 300, 1.0, 2e-4
SHARPNESS = 8.0
"""Unit vectors are scaled by this, so that the regression converges in few steps."""

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
    return tuple(msgspec.convert(yaml.safe_load(path.read_text("utf-8")), list[Intent]))


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
        for word in plain(text).split()
    )


@cache
def _common_words(language: str) -> frozenset[str]:
    counts = Counter(
        word for tool in {i.tool for i in intents_of(language)} for word in _words(tool, language)
    )
    return frozenset(word for word, count in counts.items() if count >= COMMON)


class Classifier:
    """Multinomial logistic regression from unit vectors to intents."""

    def __init__(self, intents: Sequence[Intent], vectors: Vectors) -> None:
        """vectors: float32 (examples, d), in the order of ``examples_of``."""
        self._intents = list(intents)
        labels = np.repeat(np.arange(len(intents)), [len(intent.said) for intent in intents])
        self._weights = _fitted(vectors, labels, len(intents))

    def guesses(self, vector: Vectors) -> list[Guess]:
        """All intents, likeliest first. vector: float32 (d,), of length 1."""
        chances = _softmax(_extended(vector[None]) @ self._weights)[0]
        order = np.argsort(-chances)
        return [Guess(intent=self._intents[i], confidence=float(chances[i])) for i in order]


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
            spoken = CLASSES.get(str(entity.attributes.get("device_class")))
            parts.append(spoken or KINDS.get(entity.domain, "machine"))
        else:
            parts.append("room" if " ".join(parts).endswith("the") else "the room")
    return " ".join(parts)


def _fitted(vectors: Vectors, labels: NDArray[np.intp], count: int) -> Vectors:
    """Weights (d + 1, count) of a regression with every intent counted alike, whatever its number
    of examples; plain gradient descent with momentum."""
    inputs = _extended(vectors)
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
    """Scaled, with a constant column."""
    ones = np.ones((len(vectors), 1), np.float32)
    return np.concatenate([vectors * SHARPNESS, ones], axis=1, dtype=np.float32)


def _softmax(scores: Vectors) -> Vectors:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float32)
