"""The weather: from an entity, or from a server that answers as Open-Meteo's documentation says."""

import asyncio
import json

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from plugins import open_meteo
from plugins.api import ToolError

ANSWER = {
    "latitude": 52.52,
    "longitude": 13.419998,
    "generationtime_ms": 0.08,
    "utc_offset_seconds": 3600,
    "timezone": "Europe/Berlin",
    "timezone_abbreviation": "GMT+1",
    "elevation": 38.0,
    "current_units": {"time": "iso8601", "interval": "seconds", "temperature_2m": "°C"},
    "current": {
        "time": "2026-03-27T12:00",
        "interval": 900,
        "temperature_2m": 7.6,
        "weather_code": 3,
    },
    "daily_units": {"time": "iso8601", "temperature_2m_max": "°C"},
    "daily": {
        "time": ["2026-03-27", "2026-03-28", "2026-03-29"],
        "weather_code": [3, 61, 0],
        "temperature_2m_max": [9.1, 7.4, 12.0],
        "temperature_2m_min": [1.2, -0.4, 2.0],
        "precipitation_probability_max": [10, 80, None],
    },
}


CLOUDY = "Cloudy, 8 °C. Today: cloudy, 1–9 °C, 10 % chance of rain."


class Service:
    """The server, and what it was asked."""

    def __init__(self):
        self.asked = []
        self.handle = self.well

    async def well(self, request):
        return web.json_response(ANSWER)

    async def __call__(self, request):
        self.asked.append(dict(request.query))
        return await self.handle(request)


@pytest.fixture
async def service(workshop):
    """A household without a weather entity, and the service that is set up for it."""
    running = Service()
    app = web.Application()
    app.router.add_get("/v1/forecast", running)
    async with TestServer(app) as server:
        url = str(server.make_url("/v1/forecast"))
        workshop.settings["weather"] = {"location": "52.52, 13.41", "url": url}
        await workshop.home.load("entities: [{id: light.a, name: A, state: off}]")
        yield running


async def test_the_weather_of_an_entity(workshop):
    assert (await workshop("weather.now")).text == "Home: rainy, 8 °C."
    assert (await workshop("weather.now", "de")).text == "Home: regnerisch, 8 °C."


async def test_nobody_is_asked_unless_a_location_is_set(workshop):
    await workshop.home.load("entities: [{id: light.a, name: A, state: off}]")
    with pytest.raises(ToolError, match=r"name no place"):
        await workshop("weather.now")


async def test_now_and_the_days_to_come(workshop, service):
    assert (await workshop("weather.now")).text == CLOUDY
    tomorrow = await workshop("weather.on", day="tomorrow")
    assert tomorrow.text == "Tomorrow: rainy, 0–7 °C, 80 % chance of rain."
    assert tomorrow.data == {"day": "2026-03-28", "condition": "rainy", "rain": 80}
    assert (await workshop("weather.on", "zh", day="后天")).text == "3月29日星期日：晴，2–12 °C。"
    with pytest.raises(ToolError, match="no forecast for Friday 25 December"):
        await workshop("weather.on", day="Christmas")
    (asked,) = service.asked
    assert asked["latitude"] == "52.52"
    assert asked["longitude"] == "13.41"
    assert set(asked) == {
        "latitude", "longitude", "timezone", "forecast_days", "current", "daily"
    }  # fmt: skip


async def test_some_days_are_told_one_by_one(workshop, service):
    weekend = await workshop("weather.on", day="this weekend")
    assert weekend.text.splitlines() == [
        "Tomorrow: rainy, 0–7 °C, 80 % chance of rain.",
        "Sunday 29 March: sunny, 2–12 °C.",
    ]
    assert [one["day"] for one in weekend.data["days"]] == ["2026-03-28", "2026-03-29"]
    assert len((await workshop("weather.on", "de", day="die nächsten Tage")).text.splitlines()) == 3
    assert len((await workshop("weather.on", "zh", day="未来两天")).text.splitlines()) == 2


async def test_it_is_asked_again_after_a_while(workshop, service):
    await workshop("weather.now")
    await workshop.pass_time(minutes=10)
    await workshop("weather.now")
    assert len(service.asked) == 1
    await workshop.pass_time(minutes=10)
    await workshop("weather.now")
    assert len(service.asked) == 2


async def _broken(request):
    return web.Response(status=500)


async def _refusing(request):
    return web.json_response({"error": True, "reason": "Latitude must be in range"}, status=400)


async def _garbled(request):
    return web.Response(text="<html>", content_type="text/html")


async def _changed(request):
    return web.json_response({**ANSWER, "current": {"temperature": "warm"}})


async def _elsewhere(request):
    raise web.HTTPFound("http://192.0.2.1/")


async def _silent(request):
    await asyncio.sleep(5)


async def _endless(request):
    return web.Response(text=json.dumps({**ANSWER, "padding": "x" * 1_000_000}))


@pytest.mark.parametrize(
    "fault", [_broken, _refusing, _garbled, _changed, _elsewhere, _silent, _endless]
)
async def test_a_service_that_fails_is_told_and_what_was_known_stays_usable(
    workshop, service, fault, monkeypatch
):
    monkeypatch.setattr(open_meteo, "LIMIT_S", 0.5)
    service.handle = fault
    with pytest.raises(ToolError, match="cannot be reached"):
        await workshop("weather.now")
    service.handle = service.well
    await workshop("weather.now")
    service.handle = fault
    await workshop.pass_time(hours=1)
    assert (await workshop("weather.now")).text == f"{CLOUDY} (As of today 12:00.)"
    await workshop.pass_time(hours=6)
    with pytest.raises(ToolError, match="cannot be reached"):
        await workshop("weather.now")


def test_every_code_has_words():
    from plugins.speech import say

    for condition in {*open_meteo.WMO.values(), "exceptional"}:
        for language in ("en", "zh", "de", "fr", "es"):
            assert say(language, f"weather_{condition}")


SENTENCES = [
    ("en", "What's the weather like tomorrow?", "weather.on", {"day": "tomorrow"}),
    ("en", "will it rain on Saturday", "weather.on", {"day": "Saturday"}),
    ("zh", "明天会下雨吗", "weather.on", {"day": "明天"}),
    ("zh", "礼拜六会不会刮大风", "weather.on", {"day": "礼拜六"}),
    ("zh", "后天咱这儿得多少度", "weather.on", {"day": "后天"}),
    ("zh", "明儿嘛天儿", "weather.on", {"day": "明儿"}),
    ("zh", "明儿出去用不用带伞", "weather.on", {"day": "明儿"}),
    ("de", "wie wird das Wetter morgen", "weather.on", {"day": "morgen"}),
    ("fr", "quel temps fera-t-il demain", "weather.on", {"day": "demain"}),
    ("es", "qué tiempo hará mañana", "weather.on", {"day": "mañana"}),
]


@pytest.mark.parametrize(("language", "text", "tool", "arguments"), SENTENCES)
def test_a_question_is_understood(understood, language, text, tool, arguments):
    assert understood(text, language) == (tool, arguments)
