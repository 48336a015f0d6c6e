"""Things of the household that are switched, opened, locked, activated; and how they are now."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plugins.acting import EntityIds, act, act_by_value, as_of, found, shown
from plugins.api import Entity, Plugin, Risk, Snapshot, ToolContext, ToolError, ToolResult
from plugins.brought_back import told_again
from plugins.speech import say
from plugins.states import answer, how

plugin = Plugin("home", sentences="home.{language}.yaml")

SECURE_COVERS = frozenset({"garage", "gate", "door"})

HVAC_MODES = frozenset({"heat", "cool", "dry", "fan_only", "auto", "heat_cool"})
Position = Annotated[int, Meta(ge=0, le=100)]
NOT_OFF = frozenset({"off", "unavailable", "unknown"})


def opening_risk(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Risk:
    """A curtain opens; a garage door, a gate or a door lets somebody in."""
    return "dangerous" if any(map(_secure, _entities(snapshot, arguments))) else "act"


def switching_risk(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Risk:
    """Turning off an alarm is dangerous, whatever it is called."""
    domains = {entity.domain for entity in _entities(snapshot, arguments)}
    return "dangerous" if domains & {"alarm_control_panel", "lock", "siren"} else "act"


@plugin.tool(risk="act", risk_rule=switching_risk)
async def turn_on(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Turn on lights, switches, fans, players or heaters."""
    return await act(
        context, entities, "homeassistant.turn_on", "on", reached=lambda e: e.state not in NOT_OFF
    )


