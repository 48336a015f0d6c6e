"""When somebody means: "at half past six", "every weekday at 7", "in 20 minutes", "at sunset".

Shared by what waits for a time; no plugin itself. When that is the next time is in
``next_time.py``.
"""

import re
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from plugins.day_words import with_days_of_month
from plugins.daylight import SunEvent
from plugins.lengths import length_of
from plugins.numbers import chinese_digits, digits
from plugins.when_reader import REPEATS, Cycle, Reader, found, words

WAKING_HOURS = range(8, 23)
"""An hour without "am" or "pm" means the one of the two when people are awake, if it is for once.
What comes every day at 7 comes in the morning."""

_HOURS = (
    "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_TENS = {"ten": 10, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_AFTER_TIME = (
    r"(?=$|[,.]| ?(?:am|pm|a\.m|p\.m)\b| (?:today|tomorrow|tonight|this|in the|on|every|each|to)\b)"
)
"""What may follow a time of two numbers: "at seven thirty people come" is none."""
_DELAY = re.compile(
    r"(?P<in>\b(?:in|dans|d'ici|en|dentro de) )(?P<number>[^\W\d]+(?:[- ][^\W\d]+){0,2}?)"
    r"(?P<unit>[ -](?:min(?:ute|uto|s?\b)|hour|stunde|heure|hora))",
    re.IGNORECASE,
)
_PARTS_OF_HOURS = {
    language: [(re.compile(spoken, re.IGNORECASE), meant) for spoken, meant in forms.items()]
    for language, forms in {
        "en": {
            r"\b(?:a|one) quarter of an hour\b": "15 minutes",
            r"\bthree[- ]quarters of an hour\b": "45 minutes",
            r"\b(?:an hour and a half|one and a half hours)\b": "90 minutes",
        },
        "de": {
            r"\b(?:einer )?viertelstunde\b": "15 minuten",
            r"\b(?:einer )?dreiviertelstunde\b": "45 minuten",
            r"\b(?:anderthalb|eineinhalb) stunden\b": "90 minuten",
        },
        "fr": {
            r"(?:(?<=dans )|(?<=d'ici ))un quart d'heure\b": "15 minutes",
            r"(?:(?<=dans )|(?<=d'ici ))(?:trois|3) quarts d'heure\b": "45 minutes",
        },
        "es": {
            r"(?:(?<=en )|(?<=de ))un cuarto de hora\b": "15 minutos",
            r"(?:(?<=en )|(?<=de ))(?:tres|3) cuartos de hora\b": "45 minutos",
            r"(?:(?<=en )|(?<=de ))hora y media\b": "90 minutos",
        },
    }.items()
}
"""What is said of a delay that is no whole number of hours."""
_LONG_DELAY = {
    "en": re.compile(
        r"(?:(?<=\bin )|(?<=\bfor ))(?:an|one|two|three|four|five|six|\d+)"
        r"(?:\.5| and a (?:half|quarter))? hours?"
        r"(?: and (?:a half|a quarter|(?:three|3) quarters|\w+(?:[ -]\w+)? minutes))?(?!\w)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"(?:(?<=\bin )|(?<=\bfür ))(?:einer?|zwei|drei|vier|fünf|sechs|\d+|\w+einhalb) stunden?"
        r"(?: und (?:\w+ minuten|einer? viertelstunde))?(?!\w)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:(?<![设定置加来建])一|[二两三四五六七八九十]|\d+)(?:个半(?:小时|钟头)|个?(?:小时|钟头)半)"
        r"(?=之?后|以后|$)"
        r"|(?<=过)(?:[一二两三四五六七八九十]|\d+)个半(?:小时|钟头)"
        r"|[一二两三四五六七八九十\d]+个?(?:小时|钟头)[零又]?[一二两三四五六七八九十\d]+分钟?(?=之?后|以后)"
        r"|[一三]刻钟(?=之?后|以后)"
    ),
}
"""A delay of which the hours are only a part, or no whole number: "in an hour and ten minutes".
(定一个半小时后的闹钟 may be one in half an hour.)"""
_MINUTES = {"en": " minutes", "de": " minuten", "zh": "分钟"}
_CHINESE_DATE = re.compile(
    r"(?<!农历)(?<!阴历)(?<![\d一二三四五六七八九十])"
    r"[\d一二三四五六七八九十]{1,3}月[\d一二三四五六七八九十]{1,3}[号日]"
)
"""十二月十三号, before an hour in digits too: 12月13日11点."""
_WEEKDAY = re.compile("(?:星期|礼拜)(?=[一二三四五六日天])")
_SUNDAY = re.compile("周天(?![气天空])")
"""星期天, but not 这周天气."""


