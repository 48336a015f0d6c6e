"""The weather, now and to come: from the household's own weather entity, or Open-Meteo where it is
set up."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from plugins.acting import as_of, found
from plugins.api import Entity, Plugin, ToolContext, ToolError, ToolResult
from plugins.days import span_of
from plugins.forecasts import Current, Day, Forecast, of_home
from plugins.numbers import written
from plugins.open_meteo import UnreachableError, forecast
from plugins.speech import day_name, moment, say, told_of

plugin = Plugin("weather", sentences="weather.{language}.yaml")

CONDITIONS = frozenset({
    "sunny", "clear-night", "cloudy", "partlycloudy", "fog", "rainy", "pouring", "snowy",
    "snowy-rainy", "lightning", "lightning-rainy", "hail", "windy", "windy-variant", "exceptional",
})  # fmt: skip
"""Home Assistant's words for the weather, which we use as well."""

Place = Annotated[str, Meta(max_length=60)]


def _is_day(arguments: Mapping[str, Any], language: str) -> bool:
    return span_of(str(arguments.get("day", "")), language, date(2026, 1, 1)) is not None


@plugin.tool(risk="read", timeout_s=20)
async def now(
    context: ToolContext, entities: tuple[str, ...] = (), place: Place = ""
) -> ToolResult:
    """Tell the weather, and how the day will be where that is known.

    place: a place elsewhere that was asked for, of which it is not known
    """
    told = await _now(context, entities)
    return msgspec.structs.replace(told, text=f"{_only_here(context, place)}{told.text}")


async def _now(context: ToolContext, entities: tuple[str, ...]) -> ToolResult:
    places = found(context, entities) or _places(context)
    if not places:
        weather = await _open_meteo(context)
        assert weather.current is not None
        told = [_current(context, weather.current), *_today(context, weather)]
        text = " ".join(told) + _as_of(context, weather)
        return ToolResult(text=text, data={"weather": weather.current.condition})
    told = [
        say(context.language, "weather", [place.name], _told(context, place)) for place in places
    ]
    told += _today(context, await _known(context, places))
    data = {"weather": {place.id: place.state for place in places}}
    return ToolResult(text=as_of(context) + " ".join(told), data=data)


@plugin.tool(risk="read", fits=_is_day, timeout_s=20)
async def on(
    context: ToolContext,
    day: Annotated[str, Meta(min_length=1, max_length=80)],
    place: Place = "",
) -> ToolResult:
    """Tell the weather of a day to come, or of some days.

    day: for instance tomorrow, Saturday, this weekend, or the next 3 days
    place: a place elsewhere that was asked for, of which it is not known
    """
    only_here = _only_here(context, place)
    try:
        told = await _on(context, day)
    except ToolError as error:
        raise ToolError(f"{only_here}{error}") from error
    return msgspec.structs.replace(told, text=f"{only_here}{told.text}")


async def _on(context: ToolContext, day: str) -> ToolResult:
    today = context.now.date()
    wanted = span_of(day, context.language, today)
    if wanted is None:
        raise ToolError(say(context.language, "no_day", [day]))
    places = _places(context)
    weather = await of_home(context, places)
    if weather is None and places and not context.settings.get("location"):
        raise ToolError(_no_forecast(context, *wanted))
    weather = weather or await _open_meteo(context)
    days = weather.of(*wanted)
    if not days:
        raise ToolError(_no_forecast(context, *wanted))
    told = [_of_day(context, weather, daily, today) for daily in days]
    data = [
        {"day": d.day.isoformat(), "condition": d.condition, "rain": d.rain_percent} for d in days
    ]
    text = "\n".join(told) + _as_of(context, weather)
    return ToolResult(text=text, data=data[0] if len(data) == 1 else {"days": data})


def _only_here(context: ToolContext, place: str) -> str:
    """That the weather of ``place`` is not known, before that of here; empty without one."""
    if not place:
        return ""
    space = "" if context.language == "zh" else " "
    return f"{say(context.language, 'weather_only_here', [place])}{space}"


def _no_forecast(context: ToolContext, first: date, last: date) -> str:
    today = context.now.date()
    names = dict.fromkeys(day_name(day, today, context.language) for day in (first, last))
    return say(context.language, "no_forecast", value=" – ".join(names))


def _of_day(context: ToolContext, weather: Forecast, daily: Day, today: date) -> str:
    """``Tomorrow: rainy, 2–8 °C, 80 % chance of rain.``"""
    low, high = (_degrees(context, degrees) for degrees in (daily.low, daily.high))
    parts = [_condition(context, daily.condition), f"{low}–{high} {weather.unit}"]
    if daily.rain_percent is not None:
        parts.append(say(context.language, "chance_of_rain", value=daily.rain_percent))
    name = day_name(daily.day, today, context.language)
    told = ("，" if context.language == "zh" else ", ").join(parts)
    return told_of(f"{name[:1].upper()}{name[1:]}", told, context.language)


def _places(context: ToolContext) -> list[Entity]:
    return [entity for entity in context.home.snapshot().entities if entity.domain == "weather"]


async def _known(context: ToolContext, places: list[Entity]) -> Forecast | None:
    """The forecast, if there is one."""
    if weather := await of_home(context, places):
        return weather
    try:
        return await _open_meteo(context)
    except ToolError:
        return None


def _today(context: ToolContext, weather: Forecast | None) -> list[str]:
    today = context.now.date()
    days = weather.of(today, today) if weather else []
    return [_of_day(context, weather, daily, today) for daily in days] if weather else []


async def _open_meteo(context: ToolContext) -> Forecast:
    location = str(context.settings.get("location", ""))
    if not location:
        raise ToolError(say(context.language, "no_weather"))
    try:
        return await forecast(context, location, str(context.settings["url"]))
    except UnreachableError as error:
        raise ToolError(say(context.language, "weather_away", value=str(error))) from error


def _current(context: ToolContext, current: Current) -> str:
    degrees = _degrees(context, current.degrees)
    told = f"{_condition(context, current.condition)}, {degrees} °C."
    return told[:1].upper() + told[1:]


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


def _degrees(context: ToolContext, degrees: float) -> str:
    return written(Decimal(str(round(degrees))), context.language)


def _told(context: ToolContext, place: Entity) -> str:
    """``rainy, 8 °C``."""
    degrees = place.attributes.get("temperature")
    unit = place.attributes.get("temperature_unit", "°C")
    comma = "，" if context.language == "zh" else ", "
    condition = _condition(context, place.state)
    return condition + (f"{comma}{degrees} {unit}" if degrees is not None else "")
