"""What goes on with an event that was put down, moved or spoken of last: "they've rung, it's
Wednesday now", "an hour later", "remind us the evening before", „hab ich an dem Tag sonst noch
was?“, 老师病了，这课取消吧. Decides and does nothing.

How it is said is in of_events.yaml.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from functools import partial
from typing import Any

import msgspec

from hubd.assistant.decision import Decision
from hubd.assistant.dialogue import OF_EVENTS, Memory
from hubd.assistant.follow_ups.set_for_a_time import (
    EVENT,
    MOVED_EVENT,
    REMINDER,
    continuing,
    title_of,
)
from hubd.assistant.understanding.data_files import first_match, words_beside
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.plain import as_said, plain
from hubd.assistant.understanding.reasons import without_reasons
from plugins.api import ToolCall
from plugins.days import day_in, span_of
from plugins.event_words import besides_the_same_time, is_when, read, says_when
from plugins.note_words import words_of
from plugins.reminder_entries import shift_of
from plugins.spoken import date_of_year
from plugins.when import parse

_words = partial(words_beside, __file__)

NEXT, AGENDA, REMOVE, UNTIL, WEATHER = (
    "calendar.next",
    "calendar.agenda",
    "calendar.remove",
    "dates.until",
    "weather.on",
)
_ON = {"en": "on ", "de": "am "}
GOES_ON = frozenset({EVENT, MOVED_EVENT, REMINDER})
"""What takes for granted that the event is in the calendar."""


def of_events(text: str, memory: Memory, now: datetime) -> Decision | None:
    """What ``text`` asks for of the event that was put down or moved last; ``None`` where it is not
    about that."""
    event = _spoken_of(memory)
    words = _words().get(event.language) if event else None
    if event is None or words is None:
        return None
    spoken_of = memory.last in (event, None) or memory.told is event
    moves = spoken_of or _reminds_of(memory.last, title_of(event, now))
    whole = plain(text)
    last = "" if _of_another(text, words, event, now) else _last(text)
    heard = re.sub(f"{words['closing']}$", "", re.sub(f"^{words['opening']}", "", whole))
    for said in dict.fromkeys((whole, heard, last)):
        found = _found(said, text, words, memory, event, now) if said else None
        if found and (moves or found.tool != MOVED_EVENT):
            return found
    return None


def _spoken_of(memory: Memory) -> Decision | None:
    """The event that was put down, moved or asked about last, if nothing but reminders was set
    since then."""
    told, last = memory.told, memory.last
    if told and told.call and told.tool == NEXT and told.call.arguments.get("event"):
        return told
    if memory.events and (last is None or last.tool in OF_EVENTS or last.tool == REMINDER):
        return memory.events[0]
    return None


def _reminds_of(last: Decision | None, title: str) -> bool:
    """Whether a reminder of the event of that title was set last: "an hour before the dentist"."""
    given = last.call.arguments if last and last.call and last.tool == REMINDER else {}
    said = str(given.get("what", ""))
    return bool(title) and title in said


def asked_when(text: str, language: str) -> str:
    """The event of which ``text`` asks when it is; empty where it does not."""
    words = _words().get(language)
    found = first_match(plain(text), words["asked"]) if words else None
    return as_said(text, found["event"]) if found else ""


def put_in(text: str, asked: str, language: str, now: datetime) -> Decision | None:
    """That event put down, where ``text`` says so and when it is: "well, put it in, Monday at
    two"."""
    words = _words().get(language)
    if words is None or not asked:
        return None
    whole = plain(text)
    for said in (whole, re.sub(f"^{words['opening']}", "", whole)):
        found = first_match(said, words["put_in"])
        if found and is_when(found["when"], language, now):
            call = ToolCall(tool=EVENT, arguments={"title": asked, "when": found["when"]})
            last = Decision(route="documents", language=language, tool=NEXT)
            return continuing(last, call)
    return None


