"""A reading of words → the tool that does it: which action, on what things, with what value."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from hubd.assistant.understanding.intents import COVERS, SWITCHED
from hubd.assistant.understanding.locks import LOCK, locks_of
from hubd.assistant.understanding.multiples import FACTORS, multiplied
from hubd.assistant.understanding.targets import NOBODY, Targets, find
from hubd.assistant.understanding.words import Reading, slots_of
from hubd.home.model import Entity, Snapshot
from plugins.degrees import CELSIUS, SENSIBLE, unit_of

NOUN_DOMAINS = {
    "volume": "media_player",
    "brightness": "light",
    "color_temperature": "light",
    "speed": "fan",
    "humidity": "humidifier",
}
PLAYER = {"pause", "play", "next", "previous", "mute", "unmute"}
ACTIVATED = ("scene", "script", "button", "input_button")

STARTING = ("on", "run", "start", "play", "")
OPENING = ("open", "up", "on", "full", "raise")
CLOSING = ("close", "down", "off", "lower")
EXTENDED = {"out": "home.open", "in": "home.close"}
UNCLEAR = frozenset({"up", "down", "raise", "lower", "on", "off"})
"""An awning goes out and in; up and down may mean either, and "aus" is out in German."""

SENSED_WINDOW, MOVED_WINDOW = "binary_sensor.window", "cover.window"
MOVING = frozenset({*OPENING, *CLOSING, "stop"}) - {"full"}
"""What is done with a window that a motor moves."""

SIMPLE: dict[tuple[str, str], str] = {
    **{("on", domain): "home.turn_on" for domain in SWITCHED},
    **{(action, domain): "home.turn_off" for domain in SWITCHED for action in ("off", "out")},
    **{("toggle", domain): "home.toggle" for domain in SWITCHED},
    **{(action, domain): "home.activate" for domain in ACTIVATED for action in STARTING},
    **{(action, domain): "home.open" for domain in COVERS for action in OPENING},
    **{(action, domain): "home.close" for domain in COVERS for action in CLOSING},
    **{("stop", domain): "home.stop" for domain in COVERS},
    ("lock", "lock"): "home.lock",
    ("unlock", "lock"): "home.unlock",
    ("open", "lock"): "home.unlock",
    ("start", "vacuum"): "vacuum.start",
    ("on", "vacuum"): "vacuum.start",
    ("stop", "vacuum"): "vacuum.stop",
    ("off", "vacuum"): "vacuum.stop",
    ("pause", "vacuum"): "vacuum.stop",
    ("home", "vacuum"): "vacuum.return_home",
    ("start", "lawn_mower"): "mower.start",
    ("home", "lawn_mower"): "mower.return_home",
    **{(action, "media_player"): f"media.{action}" for action in PLAYER},
    ("stop", "media_player"): "media.pause",
    ("start", "media_player"): "home.turn_on",
}  # fmt: skip
"""(action, domain) → tool with nothing but entities."""

LOCKING = frozenset({"lock", "unlock"})
SOUND = {"on": "media.unmute", "off": "media.mute"}
"""What is done with the sound of a player that itself stays on."""
CUT = ("light", "switch", "fan", "media_player", "input_boolean")
"""What is meant by everything that shall be off: not the heating."""
CUT_EVERYWHERE = ("light", "fan", "media_player")
"""The same of the whole house."""
STEPPED = {
    "media_player": "media.change_volume",
    "light": "lights.change",
    "climate": "climate.change",
    "fan": "fans.change",
}
STEPS = {
    "brighter": ("light", "up"),
    "dimmer": ("light", "down"),
    "warmer": ("climate", "up"),
    "cooler": ("climate", "down"),
    "louder": ("media_player", "up"),
    "quieter": ("media_player", "down"),
}
"""Verbs that say by themselves what is stepped."""
WARMTH = {"warmer": "warmer", "cooler": "cooler", "yellower": "warmer", "whiter": "cooler"}
"""Steps of the light, where lamps are named or meant, and which way each goes; the first two are of
heating as well."""
TINTED = frozenset({"yellower", "whiter"})
"""Those that are said of light alone."""
COLDEST_LIGHT = 12_000
"""Kelvin; 1000 and more of a light are no brightness."""
VALUED = {
    "media_player": ("media.set_volume", "volume", 100),
    "light": ("lights.set", "brightness", 100),
    "climate": ("climate.set", "temperature", SENSIBLE[CELSIUS][1]),
    "fan": ("fans.set_speed", "percentage", 100),
    "humidifier": ("humidifiers.set", "humidity", 100),
    "cover": ("home.set_position", "position", 100),
    "valve": ("home.set_position", "position", 100),
}
"""domain → tool, argument, the largest value that makes sense (see ``largest``)."""
FULL = frozenset({"lights.set", "fans.set_speed"})
"""Tools to which "full" is a value: of a cover it is a direction, and of a player too loud."""
A_BIT = 20
"""By how much a cover is moved of which "a bit" is said, in percent of its way."""
MOVED = STEPPED | {"cover": "home.move", "valve": "home.move"}
"""The tools that take how much more or less."""
UPWARD = frozenset({"up", "raise", "open", "brighter", "warmer", "louder"})
DOWNWARD = frozenset({"down", "lower", "close", "dimmer", "cooler", "quieter"})
LEAST_SPEED = 10
"""Percent; a smaller number without a unit is a fan's level."""
MOST_DEGREES = 10
"""By which a temperature is changed at once; more is misheard."""


