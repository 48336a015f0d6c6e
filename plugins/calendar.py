"""The family's calendars: "what's on tomorrow", "put the dentist in the calendar on Friday at 3".

Calendars are files or addresses in iCalendar form, named in the configuration and nowhere else,
those that Home Assistant exposes, and the hub's own. They are read again, in the background or when
they are asked for.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from plugins import own_calendar
from plugins.api import (
    HomeError,
    MissingArgumentError,
    Plugin,
    Risk,
    Snapshot,
    ToolCall,
    ToolContext,
    ToolError,
    ToolResult,
)
from plugins.calendar_changes import (
    at_that_time,
    by_id,
    chosen,
    every,
    is_over,
    is_titled,
    line,
    place_for,
    put,
    put_again,
    take_out,
)
from plugins.calendar_changes import move as move_event
from plugins.calendar_words import asked
from plugins.calendars import (
    FRESH,
    Event,
    Kept,
    all_events,
    calendar_now,
    calendars,
    forget_others,
    kept_calendars,
    key_of,
    matching,
    refresh_one,
    sources,
)
from plugins.days import day_of, span_of
from plugins.event_words import is_when, moment_to, read, says_when
from plugins.home_calendars import CAN_DELETE
from plugins.ics import Occurrence
from plugins.note_words import without_forgetting, words_of
from plugins.speech import capital, day_name, full_stop, labelled, moment, say
from plugins.spoken import language_known
from plugins.waiting import waiting_on
from plugins.when import parse

plugin = Plugin("calendar", sentences="calendar.{language}.yaml")
OLD = timedelta(hours=24)
"""An answer from a calendar that was read longer ago says so."""
SHOWN = 10
WHEN = {
    "en": re.compile(
        r"\b(when|when's|what time|at what time|what day|next|which day|how soon|"
        r"how many (?:days|weeks|hours) (?:until|till|to|before)|"
        r"how long (?:is it )?(?:until|till|to)|"
        r"where(?:'s| is)(?=.*\b(?:appointment|meeting|lesson|class|party|practice|match)\b))\b"
    ),
    "de": re.compile(
        r"\b(wann|um wie viel uhr|an welchem tag|nächste[rns]?|"
        r"wie ?(?:viele tage|viele wochen|lange)(?: sind es)?(?: noch)? bis(?: zu[mr]?)?|"
        r"wo ist(?=.*(?:termin|treffen|stunde|training|feier|spiel)\b))\b"
    ),
    "fr": re.compile(
        r"\b(quand|à quelle heure|quel jour|prochaine?|combien de jours (?:avant|jusqu'à))\b"
    ),
    "es": re.compile(
        r"\b(cuándo|a qué hora|qué día|próxim[oa]|cuántos días (?:faltan para|hasta))\b"
    ),
    "zh": re.compile(
        r"什么时候|几月几号|几号|星期几|周几|几点|哪天|哪一天|下次|下一次|(?:还有|有)?(?:几天|多少天|多久)|离|距离|是|在"
    ),
}
"""What asks for a time, or for where something takes place."""
_TELL_ME = re.compile(
    "^(?:能不能|可不可以|可以|能|请|麻烦|你|您)*(?:告诉|提醒)我们?(?:一下)?[，, ]*"
)
"""What stands before a question, where words are not written apart."""
_SERIES = re.compile(
    r"\b(?:all|every|each|alle|aller|jede[nrs]?|tous|toutes|chaque|todos|todas|cada)\b"
    r"(?: (?:the|my|our|die|meine|unsere|les|mes|los|las|mis))?|所有的?|全部|每次?"
)
"""What says that something that comes again is meant for good."""
_ASKING = re.compile(
    r"(?:can|could|will|would|please|kannst|könntest|würdest|bitte|peux|pourrais|puedes)\b|请|能不能|"
    r"(?:please |bitte )?(?:it|that|this|me|us|es|das|ihn|sie|mich|uns|dich|ça|lo|这个|它)"
    r"(?: please| bitte| noch)*$"
)
_AND_REMIND = re.compile(
    r"(?:,|\band\b|\bund\b|\bet\b|\by\b) ?(?:then )?"
    r"(?:remind|erinner|tell|sag|rappelle|recuérda)\w*|提醒(?:我|一下)",
    re.IGNORECASE,
)
LONGEST_TITLE = 200
Said = Annotated[str, Meta(max_length=80)]
Title = Annotated[str, Meta(max_length=LONGEST_TITLE)]
Key = Annotated[str, Meta(max_length=400)]


@plugin.start
async def begin(context: ToolContext) -> None:
    """Read the calendars soon after the start."""
    await context.jobs.run_at("refresh", context.now)


@plugin.job
async def refresh(context: ToolContext, key: str) -> None:
    """Read every calendar again, and come back after a while."""
    found = sources(context.settings)
    minutes = int(context.settings.get("refresh_minutes", 30))
    if found:
        await context.jobs.run_at(key, context.now + timedelta(minutes=minutes))
    await forget_others(context, {key_of(source) for source in found})
    await asyncio.gather(*(refresh_one(context, source) for source in found))
    context.emit("calendar", {})


def _is_day(arguments: Mapping[str, Any], language: str) -> bool:
    said = str(arguments.get("day", ""))
    return not said or span_of(said, language, date(2026, 1, 1)) is not None


@plugin.tool(risk="read", fits=_is_day)
async def agenda(context: ToolContext, day: Said = "", besides: Key = "") -> ToolResult:
    """Tell what is in the family's calendars on a day, and what else waits for its time then.

    day: for instance tomorrow, Friday, this weekend, the next 7 days; empty: what is in the
        calendars today, and no more
    besides: the id of an event that is left out
    """
    today = context.now.date()
    span = span_of(day, context.language, today) if day else (today, today)
    if span is None:
        raise ToolError(say(context.language, "no_day", [day]))
    first, last = (datetime.combine(d, time(), context.now.tzinfo) for d in span)
    until = last + timedelta(days=1)
    waiting = await waiting_on(context, span[0]) if day and span[0] == span[1] else []
    key = "also_today" if span[0] == today else "also_then"
    also = say(context.language, key, [_together(waiting, context.language)])
    # A week that ends today is one day, too, but not what was asked for.
    is_week = bool(day) and day_of(day, context.language, today) is None
    one_day = span[0] == span[1] and not is_week
    title = day_name(span[0], today, context.language) if one_day else day
    alone = also
    if span[0] != today:
        alone = say(context.language, "events", [_together(waiting, context.language)], title)
    asked = {"date": span[0].isoformat()} if one_day and day else {}
    kept = await calendars(context, days=(first, until))
    if not await _any(context, kept):
        data = {"events": [], "calendars": 0, **asked}
        text = alone if waiting else say(context.language, "no_calendar")
        return ToolResult(text=capital(text), data=data)
    there = [e for e in all_events(kept) if e.occurrence.start < until and _ends(e) > first]
    found = [e for e in there if not besides or e.occurrence.uid != besides]
    if not found:
        text = say(context.language, "no_events", value=title)
        text = say(context.language, "nothing_else") if len(there) > len(found) else text
        if is_week and (coming := matching(await kept_calendars(context), "", context.now)):
            line = _line(context, coming[0], with_day=True)
            text += f" {say(context.language, 'then_next', [line])}"
    else:
        lines = [_line(context, event, with_day=not one_day) for event in found[:SHOWN]]
        text = say(context.language, "events", [_together(lines, context.language)], title)
    text = f"{capital(text)}{_as_of(context, kept)}"
    data = {"events": [_data(e) for e in found], **asked}
    if waiting:
        text = also if besides and not found else f"{text} {also if found else capital(alone)}"
    return ToolResult(text=text, data=data)


def _together(lines: Sequence[str], language: str) -> str:
    return ("；" if language == "zh" else "; ").join(lines)


@plugin.answers
async def answer(context: ToolContext, question: str) -> ToolCall | None:
    """When something is, if it asks when and every other word is in the title of an event."""
    asked = without_forgetting(_TELL_ME.sub("", " ".join(question.casefold().split())))
    when = WHEN[language_known(context.language)].search(asked)
    if when is None or not words_of(WHEN[language_known(context.language)].sub(" ", asked)):
        return None
    event = WHEN[language_known(context.language)].sub(" ", asked)[:80]
    try:
        kept = await calendars(context, older_than=FRESH)
    except HomeError:
        kept = await kept_calendars(context)
    found = matching(kept, event, context.now)
    return ToolCall(tool="calendar.next", arguments={"event": event.strip()}) if found else None


@plugin.tool(risk="read")
async def next_(context: ToolContext, event: Said = "") -> ToolResult:
    """Tell when something in the family's calendars is, the next time.

    event: a part of its title, for instance dentist; empty: whatever is next
    """
    kept = await calendars(context)
    if not await _any(context, kept):
        raise ToolError(say(context.language, "no_calendar"))
    found = matching(kept, event, context.now)
    if not found:
        raise ToolError(say(context.language, "no_such_event", [event or "-"]))
    text = f"{_line(context, found[0], with_day=True)}{full_stop(context.language)}"
    start = found[0].occurrence.start.astimezone(context.now.tzinfo)
    ahead = (start.date() - context.now.date()).days
    if ahead > 1:
        text += f" {say(context.language, 'in_days', value=ahead)}"
    return ToolResult(text=text + _as_of(context, kept), data={"events": [_data(found[0])]})


_DAY_OF_A_MONTH = re.compile(r"^the (?=\w+ of )", re.IGNORECASE)
"""A date without "on", which behind a title would be a part of it."""
_IN_ANOTHER = re.compile(r"\b(?:in|on|to|into) (?:the|my|our)$", re.IGNORECASE)
"""What stands between a time and the word "calendar", and ends no calendar's name."""


