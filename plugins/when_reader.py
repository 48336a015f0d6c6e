"""A text about a time, part by part: the days, the hour, how long from now. What is said, in which
language, is in when.yaml. Shared by plugins; no plugin itself.
"""

import re
from datetime import date, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from plugins.daylight import SUN_EVENTS, SunEvent
from plugins.days import DAILY, WEEKDAYS, WEEKENDS, day_of, is_nth, moved, next_of_number
from plugins.numbers import digits, number_words
from plugins.spoken import MONTHS

REPEATS = (("weekdays", WEEKDAYS), ("weekends", WEEKENDS), ("daily", DAILY))
_MORNING = frozenset({
    "am", "in the morning", "morning", "morgens", "am morgen", "morgen", "matin", "mañana",
    "früh", "in der früh", "vormittags", "vormittag", "am vormittag", "matinée", "madrugada", "a m",
    "早", "早上", "早晨", "上午", "凌晨", "清晨",
})  # fmt: skip
_AFTERNOON = frozenset({
    "pm", "in the afternoon", "afternoon", "in the evening", "evening", "tonight", "at night",
    "nachmittag", "nachmittags", "am nachmittag", "abend", "abends", "am abend", "après-midi",
    "apres-midi", "après midi", "apres midi", "aprem", "soir", "soirée", "tarde", "del mediodía",
    "p m", "中午", "下午", "晚", "晚上", "今晚", "傍晚",
    "mittag", "mittags", "am mittag", "lunchtime",
})  # fmt: skip
_ABOUT_NOON = frozenset({
    "mittag", "mittags", "am mittag", "lunchtime", "中午", "del mediodía",
})  # fmt: skip
_BEFORE_NOON = 10
"""The first hour of the day that may be said to be at noon: "mittags um elf" is before twelve."""
_NIGHT = frozenset({"night", "nacht", "nachts", "in der nacht", "nuit", "noche", "半夜", "夜里"})
"""Ends in the morning: at eleven is before midnight, at two after it."""
_TO_NOON = frozenset({"matin", "matinée", "mañana"})
"""Of the morning at whose end it is twelve: "las doce de la mañana"."""
_PART_OF_DAY = re.compile(
    r"morning|afternoon|evening|night|morgen|vormittag|nachmittag|mittag|abend|nacht"
)
"""Of the days that something comes on: "Monday mornings", „montagabends“."""
_NOON = frozenset({"noon", "midday", "mittag", "midi", "mediodía", "中午"})
_QUARTER_PAST = frozenset({"quarter past", "viertel nach", "一刻", "et quart", "y cuarto"})
_THREE_QUARTERS_PAST = "三刻"
_FIRST_QUARTER = "viertel"
"""Of the hour that is to come: "viertel sechs" is a quarter past five."""
_HALF = frozenset({
    "half", "half an", "half a", "halbe", "einer halben", "eine halbe", "media", "medio", "demi",
    "demie", "une demi", "半",
})  # fmt: skip
MINUTES = {
    "five": 5, "ten": 10, "twenty": 20, "twenty five": 25, "fünf": 5, "zehn": 10, "fünfzehn": 15,
    "zwanzig": 20, "dreißig": 30, "dreissig": 30, "vierzig": 40, "fünfundvierzig": 45,
    "fünfzig": 50,
}  # fmt: skip
"""The minutes that are said before or after an hour."""
SHORTEST_PERIOD, LONGEST_PERIOD = 5, 24 * 60
"""Minutes after which something comes again within a day."""
_HOURS = ("h", "stund", "stünd", "小", "钟")
A_MONTH = 37
"""Days in which there is a first Monday of a month, and a last."""
LONGEST_DATE, LONGEST_DATE_WORDS = 12, 5
"""Characters of a date in Chinese, words of one in other languages."""
_NUMBERS = {
    word.rstrip("nrs."): number
    for number, words in {
        1: "first ersten premier primer 一",
        2: "other second two zweite zwei deux deuxième dos segundo 两 二",
        3: "third three dritte drei trois troisième tres tercer 三",
        4: "fourth four vierte vier quatre quatrième cuatro cuarto 四",
        5: "fifth five fünften fünf 五",
        6: "six sechs 六",
        10: "tenth zehnten",
        15: "fifteenth fünfzehnten",
        20: "twentieth zwanzigsten",
        30: "thirtieth",
    }.items()
    for word in words.split()
}
"""Numbers of what comes every second week, or on a day of the month; without their endings."""
_LAST = ("last", "letzt", "dernier", "último", "ultimo", "最后")
_GOES_ON = re.compile(r"[\d点分:：]")
"""What makes an hour of a number that is a day as well: 11点 is not the 国庆 of 十一."""
_COUNT_TO_TWELVE = frozenset({"en", "zh"})
"""Languages in which hours are told without their half of the day."""
_CHINESE_DIGITS = "零一二三四五六七八九"


