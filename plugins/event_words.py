"""What is said of an event to come: "dentist on Friday from 3 to 4", "Ann's birthday on 12 May",
"Urlaub vom 3. bis 10. August", 每周二下午五点钢琴课. No plugin itself.
"""

import re
from datetime import date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from plugins.days import DAILY, day_in, day_of, span_of
from plugins.ics import Occurrence
from plugins.next_time import next_time, still_today
from plugins.numbers import chinese_digits, digits
from plugins.reminder_entries import shift_of
from plugins.speech import FAST_LOADER
from plugins.spoken import language_known
from plugins.when import WAKING_HOURS, When, parse
from plugins.when_reader import Cycle

YEARLY = "FREQ=YEARLY"
AN_HOUR, A_DAY = timedelta(hours=1), timedelta(days=1)
HALF_A_DAY = timedelta(hours=12)
LATE = 22
"""An hour at which nothing begins unless that is said."""
LONGEST_DAY_WORDS = 4
"""Words of a day that is the first or the last of several: "the 3rd of August"."""
_HALF = frozenset({"half an", "eine halbe", "une demi", "media", "半"})
_NUMBER = re.compile(r"(?:the |der |dem |den |le |el )?(\d{1,2})(?:st|nd|rd|th|\.|日|号|er)?")
_NTH_DAY = re.compile(r"\+?(?P<nth>-1|[1-4])(?P<day>MO|TU|WE|TH|FR|SA|SU)")
BY_DAY = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


class Said(NamedTuple):
    """An event as it was said."""

    title: str
    """Empty where nothing was said of what it is."""
    event: Occurrence | None
    """``None`` where nothing was said of when it is."""


_HALVES = re.compile(r"[ap]\.?m\b\.?", re.IGNORECASE)


class _Hours(NamedTuple):
    """The text without when it ends on its day, and what was said of that."""

    text: str
    last: str = ""
    length: timedelta | None = None


def read(said: str, language: str, now: datetime) -> Said:
    """The event that words name.

    Raises:
        ValueError: that time has passed, or is none.
    """
    known = language_known(language)
    text, yearly = _without(_words(known).yearly, " ".join(said.split()))
    text = _words(known).for_day.sub("", text)
    text = _words(known).for_date.sub(_words(known).on, text)
    text, days = _several_days(text, known, now.date())
    if days is not None:
        return _of_days(_title(text, known), days, now)
    hours = _hours(text, known)
    when = parse(hours.text, known, now, awake=True)
    if not (when.on or when.repeat or when.delay or when.sun):
        when = _with_a_day(hours.text, when, known, now)
    if not (when.said or when.on or when.repeat):
        return _of_a_span(hours.text, known, now)
    title = _title(when.rest, known)
    if when.sun or when.cycle.minutes:
        return Said(title, None)
    yearly = yearly or (when.at is None and _of_any("every_year").search(title) is not None)
    return _of_when(title, when, hours, known, now, yearly=yearly)


def title_in(said: str, language: str, now: datetime) -> str:
    """What the event is called that words name, be it over by now."""
    try:
        return read(said, language, datetime.combine(now.date(), time(), now.tzinfo)).title
    except ValueError:  # it was at midnight
        known = language_known(language)
        return _title(parse(said, known, now, awake=True).rest, known)


def moment_to(said: str, language: str, event: Occurrence, now: datetime) -> Occurrence | None:
    """An event at another time, as long as it is: on its own day, or at its own time of the day,
    where only the other was said; ``None`` where nothing was said of when.

    Raises:
        ValueError: that time has passed.
    """
    known = language_known(language)
    start, length = event.start.astimezone(now.tzinfo), event.end - event.start
    if (shift := shift_of(said, known)) is not None and not event.whole_day:
        return _as_it_is(event, start + shift, start + shift + length, now)
    hours = _hours(" ".join(said.split()), known)
    when = parse(hours.text, known, now, awake=True)
    if when.at is None and when.on is None and when.delay is None:
        return None
    if when.delay is not None:
        then = now + when.delay
        when = When(at=None if when.delay >= A_DAY else then.time(), on=then.date(), exact=True)
    day = when.on or start.date()
    if when.at is None:
        to = datetime.combine(day, start.time(), now.tzinfo)
        whole_day = event.whole_day
    else:
        at = when.at if when.exact or event.whole_day else _near(when.at, start.time())
        to = datetime.combine(day, at, now.tzinfo)
        whole_day = False
        length = AN_HOUR if event.whole_day else length
    end = _end(to, hours, known, now) or to + length
    return _as_it_is(event, to, end, now, whole_day=whole_day)


