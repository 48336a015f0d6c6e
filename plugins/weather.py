"""The weather: from the household's own weather entity, or Open-Meteo where it is set up."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from msgspec import Meta

from plugins.acting import as_of, found
from plugins.api import Entity, Plugin, ToolContext, ToolError, ToolResult
from plugins.days import day_of
from plugins.numbers import written
from plugins.open_meteo import Day, Forecast, UnreachableError, forecast
from plugins.speech import day_name, moment, say

plugin = Plugin("weather", sentences="weather.{language}.yaml")

CONDITIONS = frozenset({
    "sunny", "clear-night", "cloudy", "partlycloudy", "fog", "rainy", "pouring", "snowy",
    "snowy-rainy", "lightning", "lightning-rainy", "hail", "windy", "windy-variant", "exceptional",
})  # fmt: skip
"""Home Assistant's words for the weather, which we use as well."""


def _is_day(arguments: Mapping[str, Any], language: str) -> bool:
    return day_of(str(arguments.get("day", "")), language, date(2026, 1, 1)) is not None


@plugin.tool(risk="read", timeout_s=20)
async def now(context: ToolContext, entities: tuple[str, ...] = ()) -> ToolResult:
    """Tell the weather."""
    places = found(context, entities) or [
        entity for entity in context.home.snapshot().entities if entity.domain == "weather"
    ]
    if not places:
        weather = await _forecast(context)
        text = _current(context, weather)
        return ToolResult(text=text, data={"weather": weather.current.condition})
    text = " ".join(
        say(context.language, "weather", [place.name], _told(context, place)) for place in places
    )
    return ToolResult(text=as_of(context) + text, data={"weather": {p.id: p.state for p in places}})


@plugin.tool(risk="read", fits=_is_day, timeout_s=20)
async def on(
    context: ToolContext, day: Annotated[str, Meta(min_length=1, max_length=80)]
) -> ToolResult:
    """Tell the weather of a day to come.

    day: for instance tomorrow, or Saturday
    """
    today = context.now.date()
    wanted = day_of(day, context.language, today)
    if wanted is None:
        raise ToolError(say(context.language, "no_day", [day]))
    weather = await _forecast(context)
    daily = next((one for one in weather.days if one.day == wanted), None)
    if daily is None:
        raise ToolError(say(context.language, "no_forecast", value=day))
    parts = [_condition(context, daily.condition), _range(context, daily)]
    if daily.rain_percent is not None:
        parts.append(say(context.language, "chance_of_rain", value=daily.rain_percent))
    name = day_name(wanted, today, context.language)
    text = f"{name[:1].upper()}{name[1:]}: {', '.join(parts)}." + _as_of(context, weather)
    data = {"day": wanted.isoformat(), "condition": daily.condition, "rain": daily.rain_percent}
    return ToolResult(text=text, data=data)


async def _forecast(context: ToolContext) -> Forecast:
    location = str(context.settings.get("location", ""))
    if not location:
        raise ToolError(say(context.language, "no_weather"))
    try:
        return await forecast(context, location, str(context.settings["url"]))
    except UnreachableError as error:
        raise ToolError(say(context.language, "weather_away", value=str(error))) from error


def _current(context: ToolContext, weather: Forecast) -> str:
    degrees = _degrees(context, weather.current.degrees)
    told = f"{_condition(context, weather.current.condition)}, {degrees} °C."
    return told[:1].upper() + told[1:] + _as_of(context, weather)


def _as_of(context: ToolContext, weather: Forecast) -> str:
    if not weather.old:
        return ""
    then = weather.at.astimezone(context.now.tzinfo)
    told = moment(then, context.now, context.language)
    return " " + say(context.language, "weather_as_of", value=told)


def _condition(context: ToolContext, condition: str) -> str:
    if condition not in CONDITIONS:
        return condition.replace("-", " ")
    return say(context.language, f"weather_{condition}")


def _range(context: ToolContext, daily: Day) -> str:
    """``2–8 °C``."""
    return f"{_degrees(context, daily.low)}–{_degrees(context, daily.high)} °C"


def _degrees(context: ToolContext, degrees: float) -> str:
    return written(Decimal(str(round(degrees))), context.language)


def _told(context: ToolContext, place: Entity) -> str:
    """``rainy, 8 °C``."""
    degrees = place.attributes.get("temperature")
    unit = place.attributes.get("temperature_unit", "°C")
    condition = _condition(context, place.state)
    return condition + (f", {degrees} {unit}" if degrees is not None else "")
