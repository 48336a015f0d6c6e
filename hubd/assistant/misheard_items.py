"""Items of a list as they were meant, where speech recognition heard other words: "pee nut butter
and bred".

An item that is known is what was said. Of any other the words are compared with known items by what
they sound like, and only what sounds nearly the same is taken for one.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.understanding.data_files import values
from hubd.assistant.understanding.phones import difference, pronounced
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
    known = _known(language)
    said = _letters(item)
    if not known or any(
        said == _letters(name) and item.count(" ") <= name.count(" ") for name in known
    ):
        return item  # "teabags" are tea bags
    if language == "zh":
        return _characters(item, known)
    sounds = pronounced(said, language)
    if len(sounds) < FEWEST:
        return item
    most = max(MOST, MOST_OF_LENGTH * len(sounds))
    near = [(difference(sounds, other, most), name) for name, other in known.items()]
    least = min(unlike for unlike, _ in near)
    found = [name for unlike, name in near if unlike == least]
    return found[0] if least <= most and len(found) == 1 else item


def _letters(item: str) -> str:
    return plain(item).replace(" ", "").replace("-", "")


def _characters(item: str, known: Mapping[str, str]) -> str:
    """The known item of as many characters that can be read in the same way."""
    if len(item) < 2:
        return item
    heard = [set(readings(character)) for character in item]
    found = [
        name
        for name in known
        if len(name) == len(item)
        and all(at & set(readings(c)) for at, c in zip(heard, name, strict=True))
    ]
    return found[0] if len(found) == 1 else item


@cache
def _known(language: str) -> Mapping[str, str]:
    """Item → its sounds."""
    listed = values(GROCERIES.read_text("utf-8")).get(language, "")
    names = [name.strip() for name in listed.split(",") if name.strip()]
    if language == "zh":
        return dict.fromkeys(names, "")
    return {name: pronounced(_letters(name), language) for name in names}