def _near(said: time, before: time) -> time:
    """The half of the day that is nearer to when it was: of a practice at seven in the evening
    "eight" is the one in the evening."""
    later = (said.hour + 12) % 24
    nearer = abs(later - before.hour) < abs(said.hour - before.hour)
    return said.replace(hour=later) if 12 < later < LATE and nearer else said


def _as_it_is(
    event: Occurrence, start: datetime, end: datetime, now: datetime, *, whole_day: bool = False
) -> Occurrence:
    """The event at that time.

    Raises:
        ValueError: that time has passed.
    """
    if end <= now:
        raise ValueError("that time has passed")
    return Occurrence(
        title=event.title, start=start, end=end, whole_day=whole_day, location=event.location,
        description=event.description,
    )  # fmt: skip


def besides_the_same_time(said: str, language: str) -> str:
    """Where something is moved, without that its time of the day stays: "Friday, same time"."""
    return _words(language_known(language)).same.sub("", said).strip(" ,，")


def says_when(said: str, language: str, now: datetime) -> bool:
    """Whether words say a day or a time, and nothing else."""
    known = language_known(language)
    when = parse(_hours(" ".join(said.split()), known).text, known, now, awake=True)
    return bool(when.at or when.on or when.delay) and not when.rest


def is_when(said: str, language: str, now: datetime) -> bool:
    """Whether words say when an event is, and nothing else: days, hours, how it comes again."""
    try:
        found = read(f"x {said}", language, now)
    except ValueError:
        return True  # a time, but one that has passed
    return found.event is not None and found.title in ("X", "")


def _without(pattern: re.Pattern[str], text: str) -> tuple[str, bool]:
    found = pattern.search(text)
    if found is None:
        return text, False
    return " ".join(f"{text[: found.start()]} {text[found.end() :]}".split()), True


def _several_days(text: str, language: str, today: date) -> tuple[str, tuple[date, date] | None]:
    """The text without "from 3 to 10 August", and these days."""
    words = _words(language)
    for beginning in words.days_begin.finditer(text):
        for parting in words.days_part.finditer(text[beginning.end() :]):
            first = text[beginning.end() :][: parting.start()]
            behind = text[beginning.end() + parting.end() :]
            for end in _ends(behind, language):
                days = _first_and_last(first, behind[:end], language, today)
                if days:
                    return f"{text[: beginning.start()]} {behind[end:]}", days
    return text, None


def _ends(behind: str, language: str) -> list[int]:
    """Where a day at the beginning of a text may end, the longest first."""
    if language == "zh":
        return list(range(min(len(behind), 10), 1, -1))
    words = list(re.finditer(r"\S+", behind))[:LONGEST_DAY_WORDS]
    return [word.end() for word in reversed(words)]


def _first_and_last(first: str, last: str, language: str, today: date) -> tuple[date, date] | None:
    """Two days, the first of which may be a number alone: "3 to 10 August", 8月3日到10日."""
    ends, begins = day_of(last, language, today), day_of(first, language, today)
    number, other = _NUMBER.fullmatch(first.strip()), _NUMBER.fullmatch(last.strip())
    if number and not other and ends:
        begins = ends.replace(day=int(number[1]))
    if other and not number and begins:
        ends = begins.replace(day=int(other[1]))
    if begins and ends and begins > ends and begins.year == ends.year:
        ends = ends.replace(year=ends.year + 1) if ends < today else ends
    return (begins, ends) if begins and ends and begins < ends else None