class Composed(NamedTuple):
    """A tool, its arguments but for the entities, and the entities."""

    tool: str
    arguments: dict[str, Any]
    targets: Targets
    slots: dict[str, Any]
    sweeping: bool = False
    """Whether it is so much at once that a person is asked first."""


def compose(reading: Reading, snapshot: Snapshot, area: str) -> Composed | None:
    """What the words ask for, or ``None`` where they make no sense together."""
    action = next(iter(reading.actions - {"half", "full"}), "")
    if len(reading.floors) > 1 or len(reading.numbers) > 1:
        return None
    if len(reading.areas) > 1 and (reading.names or reading.floors):
        return None
    if reading.here and reading.areas:
        return None  # "in here and in the kitchen"
    if _is_everything(reading, action):
        return _all_off(snapshot)
    unit = unit_of(snapshot.entities)
    if reading.nouns == {SENSED_WINDOW} and not reading.names and action in MOVING:
        reading = reading._replace(nouns=frozenset({MOVED_WINDOW}))
    domains, device_class = _kinds(reading, action, unit)
    slots = slots_of(reading)
    if device_class:
        slots["device_class"] = device_class
    targets = _targets(reading, snapshot, slots, domains, area)
    kinds = {entity.domain for entity in targets.entities}
    if not kinds or (len(kinds) > 1 and not kinds <= set(SWITCHED)):
        return None
    if action in FACTORS:
        return _multiplied(action, reading, targets, slots)
    awning = is_awning(targets.entities)
    if awning and action in UNCLEAR:
        return None
    extended = EXTENDED.get(action) if awning and not reading.numbers else None
    found = (extended, {}) if extended else _tool(reading, action, kinds, unit)
    if found is None:
        return None
    if not reading.names and len(domains) == 1:
        slots["domain"] = next(iter(domains))
    return Composed(found[0], found[1], targets, slots)


def _multiplied(
    action: str, reading: Reading, targets: Targets, slots: dict[str, Any]
) -> Composed | None:
    """ "Half as bright": of how bright it is now."""
    found = set_to_multiple(action, targets.entities)
    if found is None or reading.numbers or reading.colors:
        return None
    tool, arguments, running = found
    return Composed(tool, arguments, Targets(running, targets.unclear), slots)


def set_to_multiple(
    action: str, entities: Collection[Entity]
) -> tuple[str, dict[str, Any], tuple[Entity, ...]] | None:
    """Tool and arguments that let things be so many times what they are now, and which things;
    ``None`` where that is not known."""
    found = multiplied(action, entities)
    domains = {entity.domain for entity in entities}
    if found is None or len(domains) != 1:
        return None
    value, running = found
    tool, argument, _ = VALUED[domains.pop()]
    return tool, {argument: value}, running


def _is_everything(reading: Reading, action: str) -> bool:
    """ "Turn everything off", of the whole house."""
    named = reading.names or reading.areas or reading.floors or reading.nouns or reading.numbers
    return action == "off" and reading.everything and not named and not reading.here


def _all_off(snapshot: Snapshot) -> Composed:
    """Lights, fans and players that are on. Not what is plugged in somewhere, which may be a
    freezer; and somebody is asked, because others may sit in the light."""
    things = [e for e in snapshot.entities if e.domain in CUT_EVERYWHERE]
    lit = [e for e in things if e.state not in ("off", "idle", "standby", "unavailable")]
    targets = Targets(tuple(lit or things))
    return Composed("home.turn_off", {}, targets, {"domain": list(CUT_EVERYWHERE)}, sweeping=True)


def is_awning(entities: Collection[Entity]) -> bool:
    """Whether the things go out and in, and not up and down."""
    return {e.attributes.get("device_class") for e in entities} == {"awning"}