_DAY_OF_A_MONTH = re.compile(r"the \w+ of (?=[a-z])", re.IGNORECASE)
"""How a date begins that has no figure: "the tenth of June"."""


class Cycle(NamedTuple):
    """Which of the days that repeat something comes on; nothing said: on each of them."""

    every: int = 1
    """2: every other week of those days, or every other day where all days are meant."""
    since: date | None = None
    """A day from which that is counted."""
    month_day: int = 0
    """On this day of each month, its last where it is shorter; all days repeat then."""
    month: int = 0
    """With ``month_day``: in this month alone, once a year."""
    nth: int = 0
    """The first to fourth of the day that repeats in each month; -1: its last."""
    minutes: int = 0
    """Again after so many, on each day."""
    hours: tuple[time, time] | None = None
    """With ``minutes``: from the first time of the day on, and not behind the last."""


def found(pattern: str, text: str, language: str) -> re.Match[str] | None:
    edges = ("", "") if language == "zh" else (r"(?<!\w)", r"(?!\w)")
    return re.search(f"{edges[0]}(?:{pattern}){edges[1]}", text, re.IGNORECASE)


def _days_in(said: str, names: list[str], language: str) -> tuple[int, ...]:
    """The days of the week that are named: "tuesday and friday", 每周一三五."""
    if language == "zh":
        said = said.replace("天", "日")
        return tuple(day for day, name in enumerate(names) if name[-1] in said)
    return tuple(day for day, name in enumerate(names) if name in said)


