"""What an utterance asks for that is about words and times, and not about things of the house.

"Bog roll and teabags, list" puts two things on the shopping list: which tool is meant is told by
its likeness to examples (as in ``likeness``, whose examples stand for all else), and what is put
there by the tags of its words (``tagger``). The examples lie in ``worded/LANGUAGE.txt``: a tool
behind ``#``, then what people say, with ``[what it is about]`` and ``{when}`` in brackets. Those of
``worded/LANGUAGE.spoken.txt`` teach the parts alone: what people said in homes of their own, and
plain commands. The weights beside them are made by ``bench/fit_worded.py``.
"""

import hashlib
from collections import Counter
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
    spoken_of,
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
FEWEST_SPOKEN = 12
"""How often people asked for a tool for which nobody wrote examples, to be told from others."""


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
        tools = tuple(map(str, stored["tools"]))
    return Model(tools, fitted, tags, moves, unit, language)


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
    return _marked_in(FOLDER / f"{language}.txt", language)


def spoken_examples_of(language: str) -> tuple[Example, ...]:
    """What people said in homes of their own, marked: it teaches the parts alone, since what people
    said for any tool is in ``likeness.spoken_of``.

    Raises:
        ValueError: one of them is not marked rightly.
    """
    return _marked_in(FOLDER / f"{language}.spoken.txt", language)


def _marked_in(file: Path, language: str) -> tuple[Example, ...]:
    spaces = lexicon(language).spaces
    return tuple(Example(tool, *unmarked(marked, spaces=spaces)) for tool, marked in _lines(file))


def tools_of(language: str) -> tuple[str, ...]:
    """What is told apart: the tools of the marked examples, then those of all others, and of what
    people said those that are said often enough."""
    counts: Counter[str] = Counter()
    for intent in spoken_of(language):
        counts[intent.tool] += len(intent.said)
    own = [tool for tool, _ in _lines(FOLDER / f"{language}.txt")]
    others = [intent.tool for intent in intents_of(language)]
    spoken = [tool for tool, count in counts.items() if count >= FEWEST_SPOKEN]
    return tuple(dict.fromkeys([*own, *others, *spoken]))


def worded_tools(language: str) -> frozenset[str]:
    """The tools of the marked examples."""
    return frozenset(tool for tool, _ in _lines(FOLDER / f"{language}.txt"))


def masked_examples(examples: Sequence[Example], language: str) -> list[str]:
    """The examples as ``likely`` gets them."""
    known = lexicon(language)
    phrases = phrases_of(Snapshot(), known)
    return [masked(example.text, known, phrases, Snapshot()) for example in examples]


def digest_of(language: str) -> bytes:
    """What tells whether weights were fitted to the examples, marked and others, as they are now;
    seconds of work."""
    files = (FOLDER / f"{language}.txt", FOLDER / f"{language}.spoken.txt")
    marked = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(marked + likeness.digest_of(language)).digest()


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    """Tool and marked utterance."""
    tool = ""
    for line in file.read_text("utf-8").splitlines() if file.is_file() else ():
        if line.startswith("# "):
            tool = line.removeprefix("# ").strip()
        elif line.strip():
            yield tool, line.strip()