def _hours(text: str, language: str) -> _Hours:
    """Take from a text when something ends, and leave when it begins."""
    length = None
    if found := _words(language).length.search(text):
        amount = found["n"].casefold()
        figures = chinese_digits(amount) if language == "zh" else digits(amount, language)
        number = 0.5 if amount in _HALF else float(figures) if figures.isdigit() else 1.0
        minutes = found["unit"].casefold().startswith(("m", "分"))
        length = timedelta(minutes=number) if minutes else timedelta(hours=number)
        text = f"{text[: found.start()]} {text[found.end() :]}"
    found = _words(language).hours.search(text)
    if found is None or not _is_of_the_clock(found):
        return _Hours(text, "", length)
    at, behind = _words(language).at, _words(language).o_clock
    first, last = found["first"], found["last"]
    half = _HALVES.search(last)
    if half and not _HALVES.search(first):
        first = f"{first} {_half_before(first, last, half[0])}"
    text = f"{text[: found.start()]} {at}{first}{behind} {text[found.end() :]}"
    return _Hours(text, f"{at}{last}{behind}", length)


def _is_of_the_clock(found: re.Match[str]) -> bool:
    """ "From 3 to 4", "3-4 pm"; "2 to 3 people" is none."""
    told = found.groupdict()
    return bool(told["from"] or told.get("clock") or re.search(r"[:h点时]|[ap]\.?m", found[0]))


def _half_before(first: str, last: str, half: str) -> str:
    """The half of the day of the first hour, where only that of the last is said."""
    figures = (re.search(r"\d+", digits(one.casefold(), "en")) for one in (first, last))
    hours = [int(number[0]) % 12 for number in figures if number]
    other = "am" if half.casefold().startswith("p") else "pm"
    return half if len(hours) < 2 or hours[0] <= hours[1] else other


def _end(start: datetime, hours: _Hours, language: str, now: datetime) -> datetime | None:
    """When something ends that begins then; ``None`` where nothing was said of that."""
    if hours.length:
        return start + hours.length
    last = parse(hours.last, language, now) if hours.last else When()
    if last.at is None:
        return None
    end = datetime.combine(start.date(), last.at, start.tzinfo)
    told = last.at.hour >= HALF_A_DAY.seconds // 3600 or _HALVES.search(hours.last)
    while end <= start:  # "4 to 5:30" is an hour and a half
        end += A_DAY if told else HALF_A_DAY
    return end


def _of_days(title: str, days: tuple[date, date], now: datetime) -> Said:
    start, last = (datetime.combine(day, time(), now.tzinfo) for day in days)
    return Said(title, Occurrence(title=title, start=start, end=last + A_DAY, whole_day=True))


def _of_a_span(text: str, language: str, now: datetime) -> Said:
    """ "Holidays next week", "Easter holidays"; without a day there is no event yet."""
    words = day_in(text, language)
    span = span_of(words, language, now.date()) if words else None
    if span is None:
        return Said(_title(text, language), None)
    rest = re.sub(re.escape(words), " ", text, count=1, flags=re.IGNORECASE)
    return _of_days(_title(rest, language), span, now)


def _of_when(
    title: str, when: When, hours: _Hours, language: str, now: datetime, *, yearly: bool
) -> Said:
    """An event for which a day, a time or both were said."""
    in_days = when.delay is not None and when.delay >= A_DAY
    whole_day = in_days or not when.said
    title = _of_any("part").sub(r" (\1)", title) if whole_day else title
    when = still_today(when._replace(at=_when_awake(when, title)), now)
    at = when if when.said and not in_days else when._replace(at=time(), delay=None)
    if in_days and when.delay is not None:
        start = datetime.combine((now + when.delay).date(), time(), now.tzinfo)
    elif whole_day and when.on:
        start = datetime.combine(when.on, time(), now.tzinfo)
    else:
        start = next_time(at, now).replace(second=0, microsecond=0)
    end = start + A_DAY if whole_day else _end(start, hours, language, now) or start + AN_HOUR
    rule = YEARLY if yearly else _rule(when)
    return Said(
        title, Occurrence(title=title, start=start, end=end, whole_day=whole_day, rule=rule)
    )


def _with_a_day(text: str, when: When, language: str, now: datetime) -> When:
    """The same with a day that stands anywhere: "dentist 5 May at 3", 家长会4月2号晚上七点."""
    plain = chinese_digits(text) if language == "zh" else text
    words = day_in(plain, language)
    day = day_of(words, language, now.date()) if words else None
    if day is None:
        return when
    rest = re.sub(re.escape(words), " ", plain, count=1, flags=re.IGNORECASE)
    return parse(rest, language, now, awake=True)._replace(on=day)


