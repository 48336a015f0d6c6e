"""Rooms and doors that the house names in another language than it is spoken to in: „in der Küche“
of a house with a Kitchen. What they are called is in house_words.yaml.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Snapshot

_THINGS = (
    "licht|lichter|lampe|lampen|leuchte|heizung|thermostat|rollo|rollos|rollladen|rollläden|"
    "jalousie|jalousien|vorhang|vorhänge|fenster|radio|fernseher|lautsprecher|ventilator|steckdose"
)
"""German things that are written as one word with the room where they are: „Küchenlicht“."""


def in_house_words(text: str, language: str, snapshot: Snapshot) -> str:
    """``text`` with the house's own names for rooms and doors that it calls by another language's
    words. What the house has a name with that word for stays as it is said."""
    names = tuple(name for area in snapshot.areas for name in called(area))
    names += tuple(name for entity in snapshot.entities for name in called(entity))
    spoken = _spoken(names, language)
    if not spoken:
        return text
    return _pattern(tuple(spoken), language).sub(lambda found: _named(found, spoken), text)


def _named(found: re.Match[str], spoken: Mapping[str, str]) -> str:
    """The house's name, and what is there as a word of its own: „Küchenlicht“, "Kitchen Licht"."""
    name = spoken[found["place"].casefold()]
    thing = found.groupdict().get("thing")
    return f"{name} {thing.capitalize()}" if thing else name


@lru_cache(maxsize=16)
def _spoken(names: tuple[str, ...], language: str) -> dict[str, str]:
    """Word of this language → what the house calls that."""
    own = {plain(name): name for name in reversed(names)}
    whole = " ".join(own)
    found: dict[str, str] = {}
    for place in _places():
        words = place.get(language, [])
        others = [word for tag, some in place.items() if tag != language for word in some]
        name = next((own[plain(word)] for word in others if plain(word) in own), None)
        if name is not None and not any(plain(word) in whole for word in words):
            found |= dict.fromkeys(words, name)
    return found


@lru_cache(maxsize=16)
def _pattern(words: tuple[str, ...], language: str) -> re.Pattern[str]:
    place = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    if language == "zh":
        return re.compile(f"(?P<place>{place})")
    compound = rf"n?(?P<thing>{_THINGS})\b|" if language == "de" else ""
    return re.compile(rf"\b(?P<place>{place})(?:{compound}\b)", re.IGNORECASE)


@cache
def _places() -> list[dict[str, list[str]]]:
    read: list[dict[str, list[str]]] = texts_in(Path(__file__).with_suffix(".yaml"))
    return read
