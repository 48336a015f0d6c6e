"""The clauses of an utterance that may be what it asks for, where nothing explains it as a whole: a
command or a question among reasons, greetings and thinking aloud.

"Hang on, stop that blind, it's catching on something" is "stop that blind" where what is left out
says nothing else: nothing that is named, no time and no value, no "not" and no "if", nothing that
is told of others, and no other command. Whoever calls decides on a span by sentences and words
alone, and takes it whole or not at all.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from hubd.assistant.understanding.asides import is_aside
from hubd.assistant.understanding.beside import is_person, requested_first, requested_last
from hubd.assistant.understanding.idle import is_needed
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.reasons import (
    BREAK,
    TELLS,
    THEN,
    is_of_another,
    is_reason,
    is_short,
    parted,
)
from hubd.assistant.understanding.repairs import kind_of
from hubd.assistant.understanding.words import Phrases, Piece, pieces_of
from plugins.numbers import digits

MOST_SPANS = 8
"""Tries."""
MOST_CLAUSES = 8
"""More are a story."""
_SENTENCE = {
    "en": re.compile(
        r"\b(?:(?:is|are|has|have|does|did)(?:n't)?|am|had|don't|can't|won't|want|wants|need|needs|got|"
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

_PAUSE = {"en": re.compile(r",?\s+(?:u+h+m*|u+m+|er+m*|eh+m|hm+)\b[,.…]*(?=\s)", re.IGNORECASE)}
"""A hesitation, which may stand in the middle of a clause: "before I, um, go out"."""
_BEFOREHAND = {
    "en": re.compile(r"^(?:before|while|as) (?:i|we)\b"),
    "de": re.compile(r"^(?:bevor|ehe) (?:ich|wir)\b"),
}
"""What somebody is about to do, which is why they ask, and no condition of an answer."""
_REPORTED = {
    "en": re.compile(
        r"^(?:(?:the|my|our) )?\w+ (?:says?|said|reckons?|thinks?|keeps saying|told me) (?:that )?"
        r"(?=(?:he|she|they|it|his|her|their)(?:'s|'re)? )",
        re.IGNORECASE,
    )
}
"""Who complains: "he says his hands are cold"."""
_JOINED_ON = re.compile(r"^(?:but|and|so|aber|und|also)\b[, ]*", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?])\s+")


class Span(NamedTuple):
    """A part of an utterance."""

    text: str
    tells: bool
    """Whether it may only be answered: what is left out says something, but names nothing."""
    guessed: bool = False
    """Whether what is left out is like reasons, and no rule says that it is one."""


class _Clause(NamedTuple):
    idle: bool
    """Whether it may be left out of a command."""
    nameless: bool
    """Whether it may be left out of a question."""
    guessed: bool = False
    """Whether it is idle because it is like what is."""


def spans(text: str, known: Lexicon, phrases: Phrases) -> list[Span]:
    """The parts of ``text`` to try, the longest first; none where it is of one piece."""
    if known.corrected(text):
        return []
    pause = _PAUSE.get(known.language, NEVER)
    forms = dict.fromkeys((text, pause.sub("", text), parted(text, known)))
    found = {span.text: span for form in forms for span in _spans_of(form, known, phrases)}
    for asked in (requested_last(text, known, phrases), requested_first(text, known, phrases)):
        if asked and asked not in found:
            found = {asked: Span(asked, tells=False), **found}
    return list(found.values())[:MOST_SPANS]


def _is_needed(text: str, known: Lexicon, phrases: Phrases) -> bool:
    """Whether a clause that rules let be left out is like those that may not; what is told of
    somebody of the household is a reason still: "Tom found some"."""
    said = known.stripped(text)
    if is_aside(text, known) or is_short(said, known) or not is_needed(text, known):
        return False
    pieces = pieces_of(said, known, phrases)
    return not _tells_of_person(pieces, phrases.people, plain(text))


def _spans_of(text: str, known: Lexicon, phrases: Phrases) -> Iterator[Span]:
    pieces = [one for one in BREAK.split(text) if one]
    said = [one for one in pieces if known.stripped(one)]
    if len(said) == 1 and len(pieces) > 1 and not text.rstrip().endswith(("?", "？")):
        yield Span(said[0], tells=False)
    if not 2 <= len(said) <= MOST_CLAUSES:
        return
    then = THEN.search(text) is not None
    people: Collection[str] = () if then else phrases.people
    apart = _SENTENCES.split(text)[1:]
    clauses = [
        _read(one, known, phrases, people, apart=any(other.startswith(one) for other in apart))
        for one in said
    ]
    if not then:
        clauses = [_guessed(one, at, known, phrases) for one, at in zip(said, clauses, strict=True)]
    found: set[tuple[int, ...]] = set()
    whole = tuple(range(len(clauses)))
    kept = tuple(at for at in whole if not clauses[at].idle)
    runs = [whole[a:b] for size in range(len(said) - 1, 0, -1)
            for a in range(len(said) - size + 1) for b in (a + size,)]  # fmt: skip
    for run in [kept, *runs]:
        left = [clause for at, clause in enumerate(clauses) if at not in run]
        if not run or not left or run in found or not all(c.nameless for c in left):
            continue
        joined = (", " if known.spaces else "，").join(said[at] for at in run)
        joined = _JOINED_ON.sub("", joined)
        found.add(run)
        guessed = any(clause.guessed for clause in left)
        broken = run[-1] - run[0] >= len(run)  # what stands between is more than a reason
        if guessed and (broken or is_of_another(joined, known)):
            continue
        yield Span(joined, not all(clause.idle for clause in left), guessed)


def _read(
    text: str, known: Lexicon, phrases: Phrases, people: Collection[str], *, apart: bool
) -> _Clause:
    """people: the names of persons, of whom a reason may speak: "I can't hear what Gran says";
    apart: whether it begins a sentence of its own, after another one"""
    if apart:
        text = _REPORTED.get(known.language, NEVER).sub("", text)
    said = known.stripped(text)
    pieces = pieces_of(said, known, phrases)
    values = {piece for piece in pieces if kind_of(piece) == "number" and piece.number is None}
    persons = {piece for piece in pieces if is_person(piece, people)}
    if known.spaces or known.remarks(text) or _tells_of_person(pieces, people, plain(text)):
        values |= persons  # "Ann's freezing"
    kinds = {kind_of(piece) for piece in pieces if piece not in values}  # "rock hard, completely"
    named = bool(kinds & {"thing", "room", "number", "color"}) or bool(known.subjects(said))
    timed = known.times(digits(said, known.language))
    beforehand = _matches(_BEFOREHAND, said, known)
    asks_so = (
        known.wonders if persons and not _SPEAKING.search(said) else known.asks
    )  # "Tom bought it"
    conditional = (asks_so(text) and not beforehand) or known.is_elsewhere(text)
    aside = is_aside(text, known)
    nameless = aside or not (named or timed or conditional or known.commands(said))
    known_words = not (persons and known.spaces) and (
        "unknown" not in kinds or all(word in known.common for word in said.split())
    )
    told = beforehand or known.remarks(text) or _matches(_SENTENCE, said, known)
    told = told and (not known.spaces or bool(persons) or len(said.split()) > 2)
    reason = known.remarks(text) or "action" not in kinds
    denies = known.negates(text) and (known.forbids(text) or not told)
    asks = known.inquires_first(said)
    idle = aside or (not beforehand and (told or known_words) and reason and not (denies or asks))
    return _Clause(idle=nameless and idle, nameless=nameless and (told or known_words))


def _guessed(text: str, clause: _Clause, known: Lexicon, phrases: Phrases) -> _Clause:
    """The clause, or where no rule lets it be left out and it is like reasons, an idle one. What is
    named has to have something told of it: "the one at the window" is which."""
    if clause.idle and _is_needed(text, known, phrases):
        return clause._replace(idle=False)
    if clause.idle or not is_reason(text, known):
        return clause
    said = known.stripped(text)
    kinds = {kind_of(piece) for piece in pieces_of(said, known, phrases)}
    if known.subjects(said):
        return clause  # "the timer, um, someone's at the door, pause it"
    if kinds & {"thing", "room"} and not TELLS.search(plain(text)):
        return clause
    return _Clause(idle=True, nameless=True, guessed=True)


def _tells_of_person(pieces: Sequence[Piece], people: Collection[str], text: str) -> bool:
    """Whether it begins with somebody, and neither speaks to them nor says what they said."""
    begins = len(pieces) > 1 and is_person(pieces[0], people)
    return begins and not _SPEAKING.search(text)


def _matches(patterns: Mapping[str, re.Pattern[str]], text: str, known: Lexicon) -> bool:
    pattern = patterns.get(known.language)
    return pattern is not None and pattern.search(text) is not None
