"""The weather of the days to come, and Home Assistant's forecasts of it. No plugin itself.

Home Assistant: the service ``weather.get_forecasts`` of a weather entity
(https://www.home-assistant.io/integrations/weather).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import msgspec

from plugins.api import Entity, HomeError, ToolContext

SERVICE = "weather.get_forecasts"
KINDS = ("daily", "twice_daily", "hourly")
"""In this order they are asked for; a weather entity has one at least."""
MAXIMUM_ENTRIES = 500
DAYTIME = range(7, 20)
"""The hours whose weather is a day's: at night it is clear, which nobody calls sunny."""


class Current(msgspec.Struct, frozen=True):
    degrees: float
    condition: str


class Day(msgspec.Struct, frozen=True):
    day: date
    condition: str
    low: float
    high: float
    rain_percent: int | None = None


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    at: datetime
    current: Current | None = None
    days: list[Day]
    unit: str = "°C"
    old: bool = False
    """Whether it could not be had again."""

    def of(self, first: date, last: date) -> list[Day]:
        """The days from ``first`` to ``last`` that are known."""
        return [one for one in self.days if first <= one.day <= last]


class _Entry(msgspec.Struct):
    """What Home Assistant tells of a day, of half a day or of an hour."""

    datetime: datetime
    temperature: float
    condition: str | None = None
    templow: float | None = None
    precipitation_probability: float | None = None
    is_daytime: bool = True


class _Answer(msgspec.Struct):
    forecast: list[_Entry] | None = None


async def of_home(context: ToolContext, places: Sequence[Entity]) -> Forecast | None:
    """The forecast of the first weather entity that has one; ``None`` where none has."""
    for place in places:
        for kind in KINDS:
            try:
                told = await context.home.ask(SERVICE, place.id, {"type": kind})
            except HomeError:
                continue  # this one forecasts nothing of the kind, or cannot be asked now
            if days := _days(told, context.now):
                unit = str(place.attributes.get("temperature_unit", "°C"))
                return Forecast(at=context.now, days=days, unit=unit)
    return None


def _days(told: Mapping[str, Any], now: datetime) -> list[Day]:
    """The days of a service's answer, what is told of a day in parts as one; from today on."""
    try:
        entries = msgspec.convert(told, _Answer, strict=False).forecast or []
    except msgspec.ValidationError:
        return []
    of_days: dict[date, list[_Entry]] = {}
    for entry in entries[:MAXIMUM_ENTRIES]:
        when = entry.datetime
        local = when.astimezone(now.tzinfo) if when.tzinfo else when
        here = msgspec.structs.replace(entry, datetime=local)
        of_days.setdefault(local.date(), []).append(here)
    today = now.date()
    return [_whole(day, parts) for day, parts in sorted(of_days.items()) if day >= today]


def _whole(day: date, parts: Sequence[_Entry]) -> Day:
    degrees = [part.temperature for part in parts]
    lows = [part.templow for part in parts if part.templow is not None]
    wet = [p.precipitation_probability for p in parts if p.precipitation_probability is not None]
    light = [p for p in parts if p.is_daytime and p.datetime.hour in DAYTIME] or parts
    conditions = Counter(part.condition or "exceptional" for part in light)
    return Day(
        day=day,
        condition=conditions.most_common(1)[0][0],
        low=min(lows + degrees),
        high=max(degrees),
        rain_percent=round(max(wet)) if wet else None,
    )
