"""Feasts on the days that almanacs and other libraries give, the Chinese calendar, the sun."""

from datetime import date, datetime, timedelta

import pytest
from astral import sun
from astral.julian import julianday, julianday_to_juliancentury
from dateutil.easter import easter as dateutil_easter
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.chinese_calendar import LAST, moon_day_said, moon_days
from plugins.feasts import Feast, days_of, easter, feast_named, next_feast

YEARS = range(1950, 2100)
ABOUT = 0.01
"""Degrees by which astral's sun may be off."""

PUBLISHED = {
    "春节": (
        "2026-02-17 2027-02-06 2028-01-26 2029-02-13 2030-02-03 2031-01-23 2032-02-11 "
        "2033-01-31 2034-02-19 2035-02-08 2036-01-28 2037-02-15 2038-02-04 2039-01-24 "
        "2040-02-12"
    ),
    "除夕": (
        "2026-02-16 2027-02-05 2028-01-25 2029-02-12 2030-02-02 2031-01-22 2032-02-10 "
        "2033-01-30 2034-02-18 2035-02-07 2036-01-27 2037-02-14 2038-02-03 2039-01-23 "
        "2040-02-11"
    ),
    "元宵": (
        "2026-03-03 2027-02-20 2028-02-09 2029-02-27 2030-02-17 2031-02-06 2032-02-25 "
        "2033-02-14 2034-03-05 2035-02-22 2036-02-11 2037-03-01 2038-02-18 2039-02-07 "
        "2040-02-26"
    ),
    "端午": (
        "2026-06-19 2027-06-09 2028-05-28 2029-06-16 2030-06-05 2031-06-24 2032-06-12 "
        "2033-06-01 2034-06-20 2035-06-10 2036-05-30 2037-06-18 2038-06-07 2039-05-27 "
        "2040-06-14"
    ),
    "中秋": (
        "2026-09-25 2027-09-15 2028-10-03 2029-09-22 2030-09-12 2031-10-01 2032-09-19 "
        "2033-09-08 2034-09-27 2035-09-16 2036-10-04 2037-09-24 2038-09-13 2039-10-02 "
        "2040-09-20"
    ),
}


@pytest.mark.parametrize(("name", "days"), PUBLISHED.items())
def test_feasts_by_the_moon_are_on_the_published_days(name, days):
    feast = feast_named(name, "zh")
    found = [day.isoformat() for year in range(2026, 2041) for day in days_of(feast, year)]
    assert found == days.split()


def test_the_chinese_years_follow_each_other():
    for year in YEARS[1:]:
        (new_year,) = moon_days(year, 1, 1)
        assert date(year, 1, 21) <= new_year <= date(year, 2, 21)
        assert moon_days(year, 12, LAST)[0] == new_year - timedelta(days=1)


def test_a_chinese_year_that_is_not_known_has_no_days():
    assert moon_days(1949, 8, 15) == []
    assert moon_days(2101, 8, 15) == []


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("腊月二十三", (12, 23)),
        ("正月初五", (1, 5)),
        ("农历八月十五", (8, 15)),
        ("农历的十月廿一", (10, 21)),
        ("八月十五", None),
        ("八月十五号", None),
        ("农历十三月初一", None),
    ],
)
def test_a_day_by_the_moon_is_known_by_its_words(said, found):
    assert moon_day_said(said) == found


@pytest.mark.parametrize(
    ("name", "degrees"),
    [
        ("立春", 315), ("春分", 0), ("清明", 15), ("立夏", 45), ("夏至", 90), ("立秋", 135),
        ("秋分", 180), ("立冬", 225), ("冬至", 270),
    ],
)  # fmt: skip
def test_feasts_by_the_sun_are_where_astral_sees_it(name, degrees):
    for year in YEARS:
        (day,) = days_of(feast_named(name, "zh"), year)
        assert _past(day, degrees) < ABOUT
        assert _past(day + timedelta(days=1), degrees) > -ABOUT


def _past(day: date, degrees: int) -> float:
    """How far the sun is past a place of its path when that day begins in China, in degrees."""
    begins = datetime(day.year, day.month, day.day) - timedelta(hours=8)
    century = julianday_to_juliancentury(julianday(begins))
    return (sun.sun_apparent_long(century) - degrees + 180) % 360 - 180


@settings(deadline=None)
@given(st.integers(1600, 4000))
def test_easter_is_the_one_of_dateutil(year):
    assert easter(year) == dateutil_easter(year)


@pytest.mark.parametrize(
    ("language", "name", "day"),
    [
        ("en", "thanksgiving", "2026-11-26"),
        ("en", "black friday", "2026-11-27"),
        ("en", "memorial day", "2026-05-25"),
        ("en", "saint stephen's day", "2026-12-26"),
        ("en", "labor day", "2026-09-07"),
        ("en", "martin luther king day", "2026-01-19"),
        ("en", "presidents' day", "2026-02-16"),
        ("en", "father's day", "2026-06-21"),
        ("en", "mothering sunday", "2026-03-15"),
        ("de", "buss- und bettag", "2026-11-18"),
        ("de", "totensonntag", "2026-11-22"),
        ("de", "4. advent", "2026-12-20"),
        ("de", "fronleichnam", "2026-06-04"),
        ("es", "día de la madre", "2026-05-03"),
    ],
)
def test_a_feast_by_the_weekday_or_by_easter_is_on_its_day(language, name, day):
    assert days_of(feast_named(name, language), 2026) == [date.fromisoformat(day)]


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "zh"])
def test_every_feast_that_has_a_name_comes_again(language):
    for name in ("easter", "leap day", "gaokao", "laba festival", "qingming", "advent"):
        feast = feast_named(name, language)
        assert next_feast(feast, date(2026, 3, 27), past=False) >= date(2026, 3, 27)
        assert next_feast(feast, date(2026, 3, 27), past=True) <= date(2026, 3, 27)


@pytest.mark.parametrize(
    ("language", "heard", "name"),
    [
        ("en", "hollow wean", "halloween"),
        ("en", "hallo ween", "halloween"),
        ("en", "east a", "easter"),
        ("en", "mothersday", "mother's day"),
        ("en", "valentine s day", "valentine's day"),
        ("de", "weih nachten", "weihnachten"),
        ("de", "karfrei tag", "karfreitag"),
        ("de", "sylvester", "silvester"),
        ("fr", "noel", "noël"),
        ("zh", "元蛋", "元旦"),
    ],
)
def test_a_feast_is_known_by_its_sound(language, heard, name):
    assert feast_named(heard, language) == feast_named(name, language)


@pytest.mark.parametrize(
    "heard", ["east", "esther", "is too", "is today", "eastern", "may", "hello win", "la bour day"]
)
def test_another_sound_is_no_feast(heard):
    """The last may be Labor Day or Labour Day, of which each has its own."""
    assert feast_named(heard, "en") is None


def test_an_exception_and_a_first_year_are_kept():
    feast = Feast("06-07", since=2003, but={"2020": "07-07"})
    assert [days_of(feast, year) for year in (2002, 2019, 2020)] == [
        [],
        [date(2019, 6, 7)],
        [date(2020, 7, 7)],
    ]