def _kinds(reading: Reading, action: str, unit: str) -> tuple[set[str], list[str]]:
    """The domains that the nouns mean, and the device classes; without nouns a guess."""
    nouns = reading.nouns
    if len(nouns) > 1:  # "the volume of the radio"
        nouns = nouns - set(NOUN_DOMAINS)
    domains = {NOUN_DOMAINS.get(noun, noun.partition(".")[0]) for noun in nouns}
    classes = [noun.partition(".")[2] for noun in nouns if "." in noun]
    if action in TINTED and not reading.names and not domains:
        return {"light"}, []
    if reading.modes and not reading.names and not domains:
        return {"climate"}, []
    if action in STEPS and not reading.names and not _is_tinted(reading, action):
        return {STEPS[action][0]}, []
    if domains or reading.names:
        # "All blinds and curtains" are not the garage door.
        return domains, sorted(classes) if len(classes) == len(nouns) else []
    if "degrees" in reading.units or (reading.areas and _warm(reading, unit)):
        return {"climate"}, []
    if action in PLAYER or (action in ("up", "down") and not reading.areas):
        return {"media_player"}, []
    if action in ("open", "close", "raise", "lower") and reading.areas:
        return {"cover"}, []
    if action in ("on", "off") and (reading.areas or reading.floors):
        if action == "on" or not reading.everything:
            return {"light"}, []
        return set(CUT_EVERYWHERE if reading.floors else CUT), []
    return set(), []


def _warm(reading: Reading, unit: str) -> bool:
    """Whether a bare number is a temperature: "guest room 19" is no brightness."""
    numbers, (coldest, warmest) = reading.numbers, SENSIBLE[unit]
    return not reading.units and bool(numbers) and coldest <= numbers[0] <= warmest


def largest(domain: str, unit: str) -> float:
    """The largest value that makes sense of a domain in VALUED; unit: of the heaters."""
    return SENSIBLE[unit][1] if domain == "climate" else VALUED[domain][2]


def _targets(
    reading: Reading, snapshot: Snapshot, slots: dict[str, Any], domains: set[str], area: str
) -> Targets:
    if len(reading.names) > 1:
        each = [_called(snapshot, slots, name, area) for name in reading.names]
        if not all(targets.entities for targets in each):
            return NOBODY
        known = {entity.id: entity for targets in each for entity in targets.entities}
        several = Targets(tuple(known.values()), any(targets.unclear for targets in each))
        return _with_kinds(several, reading, snapshot, domains, area)
    if reading.names:
        named = find(snapshot, slots, (), area=area)
        if LOCKING & reading.actions and domains <= {LOCK}:
            locks = tuple(locks_of(named.entities, snapshot))
            return Targets(locks, len(locks) > 1)
        fitting = tuple(e for e in named.entities if not domains or e.domain in domains)
        if domains - {entity.domain for entity in fitting}:
            return _with_kinds(named, reading, snapshot, domains, area)
        return Targets(fitting or named.entities, len(fitting or named.entities) > 1)
    if not domains:
        return NOBODY
    if len(reading.areas) > 1:
        rooms = [
            find(snapshot, {**slots, "area": one}, domains, area=area) for one in reading.areas
        ]
        if not all(found.entities for found in rooms):
            return NOBODY
        known = {entity.id: entity for found in rooms for entity in found.entities}
        return Targets(tuple(known.values()), any(found.unclear for found in rooms))
    placed = reading.areas or reading.floors or reading.here
    everywhere = reading.everything and not placed
    return find(snapshot, slots, domains, area=area, everywhere=everywhere)


def _with_kinds(
    named: Targets, reading: Reading, snapshot: Snapshot, domains: set[str], area: str
) -> Targets:
    """What is named, with what else is said by its kind: "the lights and the TV". Nothing where it
    is not said that both are meant ("the light at the TV"), or which of that kind."""
    others = domains - {entity.domain for entity in named.entities}
    if not others:
        return named
    switched = reading.actions <= {"on", "off"} and others <= set(SWITCHED)
    if not (switched and reading.joined):
        return NOBODY
    where = {key: value for key, value in slots_of(reading).items() if key != "name"}
    found = find(snapshot, where, others, area=area)
    if found.unclear or others - {entity.domain for entity in found.entities}:
        return NOBODY
    return Targets((*named.entities, *found.entities), named.unclear)


def _called(snapshot: Snapshot, slots: dict[str, Any], name: str, area: str) -> Targets:
    """One of several things: the room that was said may be another one's."""
    by_name = {"name": name}
    there = find(snapshot, {**slots, **by_name}, (), area=area)
    return there if there.entities else find(snapshot, by_name, (), area=area)


