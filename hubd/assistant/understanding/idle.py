"""How likely a clause beside a command says nothing that changes it: a reason, a remark, a thought.

"Set the office to 66, I'm heading down there after lunch": whether the last clause may be left out
is told by logistic regression over words and pieces of words (``ngrams``), fitted to clauses that
were written for it (``bench/fit_clauses.py``). It knows nothing of the household or the command.
"""

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from hubd.assistant.understanding.data_files import values
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.ngrams import Vectors, counted, scaled
from hubd.assistant.understanding.plain import plain
from hubd.memory import lasting
from plugins.numbers import digits

FOLDER = Path(__file__).parent / "clauses"
SHARPNESS = 8.0
"""Unit vectors are scaled by this, so that the regression converges in few steps."""
SURE, SURER = 0.6, 0.7
"""How likely a clause has to be idle to be left out; the same where a word of it may be a condition
or a question ("it's stuffy after all that frying")."""
NEEDED = 0.12
"""How likely it is at most where a clause is not left out whatever else speaks for it."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)?")


class Clauses(msgspec.Struct, frozen=True):
    """What the regression is fitted to."""

    idle: list[str]
    needed: list[str]


class Fitted(NamedTuple):
    """The weights of a language's regression."""

    rarity: Vectors
    """float32 (PLACES,), see ``ngrams``."""
    words: NDArray[np.int8]
    """(PLACES,), in units of ``unit``."""
    unit: NDArray[np.float32]
    """()."""
    constant: NDArray[np.float32]
    """()."""
    made_of: NDArray[np.uint8]
    """The digest of the clauses that it was fitted to."""


def clauses_of(language: str) -> Clauses:
    """The clauses of a language that has some."""
    text = (FOLDER / f"{language}.yaml").read_text("utf-8")
    return msgspec.convert(values(text), Clauses)


def digest_of(clauses: Clauses) -> bytes:
    """What tells whether weights were fitted to the clauses as they are now."""
    return hashlib.sha256(msgspec.json.encode(clauses)).digest()


def inputs_of(texts: Sequence[str], rarity: Vectors, known: Lexicon) -> Vectors:
    """What the regression sees of clauses: float32 (texts, PLACES)."""
    return scaled(counts_of(texts, known), rarity) * SHARPNESS


def counts_of(texts: Sequence[str], known: Lexicon) -> Vectors:
    """What occurs in clauses, float32 (texts, PLACES): all numbers are the same, and how a clause
    begins counts besides."""
    said = [_NUMBER.sub("20", digits(plain(text), known.language)) for text in texts]
    return counted([f"^ {text}" for text in said], known.spaces)


def is_idle(text: str, known: Lexicon) -> bool:
    """Whether ``text`` is surely enough idle."""
    return idleness(text, known) >= (SURER if known.asks(text) else SURE)


def is_needed(text: str, known: Lexicon) -> bool:
    """Whether ``text`` surely changes the command beside it."""
    return 0.0 < idleness(text, known) < NEEDED


def idleness(text: str, known: Lexicon) -> float:
    """How likely ``text`` may be left out, 0 to 1; 0 in a language without such clauses."""
    fitted = fitted_of(known.language)
    if fitted is None:
        return 0.0
    row = inputs_of([text], fitted.rarity, known)[0]
    (said,) = np.nonzero(row)
    score = row[said] @ fitted.words[said] * fitted.unit + fitted.constant
    return float(1.0 / (1.0 + np.exp(-score)))


@cache
def fitted_of(language: str) -> Fitted | None:
    """The weights of a language; ``None`` where it has no clauses."""
    path = FOLDER / f"{language}.npz"
    if not path.is_file():
        return None
    with lasting(), np.load(path) as stored:
        return Fitted(**{name: stored[name] for name in Fitted._fields})
