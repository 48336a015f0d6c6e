"""The clauses of an utterance that may be what it asks for, where nothing explains it as a whole: a
command or a question among reasons, greetings and thinking aloud.

"Hang on, stop that blind, it's catching on something" is "stop that blind" where what is left out
says nothing else: nothing that is named, no time and no value, no "not" and no "if", nothing that
is told of others, and no other command. Whoever calls decides on a span by sentences and words
alone, and takes it whole or not at all.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from hubd.assistant.understanding.lexicon import Lexicon, plain
from hubd.assistant.understanding.repairs import kind_of
from hubd.assistant.understanding.words import Phrases, Piece, pieces_of
from plugins.numbers import digits

MOST_SPANS = 8
"""Tries."""
MOST_CLAUSES = 8
"""More are a story."""
_BREAK = re.compile(
    r"\s*(?:(?:[,;，；…]|\.\.\.|(?<!\d)[:：](?!\d)|[.!?。！？](?=\s|$)|(?<=[。！？])|\s[-–—]+\s)\s*)+"
)


_ASIDE = {
    "en": re.compile(r"^(?:what was|what am i|what's it|let me|how do|where was|never mind)\b"),
    "de": re.compile(
        r"^(?:was weiß|was wollt|was wollte|wie sagt|wie heißt|weißt)\b"
        r"|^war das (?:ein|heute|wieder)\b"
    ),
    "zh": re.compile("^(?:怎么说|叫什么|我想想|让我|我(?:先|来|去)?(?:听听|看看|瞧瞧|试试|问问))"),
}
"""Thinking aloud, and what somebody is about to find out, that look like a question."""
_BESIDES = {"de": re.compile(r"^(?:bevor|ehe) (?:ich|wir)\b")}
"""What somebody is about to do, which is why they ask, and no condition of an answer."""
_SENTENCE = {
    "en": re.compile(
        r"\b(?:is|are|am|has|have|had|does|did|don't|doesn't|can't|won't|want|wants|need|needs|got|"
        r"think|know|going|\w+(?:'s|'re|'m|'ve|'d|'ll))\b"
    ),
    "de": re.compile(
        r"\b(?:ist|is|sind|bin|hat|hab|habe|haben|wird|werden|muss|müssen|kann|können|will|wollen|"
        r"soll|\w{2,}(?:[^aou]t|gt|st))\b"
    ),
    "zh": re.compile("..."),
}
"""What makes a sentence of three words or more: no item of a list and no name of anything."""

_SPEAKING = re.compile(
    r"[你您说讲问叫让喊]|\b(?:you|your|said|says|told|asked|asks|wants|"
    r"du|dir|dich|sagt|sagte|meint|meinte|fragt|will)\b"
)
"""What somebody said, or what is said to them."""

_THEN = re.compile(r"[,，]\s*(?:[就再]|(?:then|dann)\b)", re.IGNORECASE)


class Span(NamedTuple):
    """A part of an utterance."""

    text: str
    tells: bool
    """Whether it may only be answered: what is left out says something, but names nothing."""


class _Clause(NamedTuple):
    idle: bool
    """Whether it may be left out of a command."""
    nameless: bool
    """Whether it may be left out of a question."""


def spans(text: str, known: Lexicon, phrases: Phrases, people: Collection[str] = ()) -> list[Span]:
    """The parts of ``text`` to try, the longest first; none where it is of one piece.

    people: the names of persons, of whom a reason may speak: "I can't hear what Gran says"
    """
    if known.corrected(text):
        return []
    said = [one for one in _BREAK.split(text) if known.stripped(one)]
    if not 2 <= len(said) <= MOST_CLAUSES:
        return []
    if _THEN.search(text):
        people = ()  # "Tom is asleep, then turn off the light" may say when
    clauses = [_read(one, known, phrases, people) for one in said]
    found: dict[tuple[int, ...], Span] = {}
    whole = tuple(range(len(clauses)))
    kept = tuple(at for at in whole if not clauses[at].idle)
    runs = [whole[a:b] for size in range(len(said) - 1, 0, -1)
            for a in range(len(said) - size + 1) for b in (a + size,)]  # fmt: skip
    for run in [kept, *runs]:
        left = [clause for at, clause in enumerate(clauses) if at not in run]
        if not run or not left or run in found or not all(c.nameless for c in left):
            continue
        joined = (", " if known.spaces else "，").join(said[at] for at in run)
        found[run] = Span(joined, tells=not all(clause.idle for clause in left))
    return list(found.values())[:MOST_SPANS]


def _read(text: str, known: Lexicon, phrases: Phrases, people: Collection[str] = ()) -> _Clause:
    said = known.stripped(text)
    pieces = pieces_of(said, known, phrases)
    values = {piece for piece in pieces if kind_of(piece) == "number" and piece.number is None}
    if known.remarks(text) or _tells_of_person(pieces, people, plain(text)):
        values |= {piece for piece in pieces if _is_person(piece, people)}
    kinds = {kind_of(piece) for piece in pieces if piece not in values}  # "rock hard, completely"
    named = bool(kinds & {"thing", "room", "number", "color"}) or bool(known.subjects(said))
    timed = known.times(digits(said, known.language))
    besides = _matches(_BESIDES, said, known)
    conditional = (known.asks(text) and not besides) or known.is_elsewhere(text)
    aside = _matches(_ASIDE, said, known) or _matches(_ASIDE, plain(text), known)
    nameless = aside or not (named or timed or conditional or known.commands(said))
    known_words = "unknown" not in kinds or all(word in known.common for word in said.split())
    told = besides or known.remarks(text) or _matches(_SENTENCE, said, known)
    told = told and (not known.spaces or len(said.split()) > 2)
    reason = known.remarks(text) or "action" not in kinds
    denies = known.negates(text) and (known.forbids(text) or not told)
    asks = known.inquires_first(said)
    idle = aside or (not besides and (told or known_words) and reason and not (denies or asks))
    return _Clause(idle=nameless and idle, nameless=nameless and (told or known_words))


def _tells_of_person(pieces: Sequence[Piece], people: Collection[str], text: str) -> bool:
    """Whether it begins with somebody, and neither speaks to them nor says what they said."""
    begins = len(pieces) > 1 and _is_person(pieces[0], people)
    return begins and not _SPEAKING.search(text)


def _is_person(piece: Piece, people: Collection[str]) -> bool:
    return bool(piece.tags) and all(
        tag.kind == "entity" and tag.value in people for tag in piece.tags
    )


def _matches(patterns: Mapping[str, re.Pattern[str]], text: str, known: Lexicon) -> bool:
    pattern = patterns.get(known.language)
    return pattern is not None and pattern.search(text) is not None
