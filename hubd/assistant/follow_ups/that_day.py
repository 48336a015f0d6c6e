"""The day that was asked about, told or spoken of last: „dann trag um sechs … ein“, "what day is
that?", "and in weeks?", "on the Saturday before", 那天晚上六点…. Decides and does nothing.

How it is said is in that_day.yaml.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.of_events import AGENDA, NEXT, down_on, of_events
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.understanding.data_files import first_match, words_beside
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import plain
from hubd.home.model import Snapshot
from plugins.api import ToolCall
from plugins.days import day_in, day_of
from plugins.spoken import date_of_year

_words = partial(words_beside, __file__)

DAY, UNTIL, SINCE = "dates.day", "dates.until", "dates.since"
UNITS = ("day", "week", "month")
TELL_A_DAY = frozenset({AGENDA, NEXT, DAY, UNTIL})
"""Behind what these told an event that is put down is on that day."""
A_WEEK = timedelta(weeks=1)


def on_that_day(text: str, memory: Memory, language: str, now: datetime) -> str:
    """``text`` with the day that it only points to, or as it is; empty where something is to be put
    down for that day and nobody knows which it is."""
    words = _words().get(language)
    if words is None or memory.pending is not None or of_events(text, memory, now) is not None:
        return text
    puts_down = re.search(words["puts_down"], plain(text)) is not None
    if (near := re.search(words["near"], text, re.IGNORECASE)) is not None:
        if memory.day is None:
            return "" if puts_down else text
        on = words["on"].format(date_of_year(_near(memory.day, near, language), language))
        before, rest = f"{text[: near.start()]}{on}", text[near.end() :]
        if verb := re.search(words["reminds"], rest, re.IGNORECASE):
            return f"{verb[0]} {before}{rest[: verb.start()].rstrip()}{rest[verb.end() :]}"
        return before + rest
    said = plain(text)
    on_day = str(words["on"]).format(date_of_year(memory.day, language)) if memory.day else ""
    there = re.compile(words["there"], re.IGNORECASE)
    pointed = re.compile(words["that_day"], re.IGNORECASE)
    if not pointed.search(text):
        if not puts_down or not there.search(text):
            return text
        day = "" if _names_a_day(said, language) else on_day
        return " ".join(there.sub(rf"\g<before> {day}", text, count=1).split())
    if _names_a_day(pointed.sub(" ", said), language):
        return text
    if not on_day:
        return "" if puts_down else text
    return str(pointed.sub(lambda found: on_day + _part_of(found, words), text, count=1))


def _part_of(found: re.Match[str], words: Mapping[str, Any]) -> str:
    """The part of that day that is meant, as it is said behind it."""
    part = found.groupdict().get("part") or ""
    return str(words["part"][part.casefold()]) if part else ""


def _names_a_day(said: str, language: str) -> bool:
    return bool(day_in(said, language))


def _near(day: date, near: re.Match[str], language: str) -> date:
    """The day of the week that is named, the last before that day or the first after it."""
    given = near.groupdict()
    named = next(given[one] for one in ("weekday", "then") if given.get(one))
    found = day_of(named, language, day)
    assert found is not None
    found = day + (found - day) % A_WEEK
    if given.get("after"):
        return found if found > day else found + A_WEEK
    return found - A_WEEK


def put_down_then(text: str, memory: Memory, home: Snapshot, now: datetime) -> Decision | None:
    """The event that ``text`` puts down, on the day that was asked about or told just before;
    ``None`` where it puts down none, or says no hour, or names a thing of the house."""
    told = memory.told
    words = _words().get(told.language) if told else None
    if told is None or words is None or memory.day is None or told.tool not in TELL_A_DAY:
        return None
    if text.rstrip().endswith(("?", "？")):
        return None
    said = re.sub(f"(?i)^{words['opening']}", "", text.strip(" .!。！"))
    ways = (re.fullmatch(way, said, re.IGNORECASE) for way in words["down"])
    found = next((one for one in ways if one), None)
    if found is None:
        return None
    event = " ".join(filter(None, (found["title"], found.groupdict().get("when"))))
    things = (one for one in home.entities if one.domain != "person")
    names = (plain(name) for one in things for name in (one.name, *one.aliases))
    edge = r"\b" if lexicon(told.language).spaces else ""
    if any(re.search(f"{edge}{re.escape(name)}{edge}", plain(event)) for name in names):
        return None
    return down_on(memory.day, event, told, now)


def of_that_day(text: str, memory: Memory) -> Decision | None:
    """What ``text`` asks of that day: which of the week it is, how long it is until then, or that
    in other units; ``None`` where it asks for nothing of the kind."""
    spoken = memory.told or memory.last
    words = _words().get(spoken.language) if spoken else None
    if spoken is None or words is None or memory.day is None:
        return None
    said, told = plain(text), spoken.tool
    given = spoken.call.arguments if spoken.call else {}
    if told in (UNTIL, SINCE) and (found := first_match(said, words["in_units"])):
        unit = next(one for one in UNITS if found.groupdict().get(one))
        return continuing(spoken, ToolCall(tool=told, arguments={**given, "unit": unit}))
    day = str(given.get("day") or date_of_year(memory.day, spoken.language))
    if told != DAY and first_match(said, words["which_day"]):
        return continuing(spoken, ToolCall(tool=DAY, arguments={"day": day}))
    if told == DAY and first_match(said, words["until"]):
        return continuing(spoken, ToolCall(tool=UNTIL, arguments={"day": day}))
    return None
