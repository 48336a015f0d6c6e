"""The household's names as the sentence grammars need them, compiled once a version of the home."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from hassil.intents import SlotList, TextSlotList

from hubd.assistant.understanding.kinds import class_of
from hubd.assistant.understanding.sieve import values_of
from hubd.home.model import Area, Entity, Floor, Snapshot

SlotLists = dict[str, SlotList]
_SIDE_LAST = re.compile(r"(?P<thing>\w[\w' ]*?),? \(?(?P<side>left|right)\)?", re.IGNORECASE)
"""A name that says last which of two it is: "Curtain Left", "Speaker (right)"."""


class Names:
    """What things are called: slot lists for hassil, and the way back from a name to its things."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.version = snapshot.version
        self.slot_lists: SlotLists = {
            "name": TextSlotList.from_tuples(
                [
                    (name, name, _context(entity))
                    for entity in snapshot.entities
                    for name in called(entity)
                ],
                name="name",
                allow_template=False,
            ),
            "area": _named_list("area", snapshot.areas),
            "floor": _named_list("floor", snapshot.floors),
        }
        self.values = values_of(self.slot_lists)
        """What an utterance must have in it to name one of them."""

    @staticmethod
    def entities(snapshot: Snapshot, name: str) -> list[Entity]:
        """The entities of that name or alias; two rooms may each have a ceiling lamp."""
        return [entity for entity in snapshot.entities if _is_called(entity, name)]

    @staticmethod
    def area(snapshot: Snapshot, name: str) -> Area | None:
        """The area of that name, alias or id."""
        return next((a for a in snapshot.areas if a.id == name or _is_called(a, name)), None)

    @staticmethod
    def floor(snapshot: Snapshot, name: str) -> Floor | None:
        """The floor of that name, alias or id."""
        return next((f for f in snapshot.floors if f.id == name or _is_called(f, name)), None)


def called(thing: Entity | Area | Floor) -> tuple[str, ...]:
    """Its name and aliases, with the side first as people say it ("left curtain"), and each without
    apostrophes, which speech recognition leaves out."""
    return _said(thing.name, thing.aliases)


@lru_cache(maxsize=4096)
def _said(name: str, aliases: tuple[str, ...]) -> tuple[str, ...]:
    names = (name, *aliases)
    sides = filter(None, map(_SIDE_LAST.fullmatch, names))
    names += tuple(f"{side['side'].capitalize()} {side['thing']}" for side in sides)
    return (*names, *(name.replace("'", "") for name in names if "'" in name))


@lru_cache(maxsize=4096)  # an utterance asks a thousand times
def _folded(name: str, aliases: tuple[str, ...]) -> frozenset[str]:
    """The same to be compared with."""
    return frozenset(one.casefold() for one in _said(name, aliases))


def _is_called(thing: Entity | Area | Floor, name: str) -> bool:
    return name.casefold() in _folded(thing.name, thing.aliases)


def _context(entity: Entity) -> dict[str, object]:
    """What a sentence may require of the entity that it names."""
    context: dict[str, object] = {"domain": entity.domain}
    if device_class := class_of(entity):
        context["device_class"] = device_class
    return context


def _named_list(kind: str, things: Sequence[Area] | Sequence[Floor]) -> TextSlotList:
    values: Iterable[tuple[str, str, dict[str, object]]] = [
        (name, thing.name, {kind: thing.name}) for thing in things for name in called(thing)
    ]
    return TextSlotList.from_tuples(values, name=kind, allow_template=False)
