"""What reminders and alarms are: kept, found by what is said of them, put in words.

An entry is one document of the plugin ``reminders`` and one job at its next time. What it was
before it was changed or cancelled is kept with it for a day, so that this can be undone.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Literal

import msgspec

from plugins.api import ToolContext, ToolError, ToolResult
from plugins.german_clauses import task
from plugins.lengths import length_of
from plugins.moments import coming, repeated
from plugins.next_time import is_at_sun, is_turn, kept_time, next_time
from plugins.note_words import words_of
from plugins.speech import day_name, moment, say, told_of
from plugins.when import When, parse
from plugins.when_reader import Cycle

FORGET_RINGING = timedelta(hours=12)
FORGET_ENDED = timedelta(days=1)
SHOWN_AHEAD = timedelta(days=8)
RINGS_FOR = timedelta(minutes=30)
"""So long one that repeats can be stopped or snoozed."""
ALL = "all"
SNOOZED = "snoozed"
"""What was put off while it rang, and nothing else."""
BUT = "but "
"""Before an id: the one besides that one."""
_SHIFT = {
    "en": re.compile(r"(?:by )?(?P<length>.+?) (?P<way>earlier|sooner|later)"),
    "de": re.compile(r"(?:um )?(?P<length>.+?) (?P<way>früher|eher|später)"),
    "zh": re.compile(
        r"(?P<way>提前|提早|早|推迟|推后|延后|往后推|晚|往后)(?P<length>.+?)(?:吧|再?(?:提醒|叫)我?)?"
    ),
}
_EARLIER = ("earlier", "sooner", "früher", "eher", "提前", "提早", "早")
_PARTS = {
    re.compile(r"morning|morgens?|früh|vormittags?|早上?|早晨|上午"): range(3, 12),
    re.compile(r"afternoon|nachmittags?|下午"): range(12, 18),
    re.compile(r"(?<!vor)(?<!nach)mittags?|lunch|noon|中午"): range(11, 15),
    re.compile(r"evening|night|abends?|nachts?|今?晚上?|夜里"): range(17, 24),
}
"""The hours of a part of the day that says which one is meant: "the evening one"."""
_OF_PART = re.compile(
    r"(?:(?:the|in|in the|in der|am|der|die|das|den) )*(?P<part>[^\W\d]+?)(?: one| reminder| alarm|"
    r"的|那个|的那个|那次)*"
)
_POINTED = r"(?: one| reminder| alarm|的|那个|一个|那次|的?闹钟|的?提醒)*"
_ORDERS = tuple(
    re.compile(rf"(?:(?:the|der|die|das|den) )?(?:{said}){_POINTED}")
    for said in (
        "earlier|former|sooner|frühere[nr]?|前面|早一?点|早些|早",
        "later|latter|spätere[nr]?|后面|晚一?点|晚些|晚",
    )
)
"""The earlier and the later of two."""
_KINDS = frozenset({"reminder", "reminders", "alarm", "erinnerung", "wecker", "提", "醒"})
HALF_A_DAY = timedelta(hours=12)
PAIR = 2
Kind = Literal["reminder", "alarm"]


class Entry(msgspec.Struct, kw_only=True):
    id: str
    kind: Kind
    what: str
    due: datetime
    state: Literal["waiting", "ringing"] = "waiting"
    time: str = ""
    """When on its days one that repeats is due, as `plugins.when.kept_as` writes it."""
    repeat: tuple[int, ...] = ()
    skipped: tuple[date, ...] = ()
    """Days on which one that repeats does not ring."""
    language: str = "en"
    area: str = ""
    """The id of the area where it was set."""
    rang: datetime | None = None
    """When one that repeats rang last, until somebody stopped it."""
    snoozed: datetime | None = None
    arrival: str = ""
    """The id of the person, or their tracker, for whose arrival it waits."""
    away: bool = False
    """Whether that person has been away since."""
    event: str = ""
    """What is in the calendar that it reminds of, as `before_events.key_of` tells."""
    ended: datetime | None = None
    """When it was cancelled."""
    before: dict[str, Any] | None = None
    """What it was before it was changed or cancelled last."""


def made(context: ToolContext, kind: Kind, what: str, due: datetime, **more: Any) -> Entry:
    """A new entry of the person who asks; nothing is written."""
    what = task(what) if context.language == "de" else what
    name = f"{kind[0]}{secrets.token_hex(6)}"
    language, area = context.language, context.area
    return Entry(id=name, kind=kind, what=what, due=due, language=language, area=area, **more)


async def entries(context: ToolContext) -> list[Entry]:
    """What waits or rings, soonest first; what has rung for half a day is forgotten."""
    found = []
    for key, stored in (await context.storage.all()).items():
        entry = msgspec.convert(stored, Entry)
        rung_out = entry.state == "ringing" and context.now - entry.due > FORGET_RINGING
        if rung_out or (entry.ended and context.now - entry.ended > FORGET_ENDED):
            await context.storage.delete(key)
        elif not entry.ended:
            found.append(entry)
    return sorted(found, key=lambda entry: (entry.snoozed or entry.due, entry.id))


def rings(context: ToolContext, entry: Entry) -> bool:
    """Whether it rings now, or is about to; one that repeats waits for its next time already."""
    now = context.now  # a clock that goes on
    lately = entry.rang is not None and now - entry.rang < RINGS_FOR
    comes_once = not (entry.repeat or entry.arrival)
    due = entry.snoozed or (entry.due if comes_once else None)
    return entry.state == "ringing" or lately or (due is not None and due < now)


async def keep(context: ToolContext, entry: Entry) -> None:
    """Write it down, and show what became of it."""
    await context.storage.put(entry.id, msgspec.to_builtins(entry))
    state = {"state": "cancelled"} if entry.ended else {}
    context.emit("reminder", data(context, entry) | state)


async def wait(context: ToolContext, entry: Entry) -> None:
    """Set an entry that repeats to its next time, without showing it."""
    entry.state = "waiting"
    entry.skipped = tuple(day for day in entry.skipped if day >= context.now.date())
    when, entry.due = kept_time(entry.time)._replace(repeat=entry.repeat), context.now
    while entry.due <= context.now or entry.due.date() in entry.skipped:
        entry.due = coming(context, when, entry.due, language=entry.language)
    await context.jobs.run_at(entry.id, entry.due)
    await context.storage.put(entry.id, msgspec.to_builtins(entry))


def remember(entry: Entry) -> None:
    """Keep what it is now, so that the change to come can be undone."""
    entry.before = None
    entry.before = msgspec.to_builtins(entry)


async def end(context: ToolContext, entry: Entry) -> None:
    """Cancel it."""
    await context.jobs.cancel(entry.id)
    remember(entry)
    entry.ended = context.now
    await keep(context, entry)


def is_within_a_day(entry: Entry) -> bool:
    """Whether it comes every few hours."""
    return bool(entry.time) and kept_time(entry.time).cycle.minutes > 0


async def skip(context: ToolContext, entry: Entry, day: date) -> str:
    """Let one that repeats not ring on a day; returns in words when it would have."""
    remember(entry)
    if is_within_a_day(entry):
        then = day_name(day, context.now.date(), context.language)
    else:
        at = coming(context, kept_time(entry.time)._replace(on=day, cycle=Cycle()))
        then = moment(at, context.now, context.language)
    entry.skipped = (*entry.skipped, day)
    await wait(context, entry)
    context.emit("reminder", data(context, entry))
    return then


async def put_back(context: ToolContext, key: str) -> Entry | None:
    """Make an entry what it was before it was changed last; ``None``: it was not there.

    Raises:
        ToolError: there is none, or its time has passed.
    """
    stored = await context.storage.get(key)
    if stored is None:
        raise ToolError(say(context.language, "no_reminder"))
    entry = msgspec.convert(stored, Entry)
    if entry.before is None:
        await end(context, entry)
        return None
    entry = msgspec.convert(entry.before, Entry)
    if entry.repeat:
        await wait(context, entry)
    elif not entry.arrival and entry.due <= context.now:
        raise ToolError(say(context.language, "time_passed"))
    else:
        await context.jobs.run_at(entry.id, max(entry.due, context.now))
    await keep(context, entry)
    return entry


def chosen(
    context: ToolContext, found: Sequence[Entry], which: str, kind: Kind
) -> tuple[list[Entry], When]:
    """The entries of a kind that are meant, and what was said of when they are.

    which: an id (then of either kind), ``all``, "but" and an id (the other one), a part of the
        text, a time, a day; empty: the next.

    Raises:
        ToolError: there is no such entry, or several may be meant.
    """
    alike = [entry for entry in found if entry.kind == kind]
    if which == SNOOZED:
        meant, said = [entry for entry in found if entry.snoozed], When()
    elif which.startswith(BUT):
        besides = which.removeprefix(BUT).split()
        meant, said = [entry for entry in alike if entry.id not in besides], When()
    elif not which.strip() or which == ALL:
        meant, said = alike if which else alike[:1], When()
    else:
        said = parse(which, context.language, context.now)
        wanted = which.casefold().strip()
        meant = [entry for entry in found if entry.id == which]
        asked = words_of(which) - _KINDS
        meant = meant or [entry for entry in alike if asked and words_of(entry.what) == asked]
        meant = meant or [entry for entry in alike if wanted in entry.what.casefold()]
        rest = task(said.rest) if context.language == "de" else said.rest
        about = [entry for entry in alike if _is_about(entry, rest)]
        whenever = not (said.said or said.on or said.repeat)
        hours, zone = part_of_day(which), context.now.tzinfo
        meant = meant or [e for e in alike if e.due.astimezone(zone).hour in hours]
        if (order := order_of(which)) is not None and len(meant) != 1:
            several = list(alike) if len(alike) > PAIR else []
            meant = [alike[order]] if len(alike) == PAIR else several
        meant = meant or [e for e in about if _is_then(context, e, said) or (whenever and e.what)]
    if not meant:
        raise ToolError(f"{say(context.language, 'no_reminder')} {_lines(context, alike)}".strip())
    if len(meant) > 1 and which not in (ALL, SNOOZED) and not said.on:
        raise ToolError(say(context.language, "reminder_which", value=_lines(context, meant)))
    return meant, said


def asked_of(context: ToolContext, found: Sequence[Entry], which: str) -> list[Entry]:
    """Those of the id or on the day that is said; all where nothing is."""
    if not which:
        return list(found)
    said = parse(which, context.language, context.now)
    return [one for one in found if one.id == which or _is_then(context, one, said)]


def _is_about(entry: Entry, said: str) -> bool:
    """Whether the words of ``said`` that mean something are in its text, or there are none; an
    alarm may have none itself."""
    words = words_of(said) - _KINDS
    return not entry.what or all(word in entry.what.casefold() for word in words)


def _is_then(context: ToolContext, entry: Entry, said: When) -> bool:
    """Whether an entry is at the time, on the day or on the days that were said."""
    if not (said.said or said.on or said.repeat) or entry.arrival:
        return False
    if said.sun:
        return is_at_sun(said, entry.time)
    due = entry.due.astimezone(context.now.tzinfo)
    if said.repeat and said.repeat != entry.repeat:
        return False
    if said.on and not _is_on(entry, due, said.on):
        return False
    if said.at is None:
        return True
    hours = 24 if said.exact else 12
    alike = due.hour % hours == said.at.hour % hours
    return alike and due.minute == said.at.minute


def _is_on(entry: Entry, due: datetime, day: date) -> bool:
    if entry.repeat:
        when = kept_time(entry.time)._replace(repeat=entry.repeat)
        return is_turn(when, day) and day not in entry.skipped
    return due.date() == day


def moved(context: ToolContext, entry: Entry, to: When) -> datetime:
    """When one that does not repeat is due once it is moved: on its day, unless another is said; an
    hour that may be in the morning or in the evening is the one nearer to where it was.

    Raises:
        ToolError: that time has passed.
    """
    due = entry.due.astimezone(context.now.tzinfo)
    if to.sun:
        return coming(context, to)
    try:
        if to.delay or to.at is None or to.repeat:
            at = to.at or due.time().replace(second=0, microsecond=0)
            return next_time(to._replace(at=at), context.now)
        first = datetime.combine(to.on or due.date(), to.at, tzinfo=due.tzinfo)
    except ValueError as error:
        raise ToolError(say(context.language, "time_passed")) from error
    other = first - HALF_A_DAY if first.hour >= 12 else first + HALF_A_DAY
    ahead = [at for at in ([first] if to.exact else [first, other]) if at > context.now]
    if not ahead:
        raise ToolError(say(context.language, "time_passed"))
    return min(ahead, key=lambda at: abs(at - due))


def at_nearest(was: datetime, to: When) -> When:
    """``to``, with an hour that may be in the morning or in the evening in the half of the day that
    is nearer to where it was."""
    if to.at is None or to.exact:
        return to
    minutes = was.hour * 60 + was.minute

    def away(at: time) -> int:
        apart = abs(at.hour * 60 + at.minute - minutes)
        return min(apart, 24 * 60 - apart)

    return to._replace(at=min((to.at, to.at.replace(hour=(to.at.hour + 12) % 24)), key=away))


def is_of(entry: Entry, said: str) -> bool:
    """Whether ``said`` is a part of its text, or says nothing but words of it."""
    words = words_of(said) - _KINDS
    return bool(words) and words <= words_of(entry.what)


def shift_of(said: str, language: str) -> timedelta | None:
    """By how much something shall be earlier (negative) or later: "half an hour earlier"; ``None``
    where nothing is said of that."""
    pattern = _SHIFT.get(language)
    found = pattern.fullmatch(said.casefold().strip(" .!?。")) if pattern else None
    span = length_of(found["length"], language) if found else None
    if found is None or span is None:
        return None
    return -span if found["way"] in _EARLIER else span


def part_of_day(said: str) -> range:
    """The hours of the part of the day that ``said`` is, and nothing else; else none."""
    found = _OF_PART.fullmatch(said.casefold().strip(" .!?。"))
    if found is None:
        return range(0)
    return next(
        (hours for name, hours in _PARTS.items() if name.fullmatch(found["part"])), range(0)
    )


def order_of(said: str) -> int | None:
    """Which of two ``said`` is: 0 the earlier one, 1 the later; ``None`` where it is neither."""
    wanted = said.casefold().strip(" .!?。")
    return next((at for at, order in enumerate(_ORDERS) if order.fullmatch(wanted)), None)


def data(context: ToolContext, entry: Entry) -> dict[str, Any]:
    """An entry for programs and the page."""
    return {
        "id": entry.id,
        "kind": entry.kind,
        "what": entry.what,
        "due": (entry.snoozed or entry.due).isoformat(),
        "when": _moment(context, entry),
        "state": "ringing" if rings(context, entry) else entry.state,
        "repeat": list(entry.repeat),
        "times": [moment.isoformat() for moment in _times(context, entry)],
        "arrival": entry.arrival,
        "area": entry.area,
    }


def _times(context: ToolContext, entry: Entry) -> list[datetime]:
    """When it is due within the days that the page shows; never, while it waits for somebody."""
    if _awaits_arrival(entry):
        return []
    times, until = [entry.snoozed or entry.due], context.now + SHOWN_AHEAD
    when = kept_time(entry.time)._replace(repeat=entry.repeat) if entry.repeat else None
    if when is None or when.cycle.minutes:
        return times  # every few minutes is too many to show
    moment = entry.due
    while moment < until:
        try:
            moment = coming(context, when, moment)
        except ToolError:  # nobody knows any more when the sun sets
            break
        if moment < until and moment.date() not in entry.skipped:
            times.append(moment)
    return times


def name_of(context: ToolContext, entry: Entry) -> str:
    """What it is called."""
    return entry.what or say(context.language, "alarm")


def named(context: ToolContext, entry: Entry) -> str:
    """What it is called, and when it is: ``alarm (tomorrow 07:00)``."""
    return f"{name_of(context, entry)} ({_moment(context, entry)})"


def line(context: ToolContext, entry: Entry) -> str:
    """``Water the plants: tomorrow at 18:00.``"""
    name = name_of(context, entry)
    return told_of(f"{name[:1].upper()}{name[1:]}", _moment(context, entry), context.language)


def _lines(context: ToolContext, found: Sequence[Entry]) -> str:
    return " ".join(line(context, entry) for entry in found[:10])


def _awaits_arrival(entry: Entry) -> bool:
    return bool(entry.arrival) and entry.state == "waiting" and not entry.snoozed


def _moment(context: ToolContext, entry: Entry) -> str:
    due = (entry.snoozed or entry.due).astimezone(context.now.tzinfo)
    if _awaits_arrival(entry):
        person = context.home.snapshot().entity(entry.arrival)
        return say(context.language, "arrival", [person.name if person else entry.arrival])
    if not entry.repeat:
        return moment(due, context.now, context.language)
    return repeated(context, entry.repeat, entry.time, due)


def told(context: ToolContext, found: Sequence[Entry], besides: str = "") -> ToolResult:
    """The entries in words, but for that of one id; that there are none, where there are none."""
    others = [entry for entry in found if entry.id != besides]
    text = " ".join(line(context, entry) for entry in others[:10])
    none = say(context.language, "nothing_else" if besides else "nothing_set")
    listed = [data(context, entry) for entry in others]
    return ToolResult(text=text or none, data={"reminders": listed})