class Reader:
    """The text, from which each part takes the words that it understood."""

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._language = language
        self._words = words(language)
        self._part = ""
        """Of the day, of what comes "every evening"."""

    def rest(self) -> str:
        return " ".join(self._text.split()).strip(" ,.，、。")

    def _take(self, pattern: str) -> re.Match[str] | None:
        match = found(pattern, self._text, self._language)
        if match:
            self._text = f"{self._text[: match.start()]} {self._text[match.end() :]}"
        return match

    def arrival(self) -> str | None:
        match = self._take(self._words["arrival"])
        if match is None:
            return None
        who = match["who"].strip()
        return "" if who.casefold() in self._words["self"] else who

    def cycle(self, today: date) -> tuple[tuple[int, ...], Cycle]:
        """The days of what is "every other Tuesday", "on the 1st of each month", "every year on 12
        May", "every first Monday"; none where nothing is said of such."""
        for pattern in self._words["cycles"]:
            match = found(pattern, self._text, self._language)
            said = match.groupdict() if match else {}
            day = day_of(said["date"], self._language, today) if "date" in said else None
            minutes = (
                self._minutes(said.get("few") or "1", said["unit"]) if "unit" in said else None
            )
            if match is None or ("date" in said and day is None) or minutes == 0:
                continue  # the 31st of June, every other minute
            if minutes:
                return self._within_a_day(pattern, minutes)
            self._take(pattern)
            self._part = _part_in(said)
            if day is not None:
                return DAILY, Cycle(month_day=day.day, month=day.month)
            if number := said.get("m"):
                return DAILY, Cycle(month_day=self._month_day(number))
            names = self._words["days"]
            days = _days_in(said["days"].lower(), names, self._language) if "days" in said else ()
            if which := said.get("nth"):
                return days, Cycle(nth=self._nth(which))
            return days or DAILY, Cycle(every=self._ordinal(said.get("n") or "2"))
        return (), Cycle()

    def _within_a_day(self, pattern: str, minutes: int) -> tuple[tuple[int, ...], Cycle]:
        """What comes again after so many minutes, as ``pattern`` says; nothing is understood where
        its hours are not: "every hour between breakfast and dinner"."""
        within = found(self._words["hours_of_day"], self._text, self._language)
        hours = self._hours(within) if within else None
        if within and hours is None:
            return (), Cycle()
        self._take(pattern)
        self._take(self._words["hours_of_day"])
        days = self.repeat() or DAILY
        part_of_day, self._part = self._part, ""
        return ((), Cycle()) if part_of_day else (days, Cycle(minutes=minutes, hours=hours))

    def _minutes(self, few: str, unit: str) -> int:
        """After how many something comes again: "two" "hours"; 0: too often, or not each day."""
        number = _NUMBERS.get(few.lower().rstrip("nrs.")) or self._number(few)
        minutes = round(number * (60 if unit.lower().startswith(_HOURS) else 1))
        return minutes if SHORTEST_PERIOD <= minutes <= LONGEST_PERIOD else 0

    def _hours(self, said: re.Match[str]) -> tuple[time, time] | None:
        """From when to when: "nine to five" ends in the afternoon."""
        (first, _), (last, exact) = (
            Reader(self._words["clock"].format(said[name].strip()), self._language).time_of_day()
            for name in ("first", "last")
        )
        if first is None or last is None:
            return None
        later = not exact and last <= first and last.hour < 12
        return first, last.replace(hour=last.hour + 12) if later else last

    def _nth(self, said: str) -> int:
        return -1 if said.lower().startswith(_LAST) else self._ordinal(said)

    def _month_day(self, said: str) -> int:
        return int(self._number(said) if self._language == "zh" else self._ordinal(said))

    def _ordinal(self, said: str) -> int:
        figures = "".join(filter(str.isdigit, said))
        return int(figures) if figures else _NUMBERS[said.lower().strip("第个").rstrip("nrs.")]

    def repeat(self) -> tuple[int, ...]:
        for name, days in REPEATS:
            if match := self._take(self._words[name]):
                self._part = _part_in(match.groupdict()).removesuffix("s")
                return days
        names = self._words["days"]
        if match := self._take(self._words["days_from_to"]):
            first, last = (names.index(day.lower()) for day in match.groups())
            return tuple(sorted((first + ahead) % 7 for ahead in range((last - first) % 7 + 1)))
        match = self._take(self._words["some_days"])
        if match is None:
            return ()
        self._part = _part_in(match.groupdict()).removesuffix("s")
        if part := _PART_OF_DAY.search(match[0].lower()):
            self._part = part[0]
        return _days_in(match[0].lower(), self._words["days"], self._language)

    def day(self, today: date) -> date | None:
        if match := self._take(self._words["next_week"]):
            (day,) = _days_in(match[0].lower(), self._words["days"], self._language)
            self._part = _part_in(match.groupdict())
            return today + timedelta(days=7 - today.weekday() + day)
        for pattern, offset in self._words["day_words"].items():
            if match := self._take(pattern):
                self._part = _part_in(match.groupdict())
                return today + timedelta(days=offset)
        if match := self._take(self._words["nth_day"]):
            return self._nth_day(match, today)
        names, part = self._words["days"], self._words.get("day_part", "")
        if match := self._take(rf"{self._words['on_day']}({'|'.join(names)}){part}"):
            self._part = _part_in(match.groupdict())
            ahead = (names.index(match[1].lower()) - today.weekday()) % 7
            return today + timedelta(days=ahead or 7)
        return None

    def _nth_day(self, said: re.Match[str], today: date) -> date:
        """The next of "the first Monday of the month", or of the month that is named."""
        (weekday,) = _days_in(said["days"].lower(), self._words["days"], self._language)
        day = moved(today.replace(day=1), 1, "month") if said["next"] else today + timedelta(days=1)
        days = (day + timedelta(days=ahead) for ahead in range(A_MONTH))
        nth = self._nth(said["nth"])
        return next(day for day in days if day.weekday() == weekday and is_nth(day, nth))

    def month_day(self, today: date) -> date | None:
        """The next day of that number: "on the 5th"."""
        said = self._words.get("month_day")
        match = self._take(said) if said else None
        return next_of_number(int(self._number(match["d"])), today) if match else None

    def date(self, today: date) -> date | None:
        """A date, or a feast, where it says when: behind an "on", or a date at the beginning;
        "tickets for 5 May" and "Easter eggs" are what is to be bought."""
        for begin in re.finditer(self._words["dated"], self._text, re.IGNORECASE):
            behind = self._text[begin.end() :]
            if self._language == "zh":
                ends = list(range(min(len(behind), LONGEST_DATE), 1, -1))
            else:
                words = list(re.finditer(r"\S+", behind))[:LONGEST_DATE_WORDS]
                ends = [word.end() for word in reversed(words)]
            for end in ends:
                said = behind[:end].strip(" ,，")
                if self._language == "zh" and _GOES_ON.match(behind[end:]):
                    continue
                found = day_of(said, self._language, today)
                dated = any(map(str.isdigit, said)) or _DAY_OF_A_MONTH.match(said)
                if found and (begin[0].strip() or dated):
                    self._text = f"{self._text[: begin.start()]} {behind[end:]}"
                    return found
        return None

    def delay(self) -> timedelta | None:
        match = self._take(self._words["delay"])
        if match is None:
            return None
        amount, unit, said = self._number(match["n"]), match["unit"].lower(), match.groupdict()
        if minutes := said.get("minutes"):
            return timedelta(hours=amount, minutes=self._number(minutes))
        if more := said.get("more"):
            amount += 0.5 if more.lower() in _HALF else 0.25
        if unit.startswith(("sec", "sek", "seg", "秒")):
            return timedelta(seconds=amount)
        if unit.startswith(("w", "sem", "周", "星期", "礼拜")):
            return timedelta(weeks=amount)
        if unit.startswith(("h", "stund", "小", "钟头")):
            return timedelta(hours=amount)
        if unit.startswith(("d", "tag", "j", "天")):
            return timedelta(days=amount)
        return timedelta(minutes=amount)

    def sun(self) -> tuple[SunEvent, timedelta] | None:
        """What the sun does, and how much later than that it is meant."""
        said = self._words.get("sun")
        match = self._take(said) if said else None
        if match is None:
            return None
        groups = match.groupdict()
        event = next(event for event in SUN_EVENTS if groups.get(event))
        number, unit = (
            groups.get("n") or groups.get("n2"),
            groups.get("unit") or groups.get("unit2"),
        )
        side = groups.get("side") or groups.get("side2") or ""
        if not number or not unit:
            return event, timedelta()
        hours = unit.lower().startswith(("h", "stund", "小", "钟"))
        amount = self._number(number)
        offset = timedelta(hours=amount) if hours else timedelta(minutes=amount)
        earlier = side.lower() in ("before", "vor", "avant", "antes", "前", "之前", "以前")
        return event, -offset if earlier else offset

    def time_of_day(self) -> tuple[time | None, bool]:
        """The time of day, and whether the half of the day was said."""
        if not self._part and (match := self._take(self._words["part_alone"])):
            self._part = _part_in(match.groupdict())
        for pattern in self._words["times"]:
            if match := self._take(pattern):
                said = match.groupdict()
                return self._clock(said if said.get("part") else said | self._part_before())
        return (time(12), True) if self._part.lower() in _NOON else (None, False)

    def _part_before(self) -> dict[str, str | None]:
        """The part of the day that stands first, apart from its hour: "morning, to take my pills,
        at eight"."""
        part = self._words.get("part_apart") or self._words["part"]
        found = re.match(rf"\s*(?:{part})(?=[\s,])", self._text, re.IGNORECASE)
        if found is None:
            return {}
        self._text = self._text[found.end() :]
        return {"part": found["part"]}

    def hour_alone(self) -> tuple[time | None, bool]:
        """The hour that is all that is left: "nine tomorrow"; as `time_of_day`."""
        found = re.fullmatch(r"(?:auf |um |à )?(\d{1,2}|[^\W\d]+)", self.rest().lower())
        if found is None or not (found[1].isdigit() or found[1] in self._words["hours"]):
            return None, False
        self._text = ""
        return self._clock({"h": found[1]})

    def _clock(self, said: dict[str, str | None]) -> tuple[time | None, bool]:
        word = said.get("word")
        noon = 12.0 if word and word.lower() in _NOON else 0.0
        hour = noon if word else self._number(said["h"] or "0")
        minute = self._number(said.get("m") or "0")
        if tens := said.get("tens"):
            minute = MINUTES.get(tens.lower()) or self._number(tens)
        if (minutes := said.get("minutes")) and (side := said.get("side")):
            offset = MINUTES.get(minutes.lower().replace("-", " ")) or self._number(minutes)
            earlier = side.lower() in ("to", "before", "vor", "moins", "menos", "para")
            hour, minute = (hour - 1, 60 - offset) if earlier else (hour, offset)
        if said.get("half"):
            minute = 30
            hour -= 1 if self._language == "de" else 0
        if said.get("quarter") == _THREE_QUARTERS_PAST:
            minute = 45
        elif quarter := said.get("quarter"):
            later = quarter.lower() in _QUARTER_PAST
            hour, minute = (hour, 15) if later else (hour - 1, 45)
            if quarter.lower() == _FIRST_QUARTER:
                minute = 15
        if word:
            return time(int(hour) % 24, int(minute)), True
        part = (_part_in(said) or self._part).lower().replace(".", "")
        if part in _AFTERNOON and hour < (_BEFORE_NOON if part in _ABOUT_NOON else 12):
            hour += 12
        if part in _NIGHT and 6 <= hour < 12:
            hour += 12
        if part in ((_MORNING - _TO_NOON) | _NIGHT) and hour == 12:
            hour = 0
        if not (0 <= hour <= 24 and 0 <= minute < 60):
            return None, False
        # "4:15" may be in the afternoon where hours are counted to twelve, "04:15" is not.
        by_24 = self._language not in _COUNT_TO_TWELVE or (said["h"] or "").startswith("0")
        exact = bool(part) or hour > 12 or (bool(said.get("m")) and by_24)
        return time(int(hour) % 24, int(minute)), exact

    def _number(self, word: str) -> float:
        word = word.strip().lower()
        if re.fullmatch(r"\d+(?:[.,]\d+)?", word):
            return float(word.replace(",", "."))
        if self._language == "zh":
            return _chinese(word)
        hours = self._words["hours"]
        if word in hours:
            return float(hours.index(word) + 1)
        if word in _HALF:
            return 0.5
        figures = digits(word, self._language)
        return float(figures) if figures.isdigit() else 1.0