def _when_awake(when: When, title: str) -> time | None:
    """Of the two times that "at five" may be the one when people are awake, also every week; of
    what is done in the evening the later."""
    if when.at is None or when.exact or not 1 <= when.at.hour < 12:
        return when.at
    later = when.at.hour < WAKING_HOURS.start or _of_any("evening").search(title)
    return when.at.replace(hour=when.at.hour + 12) if later else when.at


def _rule(when: When) -> str:
    """RFC 5545, section 3.3.10."""
    cycle = when.cycle
    interval = f";INTERVAL={cycle.every}" if cycle.every > 1 else ""
    if cycle.month:
        return YEARLY
    if cycle.month_day:
        return f"FREQ=MONTHLY;BYMONTHDAY={cycle.month_day}"
    if cycle.nth:
        return f"FREQ=MONTHLY;BYDAY={','.join(f'{cycle.nth}{BY_DAY[day]}' for day in when.repeat)}"
    if when.repeat == DAILY:
        return f"FREQ=DAILY{interval}"
    days = ",".join(BY_DAY[day] for day in when.repeat)
    return f"FREQ=WEEKLY{interval};BYDAY={days}" if days else ""


def turns_of(rule: str) -> When:
    """The days on which something comes again, of a rule that `_rule` makes; of another none."""
    parts = dict(part.split("=", 1) for part in rule.split(";") if "=" in part)
    every = int(parts.get("INTERVAL", "1"))
    days = parts.get("BYDAY", "").split(",")
    if parts.get("FREQ") == "MONTHLY" and parts.get("BYMONTHDAY", "").isdigit():
        return When(repeat=DAILY, cycle=Cycle(month_day=int(parts["BYMONTHDAY"])))
    if parts.get("FREQ") == "MONTHLY" and (one := _NTH_DAY.fullmatch(parts.get("BYDAY", ""))):
        return When(repeat=(BY_DAY.index(one["day"]),), cycle=Cycle(nth=int(one["nth"])))
    if parts.get("FREQ") == "DAILY":
        return When(repeat=DAILY, cycle=Cycle(every=every))
    if parts.get("FREQ") == "WEEKLY":
        repeat = tuple(number for number, name in enumerate(BY_DAY) if name in days)
        return When(repeat=repeat, cycle=Cycle(every=every))
    return When()


def _title(text: str, language: str) -> str:
    """Without what joins it, its first letter large."""
    said = " ".join(text.split()).strip(" ,.;:，。、")
    if language == "zh":
        said = said.replace(" ", "")
    before = None
    while said != before:
        before = said
        said = _words(language).edges.sub("", said).strip(" ,.;:，。、")
    return said[:1].upper() + said[1:]


class _Words(NamedTuple):
    """How events are said in one language, compiled."""

    hours: re.Pattern[str]
    length: re.Pattern[str]
    days_begin: re.Pattern[str]
    days_part: re.Pattern[str]
    yearly: re.Pattern[str]
    for_day: re.Pattern[str]
    """What stands before a day and is no part of a title."""
    for_date: re.Pattern[str]
    """The same before a date, where ``on`` would stand as well."""
    edges: re.Pattern[str]
    same: re.Pattern[str]
    """What says that its time of the day stays."""
    on: str
    at: str
    o_clock: str


@cache
def _read() -> dict[str, dict[str, Any]]:
    text = (Path(__file__).parent / "event_words.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=FAST_LOADER))


@cache
def _of_any(name: str) -> re.Pattern[str]:
    return re.compile(_read()["any"][name], re.IGNORECASE)


@cache
def _words(language: str) -> _Words:
    said = _read()[language]

    def filled(pattern: str) -> re.Pattern[str]:
        with_clocks = pattern.replace("{clock}", said["clock"])
        return re.compile(with_clocks.replace("{number}", said.get("number", "")), re.IGNORECASE)

    begin, part = (filled(pattern) for pattern in said["days"])
    names = ("hours", "length", "yearly", "for_day", "for_date", "edges", "same")
    patterns = {name: filled(said.get(name, "(?!)")) for name in names}
    at, o_clock, on = said["at"], said.get("o_clock", ""), said.get("on", "")
    return _Words(days_begin=begin, days_part=part, on=on, at=at, o_clock=o_clock, **patterns)
