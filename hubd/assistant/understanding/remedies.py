"""What helps against what somebody complains of, where the room has just one such thing: "the study
is so damp" is its dehumidifier, "the kitchen is full of smoke" its hood; and what makes the coffee
that somebody asks for. What heats or waters is only asked about: "the flower beds are parched".

What is complained of, and what the thing against it is called, is in remedies.yaml. The room has to
be named, or the one that it is said in (of what waters, it may be the only one of the house), and
the thing has to be off. Only for what nothing else explains; never where it smells of gas or fire.
Decides and does nothing.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.mentions import Mentions, named_entities, places
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.readings import wonders
from hubd.home.model import Entity, Snapshot

HELPING = frozenset({"fan", "switch", "humidifier", "input_boolean"})
"""Domains of what helps by being on."""
WATERING = "valve"
"""The domain of what helps by being open."""
COMMANDED = frozenset({"on", "off", "open", "close", "lock", "unlock", "start", "stop", "toggle"})
"""Verbs of another wish: "open the window, it's all smoke"."""


class _Forms(NamedTuple):
    """What remedies.yaml says of a language."""

    makes: Sequence[tuple[re.Pattern[str], re.Pattern[str]]]
    against: Sequence[tuple[re.Pattern[str], re.Pattern[str]]]
    asked: Sequence[tuple[re.Pattern[str], re.Pattern[str]]]
    outdoors: re.Pattern[str]
    no_complaint: re.Pattern[str]


class Remedy(NamedTuple):
    """What helps, and whether it is asked about first."""

    thing: Entity
    asked: bool = False


@cache
def _forms() -> Mapping[str, _Forms]:
    """By language."""
    read = texts_in(Path(__file__).parent / "remedies.yaml")
    return {
        language: _Forms(
            _patterns(parts["makes"]),
            _patterns(parts["against"]),
            _patterns(parts["asked"]),
            re.compile(parts["outdoors"]),
            re.compile(parts["no_complaint"]),
        )
        for language, parts in read.items()
    }


def _patterns(words: Mapping[str, str]) -> Sequence[tuple[re.Pattern[str], re.Pattern[str]]]:
    return [(re.compile(said), re.compile(called)) for said, called in words.items()]


def remedy(
    text: str, said: Mentions, snapshot: Snapshot, area: str, known: Lexicon
) -> Remedy | None:
    """The one thing that helps, or makes what is asked for; ``None`` where nothing is complained
    of, or nothing is sure.

    area: the id of the asking device's area
    """
    forms, spoken = _forms().get(known.language), plain(text)
    for called in (thing for wish, thing in forms.makes if wish.search(spoken)) if forms else ():
        makers = [e for e in _there(said, snapshot, area) if _is_called(e, called)]
        return Remedy(makers[0]) if len(makers) == 1 and makers[0].state == "off" else None
    if forms is None or forms.no_complaint.search(spoken) or wonders(text, known.language):
        return None
    if known.inquires(spoken) or known.forbids(spoken) or known.keeps(text):
        return None
    spelled = said._replace(names=tuple(name for name in said.names if plain(name) in said.text))
    named = named_entities(spelled, snapshot)
    if said.actions & COMMANDED:
        return None
    things = {entity.id for entity in named if entity.domain != "person"}
    for called in (good for bad, good in forms.against if bad.search(spoken)):
        there = _there(said, snapshot, area)
        found = [entity for entity in there if _is_called(entity, called)]
        if len(found) == 1:
            alone = things <= {found[0].id}  # "it's all smoke, and the hood has nothing to do"
            return Remedy(found[0]) if alone and found[0].state == "off" else None
    return None if things else _asked_about(spoken, said, snapshot, area, forms)


def _asked_about(
    spoken: str, said: Mentions, snapshot: Snapshot, area: str, forms: _Forms
) -> Remedy | None:
    """What heats or waters there; nothing that heats where there is heating."""
    for called in (good for bad, good in forms.asked if bad.search(spoken)):
        there = _there(said, snapshot, area)
        found = [entity for entity in there if _is_called(entity, called, waters=True)]
        if not found and not said.areas and forms.outdoors.search(spoken):
            found = [e for e in snapshot.entities if _is_called(e, called, waters=True)]
            there = found
        idle = len(found) == 1 and found[0].state in ("off", "closed")
        if idle and not any(entity.domain == "climate" for entity in there):
            return Remedy(found[0], asked=True)
    return None


def _there(said: Mentions, snapshot: Snapshot, area: str) -> Sequence[Entity]:
    """What could help in the one room that is named, or else where it is said."""
    spelled = [name for name in said.areas if plain(name) in said.text]
    if len(spelled) != len(said.areas) or said.floors or said.rooms_not_here:
        return ()
    rooms = places(said, snapshot) or {area}
    if len(rooms) != 1:
        return ()
    return [entity for entity in snapshot.entities if entity.area in rooms]


def _is_called(entity: Entity, called: re.Pattern[str], *, waters: bool = False) -> bool:
    names = (entity.name, *entity.aliases)
    helps = entity.domain in HELPING or (waters and entity.domain == WATERING)
    return helps and any(called.search(plain(name)) for name in names)
