"""Days written in a text, and which of a list of days comes next.

Must not know of passages or scores.
"""

import re
from collections.abc import Iterator
from datetime import date

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in _MONTHS)
_DATE = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{_MONTH})\b\.?"
    r"(?:,? (?P<year>20\d\d))?"
    rf"|\b(?P<month2>{_MONTH})\.? (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year2>20\d\d))?"
    r"|\b(?P<year3>20\d\d)-(?P<month3>\d\d)-(?P<day3>\d\d)\b"
    r"|(?:(?P<year4>20\d\d)年)?(?P<month4>\d{1,2})月(?P<day4>\d{1,2})[日号]",
    re.IGNORECASE,
)
_YEAR_OF_LINE = re.compile(r"^\W*(20\d\d)\s*[:：]")
_BETWEEN = re.compile(
    r"^\W*20\d\d\s*[:：]|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\band\b|[\W_]|[和及]"
    r"|(?:星期|周)[一二三四五六日天]",
    re.IGNORECASE,
)


def dates_in(text: str, today: date) -> list[date]:
    """The days that ``text`` writes, in its order; without a year the one nearest to ``today``,
    unless the line begins with one ("2027: 27 January, 24 February")."""
    line = _YEAR_OF_LINE.match(text)
    return [
        day
        for match in _DATE.finditer(text)
        if (day := _day(match, int(line[1]) if line else None, today)) is not None
    ]


def is_list_of_dates(text: str) -> bool:
    """Whether ``text`` holds two days or more, and nothing else."""
    rest, count = _DATE.subn("", text)
    return count > 1 and not _BETWEEN.sub("", rest)


def coming(days: list[date], today: date) -> date | None:
    """The first that is not over."""
    return min((day for day in days if day >= today), default=None)


def _day(match: re.Match[str], year_of_line: int | None, today: date) -> date | None:
    day, month, written = _parts(match)
    year = int(written) if written else year_of_line
    years: Iterator[int] = iter([year] if year else range(today.year - 1, today.year + 2))
    found = [made for one in years if (made := _made(one, month, day)) is not None]
    return min(found, key=lambda one: abs(one - today), default=None)


def _parts(match: re.Match[str]) -> tuple[int, int, str | None]:
    for end in ("", "2", "3", "4"):
        if match[f"day{end}"]:
            month = match[f"month{end}"]
            number = int(month) if month.isdecimal() else _number_of_month(month)
            return int(match[f"day{end}"]), number, match[f"year{end}"]
    raise AssertionError(match[0])


def _number_of_month(name: str) -> int:
    return next(at for at, one in enumerate(_MONTHS, 1) if one.startswith(name.lower()[:3]))


def _made(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
