"""All that a house can do, in words: what a hint may mean, for bench/train_hints.py."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from hubd.home.model import Area, Entity, Snapshot
from plugins.api import ToolCall

Arguments = Mapping[str, Any]
_PLAIN: Arguments = MappingProxyType({})
_UP: Arguments = MappingProxyType({"step": "up"})
_DOWN: Arguments = MappingProxyType({"step": "down"})

Ability = tuple[str, Arguments, str]
"""A tool, its arguments, and how that is said of a thing."""

_SWITCHED: tuple[Ability, ...] = (
    ("home.turn_on", _PLAIN, "turn on"),
    ("home.turn_off", _PLAIN, "turn off"),
)
_LIT: tuple[Ability, ...] = (
    *_SWITCHED,
    ("lights.change", _UP, "make brighter"),
    ("lights.change", _DOWN, "make dimmer"),
)
_TOLD: tuple[Ability, ...] = (("home.state", _PLAIN, "tell the state of"),)
ABILITIES: Mapping[str, tuple[Ability, ...]] = MappingProxyType(
    {
        "light": (*_LIT, *_TOLD),
        "switch": (*_SWITCHED, *_TOLD),
        "input_boolean": _SWITCHED,
        "humidifier": _SWITCHED,
        "fan": (*_SWITCHED, *_TOLD),
        "cover": (
            ("home.open", _PLAIN, "open"),
            ("home.close", _PLAIN, "close"),
            ("home.stop", _PLAIN, "stop"),
            *_TOLD,
        ),
        "lock": (("home.lock", _PLAIN, "lock"), ("home.unlock", _PLAIN, "unlock"), *_TOLD),
        "climate": (
            ("climate.change", _UP, "make it warmer with"),
            ("climate.change", _DOWN, "make it cooler with"),
            ("climate.temperature", _PLAIN, "tell the temperature of"),
            *_SWITCHED,
        ),
        "media_player": (
            ("media.pause", _PLAIN, "pause"),
            ("media.play", _PLAIN, "play"),
            ("media.next", _PLAIN, "skip to the next on"),
            ("media.previous", _PLAIN, "go back to the previous on"),
            ("media.mute", _PLAIN, "mute"),
            ("media.unmute", _PLAIN, "unmute"),
            ("media.change_volume", _UP, "make louder"),
            ("media.change_volume", _DOWN, "make quieter"),
            *_SWITCHED,
            *_TOLD,
        ),
        "vacuum": (
            ("vacuum.start", _PLAIN, "start cleaning with"),
            ("vacuum.return_home", _PLAIN, "send back to its dock"),
        ),
        "scene": (("home.activate", _PLAIN, "start the scene"),),
        "script": (("home.activate", _PLAIN, "start the routine"),),
        "sensor": _TOLD,
        "binary_sensor": _TOLD,
        "person": (("home.state", _PLAIN, "tell the whereabouts of"),),
        "weather": (("weather.now", _PLAIN, "tell the weather of"),),
    }
)
"""What can be done with a thing, by its domain."""
WITHOUT_A_THING: tuple[Ability, ...] = (
    ("timers.start", _PLAIN, "set a timer"),
    ("timers.cancel", _PLAIN, "cancel the timer"),
    ("timers.list", _PLAIN, "tell how long the timer has left"),
    ("timers.pause", _PLAIN, "pause the timer"),
    ("timers.resume", _PLAIN, "go on with the timer"),
    ("timers.add", _PLAIN, "add time to the timer"),
    ("alarms.set", _PLAIN, "set an alarm to wake up"),
    ("alarms.cancel", _PLAIN, "cancel the alarm"),
    ("alarms.list", _PLAIN, "tell when the alarm is set"),
    ("reminders.add", _PLAIN, "remind of something later"),
    ("lists.add", _PLAIN, "put something on the shopping list"),
    ("lists.remove", _PLAIN, "take something off the shopping list"),
    ("lists.show", _PLAIN, "read the shopping list"),
    ("clock.time", _PLAIN, "tell the time"),
    ("clock.date", _PLAIN, "tell the date"),
    ("weather.on", _PLAIN, "tell the weather of another day"),
)
_CALLED = {"media_player": "player", "binary_sensor": "sensor", "input_boolean": "switch"}
"""Domains whose name nobody says."""


class Offer(NamedTuple):
    """Something that the house can do."""

    call: ToolCall
    entities: tuple[Entity, ...]
    text: str
    """In words, with what is known of the thing."""


def offers(snapshot: Snapshot) -> list[Offer]:
    """All that could be meant: of each thing, of all lights of a room, and of none."""
    areas = {area.id: area for area in snapshot.areas}
    found = [offer for entity in snapshot.entities for offer in _of_thing(entity, areas)]
    for area in snapshot.areas:
        lights = [e for e in snapshot.entities if e.area == area.id and e.domain == "light"]
        found += _of_room(area, lights) if len(lights) > 1 else []
    found += [
        Offer(ToolCall(tool=tool, arguments=dict(given)), (), words)
        for tool, given, words in WITHOUT_A_THING
    ]
    return found


def _of_thing(entity: Entity, areas: Mapping[str, Area]) -> list[Offer]:
    kind = str(entity.attributes.get("device_class") or "") if entity.domain == "cover" else ""
    kind = kind or _CALLED.get(entity.domain, entity.domain)
    area = areas.get(entity.area or "")
    place = f" in the {area.name}" if area else ""
    names = ", ".join((entity.name, *entity.aliases))
    return [
        _offer(tool, given, (entity,), f"{words} the {names}: {kind}{place}, now {entity.state}")
        for tool, given, words in ABILITIES.get(entity.domain, ())
    ]


def _of_room(area: Area, lights: Sequence[Entity]) -> list[Offer]:
    states = " and ".join(sorted({light.state for light in lights}))
    return [
        _offer(tool, given, tuple(lights), f"{words} all lights in the {area.name}, now {states}")
        for tool, given, words in _LIT
    ]


def _offer(tool: str, given: Arguments, entities: tuple[Entity, ...], text: str) -> Offer:
    ids = [entity.id for entity in entities]
    return Offer(ToolCall(tool=tool, arguments={**given, "entities": ids}), entities, text)


def spoken_in(area: str, text: str) -> str:
    """What was said, as the cross-encoder reads it: with the room where it was."""
    return f"{area}: {text}" if area else text
