"""The day that somebody means: "in 10 days", "next Friday", "24 December", "Easter".

Shared by the plugins; no plugin itself. What is said is in days.yaml, a language at a time.
"""

import calendar
import re
from datetime import date, timedelta
from itertools import chain
from typing import NamedTuple

from plugins.day_words import plain, tidy, with_days_of_month, with_years_in_digits, words_of
from plugins.feasts import Feast, feast_in, feast_named, feast_of_this_year, next_feast

WEEKDAYS, WEEKENDS, DAILY = (0, 1, 2, 3, 4), (5, 6), (0, 1, 2, 3, 4, 5, 6)
"""Days of the week; Monday is 0."""
FARTHEST = 10_000
"""Of the units that are said: 10 000 days are 27 years."""
LONGEST = 80
_LONGEST_WAIT = 500
"""In days: a Friday the 13th comes within 14 months."""
_ABOUT = re.compile("[一二三四五六七八九]{2}个?(?:天|日|星期|周|礼拜|月|年)")
"""三四年 are three or four years."""
_APART = re.compile(r"[,，、] ?")


class _OfAYear(NamedTuple):
    """What is said of a year: "Easter next year"."""

    rest: str
    year: int | None
    """``None``: no year was said."""
    relative: bool = False
    """Whether it was said from this year on."""


def day_of(said: str, language: str, today: date, *, past: bool = False) -> date | None:
    """The day that ``said`` names and nothing else; ``None``: it names none.

    past: a day of the year without its year is the last one, not the next
    """
    text = tidy(said, language)
    if not text or len(text) > LONGEST:
        return None
    try:
        return _day(text, language, today, past=past) or _said_twice(
            text, language, today, past=past
        )
    except (ValueError, OverflowError):  # 31 February, or the year 10 000
        return None


def _day(text: str, language: str, today: date, *, past: bool) -> date | None:
    if language == "zh":  # where 五一 is a feast, but 5月1日 a date
        name = with_years_in_digits(text, language)
        if _ABOUT.search(name):
            return None
        numbered = plain(name, language)
    else:
        name = numbered = with_years_in_digits(plain(text, language), language)
    return (
        _relative(numbered, language, today)
        or _weekday(numbered, language, today, past=past)
        or _feast(name, language, today, past=past)
        or _date(numbered, language, today, past=past)
        or _day_of_month(numbered, language, today)
    )


def day_in(said: str, language: str) -> str:
    """The words in ``said`` that name a day, or days, to come: "next Saturday", "the day after
    tomorrow"; the longest of them, empty where there are none."""
    words = words_of(language)
    text = plain(with_days_of_month(said, language), language)
    ahead = [pattern for pattern, days in words.days if days > 0]
    ahead += [pattern for pattern, _ in words.spans]
    ahead += [*words.coming, *words.ahead, *words.next_week, words.next_weekday, *words.dates]
    ahead += words.in_a_sentence
    edge = "" if language == "zh" else r"\b"
    found = (re.search(f"{edge}(?:{pattern.pattern}){edge}", text) for pattern in ahead)
    return max((match[0].strip() for match in found if match), key=len, default="")


def span_of(said: str, language: str, today: date) -> tuple[date, date] | None:
    """The first and the last day of what ``said`` names.

    A day, the weekend, this or next week, "the next 10 days" with today as the first, or two dates
    as in ISO 8601: ``2026-11-21/2026-11-27``.
    """
    text = plain(said, language)
    if match := re.fullmatch(r"(\d{4}-\d{2}-\d{2})/(\d{4}-\d{2}-\d{2})", text):
        first, last = (day_of(day, language, today) for day in match.groups())
        return (first, last) if first and last and first <= last else None
    for pattern in words_of(language).coming:
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
    for pattern, span in words_of(language).spans:
        if pattern.fullmatch(text):
            return spans[span]
    day = day_of(said, language, today)
    return (day, day) if day else None


def _relative(text: str, language: str, today: date) -> date | None:
    words = words_of(language)
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
    words = words_of(language)
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
    words = words_of(language)
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return date.fromisoformat(text)
    rest, year, _ = _of_a_year(text, language, today)
    for pattern in words.dates:
        if match := pattern.fullmatch(text) or pattern.fullmatch(rest):
            said = match.groupdict()
            month = int(said.get("number") or 0) or next(
                i for i, p in enumerate(words.months, 1) if p.fullmatch(said["month"])
            )
            if said["year"] or year:
                return date(int(said["year"] or year or 0), month, int(said["day"]))
            return _nearest(month, int(said["day"]), today, past=past)
    match = words.month_day.fullmatch(text)
    return next_of_number(int(match["day"]), today) if match and not past else None


