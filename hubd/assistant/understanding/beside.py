"""A polite request beside its reason, which may speak of anybody and of anything: "Would you close
the curtains for me, he's going to bed shortly and it's still bright out".

A reason says neither which, where nor when, and asks for nothing itself.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.reasons import (
    BREAK,
    TELLS,
    is_conditional,
    is_purpose,
    is_reason,
)
from hubd.assistant.understanding.repairs import kind_of
from hubd.assistant.understanding.words import Phrases, Piece, pieces_of
from plugins.numbers import digits

_REQUEST = {
    "en": re.compile(
        r"[,.;!]\s+(?:so |and )?(?=(?:please|(?:could|can|would|will|might) you|"
        r"(?:could|can|may|might) (?:i|we) (?:just |please )?(?:ask|know|check|hear|have|get))\b)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"[,.;!]\s+(?:also |und )?(?=(?:bitte|(?:kannst|könntest|würdest|wärst) du|"
        r"(?:könnten|können|würden|wären) sie)\b)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"[，,。；;！!]\s*(?:所以|那)?(?=请|麻烦|劳驾|拜托|能不能|能否|可不可以|可以帮|帮我|帮忙)"
    ),
}
"""Where a request begins behind its reason."""
_ASKED_FIRST = {
    "en": re.compile(r"^(?:please )?(?:could|can|would|will) you\b[^?]*\?\s+", re.IGNORECASE),
    "de": re.compile(
        r"^(?:bitte )?\w+st du\b[^?]*\?\s+|"
        r"^(?:bitte )?(?:könnten|können|würden) sie\b[^?]*\?\s+",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"^(?:[^？?]*(?:吗|行不行|好不好|可不可以|行么|好么|成吗|行吧)|"
        r"[^？?，,]{0,8}(?:能不能|可不可以|能否|可否|是不是可以|要不)[^？?]*)[？?]\s*"
    ),
}
"""A request in the form of a question, before its reason."""
_POLITELY = {
    "en": re.compile(
        r"\b(?:please|kindly|(?:could|can|would|will) you|would you mind|grateful if|"
        r"(?:may|might|could|can) i (?:ask|trouble)|"
        r"i'd like you to)\b"
    ),
    "de": re.compile(
        r"\b(?:bitte|(?:kannst|könntest|würdest|wärst) du|(?:könnten|können|würden|wären) sie)\b"
    ),
    "zh": re.compile("请|麻烦|劳驾|拜托|辛苦你|能不能|能否|可不可以|可以帮|帮我|帮忙|好吗$|行吗$"),
}
"""What only a request has in it."""
_LIMITS = re.compile(
    r"^(?:but|only|just|not|no|except|unless|actually|wait|or|and|then|aber|nur|nicht|nein|außer|"
    r"doch|oder|und|dann|ach|warte)\b|^(?:但|只|别|不|除|或|还|然后|再|等|算)",
    re.IGNORECASE,
)
"""What takes back or adds to what was asked before."""
_NOT_ALL = re.compile(
    r"(?:(?:but|aber) )?(?:only|just|not|except|nur|nicht|außer|bloß)\b|(?:但|只|除了)|"
    r".{1,8}(?:留着|除外|不算|别动|不用关|不用动)[吧啊]?$",
    re.IGNORECASE,
)
"""What says that not all of what was asked before is meant."""
MOST_BEGINNINGS = 4
"""Tries."""


class Beginning(NamedTuple):
    """The clauses that an utterance begins with, a polite request."""

    text: str
    sure: bool
    """Whether what follows is only its reason."""


def limits(text: str) -> bool:
    """Whether a clause says that not all that was asked before it is meant: "but only the small
    one", 走廊的留着."""
    return _NOT_ALL.match(text) is not None


def requested_last(text: str, known: Lexicon, phrases: Phrases) -> str:
    """What is politely asked for behind a reason, which may speak of anybody: "Haohao's friends are
    coming for his birthday, please make …". Empty where what comes before says which, where or
    when, or asks for something itself."""
    found = _REQUEST.get(known.language, NEVER).search(text)
    if found is None:
        return ""
    before, rest = text[: found.start()], text[found.end() :]
    return rest if _is_beside(before, rest, known, phrases) else ""


def requested_first(text: str, known: Lexicon, phrases: Phrases) -> str:
    """What is politely asked for in a sentence of its own, before the reason: "Could you tell me
    which alarms are set? I don't want to sleep in". Empty where what follows takes some of it back,
    says which, where or when, or asks for something itself."""
    found = _ASKED_FIRST.get(known.language, NEVER).match(text)
    if found is None:
        return ""
    asked, rest = text[: found.end()].strip(), text[found.end() :]
    if _LIMITS.match(rest) or rest.rstrip().endswith(("?", "？")):
        return ""
    return asked if _is_beside(rest, asked, known, phrases) else ""


def beginnings(text: str, known: Lexicon, phrases: Phrases) -> Iterator[Beginning]:
    """The beginnings of ``text`` that are polite, the longest first; none where it corrects itself
    or what follows may take some of it back."""
    politely = _POLITELY.get(known.language, NEVER)
    if known.corrected(text):
        return
    for gap in list(BREAK.finditer(text))[MOST_BEGINNINGS - 1 :: -1]:
        asked, rest = text[: gap.start()], text[gap.end() :]
        clauses = [one for one in BREAK.split(rest) if known.stripped(one)]
        if not clauses or not known.stripped(asked) or not politely.search(plain(asked)):
            continue
        purposes = [is_purpose(one, known) for one in clauses]
        others = [one for one, of in zip(clauses, purposes, strict=True) if not of]
        if any(_LIMITS.match(one) or _has_value(one, known, phrases) for one in others):
            continue  # "the shutter down, please, well, not all the way, say thirty percent"
        told = any(map(TELLS.search, map(plain, clauses))) or all(purposes)
        beside = (
            purpose or is_reason(one, known) or _is_beside(one, asked, known, phrases)
            for one, purpose in zip(clauses, purposes, strict=True)
        )
        yield Beginning(asked, told and all(beside))


def _is_beside(reason: str, asked: str, known: Lexicon, phrases: Phrases) -> bool:
    """Whether a clause may be left out beside a request: it says neither which, where nor when, and
    asks for nothing."""
    said = known.stripped(reason)
    which = _named(said, known, phrases) and "thing" not in _named(asked, known, phrases)
    if not said or which or known.subjects(said):
        return False
    timed = known.times(digits(said, known.language))
    elsewhere = known.keeps(said) or is_conditional(said)
    return not (timed or elsewhere or known.commands(said) or known.inquires_first(said))


def _named(text: str, known: Lexicon, phrases: Phrases) -> set[str]:
    """Whether things or rooms are spoken of, persons apart."""
    pieces = pieces_of(text, known, phrases)
    kinds = {kind_of(piece) for piece in pieces if not is_person(piece, phrases.people)}
    return kinds & {"room", "thing"}


def _has_value(text: str, known: Lexicon, phrases: Phrases) -> bool:
    pieces = pieces_of(digits(known.stripped(text), known.language), known, phrases)
    return any(kind_of(piece) in ("number", "color") for piece in pieces)


def is_person(piece: Piece, people: Collection[str]) -> bool:
    """Whether somebody of the household is named."""
    return bool(piece.tags) and all(
        tag.kind == "entity" and tag.value in people for tag in piece.tags
    )
