"""Which thing of the home a question asks the state of: "how hot has the kiln got", "did I leave
the coop door open", 大门锁好没有.

One thing has to be named, or one room and what is measured there, and every other word has to be
one of asking or of a state. So questions for the family's documents stay these: how something is
done, what it means, what it may or should, what was once. What comes out is only ever told.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hubd.assistant.understanding.data_files import texts_in
from hubd.assistant.understanding.kinds import class_of, measures_a_thing
from hubd.assistant.understanding.lexicon import Lexicon
from hubd.assistant.understanding.locks import LOCK, locks_of
from hubd.assistant.understanding.mentions import Mentions, named_entities, places
from hubd.assistant.understanding.names import called
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Entity, Snapshot

STATELESS = frozenset({"scene", "script", "button", "input_button", "automation", "weather"})
"""Domains of what has no state that anybody asks for."""
OBSERVED = frozenset({"person", "device_tracker", "binary_sensor", "sensor", "lock", "cover"})
"""Domains of what has no manual: a word more may be unknown in a question about one."""
MOST_UNKNOWN = 1
"""Words, or twice as many Chinese characters."""
MEASURING = {
    "temperature": frozenset({"climate", "water_heater"}),
    "humidity": frozenset({"humidifier"}),
    "illuminance": frozenset({"light"}),
    "battery": frozenset({"vacuum", "lawn_mower"}),
    "volume": frozenset({"media_player"}),
    "position": frozenset({"cover", "valve"}),
    "speed": frozenset({"fan"}),
    "duration": frozenset(),
    "energy": frozenset(),
    "power": frozenset(),
}
"""Device class of the sensors that measure something → the domains whose things tell it as well."""
ALL_AROUND = frozenset({"humidity"})
"""What is of the room where it is asked for if nothing says of which: 湿度多少."""
OF_THE_HOUSE = frozenset({"energy", "power"})
"""Device classes of what one sensor may measure for the whole house."""


class _Forms(NamedTuple):
    """How a language asks for a state; state_questions.yaml says what each part is."""

    quantities: Mapping[str, re.Pattern[str]]
    asks: re.Pattern[str]
    state: re.Pattern[str]
    locked: re.Pattern[str]
    otherwise: re.Pattern[str]
    idle: re.Pattern[str]
    measures: re.Pattern[str]


@cache
def _forms() -> Mapping[str, _Forms]:
    """By language."""
    read = texts_in(Path(__file__).parent / "state_questions.yaml")
    return {language: _compiled(parts) for language, parts in read.items()}


def _compiled(parts: Mapping[str, Any]) -> _Forms:
    quantities = {name: re.compile(form) for name, form in parts["quantities"].items()}
    rest = {name: re.compile(form) for name, form in parts.items() if name != "quantities"}
    return _Forms(quantities=quantities, **rest)


def asked_state(
    text: str, said: Mentions, snapshot: Snapshot, known: Lexicon, area: str = ""
) -> Sequence[Entity]:
    """The one thing that ``text`` asks about; empty where it asks for something else.

    area: the id of the asking device's area, which "here" means
    """
    forms = _forms().get(known.language)
    if forms is None or said.colors or said.numbers or said.times:
        return ()
    spoken = plain(text)
    stripped = known.stripped(text)
    if forms.otherwise.search(stripped) or known.commands(stripped) or known.is_elsewhere(text):
        return ()
    said_so = forms.asks.search(stripped) or forms.asks.search(spoken)
    if not (said_so or text.rstrip().endswith(("?", "？"))):
        return ()
    named = [one for one in named_entities(said, snapshot) if one.domain not in STATELESS]
    quantity = quantity_in(text, known)
    if said.everything and quantity not in OF_THE_HOUSE:
        return ()
    found: Sequence[Entity] = ()
    if quantity:
        placed = named or said.areas or said.floors or said.rooms_not_here
        around = known.says_here(spoken) or (quantity in ALL_AROUND and not placed)
        here = {area} if area and around else set()
        found = _measured(quantity, spoken, said, named, snapshot, forms, here)
        if not found and forms.state.search(stripped):
            found = [one for one in named if one.domain == "sensor"]  # "how full is the cistern"
    elif forms.state.search(stripped) or _holds(named):
        found = named or _ways_in(places(said, snapshot), snapshot) or _locks(said, snapshot)
        if forms.locked.search(stripped):
            found = locks_of(named, snapshot) or found
    whole = not (found or named or said.areas or said.floors) and quantity in OF_THE_HOUSE
    if whole:
        found = [e for e in snapshot.entities if e.attributes.get("device_class") == quantity]
    if len(found) != 1:
        return ()
    unknown = forms.idle.sub("", " ".join(said.unknown) if known.spaces else "".join(said.unknown))
    names = " ".join(plain(name) for name in called(found[0]))
    rest = [w for w in (unknown.split() if known.spaces else unknown) if w not in known.common]
    rest = [w for w in rest if w not in names and not forms.state.search(w)]
    observed = found[0].domain in OBSERVED and not whole
    most = MOST_UNKNOWN * (1 if known.spaces else 2) if observed else 0
    return found if len(rest) <= most else ()


def quantity_in(text: str, known: Lexicon) -> str:
    """What ``text`` asks how much there is of (a key of ``MEASURING``); empty where it does not."""
    forms = _forms().get(known.language)
    if forms is None:
        return ""
    stripped = known.stripped(text)
    return next((q for q, form in forms.quantities.items() if form.search(stripped)), "")


def _measured(
    quantity: str,
    spoken: str,
    said: Mentions,
    named: Sequence[Entity],
    snapshot: Snapshot,
    forms: _Forms,
    here: Collection[str],
) -> Sequence[Entity]:
    """What measures ``quantity`` of the thing, or in the room, that is named, or else ``here``."""
    sensors = [e for e in snapshot.entities if e.attributes.get("device_class") == quantity]
    domains = MEASURING[quantity]
    for fitting in (
        [e for e in named if e in sensors],
        [e for e in sensors if any(_is_of(name, spoken, forms) for name in called(e))],
        [e for e in named if e.domain in domains],
    ):
        if fitting:
            return fitting
    if named:
        return ()
    rooms = places(said, snapshot) or here
    there = [e for e in sensors if e.area in rooms and not measures_a_thing(e)]
    return there or [e for e in snapshot.entities if e.area in rooms and e.domain in domains]


def _ways_in(rooms: Collection[str], snapshot: Snapshot) -> Sequence[Entity]:
    """What is opened where the room itself is said to be open: "is the garage open"."""
    covers = [e for e in snapshot.entities if e.domain == "cover" and e.area in rooms]
    return [e for e in covers if class_of(e) in ("garage", "gate")]


def _locks(said: Mentions, snapshot: Snapshot) -> Sequence[Entity]:
    """The locks of the house, where a door is spoken of and no other thing and no room."""
    alone = said.domains == {LOCK} and not (said.areas or said.floors)
    return [e for e in snapshot.entities if e.domain == LOCK] if alone else ()


def _holds(named: Sequence[Entity]) -> bool:
    """Whether something is named that tells what is in it: "anything in the letterbox?"."""
    return [e.domain for e in named] == ["binary_sensor"]


def _is_of(name: str, spoken: str, forms: _Forms) -> bool:
    """Whether the thing that a sensor of that name measures is spoken of."""
    core = forms.measures.sub("", plain(name)).strip()
    if len(core) < 2 or core == plain(name):
        return False
    return re.search(rf"(?<![a-zäöüß]){re.escape(core)}(?:'s|s)?(?![a-zäöüß])", spoken) is not None
