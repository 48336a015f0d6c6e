"""The name or kind of thing that a misheard or misspelled word nearly spells, or sounds like."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rapidfuzz.distance import OSA

from hubd.assistant.understanding.lexicon import NAMED, Lexicon, Tag
from hubd.assistant.understanding.sounds import sound

MOST_WRONG = 2
"""Letters of a long name that may be wrong."""

LEAST_AS_LONG = 0.5
"""How long a word that sounds like a name has to be at least, as a part of it."""

_OWNING = frozenset({
    "his", "her", "their", "sein", "seine", "seinen", "seinem", "seiner",
    "ihr", "ihre", "ihren", "ihrem",
})  # fmt: skip
"""Words that say whose it is, and are no part of a name: "his light" is no Big Light."""

Nearest = tuple[int, tuple[Tag, ...]]
"""How many letters are wrong, and what is meant."""


class Spelling(NamedTuple):
    """A name or kind of thing, as it is compared."""

    text: str
    """Without spaces."""
    tags: tuple[Tag, ...]
    noun: bool
    """A kind of thing, which is a word like any other: "getting" is no heating."""
    allowed: int
    """Letters that may be wrong."""
    sound: str
    room: int
    """Letters of a room's name that it begins with."""


class Spellings(NamedTuple):
    """All of a language and a household, by what an unknown word is compared with: without that, a
    Chinese sentence was compared with every phrase, 19 ms for 1."""

    spaces: bool
    language: str
    by_length: Mapping[int, Sequence[Spelling]]
    by_sound: Mapping[str, Sequence[Spelling]]


def spellings_of(phrases: Mapping[str, tuple[Tag, ...]], lexicon: Lexicon) -> Spellings:
    """The names and kinds of thing among ``phrases``."""
    by_length: dict[int, list[Spelling]] = defaultdict(list)
    by_sound: dict[str, list[Spelling]] = defaultdict(list)
    rooms = [p for p, tags in phrases.items() if any(tag.kind == "area" for tag in tags)]
    for phrase, tags in phrases.items():
        noun = tags[0].kind == "noun"
        if not (noun or tags[0].kind in NAMED):
            continue
        if not noun and "'" in phrase and phrase.replace("'", "") in phrases:
            continue  # "grandad's radio" and "grandads radio" are one name
        text = phrase.replace(" ", "")
        sounding = sound(text, lexicon.language)
        allowed = _allowed(len(text), noun, lexicon.spaces)
        begins = (r.replace(" ", "") for r in rooms if phrase != r and phrase.startswith(r))
        room = max(map(len, begins), default=0)
        spelling = Spelling(text, tags, noun, allowed, sounding, room)
        by_length[len(text)].append(spelling)
        if sounding:
            by_sound[sounding].append(spelling)
    return Spellings(lexicon.spaces, lexicon.language, by_length, by_sound)


def nearest(heard: Sequence[str], known: Spellings) -> Nearest | None:
    """What the words of ``heard`` together spell nearly so, or sound like, if one is nearest."""
    if len(heard) > 1 and heard[0] in _OWNING:
        return None
    joined = "".join(heard).replace(" ", "")
    parts = len(heard) > 1 and known.spaces
    sounding = sound(joined, known.language)
    found: list[Nearest] = [
        (1, alike.tags)
        for alike in known.by_sound.get(sounding, ())
        if not (alike.noun and parts) and _as_long(joined, alike.text)
    ]
    reach = MOST_WRONG if known.spaces else 0
    for length in range(len(joined) - reach, len(joined) + reach + 1):
        for other in known.by_length.get(length, ()):
            if other.noun and parts:  # "t v", but no "dark out" for an outlet
                found += [(1, other.tags)] if other.text == joined else []
            elif known.spaces and _is_prefixed(joined, other.text):
                continue  # a dehumidifier is no humidifier
            elif not known.spaces and _differs_after_room(joined, other):
                continue  # 厨房扫 is no 厨房灯
            elif known.spaces and _has_a_rival(joined, other, known):
                continue  # "kitchen lied" may be the Kitchen Blind or the Kitchen Light
            elif not (sounding and other.sound == sounding):
                begins = not known.spaces or joined[0] == other.text[0]  # Marge is no garage
                allowed = other.allowed if begins else min(other.allowed, 1)
                wrong = OSA.distance(joined, other.text, score_cutoff=allowed)
                found += [(wrong, other.tags)] if 0 < wrong <= allowed else []
    if not found:
        return None
    least = min(wrong for wrong, _ in found)
    first, *others = (tags for wrong, tags in found if wrong == least)
    return (least, first) if all(tags == first for tags in others) else None


def _as_long(heard: str, wanted: str) -> bool:
    """Whether one may be heard as the other: "fang" has the consonants of "Wohnküche"."""
    return min(len(heard), len(wanted)) > LEAST_AS_LONG * max(len(heard), len(wanted))


def _is_prefixed(heard: str, wanted: str) -> bool:
    """Whether two letters or more stand before what is wanted, which makes another word of it."""
    return len(heard) >= len(wanted) + 2 and heard.endswith(wanted)


def _differs_after_room(heard: str, wanted: Spelling) -> bool:
    """Whether both name the same room, and the name has too little besides to be known by."""
    same = wanted.room and heard[: wanted.room] == wanted.text[: wanted.room]
    return bool(same) and _allowed(len(wanted.text) - wanted.room, wanted.noun, spaces=False) == 0


def _has_a_rival(heard: str, wanted: Spelling, known: Spellings) -> bool:
    """Whether both name the same room, are unlike behind it, and another thing of the room, or
    another kind of thing, is hardly more so."""
    room, kind = wanted.room, wanted.text[wanted.room :]
    if not room or heard[:room] != wanted.text[:room]:
        return False
    wrong = OSA.distance(heard[room:], kind)
    if wrong < MOST_WRONG:
        return False
    others = (one for alike in known.by_length.values() for one in alike)
    rivals = (
        one.text if one.noun else one.text[room:]
        for one in others
        if one.noun or (one.room == room and one.text[:room] == wanted.text[:room])
    )
    return any(
        not rival.startswith(kind) and OSA.distance(heard[room:], rival) <= wrong + 1
        for rival in rivals
    )


def _allowed(length: int, noun: bool, spaces: bool) -> int:
    """How many letters of a name or a kind of thing may be wrong."""
    if not spaces:
        return 1 if length >= 3 and not noun else 0
    allowed = 0 if length < 5 else 1 if length < 6 else MOST_WRONG
    return min(allowed, 1) if noun else allowed