def _tool(
    reading: Reading, action: str, kinds: set[str], unit: str
) -> tuple[str, dict[str, Any]] | None:
    domain = next(iter(kinds))
    if reading.colors and kinds == {"light"} and action in ("", "on"):
        return "lights.set", {"color": reading.colors[-1]}
    if kinds == {"light"} and action in WARMTH and not reading.numbers:
        return "lights.set", {"color": WARMTH[action]}
    if reading.colors:
        return None  # "blue and brighter" is two things
    if reading.modes:
        return in_mode(reading, action, unit) if kinds == {"climate"} else None
    if "kelvin" in reading.units or ("color_temperature" in reading.nouns and reading.numbers):
        kelvin = kelvin_of(reading)
        fits = kinds == {"light"} and kelvin is not None and action in ("", "on", "up", "down")
        return ("lights.set", {"kelvin": kelvin}) if fits else None
    sound = reading.nouns == {"volume"} and kinds == {"media_player"} and not reading.numbers
    if sound and action in SOUND:
        return SOUND[action], {}
    if reading.difference and (reading.numbers or "half" in reading.actions):
        return changed_by(domain, reading.actions, reading.numbers) if len(kinds) == 1 else None
    value = value_of(reading, domain)
    if value is not None and len(kinds) == 1 and domain in VALUED and action != "off":
        valued, argument, _ = VALUED[domain]
        means_volume = (
            "volume" in reading.nouns
            or "percent" in reading.units
            or action in ("up", "down", *STEPS)
        )
        if domain == "media_player" and not means_volume:
            return None
        if domain == "fan" and value < LEAST_SPEED and "percent" not in reading.units:
            return None  # "on level 2"
        return (valued, {argument: value}) if 0 <= value <= largest(domain, unit) else None
    if reading.numbers:
        return None
    if action in STEPS:
        domain, step = STEPS[action]
        return (STEPPED[domain], {"step": step}) if kinds == {domain} else None
    step = {"raise": "up", "lower": "down"}.get(action, action)
    if step in ("up", "down") and len(kinds) == 1 and domain in STEPPED:
        return STEPPED[domain], {"step": step}
    if kinds == {"vacuum"} and action == "start" and reading.names and reading.areas:
        return "vacuum.clean_area", {"area": reading.areas[0]}
    tools = {SIMPLE.get((action or _only(reading), kind)) for kind in kinds}
    tool = tools.pop() if len(tools) == 1 else None
    return (tool, {}) if tool else None


def _is_tinted(reading: Reading, action: str) -> bool:
    """Whether the color temperature of a light is stepped."""
    of_color = "color_temperature" in reading.nouns
    return action in TINTED or (of_color and action in WARMTH)


def kelvin_of(reading: Reading) -> int | None:
    """The color temperature that is said; ``None`` where the number is none."""
    kelvin = int(reading.numbers[0]) if len(reading.numbers) == 1 else 0
    return kelvin if 1_000 <= kelvin <= COLDEST_LIGHT else None


def in_mode(reading: Reading, action: str, unit: str) -> tuple[str, dict[str, Any]] | None:
    """The tool for "set the air conditioner to cool", with a temperature or without."""
    if len(reading.modes) > 1 or reading.difference or action not in ("", "on", "start", "run"):
        return None
    arguments: dict[str, Any] = {"mode": reading.modes[0]}
    if reading.numbers:
        coldest, warmest = SENSIBLE[unit]
        if len(reading.numbers) > 1 or not coldest <= reading.numbers[0] <= warmest:
            return None
        arguments["temperature"] = value_of(reading, "climate")
    return "climate.set_mode", arguments


def changed_by(
    domain: str, actions: Collection[str], numbers: Sequence[float]
) -> tuple[str, dict[str, Any]] | None:
    """Tool and arguments for a value that shall be so much more or less; ``None`` where it is not
    said which, or by how much."""
    up, down = bool(UPWARD & set(actions)), bool(DOWNWARD & set(actions))
    most = MOST_DEGREES if domain == "climate" else 100
    if len(numbers) != 1 or up == down or domain not in MOVED or not 0 < numbers[0] <= most:
        return None
    number = int(numbers[0]) if numbers[0].is_integer() else numbers[0]
    if domain == "media_player":
        return MOVED[domain], {"step": f"{number if up else -number}"}
    return MOVED[domain], {"step": "up" if up else "down", "by": number}


def _only(reading: Reading) -> str:
    return "full" if "full" in reading.actions else ""


def value_of(reading: Reading, domain: str) -> float | int | None:
    """The value that is said, in a number or as the whole or a half; ``None`` where none is."""
    if reading.numbers:
        number = reading.numbers[0]
        return int(number) if number.is_integer() else number
    if "full" in reading.actions and domain in VALUED and VALUED[domain][0] in FULL:
        return 100
    return 50 if "half" in reading.actions else None
