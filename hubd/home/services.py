"""What a service makes of a state: Home Assistant's services, as far as a kept state follows them.

One table: service → function from (entity, data) to the new state and changed attributes.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from hubd.home.model import Entity, HomeError

Change = tuple[str, dict[str, Any]]
Effect = Callable[[Entity, Mapping[str, Any]], Change]


def applied(service: str, entity: Entity, data: Mapping[str, Any]) -> Entity:
    """``entity`` after ``service``.

    Raises:
        HomeError: the service is unknown, is not for this domain, or a value is missing.
    """
    domain, _, name = service.partition(".")
    effect = EFFECTS.get(service) or (
        COMMON.get(name) if domain in ("homeassistant", *SWITCHED) else None
    )
    if effect is None:
        raise HomeError(f"This household does not know the service {service}.")
    if domain not in ("homeassistant", entity.domain):
        raise HomeError(f"{service} is not for {entity.name}.")
    try:
        state, attributes = effect(entity, data)
    except (KeyError, TypeError, ValueError) as error:
        raise HomeError(f"{service} misses a value, or cannot use it: {error}") from error
    return msgspec.structs.replace(
        entity, state=state, attributes={**entity.attributes, **attributes}
    )


def _state(state: str) -> Effect:
    return lambda entity, data: (state, {})


def _attribute(attribute: str, key: str) -> Effect:
    """An attribute becomes the service's value; the state stays."""
    return lambda entity, data: (entity.state, {attribute: data[key]})


def _turn_on(entity: Entity, data: Mapping[str, Any]) -> Change:
    """Lights and fans take what they shall shine and blow with."""
    changed: dict[str, Any] = {}
    if "brightness_pct" in data:
        changed["brightness"] = round(float(data["brightness_pct"]) * 2.55)
    if "color_name" in data:
        changed["color_name"] = str(data["color_name"])
    if "color_temp_kelvin" in data:
        changed["color_temp_kelvin"] = int(data["color_temp_kelvin"])
    if "percentage" in data:
        changed["percentage"] = int(data["percentage"])
    return "off" if changed.get("brightness") == 0 else "on", changed


def _toggle(entity: Entity, data: Mapping[str, Any]) -> Change:
    return "off" if entity.state == "on" else "on", {}


def _position(closed: str, opened: str) -> Effect:
    def effect(entity: Entity, data: Mapping[str, Any]) -> Change:
        position = min(100, max(0, int(data["position"])))
        return (opened if position else closed), {"current_position": position}

    return effect


def _moved(state: str, position: int) -> Effect:
    return lambda entity, data: (state, {"current_position": position})


def _climate(entity: Entity, data: Mapping[str, Any]) -> Change:
    return (
        "heat" if entity.state in ("off", "unknown") else entity.state,
        {"temperature": float(data["temperature"])},
    )


def _fan(entity: Entity, data: Mapping[str, Any]) -> Change:
    percentage = min(100, max(0, int(data["percentage"])))
    return ("on" if percentage else "off"), {"percentage": percentage}


def _play_media(entity: Entity, data: Mapping[str, Any]) -> Change:
    return "playing", {"media_title": str(data.get("search_query") or data["media_content_id"])}


SWITCHED = (
    "light", "switch", "fan", "input_boolean", "media_player", "climate", "humidifier",
    "siren", "automation", "water_heater",
)  # fmt: skip

COMMON: dict[str, Effect] = {
    "turn_on": _turn_on,
    "turn_off": _state("off"),
    "toggle": _toggle,
}

EFFECTS: dict[str, Effect] = {
    "cover.open_cover": _moved("open", 100),
    "cover.close_cover": _moved("closed", 0),
    "cover.stop_cover": lambda entity, data: (entity.state, {}),
    "cover.set_cover_position": _position("closed", "open"),
    "valve.open_valve": _moved("open", 100),
    "valve.close_valve": _moved("closed", 0),
    "valve.set_valve_position": _position("closed", "open"),
    "lock.lock": _state("locked"),
    "lock.unlock": _state("unlocked"),
    "alarm_control_panel.alarm_arm_away": _state("armed_away"),
    "alarm_control_panel.alarm_arm_home": _state("armed_home"),
    "alarm_control_panel.alarm_disarm": _state("disarmed"),
    "climate.set_temperature": _climate,
    "climate.turn_on": _state("heat"),
    "climate.set_hvac_mode": lambda entity, data: (str(data["hvac_mode"]), {}),
    "climate.set_fan_mode": _attribute("fan_mode", "fan_mode"),
    "fan.set_percentage": _fan,
    "humidifier.set_humidity": _attribute("humidity", "humidity"),
    "media_player.media_play": _state("playing"),
    "media_player.media_pause": _state("paused"),
    "media_player.media_stop": _state("idle"),
    "media_player.media_next_track": _state("playing"),
    "media_player.media_previous_track": _state("playing"),
    "media_player.volume_set": _attribute("volume_level", "volume_level"),
    "media_player.volume_mute": _attribute("is_volume_muted", "is_volume_muted"),
    "media_player.play_media": _play_media,
    "vacuum.start": _state("cleaning"),
    "vacuum.stop": _state("idle"),
    "vacuum.pause": _state("paused"),
    "vacuum.return_to_base": _state("docked"),
    "vacuum.clean_area": _state("cleaning"),
    "lawn_mower.start_mowing": _state("mowing"),
    "lawn_mower.pause": _state("paused"),
    "lawn_mower.dock": _state("docked"),
    "scene.turn_on": lambda entity, data: (entity.state, {}),
    "script.turn_on": lambda entity, data: (entity.state, {}),
    "button.press": lambda entity, data: (entity.state, {}),
    "input_button.press": lambda entity, data: (entity.state, {}),
}
