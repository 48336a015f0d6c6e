"""The day that somebody means: "in 10 days", "next Friday", "24 December", "Easter".

Shared by the plugins; no plugin itself. What is said is in days.yaml, a language at a time.
"""

import calendar
import re
from datetime import date, timedelta
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from plugins.numbers import chinese_digits, digits
from plugins.speech import FAST_LOADER

WEEKDAYS, WEEKENDS, DAILY = (0, 1, 2, 3, 4), (5, 6), (0, 1, 2, 3, 4, 5, 6)
"""Days of the week; Monday is 0."""
FARTHEST = 10_000
"""Of the units that are said: 10 000 days are 27 years."""
LONGEST = 80
_SHORT = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NTH = re.compile(rf"(\d\d)-([1-4l])({'|'.join(_SHORT)})(\+\d)?")
"""A feast on a weekday of a month; days.yaml says how it is written."""
_NEXT_YEAR = re.compile(r"^明年的?|,? (?:next year|nächstes jahr)$")
_THIS_YEAR = re.compile(r"^今年的?|,? (?:this year|dieses jahr)$|^dieses jahr ")


class _Words(NamedTuple):
    """How days are said in one language, compiled."""

    days: list[tuple[re.Pattern[str], int]]
    spans: list[tuple[re.Pattern[str], str]]
    coming: list[re.Pattern[str]]
    ahead: list[re.Pattern[str]]
    behind: list[re.Pattern[str]]
    units: dict[str, re.Pattern[str]]
    weekdays: list[re.Pattern[str]]
    next_week: list[re.Pattern[str]]
    next_weekday: re.Pattern[str]
    last_weekday: re.Pattern[str]
    months: list[re.Pattern[str]]
    dates: list[re.Pattern[str]]
    month_day: re.Pattern[str]
    one: re.Pattern[str]


def day_of(said: str, language: str, today: date, *, past: bool = False) -> date | None:
    """The day that ``said`` names and nothing else; ``None``: it names none.

    past: a day of the year without its year is the last one, not the next
    """
    text = _plain(said, language)
    if not text or len(text) > LONGEST:
        return None
    try:
        return (
            _relative(text, language, today)
            or _weekday(text, language, today, past=past)
            or _date(text, language, today, past=past)
            or _feast(text, language, today, past=past)
        )
    except (ValueError, OverflowError):  # 31 February, or the year 10 000
        return None


def day_in(said: str, language: str) -> str:
    """The words in ``said`` that name a day, or days, to come: "next Saturday", "the day after
    tomorrow"; the longest of them, empty where there are none."""
    words = _words(language)
    text = _plain(said, language)
    ahead = [pattern for pattern, days in words.days if days > 0]
    ahead += [pattern for pattern, _ in words.spans]
    ahead += [*words.coming, *words.ahead, *words.next_week, words.next_weekday, *words.dates]
    edge = "" if language == "zh" else r"\b"
    found = (re.search(f"{edge}(?:{pattern.pattern}){edge}", text) for pattern in ahead)
    return max((match[0].strip() for match in found if match), key=len, default="")


def span_of(said: str, language: str, today: date) -> tuple[date, date] | None:
    """The first and the last day of what ``said`` names.

    A day, the weekend, this or next week, "the next 10 days" with today as the first, or two dates
    as in ISO 8601: ``2026-11-21/2026-11-27``.
    """
    text = _plain(said, language)
    if match := re.fullmatch(r"(\d{4}-\d{2}-\d{2})/(\d{4}-\d{2}-\d{2})", text):
        first, last = (day_of(day, language, today) for day in match.groups())
        return (first, last) if first and last and first <= last else None
    for pattern in _words(language).coming:
        if (match := pattern.fullmatch(text)) and 0 < int(match["n"]) <= FARTHEST:
            return today, today + timedelta(days=int(match["n"]) - 1)
    monday = today - timedelta(days=today.weekday())
    spans = {
        "weekend": (max(today, monday + timedelta(days=5)), monday + timedelta(days=6)),
        "week": (today, monday + timedelta(days=6)),
        "next week": (monday + timedelta(days=7), monday + timedelta(days=13)),
        "week after next": (monday + timedelta(days=14), monday + timedelta(days=20)),
        "next weekend": (monday + timedelta(days=12), monday + timedelta(days=13)),
        "days": (today, today + timedelta(days=6)),
    }
    for pattern, span in _words(language).spans:
        if pattern.fullmatch(text):
            return spans[span]
    day = day_of(said, language, today)
    return (day, day) if day else None


