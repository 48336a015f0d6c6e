"""What commands for later are: kept, found by what is said of them, put in words.

One is a document of the plugin ``routines`` and one job at its next time.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

import msgspec

from plugins.api import ToolContext, ToolError
from plugins.moments import coming, repeated
from plugins.next_time import is_at_sun, kept_as, kept_time
from plugins.speech import moment, quoted, say, stop_words, told_of
from plugins.when import When, parse

PREFIX = "later-"
"""Of the ids, which are keys beside the names of routines."""
ALL = "all"
HALF_A_DAY = 12
"""Hours."""
FORGET_ENDED = timedelta(days=1)
_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+")
_STEM = 4
"""Letters in which two words are alike enough: "turning" and "turn", „Lampe“ and „Lampen“."""
_AT_THAT_TIME = re.compile(
    r"\b(?:mornings|evenings|nights|morgens|mittags|abends|nachts|vormittags|nachmittags)\b", re.I
)
_WORKS = re.compile(
    "turn|switch|open|clos|shut|start|lock|rais|lower|mach|schalt|öffn|schließ|fahr|start|打开|关|开|把"
)
"""How a command begins that works something."""
_WAYS = frozenset(["on", "off", "an", "aus"])
_VERBS = frozenset({
    "turn", "turning", "switch", "switching", "put", "putting", "set", "setting", "any", "anymore",
    "more", "every", "each", "all", "to", "mach", "mache", "machen", "schalt", "schalte",
    "schalten", "stell", "stelle", "stellen", "jeden", "mehr", "nicht", "ein", "eine", "einen",
    "das", "mit", "die", "der", "den", "one", "thing", "that", "brauch", "brauche", "need",
    "zum", "zur", "bei", "um", "am", "的", "把", "了", "每", "天", "要", "不", "再", "别", "个",
})  # fmt: skip
"""Words that tell no command from another, beside those that say nothing at all."""


class Scheduled(msgspec.Struct, kw_only=True):
    id: str
    command: str
    due: datetime
    at: str = ""
    """When on its days one that repeats is due, as `plugins.when.kept_as` writes it."""
    repeat: tuple[int, ...] = ()
    language: str = "en"
    area: str = ""
    """The id of the area where it was said."""
    permissions: dict[str, Any] | None = None
    """Of who said it."""
    ended: datetime | None = None
    """When it was cancelled."""


async def schedule(context: ToolContext, command: str, due: datetime, when: When) -> Scheduled:
    """Keep a command of the person who asks, with its first wake-up."""
    one = Scheduled(
        id=f"{PREFIX}{secrets.token_hex(6)}",
        command=command,
        due=due,
        at=kept_as(when.since(due.date())) if when.repeat else "",
        repeat=when.repeat,
        language=context.language,
        area=context.area,
        permissions=context.permissions,
    )
    await context.jobs.run_at(one.id, due)  # first: a command without it would never be done
    await keep(context, one)
    return one


async def keep(context: ToolContext, one: Scheduled) -> None:
    """Write it down, and show what became of it."""
    await context.storage.put(one.id, msgspec.to_builtins(one))
    context.emit("scheduled", data(one))


async def end(context: ToolContext, one: Scheduled) -> None:
    """Do it no more; it can be brought back for a day."""
    await context.jobs.cancel(one.id)
    one.ended = context.now
    await keep(context, one)


async def put_at(context: ToolContext, one: Scheduled, said: When) -> Scheduled:
    """A command in the place of one that ends: at another time, in the half of the day that it was
    in where that is not said, or on other days.

    Raises:
        ToolError: that time has passed.
    """
    due = one.due.astimezone(context.now.tzinfo)
    was = kept_time(one.at) if one.repeat else When(at=due.time(), exact=True)
    if said.delay is not None:
        when = said
    else:
        if not said.sun:
            said = said._replace(at=_in_that_half(said, due.time()), exact=True)
        when = said
        if not said.on:
            cycle = said.cycle if said.repeat else was.cycle
            when = said._replace(repeat=said.repeat or one.repeat, cycle=cycle)
        if not (said.said or when.sun):
            when = when._replace(at=was.at, sun=was.sun, offset=was.offset)
        if not (when.repeat or when.on):
            when = when._replace(on=due.date() if due.date() > context.now.date() else None)
    new = await schedule(context, one.command, coming(context, when), when)
    new.language, new.area, new.permissions = one.language, one.area, one.permissions
    await keep(context, new)
    await end(context, one)
    return new


def later_by(context: ToolContext, one: Scheduled, minutes: float) -> When:
    """When a command is due that shall be so much later than it is."""
    due = one.due.astimezone(context.now.tzinfo) + timedelta(minutes=minutes)
    return When(at=due.time(), exact=True, on=None if one.repeat else due.date())


def _in_that_half(said: When, was: time) -> time | None:
    """The hour that is said, in the half of the day in which it was before."""
    if said.at is None or said.exact or said.at.hour > HALF_A_DAY:
        return said.at
    other = said.at.replace(hour=(said.at.hour + HALF_A_DAY) % 24)
    return min(said.at, other, key=lambda at: abs(_minutes(at) - _minutes(was)))


def _minutes(at: time) -> int:
    return at.hour * 60 + at.minute


async def find(context: ToolContext, key: str) -> Scheduled | None:
    """The command of that id, cancelled ones too."""
    stored = await context.storage.get(key)
    return _read(context, key, stored) if stored and _is_one(key, stored) else None


def _is_one(key: str, stored: dict[str, Any]) -> bool:
    """Whether it is no routine, which may be called anything."""
    return key.startswith(PREFIX) and "command" in stored


def _read(context: ToolContext, key: str, stored: dict[str, Any]) -> Scheduled:
    """One as it is kept; the first of them kept neither their id nor when they are due."""
    return msgspec.convert({"id": key, "due": context.now.isoformat()} | stored, Scheduled)


async def all_scheduled(context: ToolContext) -> list[Scheduled]:
    """What waits, soonest first; what was cancelled a day ago is forgotten."""
    found = []
    for key, stored in (await context.storage.all()).items():
        if not _is_one(key, stored):
            continue
        one = _read(context, key, stored)
        if one.ended and context.now - one.ended > FORGET_ENDED:
            await context.storage.delete(key)
        elif not one.ended:
            found.append(one)
    return sorted(found, key=lambda one: (one.due, one.id))


async def next_turn(context: ToolContext, one: Scheduled) -> str:
    """Set one that repeats to its next time. Where nobody knows any more when the sun sets, it is
    ended instead, and why is returned."""
    why_it_ends = ""
    try:
        when = kept_time(one.at)._replace(repeat=one.repeat)
        one.due = coming(context, when, language=one.language)
        await context.jobs.run_at(one.id, one.due)
    except ToolError as error:
        one.ended, why_it_ends = context.now, str(error)
    await keep(context, one)
    return why_it_ends


def says_when(habit: str, language: str) -> bool:
    """Whether words of a command say when, or on which days."""
    said = parse(habit, language, datetime(2026, 1, 1, tzinfo=UTC))
    works = _WORKS.match(habit.casefold())
    return bool(said.sun or said.repeat or _AT_THAT_TIME.search(habit) or (said.at and works))


def chosen(context: ToolContext, found: Sequence[Scheduled], which: str) -> list[Scheduled]:
    """The commands that are meant by an id, ``all``, words of the command, or when it is due.

    Raises:
        ToolError: there is no such command, or several may be meant.
    """
    if which.strip() == ALL:
        return list(found)
    meant = [one for one in found if one.id == which]
    meant = meant or [one for one in found if which.strip() and _is_meant(context, one, which)]
    meant = meant or (list(found) if not which.strip() else [])
    if not meant:
        key = "not_scheduled" if found else "none_scheduled"
        raise ToolError(say(context.language, key, value=lines(context, found)))
    if len(meant) > 1:
        raise ToolError(say(context.language, "reminder_which", value=lines(context, meant)))
    return meant


def _is_meant(context: ToolContext, one: Scheduled, which: str) -> bool:
    """Whether all that tells commands apart is in this one, and its time where one was said."""
    said = parse(which, context.language, context.now)
    if said.sun and not is_at_sun(said, one.at):
        return False
    due = one.due.astimezone(context.now.tzinfo)
    if said.at and (due.hour % 12, due.minute) != (said.at.hour % 12, said.at.minute):
        return False
    if said.repeat and not one.repeat:
        return False
    known = _words(one.command)
    return all(
        any(word[:_STEM] == other[:_STEM] for other in known)
        for word in _words(_AT_THAT_TIME.sub(" ", said.rest))
    )


def _words(text: str) -> set[str]:
    said = set(_WORD.findall(text.casefold()))
    return (said - stop_words() - _VERBS) | (said & _WAYS)


def line(context: ToolContext, one: Scheduled) -> str:
    """``“Turn on the porch light”: every day at sunset (16:02).``"""
    return told_of(quoted(one.command, context.language), when_told(context, one), context.language)


def when_told(context: ToolContext, one: Scheduled) -> str:
    """When it is done, in words."""
    due = one.due.astimezone(context.now.tzinfo)
    if one.repeat:
        return repeated(context, one.repeat, one.at, due)
    return moment(due, context.now, context.language)


def lines(context: ToolContext, found: Sequence[Scheduled]) -> str:
    """Ten of them at most."""
    return " ".join(line(context, one) for one in found[:10])


def data(one: Scheduled) -> dict[str, Any]:
    """A command for programs and the page."""
    return {
        "id": one.id,
        "command": one.command,
        "due": one.due.isoformat(),
        "repeat": list(one.repeat),
        "at": one.at,
        "state": "cancelled" if one.ended else "waiting",
    }
