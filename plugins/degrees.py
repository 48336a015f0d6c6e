"""Degrees Celsius or Fahrenheit: which a household has, and how warm is warm."""

from collections.abc import Collection

from plugins.api import Entity

CELSIUS, FAHRENHEIT = "°C", "°F"
WARMEST = {CELSIUS: 25.0, FAHRENHEIT: 77.0}
"""Heating higher than this asks first."""
SENSIBLE = {CELSIUS: (10.0, 35.0), FAHRENHEIT: (50.0, 95.0)}
"""Between these a bare number is a temperature that somebody may want in a room."""
_NEVER_CELSIUS = 45.0
"""No room is as warm as that."""


def unit_of(entities: Collection[Entity]) -> str:
    """The unit of a household's heaters: as Home Assistant tells it, else the one in which most of
    their temperatures make sense; Celsius where there are none."""
    heaters = [entity for entity in entities if entity.domain == "climate"]
    told = {heater.attributes.get("temperature_unit") for heater in heaters} - {None}
    if told:
        return FAHRENHEIT if FAHRENHEIT in told else CELSIUS
    now = [n for h in heaters if (n := _temperature(h)) is not None]
    hot = sum(degrees > _NEVER_CELSIUS for degrees in now)
    return FAHRENHEIT if hot and 2 * hot >= len(now) else CELSIUS


def _temperature(heater: Entity) -> float | None:
    """What it measures, or else what it is set to."""
    for name in ("current_temperature", "temperature"):
        number = heater.attributes.get(name)
        if isinstance(number, int | float):
            return float(number)
    return None
