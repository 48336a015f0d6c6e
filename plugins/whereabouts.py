"""Where people are, as it is asked for. Shared by plugins; no plugin itself."""

import re
from collections.abc import Collection

from plugins.api import Entity

PEOPLE = frozenset({"person", "device_tracker"})
HOME, AWAY = "home", "not_home"
"""The states of somebody who is there, and of somebody who is not, in Home Assistant's words."""
_AT_HOME = frozenset({
    "home", "at home", "in", "here", "there", "around", "back", "back home", "in the house",
    "zuhause", "zu hause", "daheim", "da", "hier", "haus", "im haus", "zurück", "家", "家里",
    "在家", "屋里", "maison", "à la maison", "là", "casa", "en casa", "aquí",
})  # fmt: skip
_AWAY = frozenset({
    "away", "out", "gone", "not home", "not at home", "weg", "fort", "unterwegs", "außer haus",
    "外面", "外边", "absent", "absente", "sorti", "sortie", "fuera",
})  # fmt: skip


_PLACED = re.compile(
    r"\b(?:at|in|on|near|inside|im|auf|am|bei|beim|zur?|zum|à|au|aux|chez|dans|en|en la|en el)"
    r"(?: (?:the|der|die|das|dem|den|la|le|el|my|our|her|his))? ?$|在$"
)


_BEFORE = re.compile(r",? (?:before|because|since|bevor|weil) .*")
"""Why it is asked: "who is home before I turn the heating off"."""
_NOW = re.compile(
    r"^(?:already|still|now|currently|denn|schon|noch|immer noch|gerade|jetzt|wieder|déjà|encore|"
    r"ya|todavía) |(?: (?:already|now|yet|right now|at the moment|gerade|jetzt|schon))+$"
)


def place_of(said: str) -> str:
    """The state that is meant by a place: ``home`` by "in", ``not_home`` by "out"; what else it may
    be, as it was said."""
    plain = _NOW.sub("", _BEFORE.sub("", said.casefold().strip()))
    return HOME if plain in _AT_HOME else AWAY if plain in _AWAY else said


def is_place(said: str, before: str, known: Collection[str]) -> bool:
    """Whether ``said`` is where somebody may be: at home, away, a place where somebody is, or what
    is said to be one by the word before it. "Allergic to nuts" is none."""
    state = place_of(said)
    alike = state in (HOME, AWAY) or state.casefold() in {one.casefold() for one in known}
    return alike or _PLACED.search(before) is not None


def is_at(entity: Entity, place: str) -> bool | None:
    """Whether somebody is there; ``None`` where that does not follow: of somebody who is away it is
    not known whether they are at the gym, and nobody "is" allergic."""
    if entity.state in ("unknown", "unavailable"):
        return None
    state = place_of(place)
    if state in (HOME, AWAY):
        return (entity.state == HOME) == (state == HOME)
    return True if entity.state.casefold() == state.casefold() else None
