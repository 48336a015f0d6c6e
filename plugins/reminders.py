"""Reminders and alarms: once, on days of the week or when somebody gets home; told late but once.

An entry is one document and one job at its next time; ``plugins/alarms.py`` keeps its own here as
well, so that one list has them all and one word stops what rings. They differ in what they say and
in which half of the day an hour without "am" or "pm" means. While one waits for somebody's arrival,
one job looks every half minute whether they have been away and are back.
"""

import secrets
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plugins.api import (
    Entity,
    MissingArgumentError,
    Plugin,
    ToolCall,
    ToolContext,
    ToolError,
    ToolResult,
)
from plugins.speech import moment, say
from plugins.spoken import DAYS, language_known
from plugins.when import DAILY, WEEKDAYS, When, next_time, parse

plugin = Plugin("reminders", sentences="reminders.{language}.yaml")

MAXIMUM = 200
LATE = timedelta(minutes=2)
LOOK_EVERY = timedelta(seconds=30)
ARRIVALS = "arrivals"
"""The key of the job that looks for them."""
HOME = "home"
"""The state of a person who is there, in Home Assistant's words."""
FORGET_RINGING = timedelta(hours=12)
RINGS_FOR = timedelta(minutes=30)
"""So long one that repeats can be stopped or snoozed."""
Kind = Literal["reminder", "alarm"]
Text = Annotated[str, Meta(min_length=1, max_length=300)]
Moment = Annotated[str, Meta(max_length=100)]
Minutes = Annotated[int, Meta(ge=1, le=1440)]
Which = Annotated[str, Meta(max_length=120)]


class Entry(msgspec.Struct, kw_only=True):
    id: str
    kind: Kind
    what: str
    due: datetime
    state: Literal["waiting", "ringing"] = "waiting"
    time: str = ""
    """The wall-clock time of one that repeats."""
    repeat: tuple[int, ...] = ()
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


@plugin.tool(risk="act")
async def add(context: ToolContext, what: Text, when: Moment = "") -> ToolResult:
    """Remind the person of something at a time.

    what: what to remind of; may hold the time as well
    when: for instance at 6 pm, in 20 minutes, every weekday at 7
    """
    said = parse(when or what, context.language, context.now, awake=True)
    task = what if when else said.rest
    if said.arrival is not None:
        return await _await_arrival(context, task or what, said.arrival)
    if not said.said:
        raise MissingArgumentError("when", say(context.language, "when"))
    return await set_entry(context, "reminder", task or what, said)


@plugin.tool(risk="read")
async def list_(context: ToolContext) -> ToolResult:
    """Tell the reminders and alarms, soonest first."""
    return told(context, await entries(context))


@plugin.tool(risk="act")
async def cancel(context: ToolContext, which: Which = "") -> ToolResult:
    """Cancel a reminder, or stop what rings.

    which: a part of its text, an id, ``all``; empty: what rings, else the next
    """
    return await cancel_one(context, which, "reminder")


@plugin.tool(risk="act")
async def stop(context: ToolContext, which: Which = "") -> ToolResult:
    """Stop reminders and alarms that ring; one that repeats comes again.

    which: an id; empty: all that ring
    """
    ringing = [entry for entry in await entries(context) if _rings(context, entry)]
    chosen = [entry for entry in ringing if which.strip() in ("", entry.id)]
    if not chosen:
        raise ToolError(say(context.language, "nothing_rings"))
    for entry in chosen:
        if entry.repeat:
            entry.rang = None
            await _wait(context, entry)
            context.emit("reminder", _data(context, entry))
        else:
            await _forget(context, entry)
    return ToolResult(text=say(context.language, "stopped", _names(context, chosen)))


@plugin.tool(risk="act")
async def snooze(context: ToolContext, minutes: Minutes = 10) -> ToolResult:
    """Let what rings ring again later.

    minutes: how much later
    """
    ringing = [entry for entry in await entries(context) if _rings(context, entry)]
    if not ringing:
        raise ToolError(say(context.language, "nothing_rings"))
    for entry in ringing:
        entry.state, entry.rang = "waiting", None
        entry.snoozed = context.now + timedelta(minutes=minutes)
        await context.storage.put(entry.id, msgspec.to_builtins(entry))
        await context.jobs.run_at(entry.id, entry.snoozed)
        context.emit("reminder", _data(context, entry))
    return ToolResult(text=say(context.language, "snoozed", value=minutes))