def _plain(said: str, language: str) -> str:
    text = " ".join(said.casefold().replace("’", "'").split()).strip(" ?.!？。")
    if language == "zh":
        return chinese_digits(text).replace(" ", "")
    return digits(_with_days_in_digits(text, language), language)


def _with_days_in_digits(text: str, language: str) -> str:
    """``text`` with the ordinal before a month as a number: "der dritte März" is the 3rd."""
    ordinals = _ORDINALS.get(language, ())
    numbers = {word: str(number) for number, word in enumerate(ordinals, start=1)}
    if not numbers:
        return text
    months = "|".join(pattern.pattern for pattern in _words(language).months)
    words = "|".join(sorted(numbers, key=len, reverse=True))
    ending = "e[nrms]?" if language == "de" else ""
    found = re.compile(rf"\b({words}){ending}(?=(?: of)? (?:{months})\b)")
    return found.sub(lambda match: numbers[match[1]], text)


_ORDINALS = {
    "en": (
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth",
        "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second",
        "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh",
        "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
    ),
    "de": (
        "erst", "zweit", "dritt", "viert", "fünft", "sechst", "siebt", "acht", "neunt", "zehnt",
        "elft", "zwölft", "dreizehnt", "vierzehnt", "fünfzehnt", "sechzehnt", "siebzehnt",
        "achtzehnt", "neunzehnt", "zwanzigst", "einundzwanzigst", "zweiundzwanzigst",
        "dreiundzwanzigst", "vierundzwanzigst", "fünfundzwanzigst", "sechsundzwanzigst",
        "siebenundzwanzigst", "achtundzwanzigst", "neunundzwanzigst", "dreißigst",
        "einunddreißigst",
    ),
}  # fmt: skip
"""The days of a month, from the first on; German ones without their ending."""


def _relative(text: str, language: str, today: date) -> date | None:
    words = _words(language)
    for pattern, offset in words.days:
        if pattern.fullmatch(text):
            return today + timedelta(days=offset)
    patterns = chain(((p, 1) for p in words.ahead), ((p, -1) for p in words.behind))
    for pattern, direction in patterns:
        if match := pattern.fullmatch(text):
            number = 1 if words.one.fullmatch(match["n"]) else int(match["n"])
            unit = next(u for u, p in words.units.items() if p.fullmatch(match["unit"]))
            if number <= FARTHEST:
                return moved(today, direction * number, unit)
    return None