def _is_event(arguments: Mapping[str, Any], language: str) -> bool:
    """Whether there is something to put down, and a time in place of a part of the sentence: "add
    it to the calendar" says nothing, and "can you put …" is no title."""
    if "title" not in arguments:
        return True  # it is asked for
    title, when = str(arguments["title"]), str(arguments.get("when", ""))
    if len(title) > LONGEST_TITLE or not words_of(title) or _ASKING.match(title.casefold()):
        return False
    if _AND_REMIND.search(title):
        return False  # that is a second command
    calendar = parse(str(arguments.get("calendar", "")), language, datetime(2026, 1, 1, tzinfo=UTC))
    if calendar.said or calendar.repeat or _IN_ANOTHER.search(str(arguments.get("calendar", ""))):
        return False  # none is called "the first Tuesday of each month at 8 pm in the"
    return not when or is_when(when, language, datetime(2026, 1, 1, tzinfo=UTC))


@plugin.tool(risk="act", fits=_is_event)
async def add(
    context: ToolContext, title: Title = "", when: Said = "", calendar: Said = ""
) -> ToolResult:
    """Put an event into the family's calendar.

    title: what it is; may hold the time as well
    when: for instance Friday at 3 pm, every Tuesday from 5 to 6, 3 to 10 August
    calendar: the name of the calendar; empty: the usual one
    """
    try:
        said = read(
            f"{title} {_DAY_OF_A_MONTH.sub('on the ', when)}", context.language, context.now
        )
    except ValueError as error:
        raise ToolError(say(context.language, "time_passed")) from error
    if not said.title:
        raise MissingArgumentError("title", say(context.language, "which_event"))
    if said.event is None:
        raise MissingArgumentError("when", say(context.language, "when"))
    if is_over(said.event, context.now):
        raise ToolError(say(context.language, "time_passed"))
    kept = await calendars(context)
    place = place_for(context, kept, calendar)
    event = await put(context, place, said.event)
    text = say(context.language, "event_added", [line(context, event)])
    undo = None
    if place.allowed & CAN_DELETE:
        undo = _back(event, uid=event.occurrence.uid, series=True)
    text += await _also_then(context, event)
    return ToolResult(text=text, data={"events": [_data(event)]}, undo=undo)