def _of_a_year(text: str, language: str, today: date) -> _OfAYear:
    """A text without the year with which it begins or ends: "next year", "2030"."""
    words = words_of(language)
    apart = "" if language == "zh" else "[, ]+"
    for pattern, offset in [*words.years, (words.year, None)]:
        if match := re.match(f"(?:{pattern.pattern}){apart}", text):
            rest = text[match.end() :]
        elif match := re.search(f"{apart}(?:{pattern.pattern})$", text):
            rest = text[: match.start()]
        else:
            continue
        if offset is None:
            return _OfAYear(rest, int(match["year"]))
        return _OfAYear(rest, today.year + offset, relative=True)
    return _OfAYear(text, None)


def _day_of_month(text: str, language: str, today: date) -> date | None:
    """ "The first of next month", "the last day of the month"."""
    words = words_of(language)
    match = words.day_of_month.fullmatch(text)
    if match is None:
        return None
    offset = next(offset for p, offset in words.which_month if p.fullmatch(match["which"]))
    first = moved(today.replace(day=1), offset, "month")
    last = calendar.monthrange(first.year, first.month)[1]
    return first.replace(day=int(match["day"] or last))


def is_nth(day: date, nth: int) -> bool:
    """Whether a day is the first (1) to fourth of its weekday in its month, or the last (-1)."""
    if nth < 0:
        return day.day > calendar.monthrange(day.year, day.month)[1] - 7
    return (day.day - 1) // 7 + 1 == nth


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
    words = words_of(language)
    if feast := _feast_called(words.feast, text, language):
        return next_feast(feast, today, past=past)
    rest, year, relative = _of_a_year(text, language, today)
    if year and (feast := _feast_called(words.feast, rest, language)):
        if relative and year == today.year:
            return feast_of_this_year(feast, today)
        return feast_in(feast, year)
    for pattern, is_past in ((words.next_feast, False), (words.last_feast, True)):
        if feast := _feast_called(pattern, text, language):
            return next_feast(feast, today, past=is_past)
    return None


def _feast_called(pattern: re.Pattern[str], text: str, language: str) -> Feast | None:
    """The feast whose name is all of ``text``, or what the pattern leaves of it."""
    match = pattern.fullmatch(text)
    return match and (feast_named(text, language) or feast_named(match["name"], language))


def _said_twice(text: str, language: str, today: date, *, past: bool) -> date | None:
    """The day that is named in two ways: "the Fourth, July Fourth", "Saturday, July 4th", "Friday
    the 13th"; ``None`` where they are two days."""
    weekdays = "|".join(pattern.pattern for pattern in words_of(language).weekdays)
    said = text if language == "zh" else plain(text, language)  # 五一 is a feast in words alone
    parts = _APART.split(said)
    if len(parts) == 1:
        found = re.fullmatch(rf"((?:on |am )?(?:{weekdays})) (.+)|(.+?)({weekdays})", said)
        parts = [part for part in found.groups() if part] if found else []
    if len(parts) != 2:
        return None
    for one, other in (parts, parts[::-1]):
        day = _day(one, language, today, past=past)
        if day and _is_called(day, other, language, today, past=past):
            return day
    return _weekday_of_number(parts[0], parts[1], language, today)


def _is_called(day: date, said: str, language: str, today: date, *, past: bool) -> bool:
    """Whether ``said`` may be that day as well: by its weekday, its number or itself."""
    words, numbered = words_of(language), plain(said, language)
    if weekday := words.next_weekday.fullmatch(numbered):
        return bool(words.weekdays[day.weekday()].fullmatch(weekday["weekday"]))
    if number := words.month_day.fullmatch(numbered):
        return day.day == int(number["day"])
    return day == _day(said, language, today, past=past)


def _weekday_of_number(weekday: str, number: str, language: str, today: date) -> date | None:
    """The next "Friday the 13th"; ``None`` where no weekday and number are said."""
    words = words_of(language)
    named = words.next_weekday.fullmatch(plain(weekday, language))
    match = words.month_day.fullmatch(plain(number, language))
    if named is None or match is None:
        return None
    days = (today + timedelta(days=ahead) for ahead in range(_LONGEST_WAIT))
    fitting = (day for day in days if day.day == int(match["day"]))
    return next(
        (day for day in fitting if words.weekdays[day.weekday()].fullmatch(named["weekday"])), None
    )
