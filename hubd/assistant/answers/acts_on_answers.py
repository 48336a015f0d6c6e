"""What is asked for with what an answer told: "put that in the calendar", "remind me of it the day
before", "set a timer for that".

The day, the hours and the length come from the passages that the answer quotes, the title from its
question. Where it tells several or none, that is asked for. Decides and does nothing; the words
are in ``acts_on_answers.yaml``.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from hubd.assistant.answered import OF_ANSWER
from hubd.assistant.answers.answers_given import Given, Talk
from hubd.assistant.answers.days_told import (
    Day,
    Hours,
    day_of_month_in,
    days_in,
    hours_in,
    lengths_in,
)
from hubd.assistant.answers.query_rewriting import gist
from hubd.assistant.answers.question_titles import task_of, thing_of, title_of
from hubd.assistant.decision import Decision
from hubd.assistant.understanding.plain import plain
from plugins.api import ToolCall
from plugins.days import moved
from plugins.event_words import is_when
from plugins.spoken import date_of_year, duration, weekday
from plugins.when import When, parse
from rag.language import detect
from rag.lexical import keys

REMIND, CALENDAR, TIMER = "reminders.add", "calendar.add", "timers.start"
CHOICES = 4
"""Days or lengths that are named where it is asked which."""
EVENING = 19
LONGEST_NAME = 40
NEXT = re.compile(r"\b(?:next|nächste\w*|soonest)\b|下次|下一次|最近", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()]*\)")
_CLAUSE = re.compile(r"[，,;；。]|(?<=[a-z])\. ")
_OWNER = re.compile(r"^\w+['’]s ")
_FILE = Path(__file__).with_suffix(".yaml")
_UNITS = {
    "mi": "minute", "分钟": "minute", "ho": "hour", "st": "hour", "小时": "hour", "da": "day",
    "ta": "day", "天": "day", "ab": "day", "ev": "day", "ni": "day", "mo": "month", "月": "month",
    "we": "week", "wo": "week", "周": "week", "星期": "week", "晚": "day",
}  # fmt: skip
"""By how a unit begins, in English, German and Chinese; "morning" is none."""
_NUMBERS = {
    "an": 1, "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "ten": 10, "ein": 1, "eine": 1, "einen": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5,
    "sechs": 6, "sieben": 7, "zehn": 10, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5,
    "六": 6, "七": 7, "十": 10,
}  # fmt: skip


class Act(NamedTuple):
    """What is done with an answer, or asked back."""

    decision: Decision
    text: str = ""
    """What is asked back, or said instead; then nothing is done."""
    argument: str = ""
    """What of the call an answer to that is."""
    said: str = ""
    """What was asked for, in words that stand alone."""


class ToList(NamedTuple):
    """What shall be put on a list."""

    language: str
    dish: str
    """Of which the ingredients are meant; empty: of what was spoken of."""
    ingredients: bool
    list_name: str


def act_on(text: str, talk: Talk, language: str | None, now: datetime) -> Act | None:
    """What ``text`` asks for with an answer of ``talk``; ``None`` where it asks for something else.

    language: of the person; ``None``: it is told from the words
    now: in the household's zone
    """
    said = plain(text)
    for tag in _languages(text, language):
        words = _words(tag)
        for pattern in words.timer:
            if pattern.fullmatch(said):
                return _timer(talk.spoken_of, words)
        for pattern in words.calendar:
            if found := pattern.fullmatch(said):
                return _calendar(found, text, talk, words, now)
        if found := words.reminder.fullmatch(said):
            return _reminder(found["rest"], text, talk, words, now)
    return None


def list_wish(text: str, language: str | None) -> ToList | None:
    """Whether ``text`` puts what an answer told, or the ingredients of something, on a list."""
    said = plain(text)
    for tag in _languages(text, language):
        words = _words(tag)
        for pattern in words.list:
            if found := pattern.fullmatch(said):
                groups = found.groupdict()
                dish, what = groups.get("dish") or "", groups.get("what") or ""
                of_dish = bool(dish) or words.ingredients.search(what) is not None
                name = "to-do" if (groups.get("list") or "").startswith("to") else ""
                return ToList(tag, dish, of_dish, name)
    return None


def ask_for(key: str, language: str) -> str:
    """A question back, or what is said where nothing is done."""
    return _say(key, language)


def _languages(text: str, language: str | None) -> Sequence[str]:
    if language in (None, ""):
        return ("zh",) if re.search("[\u4e00-\u9fff]", text) else ("en", "de")
    return (str(language),) if language in ("en", "de", "zh") else ()


def _timer(given: Given | None, words: "_Words") -> Act:
    if given is None:
        said = " ".join(words.timer_said.format(name="").split())
        return Act(_decided(TIMER, {}, words), said=said)
    name = _OWNER.sub("", thing_of(given.question, _tongue(given.question)))[:LONGEST_NAME]
    texts = [given.answer, *(quote.text for quote in given.quotes)]
    lengths = next(filter(None, (lengths_in(one) for one in texts if "“" not in one)), [])
    if len(lengths) == 1:
        seconds = round(lengths[0].total_seconds())
        arguments: dict[str, Any] = {"minutes": seconds // 60, "seconds": seconds % 60}
        named = {"name": name} if name else {}
        return Act(_decided(TIMER, {**{k: v for k, v in arguments.items() if v}, **named}, words))
    said = words.timer_said.format(name=name).replace("  ", " ")
    if not lengths:
        return Act(_decided(TIMER, {"name": name} if name else {}, words), said=said)
    told = [duration(one, words.language) for one in lengths[:CHOICES]]
    decision = _asking(TIMER, {"name": name}, words)
    return Act(decision, _which("how_long", told, words), "minutes", said)


def _calendar(
    found: re.Match[str], text: str, talk: Talk, words: "_Words", now: datetime
) -> Act | None:
    groups = found.groupdict()
    name = groups.get("name") or groups.get("named") or ""
    given = _that_tells_of(name, talk) if name else talk.spoken_of
    if given is None:
        return None if name else Act(_nothing(words), _say("put_what", words.language))
    when = " ".join(filter(None, (groups.get("when"), groups.get("when2")))).strip()
    each = next((unit for unit, one in words.each.items() if one.fullmatch(when)), "")
    title = title_of(name or given.question, _tongue(given.question), _told(given))
    read = When() if each else parse(when, words.language, now, awake=True)
    if read.rest or read.on or read.delay or read.repeat:  # its own day is said, or something else
        is_day = is_when(when, words.language, now)
        return _entry(title, when, words) if is_day else None
    days = days_of(given, now.date())
    monthly = _monthly(given, now.date())
    if monthly or (each == "month" and len(days) == 1):
        return _entry(title, _month_day(monthly or days[0].first.day, words), words)
    if len(days) > 1:
        decision = _asking(CALENDAR, {"title": title}, words)
        return Act(decision, _which_day(days, words), "when", text)
    if not days:
        return _entry(title, "", words)
    hours = _hours_of(given, days[0])
    told = _day_said(days[0], words)
    if each == "year":
        told += f" {when}"
    if each == "week":
        told = f"{words.weekly.format(weekday=weekday(days[0].first, words.language))}"
    if read.at:
        told += f" {when}"
    elif hours and hours.end:
        told += words.from_to.format(time=f"{hours.begin:%H:%M}", end=f"{hours.end:%H:%M}")
    elif hours:
        told += words.at.format(time=f"{hours.begin:%H:%M}")
    return _entry(title, told, words)


def _entry(title: str, when: str, words: "_Words") -> Act:
    timed = {"when": when} if when else {}
    return Act(_decided(CALENDAR, {"title": title, **timed}, words))


def _reminder(rest: str, text: str, talk: Talk, words: "_Words", now: datetime) -> Act | None:
    rest = re.sub("提醒(?:我们?)?(?:一下)?", " ", rest) if words.language == "zh" else rest
    lead = words.lead.search(rest)
    left = _without(lead, rest)
    of_that = words.of_that.search(left)
    left = _without(of_that, left)
    named = words.of_named.search(left) if of_that is None and lead is None else None
    task = words.task.search(left) if named is None else None
    left = _without(task or named, left)
    given = _that_tells_of(named["name"], talk) if named else talk.spoken_of
    about_task = task is not None and re.search(words.pronoun, task["task"]) is not None
    if not (of_that or about_task or (lead and given) or (named and given)):
        return None
    read = parse(left.strip(" ,，"), words.language, now, awake=True)
    if words.filler.sub("", read.rest).strip(" ,，"):
        return None
    if given is None:
        alone = of_that is not None and lead is None
        return Act(_nothing(words), _say("of_what", words.language)) if alone else None
    asked = _tongue(given.question)
    what = task_of(task["task"], given.question, asked) if task else ""
    what = what or title_of(named["name"] if named else given.question, asked, _told(given))
    said_time = left.strip(" ,，")
    if read.on or read.delay or read.repeat or read.sun:
        return _remind(what, said_time, words)
    days = days_of(given, now.date())
    if lead is None and (monthly := _monthly(given, now.date())):
        return _remind(what, f"{_month_day(monthly, words)} {said_time}", words)
    if len(days) > 1:
        given_time = {"when": said_time} if read.at else {}
        decision = _asking(REMIND, {"what": what, **given_time}, words)
        return Act(decision, _which_day(days, words), "when", text)
    if not days and lead:
        return Act(_nothing(words), _say("no_day", words.language))
    if not days:
        return _remind(what, said_time, words, text)
    if lead is None:
        return _remind(what, f"{_day_said(days[0], words)} {said_time}", words)
    before = _before(lead, days[0], _hours_of(given, days[0]), words)
    return _remind(what, f"{before} {said_time}", words)


def _remind(what: str, when: str, words: "_Words", said: str = "") -> Act:
    timed = {"when": when.strip()} if when.strip() else {}
    return Act(_decided(REMIND, {"what": what, **timed}, words), said=said)


def _before(lead: re.Match[str], day: Day, hours: Hours | None, words: "_Words") -> str:
    """The day, and the hour where that is plain, so long before what was told."""
    unit = _UNITS.get((lead["unit"] or lead["part"] or "")[:2]) or _UNITS.get(
        (lead["unit"] or lead["part"] or "")[:1], "day"
    )
    number = _NUMBERS.get(lead["n"] or "one") or int(re.sub(r"\D", "", lead["n"] or "") or 1)
    if unit in ("minute", "hour"):
        if hours is None:
            return _day_said(day, words)
        half = (lead["n"] or "") in ("half an", "eine halbe", "半")
        back = timedelta(minutes=number * (60 if unit == "hour" else 1) * (0.5 if half else 1))
        at = datetime.combine(day.first, hours.begin) - back
        return _day_said(Day(at.date()), words) + words.at.format(time=f"{at:%H:%M}")
    told = _day_said(Day(moved(day.first, -number, unit)), words)
    in_the_evening = (lead["part"] or "") in ("evening", "night", "abend", "晚")
    return told + (words.at.format(time=f"{EVENING}:00") if in_the_evening else "")


def days_of(given: Given, today: date) -> list[Day]:
    """The days that an answer tells and that are to come, of the passage that tells any and names
    most of what was asked.

    Of what comes again and again the next one, where that was asked for; those of the month that
    the question names. Where all have passed, the last of these.
    """
    asked = keys(gist(given.question))
    passages = sorted(given.quotes, key=lambda quote: -len(asked & keys(quote.text)))
    texts = [(quote.text, f"{quote.heading} {quote.document}") for quote in passages]
    if "“" not in given.answer:
        texts.insert(0, (given.answer, texts[0][1] if texts else ""))
    told = [(text, days) for text, above in texts if (days := _days_in(text, today, above))]
    if months := {day.first.month for day in _in_months(given.question, today)}:
        fitting = [day for _, days in told for day in days if day.first.month in months]
        coming = _coming(fitting, today)
        if coming:
            return coming
    for text, days in told:
        if coming := _coming(days, today):
            around = next(above for one, above in texts if one == text)
            of_it = _of_its_clause(text, asked, today, around) if len(coming) > 1 else []
            if len(coming) > 1 and not of_it:  # a list of days, which may go on in another passage
                beside = {one for one, above in texts if above == around}
                coming = _coming([d for one, all_ in told if one in beside for d in all_], today)
            coming = of_it or coming
            return coming[:1] if NEXT.search(given.question) else coming
    return told[0][1][-1:] if told else []


def _coming(days: Sequence[Day], today: date) -> list[Day]:
    found = dict.fromkeys(day for day in days if (day.last or day.first) >= today)
    return sorted(found, key=lambda day: day.first)


def _of_its_clause(text: str, asked: frozenset[str], today: date, around: str) -> list[Day]:
    """The days of the one clause that names most of what was asked; empty where none does."""
    clauses = [
        (len(asked & keys(clause)), days)
        for clause in _CLAUSE.split(text)
        if (days := _coming(_days_in(clause, today, around), today))
    ]
    clauses.sort(key=lambda one: -one[0])
    if len(clauses) < 2 or clauses[0][0] == clauses[1][0]:
        return []
    return clauses[0][1]


def _days_in(text: str, today: date, around: str) -> list[Day]:
    """The days of a passage; those in brackets ("reserve: 2 July") only where it has no others."""
    return days_in(_BRACKETS.sub(" ", text), today, around) or days_in(text, today, around)


def _in_months(question: str, today: date) -> list[Day]:
    """A day of each month that ``question`` names: "in January"."""
    months = re.findall(r"\b(?:in|im) ([A-Za-zä]+)|(\d{1,2})月", question)
    names = [f"1 {latin}" if latin else f"{chinese}月1日" for latin, chinese in months]
    return [day for name in names for day in days_in(name, today)]


def _hours_of(given: Given, day: Day) -> Hours | None:
    """When on that day, where the passage that tells it tells one time."""
    if day.last:
        return None
    for quote in given.quotes:
        around = f"{quote.heading} {quote.document}"
        days = days_in(quote.text, day.first, around)
        if not any(day.first == one.first for one in days):
            continue
        clauses = [
            clause
            for clause in _CLAUSE.split(quote.text)
            if any(day.first == one.first for one in days_in(clause, day.first, around))
        ]
        text = " ".join(clauses) if len(days) > 1 and clauses else quote.text
        hours = [one for one in hours_in(text) if one.begin != time()]
        return hours[0] if len(hours) == 1 else None
    return None


def _monthly(given: Given, today: date) -> int:
    """The day of each month that an answer tells before any other; 0 where it tells none."""
    for quote in given.quotes:
        if number := day_of_month_in(quote.text):
            return number
        if days_in(quote.text, today):
            break
    return 0


def _month_day(day: int, words: "_Words") -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10 if day not in (11, 12, 13) else 0, "th")
    return words.monthly.format(nth=f"{day}{ending}", number=day)


def _day_said(day: Day, words: "_Words") -> str:
    first = date_of_year(day.first, words.language)
    if day.last is None:
        return words.on_date.format(date=first)
    last = date_of_year(day.last, words.language)
    spans = {"de": f"vom {first} bis {last}", "zh": f"{first}到{last}"}
    return spans.get(words.language, f"from {first} to {last}")


def _which_day(days: Sequence[Day], words: "_Words") -> str:
    told = [date_of_year(day.first, words.language) for day in days[:CHOICES]]
    return _which("which_day", told, words)


def _which(key: str, choices: Sequence[str], words: "_Words") -> str:
    between = _say("or", words.language)
    *others, last = choices
    comma = "、" if words.language == "zh" else ", "
    told = f"{comma.join(others)}{between}{last}" if others else last
    return _say(key, words.language, choices=told)


def _that_tells_of(name: str, talk: Talk) -> Given | None:
    """The latest answer that tells of what is named; ``None`` where none does."""
    wanted = keys(name)
    for given in reversed(talk.given):
        told = keys(f"{given.question} {_told(given)}")
        if wanted and wanted <= told:
            return given
    return None


def _told(given: Given) -> str:
    return " | ".join(f"{quote.heading} | {quote.text}" for quote in given.quotes)


def _tongue(question: str) -> str:
    """The language of a question, as far as titles are made in it."""
    found = detect(question)
    return "de" if found == "other" else found


def _without(found: re.Match[str] | None, text: str) -> str:
    if found is None:
        return text
    return " ".join(f"{text[: found.start()]} {text[found.end() :]}".split())


def _decided(tool: str, arguments: dict[str, Any], words: "_Words") -> Decision:
    return Decision(
        route="words",
        tool=tool,
        arguments=arguments,
        score=0.9,
        reason=OF_ANSWER,
        call=ToolCall(tool=tool, arguments=arguments),
        language=words.language,
    )


def _asking(tool: str, arguments: dict[str, Any], words: "_Words") -> Decision:
    call = ToolCall(tool=tool, arguments=arguments)
    return Decision(
        route="words", tool=tool, arguments=arguments, score=0.9, asks="missing", reason=OF_ANSWER,
        call=call, language=words.language,
    )  # fmt: skip


def _nothing(words: "_Words") -> Decision:
    return Decision(route="words", reason=OF_ANSWER, language=words.language)


def _say(key: str, language: str, **values: str) -> str:
    told = _read()["answers"][key]
    return str(told.get(language) or told["en"]).format_map(values)


class _Words:
    """The words of a language, compiled."""

    def __init__(self, language: str, raw: dict[str, Any]) -> None:
        def compiled(pattern: str) -> re.Pattern[str]:
            for name in ("ask", "please", "that"):
                pattern = pattern.replace(f"{{{name}}}", raw[name])
            return re.compile(pattern)

        self.language = language
        self.calendar = [compiled(one) for one in raw["calendar"]]
        self.timer = [compiled(one) for one in raw["timer"]]
        self.list = [compiled(one) for one in raw["list"]]
        self.reminder = compiled(raw["reminder"])
        self.of_that = compiled(raw["of_that"])
        self.of_named = compiled(raw["of_named"])
        self.lead = compiled(raw["lead"])
        self.task = compiled(raw["task"])
        self.ingredients = compiled(raw["ingredients"])
        self.filler = compiled("{please}")
        self.pronoun = compiled(r"(?<!\w){that}(?!\w)" if language != "zh" else "{that}")
        self.each = {unit: compiled(one) for unit, one in raw["each"].items()}
        self.weekly = str(raw["weekly"])
        self.on_date, self.at = str(raw["on_date"]), str(raw["at"])
        self.from_to, self.monthly = str(raw["from_to"]), str(raw["monthly"])
        self.timer_said, self.list_said = str(raw["timer_said"]), str(raw["list_said"])


@cache
def _words(language: str) -> _Words:
    return _Words(language, _read()[language])


@cache
def _read() -> dict[str, Any]:
    return dict(yaml.safe_load(_FILE.read_text(encoding="utf-8")))
