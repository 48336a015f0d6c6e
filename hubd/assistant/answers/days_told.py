"""Days, hours and lengths of time in the passages of a document: "Friday 18 December", "17.3.2027,
14:00 Uhr", "40 to 50 minutes", 12月5日. Knows no answers and no tools.
"""

import re
from collections.abc import Iterable
from datetime import date, time, timedelta
from functools import cache
from typing import NamedTuple

from plugins.day_words import words_of
from plugins.numbers import digits

LANGUAGES = ("en", "de")
_SPAN = r"\s*(?:to|till|until|bis(?: zum)?|-|–|至|到)\s*"
_ISO = re.compile(r"\b(?P<year>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)\b")
_DOTTED = re.compile(r"\b(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.(?P<year>20\d\d)?(?!\d)")
_CHINESE = re.compile(
    r"(?:(?P<year>20\d\d)年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]?"
    r"(?:(?:到|至|-|–)(?:(?P<to_month>\d{1,2})月)?(?P<to_day>\d{1,2})[日号])?"
)
_OF_YEAR = re.compile(r"\b(20\d\d):|\b(20\d\d)年[：:]")
"""A year that stands before its days: "2026: 9 September, 7 October"."""
_SCHOOL_YEAR = re.compile(r"\b(20\d\d) ?[/–—-] ?(?:20)?\d\d(?!\d)")
_YEAR = re.compile(r"\b(20\d\d)\b")
BEGINS_IN = 8
"""The month from which a day of "2026/27" is of the first of the two years."""
_FIGURES = r"\d{1,2}(?::\d\d|\.\d\d(?= ?(?:Uhr|[ap]\.?m)))"
_CLOCK = re.compile(
    rf"(?<![\d:.])(?P<from>{_FIGURES})(?:{_SPAN}(?P<to>{_FIGURES}))?(?![.:]?\d|\s?%)"
    rf"|\b(?P<hour>\d{{1,2}})\s?(?P<half>[ap])\.?m\b"
    rf"|(?<![\d-])(?P<o_clock>\d{{1,2}})\s?(?:o['’]clock|Uhr)\b"
    rf"|(?P<chinese>(?:上午|早上|中午|下午|晚上)?\d{{1,2}}点(?:\d{{1,2}}分?|半)?)"
)
_MONTHLY = re.compile(
    r"\b(?:(?P<ordinal>\w+(?:-\w+)?) day|(?:the )?(?P<number>\d{1,2})(?:st|nd|rd|th))"
    r" of (?:each|every|the) month\b"
    r"|\b(?:zum|am|bis zum) (?P<german>\d{1,2})\. (?:eines )?(?:jedes|jeden|des) Monats\b"
    r"|每(?:个)?月(?P<chinese>\d{1,2})[日号]",
    re.IGNORECASE,
)
_COUNTS = {
    "half an": 0.5, "half a": 0.5, "an": 1, "a": 1, "eine halbe": 0.5, "einer halben": 0.5,
    "eine": 1, "einer": 1, "半": 0.5, "一": 1, "两": 2,
}  # fmt: skip
"""What is no number by itself."""
_COUNT = "|".join([r"\d+(?:[.,]\d+)?", *sorted(map(re.escape, _COUNTS), key=len, reverse=True)])
_LENGTH = re.compile(
    rf"(?<![\w.,:-])(?P<n>{_COUNT})(?:{_SPAN}(?P<to>{_COUNT}))?(?P<half> and a half)?"
    r"[ -]?(?:full )?(?P<unit>minutes?|mins?|hours?|seconds?|minuten?|stunden?|sekunden?|h|min|s)\b"
    rf"|(?P<chinese_n>{_COUNT})个?半?(?P<chinese_unit>分钟|小时|钟头|秒)",
    re.IGNORECASE,
)
_SECONDS = {"mi": 60, "h": 3600, "ho": 3600, "st": 3600, "s": 1, "se": 1, "分钟": 60, "小时": 3600,
            "钟头": 3600, "秒": 1}  # fmt: skip
"""By how a unit begins."""
_AND = re.compile(r"\s*(?:and|und|,)?\s*")


class Day(NamedTuple):
    """A day that is told, or days from a first to a last one."""

    first: date
    last: date | None = None


class Hours(NamedTuple):
    """When something begins and, where that is told, ends."""

    begin: time
    end: time | None = None


def days_in(text: str, today: date, around: str = "") -> list[Day]:
    """The days that ``text`` tells, in their order, each once.

    A day without its year is of the year that stands before it in the text, else of that of
    ``around`` (headings, the document's name), else the next.
    """
    found: list[tuple[int, int, Day]] = []
    for match in (*_ISO.finditer(text), *_DOTTED.finditer(text), *_CHINESE.finditer(text)):
        said = match.groupdict()
        first = _day(said["year"], int(said["month"]), int(said["day"]), text[: match.start()],
                     around, today)  # fmt: skip
        last = None
        if first and said.get("to_day"):
            month = int(said.get("to_month") or said["month"])
            last = _day(str(first.year), month, int(said["to_day"]), "", "", today)
        if first:
            found.append((match.start(), match.end(), Day(first, last)))
    for pattern, months in map(_named, LANGUAGES):
        for match in pattern.finditer(text):
            month = _month_of(match["month"], months)
            before = text[: match.start()]
            weekday = match["weekday"] or ""
            numbers = [int(one) for one in re.findall(r"\d{1,2}", match["days"])]
            is_span = re.search(r"[a-z–-]", re.sub(r"st|nd|rd|th|and|und|&", "", match["days"]))
            days = [
                _day(match["year"], month, one, before, around, today, weekday) for one in numbers
            ]
            known = [day for day in days if day]
            if is_span and len(known) == 2:
                found.append((match.start(), match.end(), Day(known[0], known[1])))
            else:
                found.extend((match.start(), match.end(), Day(day)) for day in known)
    apart: list[tuple[int, int, Day]] = []
    for one in sorted(found, key=lambda one: (one[0], -one[1])):
        if not any(one[2] == other[2] for other in apart):
            apart.append(one)
    return [day for _, _, day in apart]


