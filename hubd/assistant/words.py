"""Utterance → intent and slots by its words, for phrasings that no sentence grammar has.

Every word must be accounted for: a name of the household, an action, a kind of thing, a number, or
a word without meaning. A name may be misspelled a little; an action may not, because one letter
lies between "on" and "off" in some language or other. Two actions that disagree are nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hubd.assistant.lexicon import Kind, Lexicon, Tag, plain
from hubd.assistant.names import called
from hubd.home.model import Area, Entity, Floor, Snapshot
from plugins.numbers import digits

LONGEST_WINDOW = 4
"""Words that together may be one misheard name."""
LONGEST_PHRASE = 60
"""Characters."""
SCORE_MISSPELLED = 0.12
"""What each wrong letter costs."""

Phrases = Mapping[str, tuple[Tag, ...]]


class Piece(NamedTuple):
    """A stretch of the utterance and what it means; no tags: unknown."""

    text: str
    tags: tuple[Tag, ...] = ()
    number: float | None = None
    wrong: int = 0
    """Letters that had to be changed to know it."""


class Reading(NamedTuple):
    """What the words say together."""

    actions: frozenset[str]
    names: tuple[str, ...]
    areas: tuple[str, ...]
    floors: tuple[str, ...]
    nouns: frozenset[str]
    numbers: tuple[float, ...]
    units: frozenset[str]
    colors: tuple[str, ...]
    everything: bool
    here: bool
    score: float


def phrases_of(snapshot: Snapshot, lexicon: Lexicon) -> dict[str, tuple[Tag, ...]]:
    """Every phrase that is known: the lexicon's, and over them the household's names."""
    phrases: dict[str, tuple[Tag, ...]] = {
        phrase: (tag,) for phrase, tag in lexicon.phrases.items()
    }
    kinds: tuple[tuple[Kind, Sequence[Floor | Area | Entity]], ...] = (
        ("floor", snapshot.floors),
        ("area", snapshot.areas),
        ("entity", snapshot.entities),
    )
    for kind, things in kinds:
        for thing in things:
            for name in called(thing):
                tag = Tag(kind, name)
                known = phrases.get(plain(name), ())
                if any(other.kind == "action" for other in known):
                    continue  # a name that is a verb as well would make every sentence its own
                phrases[plain(name)] = (*(t for t in known if t.kind in NAMED and t != tag), tag)
    return phrases


NAMED = frozenset({"floor", "area", "entity"})


def read(text: str, lexicon: Lexicon, phrases: Phrases) -> Reading | None:
    """The meaning of a stripped utterance, or ``None`` where a word stays unknown."""
    text = digits(plain(text), lexicon.language)
    pieces = list(_scan(text, lexicon, phrases))
    pieces = _respelled(pieces, lexicon, phrases)
    if any(not piece.tags and piece.number is None for piece in pieces):
        return None
    return _reading(pieces, lexicon)


def _scan(text: str, lexicon: Lexicon, phrases: Phrases) -> Iterator[Piece]:
    """The text as the longest known phrases; between them numbers and single unknown words."""
    at = 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        end = _longest(text, at, lexicon, phrases)
        if end:
            last = phrases.get(text[at:end] + "$") if end == len(text) else None
            yield Piece(text[at:end], last or phrases[text[at:end]])
            at = end
        elif number := re.compile(r"\d+(?:[.,]\d+)?").match(text, at):
            yield Piece(number[0], number=float(number[0].replace(",", ".")))
            at = number.end()
        else:
            end = at + 1
            if lexicon.spaces:
                end = min((i for i in (text.find(" ", at),) if i > 0), default=len(text))
            yield Piece(text[at:end])
            at = end


def _longest(text: str, at: int, lexicon: Lexicon, phrases: Phrases) -> int:
    """Where the longest phrase that begins at ``at`` ends; 0 if none does."""
    for end in range(min(len(text), at + LONGEST_PHRASE), at, -1):
        inside_a_word = text[end - 1 : end + 1].isalpha() and end < len(text)
        if lexicon.spaces and inside_a_word:
            continue
        if text[at:end] in phrases or (end == len(text) and text[at:end] + "$" in phrases):
            return end
    return 0


def _respelled(pieces: list[Piece], lexicon: Lexicon, phrases: Phrases) -> list[Piece]:
    """Unknown words, with their neighbours, as the one name that they nearly spell."""
    while (
        at := next((i for i, p in enumerate(pieces) if not p.tags and p.number is None), -1)
    ) >= 0:
        best: tuple[int, int, int, int, tuple[Tag, ...]] | None = None
        widest = LONGEST_WINDOW if lexicon.spaces else 6
        for start in range(max(0, at - widest + 1), at + 1):
            for end in range(at + 1, min(len(pieces), start + widest) + 1):
                window = pieces[start:end]
                if any(tag.kind == "action" for piece in window for tag in piece.tags):
                    continue
                joined = "".join(piece.text for piece in window).replace(" ", "")
                found = _nearest(joined, lexicon, phrases)
                if found and (best is None or (found[0], start - end) < (best[0], best[1])):
                    best = (found[0], start - end, start, end, found[1])
        if best is None:
            return pieces
        wrong, _, start, end, tags = best
        text = " ".join(piece.text for piece in pieces[start:end])
        pieces = [*pieces[:start], Piece(text, tags, wrong=wrong), *pieces[end:]]
    return pieces


def _nearest(joined: str, lexicon: Lexicon, phrases: Phrases) -> tuple[int, tuple[Tag, ...]] | None:
    """The name or kind of thing that is spelled nearly so, if one is nearest."""
    found: list[tuple[int, tuple[Tag, ...]]] = []
    for phrase, tags in phrases.items():
        if tags[0].kind not in (*NAMED, "noun"):
            continue
        wanted = phrase.replace(" ", "")
        allowed = _allowed(len(wanted), lexicon.spaces)
        if abs(len(wanted) - len(joined)) > (allowed if lexicon.spaces else 0):
            continue
        wrong = distance(joined, wanted, allowed)
        if wrong <= allowed and (lexicon.spaces or tags[0].kind != "noun"):
            found.append((wrong, tags))
    if not found:
        return None
    nearest = min(wrong for wrong, _ in found)
    first = [tags for wrong, tags in found if wrong == nearest]
    return (nearest, first[0]) if all(tags == first[0] for tags in first) else None


def _allowed(length: int, spaces: bool) -> int:
    """How many letters of a name may be wrong."""
    if not spaces:
        return 1 if length >= 2 else 0
    return 0 if length < 4 else 1 if length < 6 else 2


def distance(one: str, other: str, limit: int) -> int:
    """Letters changed, added, left out or swapped with their neighbour; ``limit + 1`` if more."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        last, before, row = before, row, [i]
        for j, b in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def _reading(pieces: Sequence[Piece], lexicon: Lexicon) -> Reading | None:
    of: dict[str, list[str]] = {}
    for piece in pieces:
        for tag in piece.tags:
            of.setdefault(tag.kind, []).append(tag.value)
    actions = _combined(frozenset(of.get("action", ())), lexicon)
    wrong = sum(piece.wrong for piece in pieces)
    if actions is None or (wrong and not actions and not of.get("entity")):
        return None
    return Reading(
        actions=actions,
        names=tuple(dict.fromkeys(of.get("entity", ()))),
        areas=tuple(dict.fromkeys(of.get("area", ()))),
        floors=tuple(dict.fromkeys(of.get("floor", ()))),
        nouns=frozenset(of.get("noun", ())),
        numbers=tuple(piece.number for piece in pieces if piece.number is not None),
        units=frozenset(of.get("unit", ())),
        colors=tuple(of.get("color", ())),
        everything="all" in of,
        here="here" in of,
        score=round(max(0.0, 0.9 - SCORE_MISSPELLED * wrong), 2),
    )


def _combined(actions: frozenset[str], lexicon: Lexicon) -> frozenset[str] | None:
    """At most one action: two that are not one together disagree."""
    if len(actions) == 2 and (together := lexicon.combine.get(actions)):
        return frozenset((together,))
    if len(actions) > 1 and not actions <= {"half", "full", *actions & {"open", "close", "on"}}:
        return None
    return actions


def slots_of(reading: Reading) -> dict[str, Any]:
    """The slots that say which entities are meant."""
    slots: dict[str, Any] = {}
    if reading.names:
        slots["name"] = reading.names[0]
    if reading.areas:
        slots["area"] = reading.areas[0]
    if reading.floors:
        slots["floor"] = reading.floors[0]
    return slots