def takes_for_granted(text: str, asked: Decision, now: datetime) -> Decision | None:
    """What ``text`` asks for of an event that shall be put down if a yes is said: "move it to four"
    behind the question is that yes."""
    if asked.tool != EVENT:
        return None
    for said in (text, without_reasons(text, lexicon(asked.language))):
        further = of_events(said, Memory(last=asked, events=(asked,)), now) if said else None
        if further and further.tool in GOES_ON:
            return further
    return None


def _found(
    said: str, text: str, words: Mapping[str, Any], memory: Memory, last: Decision, now: datetime
) -> Decision | None:
    """What ``said`` asks for, which is ``text`` or a part of it in plain form."""
    title, day = title_of(last, now), _day_of(memory)
    if to := _by_how_much(said, words, last.language) or _moved_to(said, words, last, now):
        moved = continuing(last, ToolCall(tool=MOVED_EVENT, arguments={"event": title, "to": to}))
        return msgspec.structs.replace(moved, arguments={**moved.arguments, "day": day})
    if what := _day_before(said, words, last, now, text):
        return continuing(last, ToolCall(tool=REMINDER, arguments={"what": what}))
    if what := _on_its_day(said, words, memory.day, last, now):
        return continuing(last, ToolCall(tool=REMINDER, arguments={"what": what}))
    for name, tool in (("also_then", AGENDA), ("until", UNTIL), ("weather", WEATHER)):
        if day and first_match(said, words[name]):
            return continuing(last, ToolCall(tool=tool, arguments={"day": day}))
    if first_match(said, words["now"]):
        return continuing(last, ToolCall(tool=NEXT, arguments={"event": title}))
    if memory.day and (more := first_match(said, words["one_more"])):
        return down_on(memory.day, as_said(text, more["title"]), last, now)
    if first_match(said, words["off"]):
        return continuing(last, ToolCall(tool=REMOVE, arguments={"event": title}))
    if (off := first_match(said, words["one_off"])) and _is_day(off["day"], last, now):
        which = f"{title} {off['day']}"
        return continuing(last, ToolCall(tool=REMOVE, arguments={"event": which}))
    if (again := first_match(said, words["again"])) and _is_day(again["day"], last, now):
        return _again(again["day"], title, memory, last, now)
    return None


def _moved_to(said: str, words: Mapping[str, Any], last: Decision, now: datetime) -> str:
    """Where it is moved; empty where it is not, or another thing is."""
    said = besides_the_same_time(said, last.language)
    for pattern in words["moved"]:
        found = re.fullmatch(pattern, said)
        if found is None or not _names(found.groupdict().get("what"), words, last, now):
            continue
        if says_when(found["to"], last.language, now):
            return str(found["to"])
    return ""


def _names(what: str | None, words: Mapping[str, Any], last: Decision, now: datetime) -> bool:
    """Whether ``what`` is the event, or when it begins."""
    if what is None or re.fullmatch(words["what"], what):
        return True
    told = words_of(what)
    return bool(told) and told <= words_of(title_of(last, now))


def _by_how_much(said: str, words: Mapping[str, Any], language: str) -> str:
    """By how much it is moved, as the calendar understands it; empty where that is not said."""
    if "提醒" in said:
        return ""  # 提前一小时提醒我 is a reminder before it
    for way in ("later", "earlier"):
        found = first_match(said, words[way])
        by = words["by"][way].format(span=found["span"]) if found else ""
        if by and shift_of(by, language) is not None:
            return str(by)
    return ""


def _day_before(
    said: str, words: Mapping[str, Any], last: Decision, now: datetime, text: str
) -> str:
    """The reminder on the day before it, in full; empty where none is asked for."""
    found = first_match(said, words["before"])
    if found is None:
        return ""
    given = found.groupdict()
    hour = given.get("hour") or given.get("then") or ""
    at = parse(_at(hour, last.language), last.language, now, awake=True).at if hour else None
    if hour and at is None:
        return ""
    full, part = words["full"], words["parts"].get(given.get("part") or "", "day")
    task = as_said(text, (given.get("task") or "").strip())
    if at and part == "evening" and at.hour < 12:
        at = at.replace(hour=at.hour + 12)
    return str(
        full[part].format(
            event=title_of(last, now),
            at=full["at"].format(hour=f"{at:%H:%M}") if at else "",
            task=full["task"].format(task=task) if task else "",
        )
    )


