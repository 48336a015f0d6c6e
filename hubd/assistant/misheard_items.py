"""Items of a list as they were meant, where speech recognition heard other words: "pee nut butter
and bred".

An item that is known is what was said. Of any other the words are compared with known items by what
they sound like, and only what sounds nearly the same is taken for one.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.data_files import values
from hubd.assistant.understanding.phones import difference, keys, pronounced
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.sounds import readings
from plugins.lists import items_of

ADD = "lists.add"

GROCERIES = Path(__file__).with_suffix(".yaml")
MOST = 0.4
"""The difference of sounds up to which an item is one that is known: two vowels, or a consonant
that is near."""
MOST_OF_LENGTH = 0.08
"""The same of a long one, for each of its sounds."""
FEWEST = 3
"""Sounds of an item; a shorter one sounds like too many others."""


def heard_rightly(decision: Decision) -> Decision:
    """The decision with the items of a list as they were meant."""
    call = decision.call
    if call is None or call.tool != ADD:
        return decision
    said = items_of(call.arguments.get("items", ()))
    items = [as_meant(item, decision.language) for item in said]
    if items == said:
        return decision
    call = msgspec.structs.replace(call, arguments={**call.arguments, "items": items})
    return msgspec.structs.replace(decision, call=call)


def as_meant(item: str, language: str) -> str:
    """The known item that ``item`` sounds like; ``item`` where it is known, or like none or two."""
    known, said = _known(language), _letters(item)
    if any(item.count(" ") <= name.count(" ") for name in known.by_letters.get(said, ())):
        return item  # "teabags" are tea bags
    if language == "zh":
        found = _read_alike(item, known)
    else:
        heard = known.by_key and said.isalpha()
        found = _sounding_like(pronounced(said, language), known) if heard else []
    return found[0] if len(found) == 1 else item


class _Known(NamedTuple):
    """The items of a language."""

    by_letters: Mapping[str, Sequence[str]]
    by_key: Mapping[str, Sequence[tuple[str, str]]]
    """Key of what they sound like → items and their sounds."""


def _letters(item: str) -> str:
    return plain(item).replace(" ", "").replace("-", "")


def _sounding_like(sounds: str, known: _Known) -> list[str]:
    """The items that are least unlike, if any is near enough."""
    if len(sounds) < FEWEST:
        return []
    most = max(MOST, MOST_OF_LENGTH * len(sounds))
    alike = {name: other for key in keys(sounds) for name, other in known.by_key.get(key, ())}
    near = {name: difference(sounds, other, most) for name, other in alike.items()}
    least = min(near.values(), default=math.inf)
    return [name for name, unlike in near.items() if unlike == least <= most]


def _read_alike(item: str, known: _Known) -> list[str]:
    """The items of as many characters that can be read in the same way."""
    heard = [set(readings(character)) for character in item]
    return [
        name
        for name in known.by_letters
        if 2 <= len(name) == len(item)
        and all(at & set(readings(c)) for at, c in zip(heard, name, strict=True))
    ]


@cache
def _known(language: str) -> _Known:
    listed = values(GROCERIES.read_text("utf-8")).get(language, "")
    by_letters: dict[str, list[str]] = defaultdict(list)
    by_key: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in filter(None, map(str.strip, listed.split(","))):
        by_letters[_letters(name)].append(name)
        sounds = pronounced(_letters(name), language) if language != "zh" else ""
        for key in keys(sounds) if sounds else ():
            by_key[key].append((name, sounds))
    return _Known(by_letters, by_key)