def moved(day: date, number: int, unit: str) -> date:
    """``day`` and so many units; the 31st and a month is the month's last day."""
    if unit in ("day", "week"):
        return day + timedelta(days=number * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + number * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


def _weekday(text: str, language: str, today: date, *, past: bool) -> date | None:
    words = _words(language)
    found = (pattern.fullmatch(text) for pattern in words.next_week)
    of_next_week = next((match for match in found if match), None)
    last = words.last_weekday.fullmatch(text)
    match = of_next_week or last or words.next_weekday.fullmatch(text)
    if match is None:
        return None
    number = next(i for i, p in enumerate(words.weekdays) if p.fullmatch(match["weekday"]))
    if of_next_week:
        return today + timedelta(days=7 - today.weekday() + number)
    if last or past:
        return today - timedelta(days=(today.weekday() - number) % 7 or 7)
    return today + timedelta(days=(number - today.weekday()) % 7 or 7)


def _date(text: str, language: str, today: date, *, past: bool) -> date | None:
    words = _words(language)
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return date.fromisoformat(text)
    for pattern in words.dates:
        if match := pattern.fullmatch(text):
            said = match.groupdict()
            month = int(said.get("number") or 0) or next(
                i for i, p in enumerate(words.months, 1) if p.fullmatch(said["month"])
            )
            if said["year"]:
                return date(int(said["year"]), month, int(said["day"]))
            return _nearest(month, int(said["day"]), today, past=past)
    match = words.month_day.fullmatch(text)
    return next_of_number(int(match["day"]), today) if match and not past else None


def next_of_number(number: int, today: date) -> date | None:
    """The next day of that number: "on the 31st" of the next month that has one."""
    days = (today + timedelta(days=ahead) for ahead in range(62))
    return next((day for day in days if day.day == number), None)


def _nearest(month: int, day: int, today: date, *, past: bool) -> date:
    """That day of this year or the next (or the last); 29 February of the next leap year.

    Raises:
        ValueError: no year has it.
    """
    for year in range(today.year, today.year + (-9 if past else 9), -1 if past else 1):
        if day <= calendar.monthrange(year, month)[1]:
            found = date(year, month, day)
            if found <= today if past else found >= today:
                return found
    raise ValueError(f"no {day}.{month}.")


def _feast(text: str, language: str, today: date, *, past: bool) -> date | None:
    text = _THIS_YEAR.sub("", text)
    year_said = re.fullmatch(r"(.+?)(?: (?:of |in )?(\d{4}))", text)
    name, year = (year_said[1], int(year_said[2])) if year_said else (text, 0)
    if (next_year := _NEXT_YEAR.sub("", text)) != text:
        name, year = next_year, today.year + 1
    rule = _feasts(language).get(name.removeprefix("the "))
    if rule is None:
        return None
    if year:
        return next(iter(_days_of(rule, year)), None)
    if past:
        days = chain(_days_of(rule, today.year), _days_of(rule, today.year - 1))
        return next((day for day in days if day <= today), None)
    days = chain(_days_of(rule, today.year), _days_of(rule, today.year + 1))
    return next((day for day in days if day >= today), None)


def _days_of(rule: str, year: int) -> list[date]:
    """The day of a feast in a year; none where the calendar of the file does not reach."""
    if rule.startswith("easter"):
        return [easter(year) + timedelta(days=int(rule.removeprefix("easter")))]
    if found := _NTH.fullmatch(rule):
        return [_nth(year, *found.groups())]
    if len(rule) == len("12-25"):
        return [date(year, int(rule[:2]), int(rule[3:]))]
    return [date.fromisoformat(day) for day in rule.split() if day.startswith(f"{year}-")]


def _nth(year: int, month: str, which: str, weekday: str, more: str | None) -> date:
    """The first to fourth or the last weekday of a month, or a day so many days later."""
    last = calendar.monthrange(year, int(month))[1]
    days = [date(year, int(month), day) for day in range(1, last + 1)]
    fitting = [day for day in days if _SHORT[day.weekday()] == weekday]
    found = fitting[-1 if which == "l" else int(which) - 1]
    return found + timedelta(days=int(more or 0))


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
    text = (Path(__file__).parent / "days.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=FAST_LOADER))


@cache
def _feasts(language: str) -> dict[str, str]:
    """Name → rule; English names are understood in every language."""
    return {
        name: feast.get("on") or feast["days"]
        for spoken in ("en", language)
        for feast in _read()["feasts"]
        for name in feast.get(spoken, ())
    }


@cache
def _words(language: str) -> _Words:
    languages = _read()["languages"]
    said = languages.get(language) or languages["en"]
    units, weekdays = "|".join(said["units"].values()), "|".join(said["weekdays"])
    months = "|".join(said["months"])

    def filled(pattern: str) -> re.Pattern[str]:
        return re.compile(
            pattern.replace("{n}", rf"(?P<n>\d{{1,5}}|{said['one']})")
            .replace("{unit}", f"(?P<unit>{units})")
            .replace("{weekday}", f"(?P<weekday>{weekdays})")
            .replace("{month}", f"(?P<month>{months})")
        )

    return _Words(
        days=[(re.compile(word), int(offset)) for word, offset in said["words"].items()],
        spans=[(re.compile(word), span) for word, span in said["spans"].items()],
        coming=[filled(pattern) for pattern in said["coming"]],
        ahead=[filled(pattern) for pattern in said["ahead"]],
        behind=[filled(pattern) for pattern in said["behind"]],
        units={unit: re.compile(pattern) for unit, pattern in said["units"].items()},
        weekdays=[re.compile(pattern) for pattern in said["weekdays"]],
        next_week=[filled(pattern) for pattern in said["next_week"]],
        next_weekday=filled(said["next_weekday"]),
        last_weekday=filled(said["last_weekday"]),
        months=[re.compile(pattern) for pattern in said["months"]],
        dates=[filled(pattern) for pattern in said["dates"]],
        month_day=re.compile(said["month_day"]),
        one=re.compile(said["one"]),
    )
