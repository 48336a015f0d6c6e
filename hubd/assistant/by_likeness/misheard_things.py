"""Items of a list and what shall be played as they were meant, where speech recognition heard other
words: "pee nut butter and bred", 周接轮的情天, the "past a timer".

What is known is what was said. Of anything else the words are compared with what is known by what
they sound like, and only what sounds nearly the same is taken for it.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hubd.assistant.by_likeness.wording import SLOTS
from hubd.assistant.decision import Decision
from hubd.assistant.follow_ups.named_ones import TIMERS
from hubd.assistant.misread import OF_WORDS
from hubd.assistant.understanding.bought import bought
from hubd.assistant.understanding.data_files import values
from hubd.assistant.understanding.fill import TIMER
from hubd.assistant.understanding.phones import difference, keys, pronounced
from hubd.assistant.understanding.plain import NEVER, plain
from hubd.assistant.understanding.sounds import readings
from plugins.lists import items_of

MUSIC = Path(__file__).with_name("misheard_music.yaml")
NAMES = {**TIMERS, TIMER: "name"}
"""Tools of timers, which are mostly called after what is on the stove, and the argument that is a
timer's name."""
FEWEST = {"items": 3, "music": 5}
"""Sounds of a thing of each kind; a shorter one sounds like too many others."""
MOST = {"items": 0.4, "music": 0.25}
"""The difference of sounds up to which a thing is one that is known: two vowels, or a consonant
that is near, of an item; one vowel of what is played, which may be called anything."""
MOST_OF_LENGTH = {"items": 0.08, "music": 0.06}
"""The same of a long one, for each of its sounds: "Männer" is not Nena."""
_BETWEEN = {
    "en": re.compile(r"( by | from | and )"),
    "de": re.compile(r"( von | aus | und )"),
    "zh": re.compile("([的和跟])"),
}
"""What stands between a title and whose it is."""
_NO_TITLE = re.compile(
    r"^(?:mahl|mal|von|by) (?=\w)|^(?:me|us|mir|uns) (?=(?:some|something|a bit of|a little|was|"
    r"etwas|ein bisschen|bitte) )|(?<= )bitte (?=(?:was|etwas|ein bisschen) )|^放(?=..)|"
    r",? for (?:me|us)(?:,? please)?$|(?<!please) please$",
    re.IGNORECASE,
)
"""What belongs to "play" and was left with the title."""
_DIVIDED = {
    "en": re.compile(r"\w+s\b", re.IGNORECASE),
    "de": re.compile(r"\w"),
}
"""What an item begins with that may be several."""
FEWEST_WORDS = 2
LONGEST = 3
"""Words of a known item."""
_BEFORE = re.compile("(?:some|the|a bit of|a little|das lied|was|etwas) ", re.IGNORECASE)


def heard_rightly(decision: Decision) -> Decision:
    """The decision with the things that are named as they were meant."""
    call = decision.call
    if call is None or not (call.tool in OF_WORDS or call.tool in NAMES):
        return decision
    argument = NAMES.get(call.tool) or SLOTS[call.tool].about
    given = call.arguments.get(argument, "")
    meant = _meant(call.tool, given, decision.language)
    if meant == given:
        return decision
    call = msgspec.structs.replace(call, arguments={**call.arguments, argument: meant})
    return msgspec.structs.replace(decision, call=call)


def _meant(tool: str, given: Any, language: str) -> Any:
    """The argument of a tool as it was meant; ``given`` where that is what was heard."""
    if tool == "media.search":
        return title_as_meant(given, language)
    if tool in NAMES:  # of one word a timer may be called anything
        return as_meant(given, language) if " " in given else given
    said = items_of([given] if isinstance(given, str) else given)
    items = [as_meant(part, language) for item in said for part in apart(item, language)]
    if items == said:
        return given
    return items if tool == "lists.add" else ", ".join(items)


def apart(item: str, language: str) -> list[str]:
    """The items that were said without a pause between them, "eggs flour" and „Milch Brot Eier“;
    ``item`` alone where it is one. In English only behind a plural: garlic bread is bread."""
    words, known = item.split(), _known("items", language)
    if len(words) < FEWEST_WORDS or not _DIVIDED.get(language, NEVER).match(item):
        return [item]
    if as_meant(item, language) != item or _letters(item) in known.by_letters:
        return [item]
    for length in range(min(len(words) - 1, LONGEST), 0, -1):
        first = " ".join(words[:length])
        rest = " ".join(words[length:])
        further = apart(rest, language)
        if all(_is_known(one, language) for one in (first, *further)):
            return [first, *further]
    return [item]


def _is_known(item: str, language: str) -> bool:
    letters = _letters(as_meant(item, language))
    return letters in _known("items", language).by_letters


def title_as_meant(query: str, language: str) -> str:
    """What shall be played, each part of it as it was meant."""
    query = _NO_TITLE.sub("", query)
    before = _BEFORE.match(query)
    said, between = before[0] if before else "", _BETWEEN.get(language)
    rest = query.removeprefix(said)
    parts = between.split(rest) if between else [rest]
    return said + "".join(as_meant(part, language, "music") for part in parts)


def as_meant(thing: str, language: str, kind: str = "items") -> str:
    """The known thing of a kind that ``thing`` sounds like; ``thing`` where it is known, or like
    none or two."""
    known, said = _known(kind, language), _letters(thing)
    if any(thing.count(" ") <= name.count(" ") for name in known.by_letters.get(said, ())):
        return thing  # "teabags" are tea bags
    if language == "zh":
        found = _read_alike(thing, known)
    elif known.by_key and said.isalpha():
        found = _sounding_like(pronounced(said, language), known, kind)
    else:
        found = []
    return found[0] if len(found) == 1 else thing


_BETWEEN_LETTERS = str.maketrans("", "", " -'’")


class _Known(NamedTuple):
    """The things of a kind in a language."""

    by_letters: Mapping[str, Sequence[str]]
    by_key: Mapping[str, Sequence[tuple[str, str]]]
    """Key of what they sound like → things and their sounds."""


def _letters(thing: str) -> str:
    return plain(thing).translate(_BETWEEN_LETTERS)


def _sounding_like(sounds: str, known: _Known, kind: str) -> list[str]:
    """The things that are least unlike, if any is near enough."""
    if len(sounds) < FEWEST[kind]:
        return []
    most = max(MOST[kind], MOST_OF_LENGTH[kind] * len(sounds))
    alike = {name: other for key in keys(sounds) for name, other in known.by_key.get(key, ())}
    near = {name: difference(sounds, other, most) for name, other in alike.items()}
    least = min(near.values(), default=math.inf)
    return [name for name, unlike in near.items() if unlike == least <= most]


def _read_alike(thing: str, known: _Known) -> list[str]:
    """The things of as many characters that can be read in the same way."""
    heard = [set(readings(character)) for character in thing]
    return [
        name
        for name in known.by_letters
        if 2 <= len(name) == len(thing)
        and all(at & set(readings(c)) for at, c in zip(heard, name, strict=True))
    ]


def _played(language: str) -> Iterable[str]:
    listed = values(MUSIC.read_text("utf-8")).get(language, "")
    return filter(None, map(str.strip, listed.split(",")))


@cache
def _known(kind: str, language: str) -> _Known:
    by_letters: dict[str, list[str]] = defaultdict(list)
    by_key: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in bought(language) if kind == "items" else _played(language):
        by_letters[_letters(name)].append(name)
        sounds = pronounced(_letters(name), language) if language != "zh" else ""
        for key in keys(sounds) if sounds else ():
            by_key[key].append((name, sounds))
    return _Known(by_letters, by_key)
