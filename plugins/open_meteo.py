"""The weather from Open-Meteo (https://open-meteo.com/en/docs), kept for a while. No plugin itself.

Asked only when the configuration names a location; what goes out is that location and nothing else.
"""

from datetime import date, datetime, timedelta

import aiohttp
import msgspec

from plugins.api import ToolContext
from plugins.forecasts import Current, Day, Forecast

FRESH = timedelta(minutes=15)
USABLE = timedelta(hours=6)
"""What is older than this is no forecast any more."""
LIMIT_S = 10.0
MAXIMUM_BYTES = 200_000
DAYS = 7
KEY = "open-meteo"

WMO = {
    0: "sunny", 1: "partlycloudy", 2: "partlycloudy", 3: "cloudy", 45: "fog", 48: "fog",
    51: "rainy", 53: "rainy", 55: "rainy", 56: "snowy-rainy", 57: "snowy-rainy", 61: "rainy",
    63: "rainy", 65: "pouring", 66: "snowy-rainy", 67: "snowy-rainy", 71: "snowy", 73: "snowy",
    75: "snowy", 77: "snowy", 80: "rainy", 81: "rainy", 82: "pouring", 85: "snowy", 86: "snowy",
    95: "lightning-rainy", 96: "hail", 99: "hail",
}  # fmt: skip
"""The World Meteorological Organization's code 4677, as far as Open-Meteo uses it."""


class UnreachableError(Exception):
    """The service does not answer as it should; the message says how."""


class _Now(msgspec.Struct):
    temperature_2m: float
    weather_code: int


class _Daily(msgspec.Struct):
    time: list[date]
    weather_code: list[int]
    temperature_2m_min: list[float]
    temperature_2m_max: list[float]
    precipitation_probability_max: list[int | None] = []


class _Answer(msgspec.Struct):
    current: _Now
    daily: _Daily


async def forecast(context: ToolContext, location: str, url: str) -> Forecast:
    """The weather now and of the next days at ``latitude, longitude``.

    Raises:
        UnreachableError: it cannot be had, and what is known is too old.
    """
    stored = await context.storage.get(KEY)
    kept = msgspec.convert(stored["forecast"], Forecast) if stored else None
    if kept and stored and stored["location"] == location and context.now - kept.at < FRESH:
        return kept
    try:
        fresh = await _asked(context.now, location, url)
    except UnreachableError:
        if kept and stored and stored["location"] == location and context.now - kept.at < USABLE:
            return msgspec.structs.replace(kept, old=True)
        raise
    await context.storage.put(KEY, {"location": location, "forecast": msgspec.to_builtins(fresh)})
    return fresh


async def _asked(now: datetime, location: str, url: str) -> Forecast:
    latitude, longitude = (part.strip() for part in location.split(","))
    wanted = {
        "latitude": latitude, "longitude": longitude, "timezone": "auto",
        "forecast_days": str(DAYS), "current": "temperature_2m,weather_code",
        "daily": "weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max",
    }  # fmt: skip
    timeout = aiohttp.ClientTimeout(total=LIMIT_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url, params=wanted, allow_redirects=False) as response,
        ):
            body = await response.content.read(MAXIMUM_BYTES)
            if response.status != 200:
                raise UnreachableError(f"it answers {response.status}")
    except TimeoutError as error:
        raise UnreachableError(f"no answer within {LIMIT_S:g} s") from error
    except (aiohttp.ClientError, OSError) as error:
        raise UnreachableError(type(error).__name__) from error
    return _read(now, body)


def _read(now: datetime, body: bytes) -> Forecast:
    """The answer in our words. Raises ``UnreachableError`` where it is none."""
    try:
        answer = msgspec.json.decode(body, type=_Answer)
    except msgspec.DecodeError as error:
        raise UnreachableError("its answer is not what it should be") from error
    daily = answer.daily
    rain = daily.precipitation_probability_max or [None] * len(daily.time)
    rows = zip(
        daily.time, daily.weather_code, daily.temperature_2m_min, daily.temperature_2m_max, rain,
        strict=False,
    )  # fmt: skip
    return Forecast(
        at=now,
        current=Current(answer.current.temperature_2m, _condition(answer.current.weather_code)),
        days=[Day(day, _condition(code), low, high, wet) for day, code, low, high, wet in rows],
    )


def _condition(code: int) -> str:
    return WMO.get(code, "exceptional")
