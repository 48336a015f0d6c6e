"""Heating and cooling."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plugins.acting import EntityIds, act, act_by_value, after, as_of, found
from plugins.api import Entity, Plugin, Risk, Snapshot, ToolContext, ToolError, ToolResult
from plugins.degrees import CELSIUS, FAHRENHEIT, WARMEST, unit_of
from plugins.speech import full_stop, joined, say, state_word

plugin = Plugin("climate", sentences="climate.{language}.yaml")

STEP = 1.0
"""Degrees that "warmer" means."""

COOLING = frozenset({"cool", "dry", "fan_only"})
HEATING = frozenset({"heat", "heat_cool", "auto"})
"""Modes of Home Assistant's climate entities."""
SET_TO = {
    "climate": ("temperature", "temperature_set"),
    "humidifier": ("humidity", "humidity"),
}
"""Domains of what is set to a value → the attribute that tells it, and how that is said."""
Mode = Literal["cool", "heat", "dry", "fan_only", "auto", "heat_cool"]
Degrees = Annotated[float, Meta(ge=-30, le=120)]


def heating_risk(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Risk:
    """Very warm costs money, and may be a mistake; what only cools just stops then."""
    limit, ids = WARMEST[unit_of(snapshot.entities)], arguments.get("entities") or ()
    things = [entity for entity in snapshot.entities if entity.id in ids]
    cools = bool(things) and not any(map(_heats, things))
    wanted = float(arguments.get("temperature") or 0)
    refused = bool(things) and not any(_goes_to(thing, wanted) for thing in things)
    return "dangerous" if wanted > limit and not cools and not refused else "act"


def heating_in_mode_risk(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Risk:
    """The same of a temperature that is said with a mode."""
    limit = WARMEST[unit_of(snapshot.entities)]
    very_warm = float(arguments.get("temperature") or 0) > limit
    return "dangerous" if very_warm and arguments.get("mode") in HEATING else "act"


def _heats(entity: Entity) -> bool:
    """Whether it may: it is in no other mode, nor is there one to heat in where it is off."""
    modes = entity.attributes.get("hvac_modes")
    if entity.state == "off" and isinstance(modes, list):
        return bool(HEATING & set(map(str, modes)))
    return entity.state not in COOLING


@plugin.tool(risk="act", risk_rule=heating_risk)
async def set_(context: ToolContext, entities: EntityIds, temperature: Degrees) -> ToolResult:
    """Set the temperature of heaters.

    temperature: degrees, in the heater's own unit
    """
    things = found(context, tuple(entities))
    entities = [thing.id for thing in things if _goes_to(thing, temperature)]
    if not entities:
        names, (least, most) = [thing.name for thing in things], _range(things[0])
        raise ToolError(say(context.language, "no_such_degrees", names, f"{least:g}–{most:g}"))
    result = await act(
        context,
        entities,
        {"climate": "set_temperature"},
        "temperature_set",
        data={"temperature": temperature},
        reached=lambda e: _target(e) == temperature,
        value=lambda e: float(temperature),
    )
    off = [heater.name for heater in found(context, tuple(entities)) if heater.state == "off"]
    if not off:
        return result
    text = f"{result.text} {say(context.language, 'still_off', off)}"
    return msgspec.structs.replace(result, text=text)


@plugin.tool(risk="act", risk_rule=heating_in_mode_risk)
async def set_mode(
    context: ToolContext, entities: EntityIds, mode: Mode, temperature: Degrees | None = None
) -> ToolResult:
    """Let air conditioners and heaters cool, heat, dry the air or only blow.

    temperature: degrees, in the device's own unit
    """
    language = context.language
    things = found(context, entities)
    able = [thing for thing in things if mode in _modes(thing)]
    word = state_word(mode, language)
    if not able:
        others = [state_word(one, language) for one in _modes(things[0]) if one != "off"]
        names = [thing.name for thing in things]
        key = "no_such_mode" if others else "no_mode"
        raise ToolError(f"{say(language, key, names, word)}{joined(language, others)}"
                        f"{full_stop(language) if others else ''}")  # fmt: skip
    ids = [thing.id for thing in able]
    result = await act(
        context,
        ids,
        {"climate": "set_hvac_mode"},
        "mode_set",
        data={"hvac_mode": mode},
        reached=lambda e: e.state == mode,
        value=lambda e: word,
    )
    if temperature is None:
        return result
    warmed = await set_(context, ids, temperature=temperature)
    return after(result, warmed)


def _goes_to(heater: Entity, degrees: float) -> bool:
    """Whether a heater can be set to that, as far as it tells."""
    least, most = _range(heater)
    return least <= degrees <= most


def _range(heater: Entity) -> tuple[float, float]:
    """The lowest and the highest that a heater can be set to."""
    told = heater.attributes.get("min_temp"), heater.attributes.get("max_temp")
    least, most = (None if value is None else float(value) for value in told)
    return (-math.inf if least is None else least, math.inf if most is None else most)


def _modes(thing: Entity) -> list[str]:
    """Home Assistant's modes that a thing has."""
    modes = thing.attributes.get("hvac_modes")
    return [str(mode) for mode in modes] if isinstance(modes, list) else []


@plugin.tool(risk="act")
async def change(
    context: ToolContext,
    entities: EntityIds,
    step: Literal["up", "down"],
    by: Annotated[float, Meta(ge=0, le=10)] = STEP,
) -> ToolResult:
    """Make it a degree warmer or cooler.

    by: degrees
    """
    heaters = found(context, entities)
    now = {heater.id: degrees for heater in heaters if (degrees := _target(heater)) is not None}
    if not now:
        raise ToolError(say(context.language, "no_target", [heaters[0].name]))
    wanted = {heater: degrees + (by if step == "up" else -by) for heater, degrees in now.items()}
    warmest = WARMEST[unit_of(context.home.snapshot().entities)]
    heated = [wanted[heater.id] for heater in heaters if heater.id in wanted and _heats(heater)]
    if step == "up" and max(heated, default=0) > warmest:
        highest = f"{max(now.values()):g}"
        raise ToolError(say(context.language, "warm_enough", value=highest))
    return await act_by_value(wanted, lambda ids, value: set_(context, ids, temperature=value))


@plugin.tool(risk="read")
async def temperature(context: ToolContext, entities: tuple[str, ...] = ()) -> ToolResult:
    """Tell how warm it is."""
    things = found(context, entities)
    warm = [(thing.name, degrees) for thing in things if (degrees := _measured(thing)) is not None]
    if not warm:
        raise ToolError(say(context.language, "nothing_known"))
    text = " ".join(say(context.language, "temperature", [name], value) for name, value in warm[:5])
    return ToolResult(text=as_of(context) + text, data={"temperatures": dict(warm)})


@plugin.tool(risk="read")
async def target(context: ToolContext, entities: tuple[str, ...] = ()) -> ToolResult:
    """Tell what temperature heaters, or what humidity humidifiers, are set to."""
    things = [thing for thing in found(context, entities) if thing.domain in SET_TO]
    if not things:
        raise ToolError(say(context.language, "nothing_known"))
    told = {thing.name: _target(thing) for thing in things[:5]}
    text = " ".join(
        say(context.language, "state", [thing.name], state_word(thing.state, context.language))
        if thing.state == "off" or told[thing.name] is None
        else say(context.language, SET_TO[thing.domain][1], [thing.name], told[thing.name])
        for thing in things[:5]
    )
    return ToolResult(text=as_of(context) + text, data={"targets": told})


def _target(thing: Entity) -> float | None:
    attribute, _ = SET_TO.get(thing.domain, ("temperature", ""))
    value = thing.attributes.get(attribute)
    return None if value is None else float(value)


def _measured(thing: Entity) -> float | None:
    """What a heater or a temperature sensor measures."""
    value = thing.attributes.get("current_temperature")
    if thing.domain == "sensor" and _senses_temperature(thing):
        value = thing.state
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def _senses_temperature(sensor: Entity) -> bool:
    unit = str(sensor.attributes.get("unit_of_measurement", ""))
    return sensor.attributes.get("device_class") == "temperature" or unit in (CELSIUS, FAHRENHEIT)