@plugin.job
async def ring(context: ToolContext, key: str) -> None:
    """An entry's time: mark it, show it."""
    if key == ARRIVALS:
        await _look_for_arrivals(context)
        return
    stored = await context.storage.get(key)
    if stored is None:
        return
    entry = msgspec.convert(stored, Entry)
    if entry.state == "waiting":
        due = entry.snoozed or entry.due
        entry.state, entry.snoozed = "ringing", None
        await context.storage.put(key, msgspec.to_builtins(entry))
        text, late = entry.what or say(entry.language, "alarm"), context.now - due
        text = text[:1].upper() + text[1:]
        if late > LATE:
            text = f"{text} ({due.astimezone(context.now.tzinfo):%H:%M})"
        context.emit("reminder", {**_data(context, entry), "text": text})
    if entry.repeat:
        entry.rang = context.now
        await _wait(context, entry)


def _rings(context: ToolContext, entry: Entry) -> bool:
    """Whether it rings now; one that repeats waits for its next time already."""
    lately = entry.rang is not None and context.now - entry.rang < RINGS_FOR
    return entry.state == "ringing" or lately


def told(context: ToolContext, found: list[Entry]) -> ToolResult:
    """The entries in words; that there are none, where there are none."""
    if not found:
        return ToolResult(text=say(context.language, "nothing_set"), data={"reminders": []})
    text = " ".join(_line(context, entry) for entry in found[:10])
    return ToolResult(text=text, data={"reminders": [_data(context, entry) for entry in found]})


async def cancel_one(context: ToolContext, which: str, kind: Kind) -> ToolResult:
    """Cancel an entry of this kind, or stop what rings: see `cancel`.

    Raises:
        ToolError: there is no such entry.
    """
    found = await entries(context)
    if not which.strip() and any(_rings(context, entry) for entry in found):
        return await stop(context)
    chosen = _chosen(context, found, which, kind)
    for entry in chosen:
        await _forget(context, entry)
    return ToolResult(text=say(context.language, "cancelled", _names(context, chosen)))


async def set_entry(context: ToolContext, kind: Kind, what: str, said: When) -> ToolResult:
    """Keep a new entry, with its first wake-up."""
    if len(await entries(context)) >= MAXIMUM:
        raise ToolError(say(context.language, "reminders_full", value=MAXIMUM))
    try:
        due = next_time(said, context.now)
    except ValueError as error:
        raise ToolError(say(context.language, "time_passed")) from error
    entry = Entry(
        id=f"{kind[0]}{secrets.token_hex(6)}",
        kind=kind,
        what=what,
        due=due,
        time=said.at.isoformat("minutes") if said.at else "",
        repeat=said.repeat,
        language=context.language,
        area=context.area,
    )
    await context.jobs.run_at(entry.id, due)  # first: an entry without it would never ring
    await context.storage.put(entry.id, msgspec.to_builtins(entry))
    context.emit("reminder", {**_data(context, entry), "state": "waiting"})
    return ToolResult(
        text=_line(context, entry),
        data=_data(context, entry),
        undo=ToolCall(tool="reminders.cancel", arguments={"which": entry.id}),
    )


async def _await_arrival(context: ToolContext, what: str, who: str) -> ToolResult:
    """Keep a reminder for when somebody gets home, the next time if they are there."""
    if len(await entries(context)) >= MAXIMUM:
        raise ToolError(say(context.language, "reminders_full", value=MAXIMUM))
    person = _person(context, who)
    entry = Entry(
        id=f"r{secrets.token_hex(6)}",
        kind="reminder",
        what=what,
        due=context.now,
        language=context.language,
        area=context.area,
        arrival=person.id,
        away=person.state != HOME,
    )
    await context.jobs.run_at(ARRIVALS, context.now + LOOK_EVERY)
    await context.storage.put(entry.id, msgspec.to_builtins(entry))
    context.emit("reminder", {**_data(context, entry), "state": "waiting"})
    return ToolResult(
        text=_line(context, entry),
        data=_data(context, entry),
        undo=ToolCall(tool="reminders.cancel", arguments={"which": entry.id}),
    )


def _person(context: ToolContext, who: str) -> Entity:
    """The person of that name; without one, who speaks, or the only one that there is.

    Raises:
        ToolError: nobody is known, or several could be meant.
    """
    entities = context.home.snapshot().entities
    people = [e for e in entities if e.domain == "person"]
    people = people or [e for e in entities if e.domain == "device_tracker"]
    if not people:
        raise ToolError(say(context.language, "nobody_tracked"))
    wanted = (who or context.person).casefold()
    named = [e for e in people if wanted in (name.casefold() for name in (e.name, *e.aliases))]
    found = named or ([] if who else people)
    if len(found) != 1:
        raise ToolError(say(context.language, "whose_arrival", [e.name for e in people]))
    return found[0]