def _on_its_day(
    said: str, words: Mapping[str, Any], day: date | None, last: Decision, now: datetime
) -> str:
    """The reminder of it at an hour of its day, in full; empty where none is asked for, or of
    something else: "remind me that day at nine to ring Mum"."""
    found = first_match(said, words["that_day"]) if day else None
    hour = found["hour"].strip() if found else ""
    if found is None or day is None or not is_when(_at(hour, last.language), last.language, now):
        return ""
    given = found.groupdict()
    part = words.get("of_part", {}).get(given.get("part") or "", "")
    return str(words["full"]["then"]).format(
        event=title_of(last, now), day=date_of_year(day, last.language), hour=hour, part=part
    )


def _at(hour: str, language: str) -> str:
    return {"en": f"at {hour}", "de": f"um {hour}"}.get(language, hour)


def _again(day: str, title: str, memory: Memory, last: Decision, now: datetime) -> Decision | None:
    """The same event on another day, at the hour that was said of it."""
    hours = (_hour_in(said, last.language, now) for said, _ in _told_of(memory))
    at = next((hour for hour in hours if hour), None)
    if at is None:
        return None
    on = f"{day} {_at(f'{at:%H:%M}', last.language)}"
    return continuing(last, ToolCall(tool=EVENT, arguments={"title": title, "when": on}))


def down_on(on: date, said: str, last: Decision, now: datetime) -> Decision | None:
    """The event that is said put down on that day, unless another is said; ``None`` where no hour
    is."""
    if _hour_in(said, last.language, datetime.combine(on, time(), now.tzinfo)) is None:
        return None
    day = "" if day_in(said, last.language) else date_of_year(on, last.language)
    on_day = f"{_ON.get(last.language, '')}{day}" if day else ""
    spaced = " " if lexicon(last.language).spaces and on_day else ""
    return continuing(last, ToolCall(tool=EVENT, arguments={"title": f"{on_day}{spaced}{said}"}))


def _hour_in(said: str, language: str, now: datetime) -> time | None:
    """The hour at which an event is that is said so; ``None`` where none is said, or it is over."""
    try:
        event = read(f"x {said}", language, now).event
    except ValueError:
        return None
    return None if event is None or event.whole_day else event.start.time()


def _day_of(memory: Memory) -> str:
    """The words for the day of the event; empty where none were said."""
    days = (
        day_in(said, one.language) or str(one.arguments.get("day") or "")
        for said, one in _told_of(memory)
    )
    return next(filter(None, days), "")


def _told_of(memory: Memory) -> Iterator[tuple[str, Decision]]:
    """What was said of the event, the last first."""
    for one in memory.events:
        given = one.call.arguments if one.call else {}
        yield " ".join(str(given.get(name) or "") for name in ("when", "to", "title")), one


def _is_day(said: str, last: Decision, now: datetime) -> bool:
    return span_of(said, last.language, now.date()) is not None


def _of_another(text: str, words: Mapping[str, Any], last: Decision, now: datetime) -> bool:
    """Whether the first of several clauses says what the others are of, and that is not the event:
    星期天爬山的事，他们说要改到星期六."""
    first, *others = re.split(r"[,，]", text)
    found = re.fullmatch(words["topic"], plain(first)) if others else None
    return found is not None and not _names(found["what"], words, last, now)


def _last(text: str) -> str:
    """The last of several clauses, in plain form: a reason stands before it."""
    clauses = [one for one in re.split(r"[,.;!?，。；！？]", text) if one.strip()]
    return plain(clauses[-1]) if len(clauses) > 1 else ""
