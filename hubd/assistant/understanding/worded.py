"""What an utterance asks for that is about words and times, and not about things of the house.

"Bog roll and teabags, list" puts two things on the shopping list: which tool is meant is told by
its likeness to examples (as in ``likeness``, whose examples stand for all else), and what is put
there by the tags of its words (``tagger``). The examples lie in ``worded/LANGUAGE.txt``: a tool
behind ``#``, then what people say, with ``[what it is about]`` and ``{when}`` in brackets. The
weights beside them are made by ``bench/fit_worded.py``.
"""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hubd.assistant.understanding import likeness
from hubd.assistant.understanding.fluent import fluent
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.likeness import (
    Fitted,
    chances_of,
    intents_of,
    masked,
)
from hubd.assistant.understanding.ngrams import Vectors
from hubd.assistant.understanding.tagger import (
    Parts,
    Token,
    parts_of,
    places_of,
    scores_of,
    tagged,
    tokens_of,
    unmarked,
)
from hubd.assistant.understanding.words import phrases_of
from hubd.home.model import Snapshot

FOLDER = Path(__file__).parent / "worded"


class Example(NamedTuple):
    """An utterance whose parts are marked."""

    tool: str
    text: str
    tokens: list[Token]
    tags: list[int]


class Model(NamedTuple):
    """A language's weights."""

    tools: tuple[str, ...]
    fitted: Fitted
    tags: NDArray[np.int8]
    """(places, TAGS), in units of ``unit``."""
    moves: NDArray[np.float32]
    """(TAGS, TAGS)."""
    unit: float
    language: str

    def likely(self, text: str, vector: Vectors | None) -> list[tuple[str, float]]:
        """Tools with their chances, likeliest first; text: masked, vector: float32 (d,)."""
        spaces = lexicon(self.language).spaces
        chances = chances_of(text, vector, self.fitted, spaces)
        return [(self.tools[i], float(chances[i])) for i in np.argsort(-chances)]

    def parts(self, text: str, tool: str) -> Parts:
        """What ``text`` (as it was said) is about where it asks for ``tool``."""
        tokens = tokens_of(text, spaces=lexicon(self.language).spaces)
        if not tokens:
            return Parts((), ())
        places = places_of(tokens, tool, language=self.language)
        scores = scores_of(self.tags, places, tokens) * np.float32(self.unit)
        return parts_of(text, tokens, tagged(scores, self.moves))


@cache
def model_of(language: str) -> Model | None:
    """``None`` where a language has no examples."""
    path = FOLDER / f"{language}.npz"
    if not path.is_file():
        return None
    with np.load(path) as stored:
        fitted = Fitted(**{name: stored[name] for name in Fitted._fields})
        tags, moves, unit = stored["tags"], stored["moves"], float(stored["tag_unit"])
    return Model(tools_of(language), fitted, tags, moves, unit, language)


def parts_in(text: str, tool: str, language: str) -> Parts:
    """What ``text`` is about where it asks for ``tool``; nothing in a language without examples."""
    model = model_of(language)
    return model.parts(fluent(text, language), tool) if model else Parts((), ())


@cache
def examples_of(language: str) -> tuple[Example, ...]:
    """The marked examples of a language.

    Raises:
        ValueError: one of them is not marked rightly.
    """
    spaces = lexicon(language).spaces
    return tuple(
        Example(tool, *unmarked(marked, spaces=spaces)) for tool, marked in _lines(language)
    )


def tools_of(language: str) -> tuple[str, ...]:
    """What is told apart: the tools of the marked examples, then those of all others."""
    own = dict.fromkeys(tool for tool, _ in _lines(language))
    others = dict.fromkeys(intent.tool for intent in intents_of(language))
    return (*own, *(tool for tool in others if tool not in own))


def worded_tools(language: str) -> frozenset[str]:
    """The tools of the marked examples."""
    return frozenset(tool for tool, _ in _lines(language))


def masked_examples(examples: Sequence[Example], language: str) -> list[str]:
    """The examples as ``likely`` gets them."""
    known = lexicon(language)
    phrases = phrases_of(Snapshot(), known)
    return [masked(example.text, known, phrases, Snapshot()) for example in examples]


def digest_of(language: str) -> bytes:
    """What tells whether weights were fitted to the examples, marked and others, as they are now;
    seconds of work."""
    marked = (FOLDER / f"{language}.txt").read_bytes()
    return hashlib.sha256(marked + likeness.digest_of(language)).digest()


def _lines(language: str) -> Iterator[tuple[str, str]]:
    """Tool and marked utterance."""
    tool = ""
    path = FOLDER / f"{language}.txt"
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        if line.startswith("# "):
            tool = line.removeprefix("# ").strip()
        elif line.strip():
            yield tool, line.strip()