_AT = {"en": ("at ",), "de": ("um ", "am "), "zh": ("每",)}
"""What makes a time of an hour, or days of a name for them."""


class When(NamedTuple):
    """A time as it was said; what was not said is ``None``."""

    at: time | None = None
    on: date | None = None
    delay: timedelta | None = None
    repeat: tuple[int, ...] = ()
    """Days of the week, Monday is 0; empty: once."""
    rest: str = ""
    """The utterance without the words about time."""
    arrival: str | None = None
    """Whose coming home it waits for; empty: of the person who speaks."""
    exact: bool = False
    """Whether the half of the day was said, or is plain from the time."""
    sun: SunEvent | None = None
    """What the sun does then, in place of a time of the clock."""
    offset: timedelta = timedelta()
    """How much later than that; negative: earlier."""
    cycle: Cycle = Cycle()
    """Which of the days of ``repeat``, where it is not each of them."""

    def since(self, day: date) -> "When":
        """The same, counted from a day on: which of the Tuesdays are every other one."""
        return self._replace(cycle=self.cycle._replace(since=day))

    @property
    def said(self) -> bool:
        """Whether a time was said at all."""
        told = self.at is not None or self.delay is not None or self.sun is not None
        return told or self.cycle.minutes > 0

    @property
    def whole(self) -> bool:
        """Whether no number is left beside the time: "75 percent six" is not six."""
        return not any(character.isdigit() for character in self.rest)


def parse(text: str, language: str, now: datetime, *, awake: bool = False) -> When:
    """The time that ``text`` names.

    awake: an hour without "am" or "pm" is meant in waking hours, unless it is for many days
        (reminders, not alarms)
    """
    text = " ".join(text.split())
    reader = Reader(_in_digits(text, language), language)
    if (arrival := reader.arrival()) is not None:
        return When(rest=reader.rest(), arrival=arrival)
    repeat, cycle = reader.cycle(now.date())
    days = When(repeat=repeat or reader.repeat(), cycle=cycle)
    if (sun := reader.sun()) is not None:
        event, offset = sun
        on = reader.day(now.date())
        return days._replace(on=on, rest=reader.rest(), sun=event, offset=offset)
    on = reader.day(now.date())
    delay = reader.delay()
    if on is None and delay is None and not days.repeat:
        on = reader.date(now.date()) or reader.month_day(now.date())
    at, exact = (None, False) if delay else reader.time_of_day()
    if at is None and (on or days.repeat):
        at, exact = reader.hour_alone()
    once_awake = awake and not days.repeat
    if at and once_awake and not exact and at.hour < 12 and at.hour not in WAKING_HOURS:
        at = at.replace(hour=at.hour + 12)
    contradicts = cycle.minutes and (at or on or delay)  # "every two hours at nine"
    if contradicts or found(words(language)["no_cycle"], reader.rest(), language):
        return When(rest=text)  # once is not what was asked for
    return days._replace(at=at, on=on, delay=delay, rest=reader.rest(), exact=exact)


def as_time(text: str, language: str, now: datetime) -> str:
    """``text``, or with what makes a time of a bare hour ("acht": "um acht"); empty where it is no
    time or day, or more than that."""
    for said in (text, *(f"{at}{text}" for at in _AT.get(language, ()))):
        when = parse(said, language, now, awake=True)
        if said != text and when.cycle.minutes:
            continue  # 二十分钟 is a while, and not 每二十分钟
        if (when.said or when.on or when.repeat) and not re.search(r"\w", when.rest):
            return said
    return ""