async def _also_then(context: ToolContext, event: Event) -> str:
    """What else there is at that time; empty where there is nothing."""
    others = at_that_time(await kept_calendars(context), event)
    lines = [line(context, one) for one in others[:3]]
    return f" {say(context.language, 'also_then', lines)}" if lines else ""


def _removal_risk(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Risk:
    """A single event can be brought back, a series cannot."""
    return "dangerous" if _SERIES.search(str(arguments.get("event", "")).casefold()) else "act"


@plugin.tool(risk="act", risk_rule=_removal_risk)
async def remove(context: ToolContext, event: Key) -> ToolResult:
    """Take an event out of the family's calendar.

    event: words of its title, its day or its time, or its id; with "all" or "every" all times of
        one that comes again
    """
    kept = await calendars(context)
    if not by_id(kept, event) and _SERIES.search(event.casefold()):
        meant, once = every(context, kept, _SERIES.sub(" ", event.casefold())), False
    else:
        meant, once = [chosen(context, kept, event)], True
    told = [line(context, one, once=once) for one in meant]
    for one in meant:
        await take_out(context, one, series=not once)
    also = [await _reminders_of(context, one) for one in meant]
    text = " ".join(
        [say(context.language, "event_removed", told), *(o.text for o in also if o.text)]
    )
    undo = _back(meant[0], event=meant[0].occurrence, reminders=_ids(also[0])) if once else None
    return ToolResult(text=text, undo=undo)


async def _reminders_of(context: ToolContext, event: Event, to: Event | None = None) -> ToolResult:
    """Take the reminders of an event out with it, or move them ``to`` where it is now."""
    was = event.occurrence
    given: dict[str, Any] = {"title": was.title, "start": was.start.isoformat()}
    if to is not None:
        given["to"] = to.occurrence.start.isoformat()
    return await context.call(ToolCall(tool="reminders.follow_event", arguments=given))


def _ids(reminders: ToolResult) -> str:
    return str(reminders.undo.arguments["which"]) if reminders.undo else ""


@plugin.tool(risk="act")
async def move(context: ToolContext, event: Key, to: Said = "") -> ToolResult:
    """Put an event of the family's calendar at another time.

    event: words of its title, its day or its time
    to: for instance Thursday, 4 pm, Saturday from 10 to 12; empty: it is asked for
    """
    meant = chosen(context, await calendars(context), event)
    try:
        wanted = moment_to(to, context.language, meant.occurrence, context.now)
    except ValueError as error:
        raise ToolError(say(context.language, "time_passed")) from error
    if wanted is None:
        raise MissingArgumentError("to", say(context.language, "when"))
    moved = await move_event(context, meant, wanted)
    text = say(context.language, "event_moved", [line(context, moved)])
    text += await _also_then(context, moved)
    also = await _reminders_of(context, meant, moved)
    text = f"{text} {also.text}".strip()
    is_now = {"uid": moved.occurrence.uid, "recurrence_id": moved.occurrence.recurrence_id}
    undo = _back(moved, **is_now, event=meant.occurrence, reminders=_ids(also))
    return ToolResult(text=text, data={"events": [_data(moved)]}, undo=undo)


@plugin.tool(risk="act")
async def restore(
    context: ToolContext,
    calendar: Key,
    uid: Key = "",
    recurrence_id: Key = "",
    event: Occurrence | None = None,
    series: bool = False,
    reminders: Key = "",
) -> ToolResult:
    """Take back what was done to a calendar last: what undo calls.

    calendar: its key
    uid: the id of what was put there
    recurrence_id: which time of it
    event: what was there before
    series: whether all times of what was put there are meant
    reminders: the ids of its reminders, with spaces between
    """
    kept = await calendar_now(context, calendar)
    if kept is None:
        raise ToolError(say(context.language, "no_calendar"))
    lines = []
    if event is not None:  # first: what breaks off between the two has it twice, and loses nothing
        back = await put_again(context, kept, event)
        lines = [say(context.language, "event_added", [line(context, back, once=True)])]
    for one in all_events([kept]):
        what = one.occurrence
        if uid and what.uid == uid and (series or what.recurrence_id == recurrence_id):
            await take_out(context, one, series=series)
            lines = lines or [say(context.language, "event_removed", [line(context, one)])]
            break
    if reminders:
        reminded = ToolCall(tool="reminders.restore", arguments={"which": reminders})
        lines.append((await context.call(reminded)).text)
    return ToolResult(text=" ".join(lines) or say(context.language, "no_such_event", ["-"]))


@plugin.understands
async def by_title(context: ToolContext, text: str) -> ToolCall | None:
    """An event that is cancelled or moved by the title that somebody gave it."""
    said = asked(text, context.language)
    if said is None or not is_titled(
        context, await kept_calendars(context), said.event, in_part=said.one or bool(said.to)
    ):
        return None
    if said.one and await _is_reminded_of(context, said.event):
        return None
    if not said.to:
        return ToolCall(tool="calendar.remove", arguments={"event": said.event[:80]})
    if not says_when(said.to, context.language, context.now):
        return None
    return ToolCall(tool="calendar.move", arguments={"event": said.event[:80], "to": said.to[:80]})


async def _is_reminded_of(context: ToolContext, words: str) -> bool:
    """Whether a reminder has these words, so that it may be meant as well."""
    set_ones = (await context.call(ToolCall(tool="reminders.list"))).data.get("reminders", ())
    return any(words_of(words) <= words_of(str(one.get("what", ""))) for one in set_ones)


def _back(changed: Event, **what: Any) -> ToolCall:
    """The call that makes its calendar what it was."""
    arguments = {"calendar": changed.key, **msgspec.to_builtins(what)}
    return ToolCall(tool="calendar.restore", arguments=arguments)


async def _any(context: ToolContext, kept: list[Kept]) -> bool:
    """Whether there is a calendar, the hub's own left out while it is empty."""
    others = any(one.key != own_calendar.KEY for one in kept) or bool(sources(context.settings))
    return others or not await own_calendar.is_empty(context)


def _ends(event: Event) -> datetime:
    """What takes no time at all is there for a moment."""
    return max(event.occurrence.end, event.occurrence.start + timedelta(seconds=1))


def _line(context: ToolContext, event: Event, *, with_day: bool) -> str:
    """``Dentist: tomorrow 10:00 (Family)``."""
    what = event.occurrence
    start = what.start.astimezone(context.now.tzinfo)
    day = day_name(start.date(), context.now.date(), context.language)
    if what.whole_day:
        when = day if with_day else say(context.language, "all_day")
    elif with_day:
        when = moment(start, context.now, context.language)
    else:
        when = f"{start:%H:%M}"
    place = f", {what.location}" if what.location else ""
    told = labelled(what.title or "-", f"{when}{place}", context.language)
    return f"{told} ({event.calendar})"


def _as_of(context: ToolContext, kept: list[Kept]) -> str:
    """How old the oldest calendar is, if it is old."""
    oldest = min((one.read for one in kept if one.read), default=None)
    if oldest is None or context.now - oldest < OLD:
        return ""
    then = oldest.astimezone(context.now.tzinfo)
    return " " + say(context.language, "as_of", value=moment(then, context.now, context.language))


def _data(event: Event) -> dict[str, Any]:
    """An event for programs and the page."""
    can_remove = bool(event.allowed & CAN_DELETE and event.occurrence.uid)
    told = {"id": event.id, "calendar": event.calendar, "can_remove": can_remove}
    return {**msgspec.to_builtins(event.occurrence), **told}
