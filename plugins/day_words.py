"""The words for days, a language at a time, and what is said with its numbers in digits.

They are in days.yaml. Shared by the plugins; no plugin itself.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from plugins.numbers import chinese, chinese_digits, digits
from plugins.speech import FAST_LOADER

PIVOT = 69
"""A year of two digits is of the 20th century from here on, before of the 21st, as in POSIX."""
_CIPHERS = "零〇一二三四五六七八九"
_NO_COUNT = "年(?![以之前后了多来])"
"""三四年前 are three or four years ago."""
_CHINESE_YEARS = re.compile(
    rf"(?<![{_CIPHERS}十百千万\d])"
    rf"(?:(?P<full>[{_CIPHERS}]{{4}}|[一两二]千零?[{_CIPHERS}十]{{1,3}})|(?P<short>[{_CIPHERS}]{{2}}|\d\d))"
    rf"(?={_NO_COUNT})"
)


class Words(NamedTuple):
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
    ordinals: list[re.Pattern[str]]
    ordinal_ending: str
    """Behind the number of a day, where a number alone would be none: the 4th."""
    ordinal_is_day: list[re.Pattern[str]]
    ordinal_alone: list[re.Pattern[str]]
    in_a_sentence: list[re.Pattern[str]]
    """How a day that only its number tells is said among other words."""
    which_month: list[tuple[re.Pattern[str], int]]
    day_of_month: re.Pattern[str]
    years: list[tuple[re.Pattern[str], int]]
    year: re.Pattern[str]
    years_in_words: list[re.Pattern[str]]
    feast: re.Pattern[str]
    next_feast: re.Pattern[str]
    last_feast: re.Pattern[str]


def plain(said: str, language: str) -> str:
    """What is said in lower case, without what ends a sentence, its numbers in digits."""
    return in_digits(tidy(said, language), language, chinese_too=True)


def tidy(said: str, language: str) -> str:
    """What is said in lower case and without what ends a sentence; Chinese without spaces."""
    text = " ".join(said.casefold().replace("’", "'").split()).strip(" ?.!？。")
    return text.replace(" ", "") if language == "zh" else text


def in_digits(text: str, language: str, *, chinese_too: bool = False) -> str:
    """``text`` with its numbers in digits, and with them the days of a month that are ordinals.

    chinese_too: 五一 is a feast, and no number where a name is looked for
    """
    if language == "zh":
        return chinese_digits(text) if chinese_too else text
    return digits(_with_days_in_digits(text, language), language)


def with_years_in_digits(text: str, language: str) -> str:
    """``text``, its other numbers in digits, with the year at its end in digits as well: "20 19"
    and "zweitausendneunzehn" are 2019.

    A Chinese year may be anywhere, 零八年, and needs its words: other numbers come after it.
    """
    if language == "zh":
        return _CHINESE_YEARS.sub(_chinese_year, text)
    for pattern in words_of(language).years_in_words:
        if match := pattern.search(text):
            said = match.groupdict()
            thousands, rest = said.get("thousands"), digits(said["rest"] or "0", language)
            begin = 2000 if thousands else int(said["century"]) * 100
            if rest.isdigit() and int(rest) < 100:
                return f"{text[: match.start()]}{begin + int(rest)}"
    return text


def _chinese_year(match: re.Match[str]) -> str:
    """A year in four digits: 二零零八, 两千零八, 零八."""
    said = match["full"] or match["short"]
    if "千" in said:
        return f"{chinese(said):.0f}"
    figures = "".join(c if c.isdecimal() else f"{chinese(c.replace('〇', '零')):.0f}" for c in said)
    if match["full"]:
        return figures
    return f"{'20' if int(figures) < PIVOT else '19'}{figures}"


def with_days_of_month(text: str, language: str) -> str:
    """``text`` with the days that only an ordinal tells as numbers: "on the twelfth at three", „am
    zwölften um drei“."""
    words = words_of(language)
    ending = words.ordinal_ending or "."
    return _numbered(text, words.ordinal_alone, words.ordinals, ending)


def _with_days_in_digits(text: str, language: str) -> str:
    """``text`` with the ordinals that are days as numbers: "der dritte März" is the 3rd."""
    words = words_of(language)
    return _numbered(text, words.ordinal_is_day, words.ordinals, words.ordinal_ending)


def _numbered(
    text: str, where: list[re.Pattern[str]], ordinals: list[re.Pattern[str]], ending: str
) -> str:
    def numbered(match: re.Match[str]) -> str:
        said = match["ordinal"].lower()
        number = next(n for n, word in enumerate(ordinals, start=1) if word.fullmatch(said))
        begin, end = match.start("ordinal") - match.start(), match.end("ordinal") - match.start()
        return f"{match[0][:begin]}{number}{_ending(number, ending)}{match[0][end:]}"

    for pattern in where:
        text = pattern.sub(numbered, text)
    return text


def _ending(number: int, usual: str) -> str:
    """What stands behind the number of a day: 21st, 12th, "12."."""
    if usual != "th" or 10 < number < 14:
        return usual
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, usual)


@cache
def _read() -> dict[str, Any]:
    text = (Path(__file__).parent / "days.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=FAST_LOADER))


@cache
def words_of(language: str) -> Words:
    """The words of a language; the English ones where there are none."""
    languages = _read()["languages"]
    said: Mapping[str, Any] = languages.get(language) or languages["en"]
    names = {
        "n": rf"\d{{1,5}}|{said['one']}",
        "day": r"\d{1,2}",
        "unit": "|".join(said["units"].values()),
        "weekday": "|".join(said["weekdays"]),
        "month": "|".join(said["months"]),
        "ordinal": "|".join(said["ordinals"]),
        "which": "|".join(said["which_month"]),
    }

    def filled(pattern: str) -> re.Pattern[str]:
        for name, alternatives in names.items():
            pattern = pattern.replace(f"{{{name}}}", f"(?P<{name}>{alternatives})")
        return re.compile(pattern)

    def each(name: str) -> list[re.Pattern[str]]:
        return [filled(pattern) for pattern in said[name]]

    def numbered(name: str) -> list[tuple[re.Pattern[str], int]]:
        return [(re.compile(word), int(number)) for word, number in said[name].items()]

    return Words(
        days=numbered("words"),
        spans=[(re.compile(word), span) for word, span in said["spans"].items()],
        coming=each("coming"),
        ahead=each("ahead"),
        behind=each("behind"),
        units={unit: re.compile(pattern) for unit, pattern in said["units"].items()},
        weekdays=each("weekdays"),
        next_week=each("next_week"),
        next_weekday=filled(said["next_weekday"]),
        last_weekday=filled(said["last_weekday"]),
        months=each("months"),
        dates=each("dates"),
        month_day=filled(said["month_day"]),
        one=re.compile(said["one"]),
        ordinals=each("ordinals"),
        ordinal_ending=said.get("ordinal_ending", ""),
        ordinal_is_day=each("ordinal_is_day"),
        in_a_sentence=[re.compile(one) for one in said.get("in_a_sentence", [])],
        ordinal_alone=[
            re.compile(one.pattern, re.IGNORECASE)
            for one in map(filled, said.get("ordinal_alone", []))
        ],
        which_month=numbered("which_month"),
        day_of_month=filled(said["day_of_month"]),
        years=numbered("years"),
        year=filled(said["year"]),
        years_in_words=[re.compile(rf"(?<=\s)(?:{year})$") for year in said["years_in_words"]],
        feast=filled(said["feast"]),
        next_feast=filled(said["next_feast"]),
        last_feast=filled(said["last_feast"]),
    )
