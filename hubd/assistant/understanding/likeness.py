"""How like an utterance is to the example sentences of each intent.

The names of things and rooms are replaced by their kinds, and so are the numbers: "um the redding
lamp at fourty" is "the lamp at 20". What is left is compared with the examples by logistic
regression over words and pieces of words (``ngrams``), in English over an encoder's vector as well.
Its weights lie beside the examples; ``bench/fit_examples.py`` makes them. Knows nothing of tools
but their names, nor where an encoder's vectors come from.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from hubd.assistant.understanding.data_files import values
from hubd.assistant.understanding.grammar import LANGUAGES
from hubd.assistant.understanding.kinds import class_of
from hubd.assistant.understanding.lexicon import Lexicon, lexicon
from hubd.assistant.understanding.ngrams import Vectors, counted, scaled
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.polarity import undoes
from hubd.assistant.understanding.words import Phrases, phrases_of, pieces_of
from hubd.home.model import Snapshot

FOLDER = Path(__file__).parent / "examples"
SPOKEN = Path(__file__).parent / "spoken"
ENCODED = frozenset({"en"})
"""The languages that an encoder's vector tells apart as well: all-MiniLM was trained in them."""
COMMON = 12
"""Tools whose examples have a word that says nothing about which of them is meant."""
SHARPNESS = 8.0
"""Unit vectors are scaled by this, so that the regression converges in few steps."""
WORDS_WEIGH = 1.4
"""The words against the encoder's vector."""


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


def spoken_of(language: str) -> tuple[Intent, ...]:
    """What people said in homes of their own, by what they asked for; names are their kinds.

    A fit alone reads it (``bench/spoken_examples.py`` makes it): its words are those of whole
    sentences, with all that is told beside a command, so they are in no ``vocabulary``.
    """
    path = SPOKEN / f"{language}.yaml"
    if not path.is_file():
        return ()
    return tuple(msgspec.convert(values(path.read_text("utf-8")), list[Intent]))


def group_of(one: Intent, intents: Sequence[Intent]) -> int | None:
    """Which of ``intents`` asks for the same, the last one first, which is the most general;
    ``None`` where none does."""
    for at, intent in reversed(list(enumerate(intents))):
        told = all(one.arguments.get(name) == value for name, value in intent.arguments.items())
        fits = not (intent.domains and one.domains) or set(intent.domains) & set(one.domains)
        if intent.tool == one.tool and told and fits:
            return at
    return None


def vocabulary(tool: str, language: str, *, examples: int = 1) -> frozenset[str]:
    """The words that say nothing against a tool: those that so many of its examples have at least,
    and those that the examples of many tools have."""
    own = _words(tool, language)
    return _common_words(language).union(word for word in own if own[word] >= examples)


def opposed(one: Intent, other: Intent) -> bool:
    """Whether one undoes the other."""
    if one.tool == other.tool:
        return one.arguments.get("step") != other.arguments.get("step")
    return undoes(one.tool, other.tool)


@cache
def _words(tool: str, language: str) -> Counter[str]:
    return Counter(
        word
        for intent in intents_of(language)
        if intent.tool == tool
        for text in intent.said
        for word in set(plain(text).split() if lexicon(language).spaces else plain(text))
    )


@cache
def _common_words(language: str) -> frozenset[str]:
    counts = Counter(
        word for tool in {i.tool for i in intents_of(language)} for word in _words(tool, language)
    )
    return frozenset(word for word, count in counts.items() if count >= COMMON)


class Fitted(NamedTuple):
    """The weights of a language's regression."""

    rarity: Vectors
    """float32 (PLACES,), see ``ngrams``."""
    words: NDArray[np.int8]
    """(PLACES, intents), in units of ``unit``."""
    unit: Vectors
    """float32 (intents,)."""
    vector: Vectors
    """float32 (d, intents) of an encoder's vector; d is 0 where no encoder knows the language."""
    constant: Vectors
    """float32 (intents,)."""
    made_of: NDArray[np.uint8]
    """The digest of the examples that it was fitted to."""


class Classifier:
    """Multinomial logistic regression from sentences to intents."""

    def __init__(self, intents: Sequence[Intent], fitted: Fitted, spaces: bool) -> None:
        """spaces: words are written apart."""
        self._intents, self._fitted, self._spaces = list(intents), fitted, spaces

    def guesses(self, text: str, vector: Vectors | None) -> list[Guess]:
        """All intents, likeliest first, of a masked utterance; vector: float32 (d,)."""
        chances = chances_of(text, vector, self._fitted, self._spaces)
        order = np.argsort(-chances)
        return [Guess(intent=self._intents[i], confidence=float(chances[i])) for i in order]


def chances_of(text: str, vector: Vectors | None, fitted: Fitted, spaces: bool) -> Vectors:
    """How likely each intent is of a masked utterance: float32 (intents,); vector: float32 (d,)."""
    row = inputs_of(counted([text], spaces), fitted.rarity)[0]
    (said,) = np.nonzero(row)
    scores = row[said] @ fitted.words[said] * fitted.unit + fitted.constant
    if vector is not None:
        scores += SHARPNESS * vector @ fitted.vector
    return np.asarray(softmax(scores[None])[0], np.float32)


def classifier_of(language: str) -> Classifier:
    """As it was fitted to the examples of a language that has some."""
    with np.load(FOLDER / f"{language}.npz") as stored:
        fitted = Fitted(**{name: stored[name] for name in Fitted._fields})
    return Classifier(intents_of(language), fitted, lexicon(language).spaces)


def inputs_of(counts: Vectors, rarity: Vectors) -> Vectors:
    """What the regression sees of words and pieces: float32 (texts, PLACES)."""
    return scaled(counts, rarity) * (SHARPNESS * WORDS_WEIGH)


def digest_of(language: str) -> bytes:
    """What tells whether weights were fitted to the examples, and to words, as they are now."""
    counts = [str(len(intent.said)) for intent in intents_of(language)]
    made_of = hashlib.sha256("\n".join([*counts, *examples_of(language)]).encode())
    path = SPOKEN / f"{language}.yaml"
    made_of.update(path.read_bytes() if path.is_file() else b"")
    return made_of.digest()


@cache
def examples_of(language: str) -> tuple[str, ...]:
    """The example sentences as they are embedded, in the order of the intents; seconds of work."""
    known = lexicon(language)
    phrases = phrases_of(Snapshot(), known)
    return tuple(
        masked(text, known, phrases, Snapshot())
        for intent in intents_of(language)
        for text in intent.said
    )


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
            parts.append(lexicon.stand_in(entity.domain, class_of(entity)))
        else:
            room = lexicon.stand_in("area")
            article = room.split()[0] if " " in room else ""
            said_already = article and " ".join(parts).endswith(article)
            parts.append(room.removeprefix(article).strip() if said_already else room)
    return (" " if lexicon.spaces else "").join(parts)


def softmax(scores: Vectors) -> Vectors:
    """Rows of scores as rows of chances."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float32)
