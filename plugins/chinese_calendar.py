"""The Chinese calendar: its months by the moon, as China reckons them. No plugin itself."""

import re
from datetime import date, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import yaml

from plugins.numbers import chinese
from plugins.speech import FAST_LOADER

LAST = 0
"""In place of a day: the last of its month."""
_LONG, _LEAP = "大", "闰"
_MONTHS = {"正": 1, "冬": 11, "腊": 12}
_NUMBER = "[一二三四五六七八九十]"
_DAY_OF_THE_MOON = re.compile(
    rf"(?P<said>农历|阴历|旧历)?的?(?P<month>正|冬|腊|{_NUMBER}{{1,2}})月"
    rf"(?P<day>初{_NUMBER}|[十廿]{_NUMBER}?|[二三]十{_NUMBER}?)(?P<solar>日|号)?"
)


class _Month(NamedTuple):
    number: int
    leap: bool
    first: date
    days: int


def moon_days(year: int, month: int, day: int) -> list[date]:
    """The days of ``year``, a year from January to December, that are this day of this month by
    the moon: none, one or two. The leap month that may follow is not meant.

    day: 1 to 30, or ``LAST``; a month without a 30th has none
    """
    around = [*_months(year - 1), *_months(year)]
    fitting = [found for found in around if found.number == month and not found.leap]
    days = [
        found.first + timedelta(days=(day or found.days) - 1)
        for found in fitting
        if day <= found.days
    ]
    return [found for found in days if found.year == year]


def moon_day_said(said: str) -> tuple[int, int] | None:
    """Month and day where a day is said by the moon and no other: 腊月二十三, 农历八月十五.

    "八月十五" alone may be the 15th of August.
    """
    match = _DAY_OF_THE_MOON.fullmatch(said)
    if match is None or not (match["said"] or match["month"] in _MONTHS or "初" in match["day"]):
        return None
    month = _MONTHS.get(match["month"]) or int(chinese(match["month"]))
    day = int(chinese(match["day"].removeprefix("初").replace("廿", "二十")))
    return (month, day) if 1 <= month <= 12 and 1 <= day <= 30 else None


@cache
def _months(year: int) -> list[_Month]:
    """The months of the Chinese year that begins in ``year``; none beyond the file."""
    row = _read().get(str(year))
    if row is None:
        return []
    begins, lengths = row.split()
    first, months = date.fromisoformat(f"{year}-{begins}"), list[_Month]()
    for before, length in pairwise(f" {lengths}"):
        if length == _LEAP:
            continue
        leap, days = before == _LEAP, 30 if length == _LONG else 29
        number = (months[-1].number if months else 0) + (not leap)
        months.append(_Month(number, leap, first, days))
        first += timedelta(days=days)
    return months


@cache
def _read() -> dict[str, str]:
    text = (Path(__file__).parent / "chinese_calendar.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=FAST_LOADER))
