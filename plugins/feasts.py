"""Feasts: their names, also as a speech recognizer writes them, and their days. No plugin itself.

Which there are, how they are called and how each is reckoned is in feasts.yaml.
"""

import calendar
import re
from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from plugins.chinese_calendar import moon_day_said, moon_days
from plugins.day_words import in_digits
from plugins.speech import FAST_LOADER

YEARS_SEARCHED = 9
"""A feast comes again within them: 29 February does, around 1900 as well."""
_SHORT = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY_FROM = re.compile(rf"(\d\d)-(\d\d)({'|'.join(_SHORT)})([+-]\d+)?")
_BY_THE_MOON = re.compile(r"moon (\d+)-(\d+)")
_BY_THE_SUN = re.compile(r"sun (\d\d) ([\d.]+) ([\d.]+)")
_SUN_YEARS = range(1950, 2100)
"""For which the numbers of feasts.yaml that follow the sun are right."""
_TURN_OF_THE_YEAR = (12, 1)
"""The months by the moon whose feasts "this year" may lie in the next year of the calendar."""


class Feast(NamedTuple):
    """How a feast is reckoned, as feasts.yaml writes it."""

    on: str
    since: int = 1
    """The first year of the rule."""
    but: Mapping[str, str] | None = None
    """Year → how it was reckoned in that year."""


class _Ear(NamedTuple):
    """What sounds alike in a language."""

    shortest: int
    """Letters of a name; one that has fewer is to be written as it is."""
    alike: list[tuple[re.Pattern[str], str]]


def feast_named(name: str, language: str) -> Feast | None:
    """The feast of that name: as it is written, as it may have been heard ("ost ern", "hollow
    wean"), or a day by the moon (腊月二十三)."""
    if feast := _names(language).get(name):
        return feast
    if language == "zh" and (said := moon_day_said(name)):
        return Feast("moon {}-{}".format(*said))
    heard = _heard(name, language)
    alike = _names_by_ear(language).get(heard, []) if heard else []
    return alike[0] if len(alike) == 1 else None


def next_feast(feast: Feast, today: date, *, past: bool) -> date | None:
    """Its next day, today or later; past: its last, today or earlier."""
    years = range(today.year, today.year + YEARS_SEARCHED)
    if past:
        years = range(today.year, today.year - YEARS_SEARCHED, -1)
    days = chain.from_iterable(days_of(feast, year)[:: -1 if past else 1] for year in years)
    return next((day for day in days if (day <= today if past else day >= today)), None)


def feast_in(feast: Feast, year: int) -> date | None:
    """Its day in a year; ``None`` where it has none or it is not known."""
    return next(iter(days_of(feast, year)), None)


def feast_of_this_year(feast: Feast, today: date) -> date | None:
    """Its day in the year of ``today``. In autumn 今年春节 is the coming one, in spring the last:
    at the turn of the Chinese year the nearer is meant."""
    days = days_of(feast, today.year)
    match = _BY_THE_MOON.fullmatch(feast.on)
    if match and int(match[1]) in _TURN_OF_THE_YEAR:
        days += [day for day in days_of(feast, today.year + 1) if day.month < 4]
    return min(days, key=lambda day: abs(day - today), default=None)


def days_of(feast: Feast, year: int) -> list[date]:
    """The days of a feast in a year: none, one or, by the moon, two.

    Raises:
        ValueError: the rule is none that feasts.yaml explains.
    """
    if year < feast.since:
        return []
    rule = (feast.but or {}).get(str(year), feast.on)
    if rule.startswith("easter"):
        return [easter(year) + timedelta(days=int(rule.removeprefix("easter")))]
    if match := _WEEKDAY_FROM.fullmatch(rule):
        return [_weekday_from(year, *match.groups())]
    if match := _BY_THE_MOON.fullmatch(rule):
        return moon_days(year, int(match[1]), int(match[2]))
    if match := _BY_THE_SUN.fullmatch(rule):
        return _by_the_sun(year, int(match[1]), float(match[2]), float(match[3]))
    if rule == "02-29" and not calendar.isleap(year):
        return []
    return [date.fromisoformat(f"{year:04}-{rule}")]


def _weekday_from(year: int, month: str, day: str, weekday: str, more: str | None) -> date:
    """The first such weekday from a day of the year on, or a day so many days later."""
    begin = date(year, int(month), int(day))
    ahead = (_SHORT.index(weekday) - begin.weekday()) % 7
    return begin + timedelta(days=ahead + int(more or 0))


def _by_the_sun(year: int, month: int, in_2000: float, drift: float) -> list[date]:
    """When the sun reaches a place of its path, at the meridian of China.

    in_2000: the day of the month with its fraction, if 2000 had had no leap day before it
    drift: days by which it is later each year, before the leap days
    """
    if year not in _SUN_YEARS:
        return []
    since = year - 2000
    leap_days = (since if month > 2 else since - 1) // 4
    return [date(year, month, int(in_2000 + drift * since - leap_days))]


def easter(year: int) -> date:
    """Easter Sunday in the Gregorian calendar (Meeus, Jones, Butcher: Nature, 20 April 1876)."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    remainder = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 19 * remainder) // 433
    month = (h + remainder - 7 * m + 90) // 25
    return date(year, month, (h + remainder - 7 * m + 33 * month + 19) % 32)


@cache
def _read() -> dict[str, Any]:
    text = (Path(__file__).parent / "feasts.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=FAST_LOADER))


@cache
def _names(language: str) -> dict[str, Feast]:
    """Name → feast; English names are understood in every language."""
    return {
        in_digits(name.casefold(), spoken): Feast(
            told["on"], int(told.get("since", 1)), told.get("but")
        )
        for spoken in ("en", language)
        for told in _read()["feasts"]
        for name in told.get(spoken, ())
    }


@cache
def _names_by_ear(language: str) -> dict[str, list[Feast]]:
    """What is heard → the feasts whose names sound so."""
    found: dict[str, list[Feast]] = {}
    for name, feast in _names(language).items():
        alike = found.setdefault(_heard(name, language), [])
        if feast not in alike:
            alike.append(feast)
    return found


def _heard(name: str, language: str) -> str:
    """A name as it sounds: without the spaces, and written alike where it sounds alike; empty where
    it is too short to be known by that."""
    heard = re.sub(r"[\W_]+", "", name)
    ear = _ear(language)
    if len(heard) < ear.shortest:
        return ""
    for pattern, written in ear.alike:
        heard = pattern.sub(written, heard)
    return re.sub(r"(.)\1+", r"\1", heard)


@cache
def _ear(language: str) -> _Ear:
    told = _read()["by_ear"]
    ear = told.get(language) or told["en"]
    return _Ear(int(ear["shortest"]), [(re.compile(said), alike) for said, alike in ear["alike"]])
