"""What somebody wishes otherwise who tells that it is still so: "there's a storm coming and the
awning's still out", 院门到现在还没锁上.

How a state is told is in still.yaml. The thing has to be named, the only one that is, and to be in
that very state. Only for what nothing else explains, and to be asked about. Decides and does
nothing.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.kinds import class_of
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.mentions import Mentions, named_entities, places
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.assistant.understanding.reasons import BREAK
from hubd.home.model import Entity, Snapshot

OTHERWISE = {
    "on": "home.turn_off",
    "off": "home.turn_on",
    "open": "home.close",
    "closed": "home.open",
    "unlocked": "home.lock",
    "mowing": "mower.return_home",
}
"""State → what changes it; to unlock something is said in so many words."""
RUNNING = frozenset({"playing", "paused", "idle", "heat", "cool", "auto", "dry", "fan_only"})
"""States of what is on."""
_JOINED = re.compile(r"\s(?:and|but|while|und|aber|dabei|während|obwohl)\s")


class _Forms(NamedTuple):
    """What still.yaml says of a language."""

    still: re.Pattern[str]
    why: re.Pattern[str]
    since: re.Pattern[str]
    told: Mapping[str, re.Pattern[str]]


class Unwished(NamedTuple):
    """The thing that is still as it should not be, and the tool that changes it."""

    entity: Entity
    tool: str


@cache
def _forms() -> Mapping[str, _Forms]:
    """By language."""
    read = texts_in(Path(__file__).with_suffix(".yaml"))
    return {
        language: _Forms(
            re.compile(parts["still"]),
            re.compile(parts["why"]),
            re.compile(parts["since"]),
            {state: re.compile(told) for state, told in parts["is"].items()},
        )
        for language, parts in read.items()
    }


def unwished(text: str, said: Mentions, snapshot: Snapshot, known: Lexicon) -> Unwished | None:
    """What ``text`` tells is still so; ``None`` where it tells no such thing, or of several."""
    forms = _forms().get(known.language)
    if forms is None:
        return None
    things = _things(said, snapshot) or _contracted(text, snapshot)
    if len(things) != 1:
        return None
    thing, tells = things[0], forms.told[_state(things[0])]
    names = sorted(map(plain, called(thing)), key=len, reverse=True)
    by_kind = not any(name in plain(text) for name in names)
    for clause in _clauses(text, known):
        bare = clause
        for name in names:
            bare = bare.replace(name, " ")  # "out" of "the outside light" tells nothing
        if (by_kind or bare != clause) and forms.still.search(bare) and tells.search(bare):
            return Unwished(thing, OTHERWISE[_state(thing)])
    return None


def wonders_at_it(text: str, language: str) -> bool:
    """Whether it is wondered why something is still so: "why is the hall light still on"."""
    forms = _forms().get(language)
    return forms is not None and forms.why.search(plain(text)) is not None


def is_for_later(said: Mentions, known: Lexicon) -> bool:
    """Whether a time is said, and not only since when something is so, or how late it is: "it's
    been on since this morning", 都九点了."""
    forms = _forms().get(known.language)
    if not said.times or forms is None:
        return said.times
    return known.times(forms.since.sub(" ", said.text))


def _things(said: Mentions, snapshot: Snapshot) -> list[Entity]:
    """What is named and has a state that can be otherwise; else what is of the kind that is, in the
    room that is said."""
    named = named_entities(said._replace(names=said.spelled(said.names)), snapshot)
    things = [entity for entity in named if _state(entity) in OTHERWISE]
    rooms = places(said, snapshot)
    return things or [
        entity
        for entity in snapshot.entities
        if _state(entity) in OTHERWISE
        and {entity.domain, f"{entity.domain}.{class_of(entity)}"} & said.nouns
        and (not rooms or entity.area in rooms)
    ]


def _contracted(text: str, snapshot: Snapshot) -> list[Entity]:
    """What is named with "is" behind it, as one word: "the mower's still out"."""
    things = [entity for entity in snapshot.entities if _state(entity) in OTHERWISE]
    return [
        entity
        for entity in things
        if any(f" {plain(name)}'s still " in f" {plain(text)} " for name in called(entity))
    ]


def _clauses(text: str, known: Lexicon) -> list[str]:
    """The clauses of ``text``, plain."""
    clauses = BREAK.split(text)
    if known.spaces:
        clauses = [part for clause in clauses for part in _JOINED.split(clause)]
    return [plain(clause) for clause in clauses]


def _state(entity: Entity) -> str:
    return "on" if entity.state in RUNNING else entity.state
