"""Whether an entity reached what a service asked of it, told from its state alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from hubd.home.model import Entity

GONE = frozenset({"unavailable", "unknown"})

_REACHED: dict[str, frozenset[str]] = {
    "turn_off": frozenset({"off", "idle", "standby", "docked", "returning", "closed", "closing"}),
    "lock": frozenset({"locked", "locking"}),
    "unlock": frozenset({"unlocked", "unlocking", "open", "opening"}),
    "open_cover": frozenset({"open", "opening"}),
    "close_cover": frozenset({"closed", "closing"}),
    "open_valve": frozenset({"open", "opening"}),
    "close_valve": frozenset({"closed", "closing"}),
    "alarm_disarm": frozenset({"disarmed"}),
    "alarm_arm_home": frozenset({"armed_home", "arming"}),
    "alarm_arm_away": frozenset({"armed_away", "arming"}),
    "media_pause": frozenset({"paused", "idle", "off"}),
    "start": frozenset({"cleaning"}),
    "return_to_base": frozenset({"returning", "docked"}),
}
"""Service → the states that fulfil it; a state that is on its way counts."""

_NEVER_ON = GONE | {"off"}
_STATELESS = frozenset({"scene", "script", "button", "input_button", "todo", "notify"})
"""Their state is a time or a count, not what was asked for."""

_VALUES = {
    "temperature": "temperature",
    "position": "current_position",
    "percentage": "percentage",
    "humidity": "humidity",
    "volume_level": "volume_level",
    "value": None,
    "option": None,
    "hvac_mode": None,
}
"""Value of a service → the attribute that shows it, ``None`` for the state itself."""


def failures(
    service: str, wanted: Sequence[str], now: Sequence[Entity], data: Mapping[str, Any]
) -> dict[str, str]:
    """The entities that are not as the service asked, and why."""
    reasons = {entity.id: unmet(service, entity, data) for entity in now}
    failed = {entity: reason for entity, reason in reasons.items() if reason}
    return failed | {known: "it is gone" for known in wanted if known not in reasons}


def unmet(service: str, entity: Entity, data: Mapping[str, Any]) -> str:
    """Why the entity is not as the service asked, in words; empty when it is."""
    name = service.partition(".")[2]
    if entity.domain in _STATELESS:
        return "it is unavailable" if entity.state == "unavailable" else ""
    if entity.state in GONE:
        return f"it is {entity.state}"
    if name == "turn_on" and entity.state in _NEVER_ON:
        return f"it is still {entity.state}"
    wanted = _REACHED.get(name)
    if wanted is not None and entity.state not in wanted:
        return f"it is still {entity.state}"
    for key, attribute in _VALUES.items():
        if key in data and not _is(data[key], entity, attribute):
            shown = entity.state if attribute is None else entity.attributes.get(attribute)
            return f"its {key} is {shown}"
    return ""


def _is(asked: Any, entity: Entity, attribute: str | None) -> bool:
    """Whether a value is there; covers and valves that move are on their way to it."""
    if entity.state in ("opening", "closing"):
        return True
    shown = entity.state if attribute is None else entity.attributes.get(attribute)
    try:
        return abs(float(shown) - float(asked)) <= 1 if shown is not None else attribute is not None
    except (TypeError, ValueError):
        return str(shown) == str(asked)