def delays_in_minutes(text: str, language: str) -> str:
    """``text`` with its delays that are no whole hours in minutes: "in an hour and a half" is "in
    90 minutes"."""
    if long := _LONG_DELAY.get(language):
        text = long.sub(lambda said: _in_minutes(said, language), text)
    for spoken, meant in _PARTS_OF_HOURS.get(language, ()):
        text = spoken.sub(meant, text)
    return text


def _in_digits(text: str, language: str) -> str:
    """``text`` with the minutes behind an hour in digits, and "a m" as one word."""
    text = delays_in_minutes(with_days_of_month(text, language), language)
    text = _DELAY.sub(lambda said: _delay_in_digits(said, language), text)
    if language in ("fr", "es"):
        return text.replace("’", "'")
    if language == "zh":
        text = _CHINESE_DATE.sub(lambda said: f"{chinese_digits(said[0][:-1])}日 ", text)
        return _SUNDAY.sub("周日", _WEEKDAY.sub("周", text))
    if language == "en":
        return _with_minutes(re.sub(r"\b([ap]) m\b", r"\1m", text, flags=re.IGNORECASE))
    if language == "de":
        text = re.sub(r"\b[a-zäöüß]+(?= uhr\b)", _german_hour, text, flags=re.IGNORECASE)
        return re.sub(r"(\buhr )([a-zäöüß]+)", _german_minutes, text, flags=re.IGNORECASE)
    return text


def _in_minutes(said: re.Match[str], language: str) -> str:
    """How long, in whole minutes; whole hours as they stand."""
    length = length_of(said[0], language)
    seconds = round(length.total_seconds()) if length else 0
    if seconds % 3600 == 0 or seconds % 60:
        return said[0]
    return f"{seconds // 60}{_MINUTES[language]}"


def _delay_in_digits(said: re.Match[str], language: str) -> str:
    """ "in twenty-five minutes" → "in 25 minutes"; as it stands where it is no number."""
    number = digits(said["number"].lower(), language)
    return f"{said['in']}{number}{said['unit']}" if number.isdigit() else said[0]


def _german_hour(said: re.Match[str]) -> str:
    hour = digits(said[0].lower(), "de")
    return hour if hour.isdigit() else said[0]


def _german_minutes(said: re.Match[str]) -> str:
    minutes = digits(said[2].lower(), "de")
    return said[1] + (minutes if minutes.isdigit() else said[2])


def _with_minutes(text: str) -> str:
    """English times of two numbers with a colon: "seven thirty" → "7:30"."""
    hours, tens, ones = "|".join(_HOURS), "|".join(_TENS), "|".join(_HOURS[:9])
    spoken = (
        rf"\b({hours}|\d\d?)[ -](oh[ -](?:{ones})|(?:{tens})(?:[ -](?:{ones}))?)\b{_AFTER_TIME}"
    )

    def written(match: re.Match[str]) -> str:
        hour, (first, *rest) = match[1].lower(), re.split("[ -]", match[2].lower())
        minute = _TENS.get(first, 0) + (_HOURS.index(rest[0]) + 1 if rest else 0)
        return f"{_HOURS.index(hour) + 1 if hour in _HOURS else hour}:{minute:02}"

    return re.sub(spoken, written, text, flags=re.IGNORECASE)


def sun_in(text: str, language: str) -> re.Match[str] | None:
    """Where ``text`` says what the sun shall have done: "half an hour after sunset"."""
    return found(words(language)["sun"], text, language)


def repeat_in(text: str, language: str) -> re.Match[str] | None:
    """Where ``text`` says on which days: "every evening", "on Mondays"."""
    known = words(language)
    by_name = (known[name] for name, _ in REPEATS)
    patterns = [*known["cycles"], *by_name, known["days_from_to"], known["some_days"]]
    return next((match for one in patterns if (match := found(one, text, language))), None)
