"""When the sun rises and sets, against an almanac (timeanddate's tables for Berlin and Sydney)."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest

from plugins.api import Location
from plugins.daylight import location_of, sun_time

BERLIN, SYDNEY = Location(52.52, 13.41), Location(-33.87, 151.21)


@pytest.mark.parametrize(
    ("event", "day", "place", "zone", "almanac"),
    [
        ("sunrise", date(2026, 6, 21), BERLIN, "Europe/Berlin", "04:43"),
        ("sunset", date(2026, 6, 21), BERLIN, "Europe/Berlin", "21:33"),
        ("sunrise", date(2026, 12, 21), BERLIN, "Europe/Berlin", "08:15"),
        ("sunset", date(2026, 12, 21), BERLIN, "Europe/Berlin", "15:54"),
        ("sunset", date(2026, 12, 21), SYDNEY, "Australia/Sydney", "20:05"),
    ],
)
def test_the_sun_is_where_the_almanac_says(event, day, place, zone, almanac):
    found = sun_time(event, day, place, ZoneInfo(zone))
    hour, minute = map(int, almanac.split(":"))
    assert found is not None
    assert found.date() == day
    assert abs(found - found.replace(hour=hour, minute=minute, second=0)) < timedelta(minutes=2)


def test_dusk_is_behind_sunset_and_dawn_before_sunrise():
    zone = ZoneInfo("Europe/Berlin")
    moments = [
        sun_time(event, date(2026, 3, 20), BERLIN, zone)
        for event in ("dawn", "sunrise", "sunset", "dusk")
    ]
    assert moments == sorted(moments)


def test_there_is_no_sunset_in_a_polar_summer():
    assert sun_time("sunset", date(2026, 6, 21), Location(78.2, 15.6), ZoneInfo("UTC")) is None


def test_a_place_in_words():
    assert location_of("52.52, 13.41") == BERLIN
    assert location_of(" ") is None