async def _look_for_arrivals(context: ToolContext) -> None:
    """Ring what waits for somebody who has come home, and look again while something waits."""
    waiting = [e for e in await entries(context) if e.arrival and e.state == "waiting"]
    for entry in waiting:
        person = context.home.snapshot().entity(entry.arrival)
        if person is None or entry.snoozed:
            continue
        if person.state == HOME and entry.away:
            entry.due = context.now
            await context.storage.put(entry.id, msgspec.to_builtins(entry))
            await ring(context, entry.id)
        elif person.state not in (HOME, "unknown", "unavailable") and not entry.away:
            entry.away = True
            await context.storage.put(entry.id, msgspec.to_builtins(entry))
    if waiting:
        await context.jobs.run_at(ARRIVALS, context.now + LOOK_EVERY)


async def _wait(context: ToolContext, entry: Entry) -> None:
    """Set an entry that repeats to its next time."""
    hour, minute = map(int, entry.time.split(":"))
    at = context.now.replace(hour=hour, minute=minute).time().replace(second=0, microsecond=0)
    entry.state = "waiting"
    entry.due = next_time(When(at=at, repeat=entry.repeat), context.now)
    await context.jobs.run_at(entry.id, entry.due)
    await context.storage.put(entry.id, msgspec.to_builtins(entry))


async def entries(context: ToolContext) -> list[Entry]:
    """What waits or rings, soonest first; what has rung for half a day is forgotten."""
    entries = []
    for key, stored in (await context.storage.all()).items():
        entry = msgspec.convert(stored, Entry)
        if entry.state == "ringing" and context.now - entry.due > FORGET_RINGING:
            await context.storage.delete(key)
        else:
            entries.append(entry)
    return sorted(entries, key=lambda entry: (entry.snoozed or entry.due, entry.id))


async def _forget(context: ToolContext, entry: Entry) -> None:
    await context.jobs.cancel(entry.id)
    await context.storage.delete(entry.id)
    context.emit("reminder", {**_data(context, entry), "state": "cancelled"})


def _chosen(context: ToolContext, found: list[Entry], which: str, kind: Kind) -> list[Entry]:
    """The entries that are meant; by its id one of either kind."""
    wanted, alike = which.casefold().strip(), [entry for entry in found if entry.kind == kind]
    if wanted == "all":
        chosen = alike
    elif not wanted:
        chosen = alike[:1]
    else:
        chosen = [entry for entry in found if entry.id == which]
        chosen = chosen or [entry for entry in alike if wanted in entry.what.casefold()]
    if not chosen:
        raise ToolError(say(context.language, "no_reminder"))
    return chosen


def _names(context: ToolContext, chosen: list[Entry]) -> list[str]:
    return [entry.what or say(context.language, "alarm") for entry in chosen]


def _data(context: ToolContext, entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "kind": entry.kind,
        "what": entry.what,
        "due": (entry.snoozed or entry.due).isoformat(),
        "state": "ringing" if _rings(context, entry) else entry.state,
        "repeat": list(entry.repeat),
        "arrival": entry.arrival,
        "area": entry.area,
    }


def _line(context: ToolContext, entry: Entry) -> str:
    """``Water the plants: tomorrow at 18:00.``"""
    name = entry.what or say(context.language, "alarm")
    return f"{name[:1].upper()}{name[1:]}: {_moment(context, entry)}."


def _moment(context: ToolContext, entry: Entry) -> str:
    due = (entry.snoozed or entry.due).astimezone(context.now.tzinfo)
    if entry.arrival and entry.state == "waiting" and not entry.snoozed:
        person = context.home.snapshot().entity(entry.arrival)
        return say(context.language, "arrival", [person.name if person else entry.arrival])
    if not entry.repeat:
        return moment(due, context.now, context.language)
    if entry.repeat == DAILY:
        day = say(context.language, "daily")
    elif entry.repeat == WEEKDAYS:
        day = say(context.language, "weekdays")
    else:
        names = DAYS[language_known(context.language)]
        day = ", ".join(names[number] for number in entry.repeat)
    return f"{day} {due:%H:%M}"
