"""Home Assistant's forecasts, as its service ``weather.get_forecasts`` answers."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from plugins.api import Entity, HomeError, Snapshot
from plugins.forecasts import Day, of_home

NOW = datetime(2026, 11, 26, 22, 30, tzinfo=ZoneInfo("Europe/Berlin"))
PLACE = Entity(id="weather.home", name="Home", state="sunny", attributes={"temperature_unit": "°C"})
DAILY = {
    "forecast": [
        {
            "condition": "rainy",
            "precipitation_probability": 60,
            "datetime": "2026-11-26T23:00:00+00:00",
            "temperature": 7.4,
            "templow": -0.4,
            "precipitation": 1.2,
        },
        {
            "condition": "sunny",
            "datetime": "2026-11-27T23:00:00+00:00",
            "temperature": 9,
            "templow": 2,
        },
    ]
}
HOURLY = {
    "forecast": [
        {
            "datetime": f"2026-11-27T{hour:02}:00:00+00:00",
            "temperature": hour,
            "condition": "clear-night" if hour < 6 or hour > 16 else "cloudy",
            "precipitation_probability": hour,
        }
        for hour in range(22)
    ]
}
TWICE = {
    "forecast": [
        {
            "datetime": "2026-11-26T17:00:00+00:00",
            "is_daytime": False,
            "temperature": 3,
            "condition": "fog",
        },
        {
            "datetime": "2026-11-27T06:00:00+00:00",
            "is_daytime": True,
            "temperature": 8,
            "condition": "windy",
        },
        {
            "datetime": "2026-11-27T18:00:00+00:00",
            "is_daytime": False,
            "temperature": 1,
            "condition": "fog",
        },
    ]
}


class Home:
    """A home whose weather entity tells what it is given, by kind of forecast."""

    def __init__(self, told):
        self.told = told

    def snapshot(self):
        return Snapshot(entities=(PLACE,))

    async def ask(self, service, entity, data):
        assert (service, entity) == ("weather.get_forecasts", "weather.home")
        if data["type"] not in self.told:
            raise HomeError("Weather entity does not support this")
        return self.told[data["type"]]


class Context:
    now = NOW

    def __init__(self, told):
        self.home = Home(told)


async def days(told):
    found = await of_home(Context(told), [PLACE])
    return found.days if found else None


async def test_days_are_those_of_the_household_and_not_of_greenwich():
    assert await days({"daily": DAILY}) == [
        Day(date(2026, 11, 27), "rainy", -0.4, 7.4, 60),
        Day(date(2026, 11, 28), "sunny", 2, 9, None),
    ]


async def test_hours_make_a_day_with_the_weather_of_its_daytime():
    assert await days({"hourly": HOURLY}) == [Day(date(2026, 11, 27), "cloudy", 0, 21, 21)]


async def test_halves_of_a_day_are_one():
    assert await days({"twice_daily": TWICE}) == [
        Day(date(2026, 11, 26), "fog", 3, 3, None),
        Day(date(2026, 11, 27), "windy", 1, 8, None),
    ]


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"daily": {}},
        {"daily": {"forecast": None}},
        {"daily": {"forecast": [{"datetime": "soon", "temperature": 3}]}},
        {"daily": {"forecast": [{"datetime": "2026-11-01T00:00:00+00:00", "temperature": 3}]}},
    ],
)
async def test_what_is_no_forecast_is_none(told):
    assert await days(told) is None