def hours_in(text: str) -> list[Hours]:
    """The times of the clock that ``text`` tells, in their order."""
    found = []
    for match in _CLOCK.finditer(text):
        if match["from"]:
            begin, end = _clock(match["from"]), _clock(match["to"] or "")
            found += [Hours(begin, end)] if begin else []
        elif match["hour"]:
            hour = int(match["hour"]) % 12 + (12 if match["half"].casefold() == "p" else 0)
            found.append(Hours(time(hour)))
        elif match["o_clock"] and int(match["o_clock"]) < 24:
            found.append(Hours(time(int(match["o_clock"]))))
        elif match["chinese"] and (at := _chinese_clock(match["chinese"])):
            found.append(Hours(at))
    return found


def day_of_month_in(text: str) -> int:
    """The day on which something is due each month; 0 where none is told."""
    match = _MONTHLY.search(text)
    if match is None:
        return 0
    if match["ordinal"]:
        names = [one.pattern for one in words_of("en").ordinals]
        return next(
            (n for n, name in enumerate(names, 1) if re.fullmatch(name, match["ordinal"].lower())),
            0,
        )
    number = int(match["number"] or match["german"] or match["chinese"])
    return number if number <= 31 else 0


def lengths_in(text: str) -> list[timedelta]:
    """The lengths of time that ``text`` tells, each once: "an hour and ten minutes" is one, "40 to
    50 minutes" are two."""
    found: list[timedelta] = []
    figures = digits(digits(text.casefold(), "en"), "de")
    before, end = 0, -1
    for match in _LENGTH.finditer(figures):
        size = _SECONDS[(match["unit"] or match["chinese_unit"])[:2]]
        each = list(filter(None, [match["n"] or match["chinese_n"], match["to"]]))
        lengths = [_number(said, match) * timedelta(seconds=size) for said in each]
        goes_on = end >= 0 and size < before and _AND.fullmatch(figures, end, match.start())
        if goes_on and len(lengths) == 1:
            found[-1] += lengths[0]
        else:
            found += lengths
        before, end = size, match.end()
    return list(dict.fromkeys(found))


def _number(said: str, match: re.Match[str]) -> float:
    number = _COUNTS.get(said, 0) or float(said.replace(",", "."))
    has_half = match["half"] or "半" in match[0].removeprefix(said)
    return number + 0.5 if has_half else number


def _day(
    year: str | None,
    month: int,
    day: int,
    before: str,
    around: str,
    today: date,
    weekday: str = "",
) -> date | None:
    """The date; ``None`` where there is none such."""
    try:
        if year:
            return date(int(year), month, day)
        if stated := list(_OF_YEAR.finditer(before)):
            return date(int(stated[-1][1] or stated[-1][2]), month, day)
        if of_school := _SCHOOL_YEAR.search(around):
            return date(int(of_school[1]) + (month < BEGINS_IN), month, day)
        years = {int(one) for one in _YEAR.findall(around)}
        if len(years) == 1:
            return date(years.pop(), month, day)
        coming = [date(today.year + ahead, month, day) for ahead in (0, 1)]
        if weekday:
            fitting = [one for one in coming if _is_weekday(one, weekday)]
            if len(fitting) == 1:
                return fitting[0]
        return next((one for one in coming if one >= today), None)
    except ValueError:
        return None


def _is_weekday(day: date, name: str) -> bool:
    patterns = [words_of(language).weekdays[day.weekday()] for language in LANGUAGES]
    return any(pattern.fullmatch(name.casefold()) for pattern in patterns)


def _clock(said: str) -> time | None:
    hour, _, minute = said.replace(".", ":").partition(":")
    if not said or int(hour) > 23 or int(minute) > 59:
        return None
    return time(int(hour), int(minute))


def _chinese_clock(said: str) -> time | None:
    hour = int(re.search(r"\d{1,2}", said)[0])  # type: ignore[index]
    minute = re.search(r"点(\d{1,2})", said)
    later = said.startswith(("下午", "晚上")) and hour < 12
    minutes = 30 if said.endswith("半") else int(minute[1]) if minute else 0
    return time(hour + 12 * later, minutes) if hour + 12 * later < 24 and minutes < 60 else None


@cache
def _named(language: str) -> tuple[re.Pattern[str], tuple[re.Pattern[str], ...]]:
    """Days with the name of their month: "Friday 18 December 2026", "8 to 12 March", "May 20th"."""
    words = words_of(language)
    months = "|".join(one.pattern for one in words.months)
    weekdays = "|".join(one.pattern for one in words.weekdays)
    number = r"\d{1,2}(?:st|nd|rd|th|\.)?"
    several = rf"{number}(?:(?:{_SPAN}|\s*(?:and|und|&)\s*){number})?"
    year = r"(?:,?\s+(?P<year>20\d\d))?"
    front = rf"(?:(?P<weekday>{weekdays}),?\s+(?:den |the |dem )?)?(?P<days>{several})(?: of)?\s*"
    pattern = rf"\b{front}(?P<month>{months})\b{year}"
    return re.compile(pattern, re.IGNORECASE), tuple(words.months)


def _month_of(name: str, months: Iterable[re.Pattern[str]]) -> int:
    return next(n for n, one in enumerate(months, 1) if one.fullmatch(name.casefold()))
