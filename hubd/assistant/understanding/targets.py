"""From what an utterance names to the entities it means: by name, by room, by the asking device."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from hubd.assistant.understanding.grammar import SOMEWHERE
from hubd.assistant.understanding.kinds import class_of
from hubd.assistant.understanding.names import Names, called
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Entity, Snapshot

SINGLE = frozenset({"climate", "media_player", "vacuum", "lawn_mower", "weather", "lock", "valve"})
"""Domains of which a person who names none means one, not all of the room."""

ACTIVE = {"media_player": frozenset({"playing", "on", "buffering"})}
"""Of several players the one that plays is meant."""

ALREADY = {
    "home.turn_off": "off",
    "home.open": "open",
    "home.close": "closed",
    "home.lock": "locked",
    "home.unlock": "unlocked",
    "media.play": "playing",
    "media.pause": "paused",
    "mower.start": "mowing",
    "vacuum.start": "cleaning",
}
"""The state of what a tool has nothing to do with."""

OPENINGS = frozenset({"window", "door", "garage", "gate"})
"""Device classes of what opens to somewhere: it may be a cover, or a sensor may tell of it."""
OPENING_DOMAINS = ("cover", "binary_sensor")
_SENSED_AS = {"garage": "garage_door"}
"""Device classes of covers, as sensors of the same have them."""
_ALIKE = frozenset({"blind", "shade"})
"""Device classes of what people call by either word."""
_STAND_INS = _ALIKE | {"shutter"}
"""The same where the house has none of the very class: a "Rollo" may be a shutter."""
_AT_WINDOWS = _STAND_INS | {"curtain"}
"""What hangs at the windows of a room that is named: there any word for it does."""


class Targets(NamedTuple):
    """The entities that are meant; more than one candidate where it is not clear which."""

    entities: tuple[Entity, ...]
    unclear: bool = False

    @property
    def ids(self) -> list[str]:
        return [entity.id for entity in self.entities]


NOBODY = Targets(())


def find(
    snapshot: Snapshot,
    slots: Mapping[str, Any],
    domains: Collection[str],
    *,
    area: str = "",
    everywhere: bool = False,
) -> Targets:
    """The entities that the slots name, area, floor, domain and device_class mean.

    ``domains`` restricts what can be meant; ``area`` is the id of the asking device's area, used
    where the utterance names no place; ``everywhere`` means the whole house then.
    """
    if domain := slots.get("domain"):
        domains = {domain} if isinstance(domain, str) else set(domain)
    places = _areas(snapshot, slots)
    if places == set() and (slots.get("area") or slots.get("floor")):
        return NOBODY
    device_class = slots.get("device_class")
    if name := slots.get("name"):
        named = Names.entities(snapshot, str(name))
        return _by_name(_fitting(named, domains, device_class), places, area)
    candidates = _fitting(snapshot.entities, domains, device_class) if domains else []
    if places is not None:
        there = [e for e in candidates if e.area in places]
        there = there or _called_after(places, candidates, snapshot)
        there = there or _at_windows(places, snapshot, domains, device_class)
        return _chosen(_called_so(there, device_class))
    near = _called_so([e for e in candidates if area and e.area == area], device_class)
    candidates = _called_so(candidates, device_class)
    if everywhere:
        return Targets(tuple(candidates))
    if not near and _is_sensed_here(snapshot, device_class, area):
        return NOBODY  # a window elsewhere is not the one that is meant
    return _chosen(near or _far(candidates))


def what_plays(snapshot: Snapshot, area: str) -> Targets:
    """The players that are meant by what plays: in the room of that id those that do, else in the
    house; where nothing plays, those of the room, else all."""
    players = [one for one in snapshot.entities if one.domain == "media_player"]
    here = [one for one in players if area and one.area == area]
    playing = [[one for one in some if one.state in ACTIVE[one.domain]] for some in (here, players)]
    return Targets(tuple(next(filter(None, (*playing, here)), players)))


def _is_sensed_here(
    snapshot: Snapshot, device_class: str | Collection[str] | None, area: str
) -> bool:
    """Whether the asking device's room has a window that a sensor watches and nothing moves."""
    wanted = _classes(device_class)
    here = [e for e in snapshot.entities if area and e.area == area]
    return wanted == {"window"} and any(class_of(e) == "window" for e in here)


