"""The day that was told or spoken of last: „dann trag da um sechs … ein“, "what day is that?", "and
in weeks?", 那天晚上六点…. Decides and does nothing.

How it is said is in that_day.yaml.
"""

import re
from datetime import datetime
from functools import partial

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import Memory
from hubd.assistant.follow_ups.of_events import of_events
from hubd.assistant.follow_ups.set_for_a_time import continuing
from hubd.assistant.understanding.data_files import first_match, words_beside
from hubd.assistant.understanding.plain import plain
from plugins.api import ToolCall
from plugins.days import day_in
from plugins.spoken import date_of_year

_words = partial(words_beside, __file__)

DAY, UNTIL, SINCE = "dates.day", "dates.until", "dates.since"
UNITS = ("day", "week", "month")


def on_that_day(text: str, memory: Memory, language: str, now: datetime) -> str:
    """``text`` with the day that it only points to, or as it is; empty where something is to be put
    down for that day and nobody knows which it is."""
    words = _words().get(language)
    if words is None or memory.pending is not None or of_events(text, memory, now) is not None:
        return text
    said, puts_down = plain(text), re.search(words["puts_down"], plain(text)) is not None
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
    return pointed.sub(on_day, text, count=1)


def _names_a_day(said: str, language: str) -> bool:
    return bool(day_in(said, language))


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