@plugin.tool(risk="act", risk_rule=switching_risk)
async def turn_off(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Turn off lights, switches, fans, players or heaters."""
    return await act(
        context, entities, "homeassistant.turn_off", "off", reached=lambda e: e.state == "off"
    )


@plugin.tool(risk="act", risk_rule=switching_risk)
async def toggle(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Turn on what is off, and off what is on."""
    before = {entity.id: entity.state for entity in found(context, entities)}
    return await act(
        context,
        entities,
        "homeassistant.toggle",
        "state",
        reached=lambda e: e.state != before[e.id],
        value=lambda e: e.state,
    )


@plugin.tool(risk="act", risk_rule=opening_risk)
async def open_(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Open blinds, curtains, shutters, garage doors or valves."""
    services = {"cover": "open_cover", "valve": "open_valve"}
    return await act(
        context, entities, services, "open", reached=lambda e: e.state in ("open", "opening")
    )


@plugin.tool(risk="act")
async def close(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Close blinds, curtains, shutters, garage doors or valves."""
    services = {"cover": "close_cover", "valve": "close_valve"}
    return await act(
        context, entities, services, "closed", reached=lambda e: e.state in ("closed", "closing")
    )


@plugin.tool(risk="act")
async def stop(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Stop a blind, curtain or door that moves."""
    return await act(context, entities, {"cover": "stop_cover", "valve": "stop_valve"}, "halted")


@plugin.tool(risk="act", risk_rule=opening_risk)
async def set_position(context: ToolContext, entities: EntityIds, position: Position) -> ToolResult:
    """Move a blind, curtain or valve.

    position: percent open; 0 is closed
    """
    services = {"cover": "set_cover_position", "valve": "set_valve_position"}
    return await act(
        context,
        entities,
        services,
        "position",
        data={"position": position},
        reached=lambda e: (
            e.state in ("opening", "closing") or e.attributes.get("current_position") == position
        ),
        value=lambda e: position,
    )


def moving_risk(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Risk:
    """Only what opens further may let somebody in."""
    return opening_risk(snapshot, arguments) if arguments.get("step") == "up" else "act"


@plugin.tool(risk="act", risk_rule=moving_risk)
async def move(
    context: ToolContext, entities: EntityIds, step: Literal["up", "down"], by: Position
) -> ToolResult:
    """Move a blind, curtain or valve further open (up) or further closed (down).

    by: percent of the whole way
    """
    difference = by if step == "up" else -by
    wanted = {
        cover.id: min(100, max(0, _position(cover) + difference))
        for cover in found(context, entities)
    }
    return await act_by_value(
        wanted, lambda ids, value: set_position(context, ids, position=int(value))
    )


@plugin.tool(risk="act")
async def lock(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Lock doors."""
    return await act(
        context, entities, {"lock": "lock"}, "locked",
        reached=lambda e: e.state in ("locked", "locking"),
    )  # fmt: skip


@plugin.tool(risk="dangerous")
async def unlock(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Unlock doors."""
    return await act(
        context, entities, {"lock": "unlock"}, "unlocked",
        reached=lambda e: e.state in ("unlocked", "unlocking", "open"),
    )  # fmt: skip


@plugin.tool(risk="act")
async def activate(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Activate scenes, run scripts, press buttons."""
    services = {"scene": "turn_on", "script": "turn_on", "button": "press", "input_button": "press"}
    return await act(context, entities, services, "activated")


@plugin.tool(risk="read")
async def state(
    context: ToolContext, entities: tuple[str, ...] = (), state: str = ""
) -> ToolResult:
    """Tell how things are.

    state: the state that was asked about, for instance on, open or locked, or what is measured, as
        humidity
    """
    things = found(context, entities)
    if not things:
        raise ToolError(say(context.language, "nothing_known"))
    playing = [e for e in things if e.domain == "media_player" and e.state == "playing"]
    if not state and playing and all(e.domain == "media_player" for e in things):
        things = playing  # what the silent ones do not play is no answer to what plays
    data = {"entities": [shown(entity) for entity in things]}
    text = answer(context, things, state) if state else how(context, things)
    return ToolResult(text=as_of(context) + text, data=data)


class Before(msgspec.Struct, kw_only=True):
    """How an entity was."""

    id: str
    state: str
    name: str = ""
    brightness: float | None = None
    color_name: str | None = None
    color_temp_kelvin: float | None = None
    current_position: int | None = None
    temperature: float | None = None
    percentage: int | None = None
    humidity: int | None = None
    volume_level: float | None = None
    is_volume_muted: bool | None = None


def restoring_risk(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Risk:
    """Undoing may unlock and open, like anything else that does."""
    before = msgspec.convert(arguments.get("states", []), list[Before])
    opened = [b.id for b in before if b.state in ("open", "opening", "unlocked", "disarmed")]
    secure = any(map(_secure, _entities(snapshot, {"entities": opened})))
    return "dangerous" if secure or any(i.startswith("lock.") for i in opened) else "act"


@plugin.tool(risk="act", risk_rule=restoring_risk)
async def restore(context: ToolContext, states: list[Before]) -> ToolResult:
    """Bring things back to how they were: what undo calls."""
    ids = [before.id for before in states]
    there = {one.id: one for one in found(context, ids)}
    for before in states:
        for service, data in _services_to(before):
            result = await context.home.call(service, [before.id], data)
            if result.failed:
                raise ToolError(next(iter(result.failed.values())))
    after = found(context, ids)
    return ToolResult(
        text=told_again(context, there, after),
        data={"entities": [shown(entity) for entity in after]},
    )


def _services_to(before: Before) -> list[tuple[str, dict[str, Any]]]:
    """The service calls that bring an entity back."""
    domain = before.id.partition(".")[0]
    if domain in ("cover", "valve"):
        if before.current_position is not None:
            return [(f"{domain}.set_{domain}_position", {"position": before.current_position})]
        return [(f"{domain}.{'open' if before.state == 'open' else 'close'}_{domain}", {})]
    if domain == "lock":
        return [("lock.lock" if before.state == "locked" else "lock.unlock", {})]
    if domain == "vacuum":
        return [("vacuum.start" if before.state == "cleaning" else "vacuum.return_to_base", {})]
    calls: list[tuple[str, dict[str, Any]]] = []
    if domain == "light" and before.state == "on":
        shining = _shining(before)
        return [("light.turn_on", data) for data in shining] or [("homeassistant.turn_on", {})]
    in_mode = domain == "climate" and before.state in HVAC_MODES
    if in_mode:
        calls.append(("climate.set_hvac_mode", {"hvac_mode": before.state}))
    if domain == "climate" and before.temperature is not None:
        calls.append(("climate.set_temperature", {"temperature": before.temperature}))
    if in_mode:
        return calls
    if domain == "fan" and before.state == "on" and before.percentage is not None:
        return [("fan.set_percentage", {"percentage": before.percentage})]
    if domain == "humidifier" and before.state == "on" and before.humidity is not None:
        calls.append(("humidifier.set_humidity", {"humidity": before.humidity}))
    if domain == "media_player" and before.volume_level is not None:
        calls.append(("media_player.volume_set", {"volume_level": before.volume_level}))
    if domain == "media_player" and before.state in ("playing", "paused"):
        service = "media_play" if before.state == "playing" else "media_pause"
        return [*calls, (f"media_player.{service}", {})]
    return [*calls, (f"homeassistant.turn_{'off' if before.state == 'off' else 'on'}", {})]


def _shining(before: Before) -> list[dict[str, Any]]:
    """What a light takes to shine as it did: a color or a white, not both."""
    bright = before.brightness
    data: dict[str, Any] = {} if bright is None else {"brightness_pct": round(bright / 2.55)}
    if before.color_temp_kelvin is not None:
        data["color_temp_kelvin"] = int(before.color_temp_kelvin)
    elif before.color_name is not None:
        data["color_name"] = before.color_name
    return [data] if data else []


def _position(cover: Entity) -> int:
    """Percent open; one that does not tell is open or closed."""
    position = cover.attributes.get("current_position")
    return int(position) if position is not None else 100 * (cover.state == "open")


def _entities(snapshot: Snapshot, arguments: Mapping[str, Any]) -> list[Entity]:
    wanted = set(arguments.get("entities") or ())
    return [entity for entity in snapshot.entities if entity.id in wanted]


def _secure(entity: Entity) -> bool:
    return entity.domain == "lock" or (
        entity.domain == "cover"
        and (
            entity.attributes.get("device_class") in SECURE_COVERS
            or any(word in entity.name.casefold() for word in ("garage", "gate", "tor", "车库"))
        )
    )