def _part_in(said: dict[str, str | None]) -> str:
    """The part of the day that a pattern found; empty where it found none."""
    return said.get("part") or said.get("parts") or ""


def _chinese(word: str) -> float:
    if word == "半":
        return 0.5
    total = 0
    for character in word:
        if character == "十":
            total = (total or 1) * 10
        else:
            total += 2 if character == "两" else max(0, _CHINESE_DIGITS.find(character))
    return total


@cache
def words(language: str) -> dict[str, Any]:
    """The language's part of when.yaml, English where there is none, placeholders filled in."""
    text = (Path(__file__).parent / "when.yaml").read_text(encoding="utf-8")
    read = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    words: dict[str, Any] = read.get(language) or read["en"]
    days = f"(?:{'|'.join(words['days'])})"
    months = f"(?:{'|'.join(MONTHS.get(language, '').lower().split())})"
    hours = "|".join(words["hours"])
    every_hour = "|".join([hours, *words.get("later_hours", ())])
    minutes = [word for word, number in number_words(language).items() if int(number) < 60]
    # What stands for others comes first.
    places = {
        "{clock_time}": words.get("clock_time", ""),
        "{part}": words["part"],
        "{ends}": words.get("ends", ""),
        "{hour}": rf"(?P<h>\d{{1,2}}|{every_hour})",
        "{minute}": rf"(?:[0-5]?\d|{'|'.join(sorted(minutes, key=len, reverse=True))})",
        "{day}": days,
        "{days}": days,
        "{month}": months,
        "{hour_words}": hours,
        "{parts}": words.get("parts", ""),
    }

    def filled(pattern: str) -> str:
        for place, meant in places.items():
            pattern = pattern.replace(place, meant)
        return pattern

    named = ("some_days", "next_week", "sun", "hours_of_day", "delay", "weekdays")
    return words | {
        **{key: filled(words[key]) for key in named},
        "nth_day": filled(words.get("nth_day", "(?!)")),
        "days_from_to": filled(words.get("days_from_to", "(?!)")).replace(days, f"({days[3:]}"),
        "part_alone": filled(words.get("part_alone", "(?!)")),
        "day_part": filled(words.get("day_part", "")),
        "day_words": {filled(said): ahead for said, ahead in words["day_words"].items()},
        "cycles": [filled(pattern) for pattern in words["cycles"]],
        "times": [filled(pattern) for pattern in words["times"]],
    }