def openings(
    snapshot: Snapshot, slots: Mapping[str, Any], *, area: str = "", everywhere: bool = True
) -> Targets:
    """The covers and the sensors of the device class that the slots name; none where it is nothing
    that opens. ``area`` and ``everywhere`` as for ``find``."""
    wanted = _classes(slots.get("device_class"))
    if not wanted or not wanted <= OPENINGS:
        return NOBODY
    classes = wanted | {_SENSED_AS[one] for one in wanted & _SENSED_AS.keys()}
    of_all = {key: value for key, value in slots.items() if key != "domain"}
    of_all["device_class"] = classes
    found = find(snapshot, of_all, OPENING_DOMAINS, area=area, everywhere=everywhere)
    return found._replace(unclear=False)


def _areas(snapshot: Snapshot, slots: Mapping[str, Any]) -> set[str] | None:
    """The ids of the areas that are named, by themselves or by their floor; ``None``: none is. A
    room that is not on the floor that is named with it is not meant."""
    floor = Names.floor(snapshot, str(said)) if (said := slots.get("floor")) else None
    if (room := slots.get("area")) and room != SOMEWHERE:
        area = Names.area(snapshot, str(room))
        elsewhere = area and floor and area.floor not in (floor.id, None)
        return {area.id} if area and not elsewhere else set()
    if said:
        return {a.id for a in snapshot.areas if floor and a.floor == floor.id}
    return None


def _called_after(
    places: Collection[str], candidates: Collection[Entity], snapshot: Snapshot
) -> list[Entity]:
    """Things that nobody has put into a room, but whose names begin with one of these rooms'."""
    rooms = [plain(name) for a in snapshot.areas if a.id in places for name in called(a)]
    return [
        entity
        for entity in candidates
        if entity.area is None
        and any(plain(name).startswith(room) for name in called(entity) for room in rooms)
    ]


def _at_windows(
    places: Collection[str],
    snapshot: Snapshot,
    domains: Collection[str],
    device_class: str | Collection[str] | None,
) -> list[Entity]:
    """What hangs at the windows there: "the bedroom curtains" where it has a blind alone."""
    wanted = _classes(device_class)
    if not wanted & _AT_WINDOWS:
        return []
    there = [e for e in _fitting(snapshot.entities, domains, _AT_WINDOWS) if e.area in places]
    hard = [e for e in there if wanted & _STAND_INS and class_of(e) in _STAND_INS]
    return hard or there


def _classes(device_class: str | Collection[str] | None) -> set[str]:
    return {device_class} if isinstance(device_class, str) else set(device_class or ())


def _called_so(entities: list[Entity], device_class: str | Collection[str] | None) -> list[Entity]:
    """Of things that go by either word those that are of the very class, if there are any."""
    wanted = _classes(device_class)
    return [e for e in entities if class_of(e) in wanted] or entities


def _fitting(
    entities: Collection[Entity],
    domains: Collection[str],
    device_class: str | Collection[str] | None,
) -> list[Entity]:
    wanted = _classes(device_class)
    of_domain = [entity for entity in entities if not domains or entity.domain in domains]
    if not wanted:
        return of_domain
    if wanted & _ALIKE:
        wanted |= _ALIKE
    fitting = [entity for entity in of_domain if class_of(entity) in wanted]
    if not fitting and wanted & _ALIKE:
        return [entity for entity in of_domain if class_of(entity) in _STAND_INS]
    return fitting


def _by_name(named: list[Entity], places: set[str] | None, area: str) -> Targets:
    """The one of that name: in the named place, else where the person is, else the only one."""
    if places is not None:
        named = [entity for entity in named if entity.area in places] or [
            entity for entity in named if entity.area is None
        ]
    near = [entity for entity in named if area and entity.area == area]
    if len(named) > 1 and len(near) == 1:
        named = near
    return Targets(tuple(named), unclear=len(named) > 1)


def _chosen(candidates: list[Entity]) -> Targets:
    """All of them, or the one, where only one can be meant."""
    if len(candidates) > 1 and all(entity.domain in SINGLE for entity in candidates):
        active = [e for e in candidates if e.state in ACTIVE.get(e.domain, ())]
        if len(active) == 1:
            return Targets(tuple(active))
        return Targets(tuple(candidates), unclear=True)
    return Targets(tuple(candidates))


def _far(candidates: list[Entity]) -> list[Entity]:
    """Nothing of the kind is near: the only ones of their kind are meant, wherever they are.

    Lights of one other room are meant as well; lights of several rooms are nobody's guess.
    """
    if all(entity.domain in SINGLE for entity in candidates):
        return candidates
    return candidates if len({entity.area for entity in candidates}) <= 1 else []
