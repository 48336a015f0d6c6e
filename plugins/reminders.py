"""Reminders and alarms: once, on days of the week or when somebody gets home; told late but once.

An entry is one document and one job at its next time. ``reminders`` and ``alarms`` differ in what
they say and in which half of the day an hour without "am" or "pm" means. While one waits for
somebody's arrival, one job looks every half minute whether they have been away and are back.
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
Text = Annotated[str, Meta(min_length=1, max_length=300)]
Moment = Annotated[str, Meta(max_length=100)]
Minutes = Annotated[int, Meta(ge=1, le=1440)]


class Entry(msgspec.Struct, kw_only=True):
    id: str
    kind: Literal["reminder", "alarm"]
    what: str
    due: datetime
    state: Literal["waiting", "ringing"] = "waiting"
    time: str = ""
    """The wall-clock time of one that repeats."""
    repeat: tuple[int, ...] = ()
    language: str = "en"
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
    entries = await _entries(context)
    if not entries:
        return ToolResult(text=say(context.language, "no_reminder"), data={"reminders": []})
    text = " ".join(_line(context, entry) for entry in entries[:10])
    return ToolResult(text=text, data={"reminders": [_data(entry) for entry in entries]})


@plugin.tool(risk="act")
async def cancel(
    context: ToolContext, which: Annotated[str, Meta(max_length=120)] = ""
) -> ToolResult:
    """Cancel a reminder or an alarm, or stop what rings.

    which: a part of its text, an id, ``alarm``, ``all``; empty: what rings, else the next
    """
    entries = await _entries(context)
    chosen = _chosen(context, entries, which)
    for entry in chosen:
        if entry.repeat and not which.strip() and _rings(context, entry):
            entry.rang = None
            await _wait(context, entry)
            continue
        await context.jobs.cancel(entry.id)
        await context.storage.delete(entry.id)
        context.emit("reminder", {**_data(entry), "state": "cancelled"})
    names = [entry.what or say(context.language, "alarm") for entry in chosen]
    return ToolResult(text=say(context.language, "cancelled", names))


@plugin.tool(risk="act")
async def snooze(context: ToolContext, minutes: Minutes = 10) -> ToolResult:
    """Let what rings ring again later.

    minutes: how much later
    """
    ringing = [entry for entry in await _entries(context) if _rings(context, entry)]
    if not ringing:
        raise ToolError(say(context.language, "nothing_rings"))
    for entry in ringing:
        entry.state, entry.rang = "waiting", None
        entry.snoozed = context.now + timedelta(minutes=minutes)
        await context.storage.put(entry.id, msgspec.to_builtins(entry))
        await context.jobs.run_at(entry.id, entry.snoozed)
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
    if entry.state == "ringing":
        return
    due = entry.snoozed or entry.due
    entry.state, entry.snoozed = "ringing", None
    await context.storage.put(key, msgspec.to_builtins(entry))
    late = context.now - due
    text = entry.what or "⏰"
    if late > LATE:
        text = f"{text} ({due.astimezone(context.now.tzinfo):%H:%M})"
    context.emit("reminder", {**_data(entry), "state": "ringing", "text": text})
    if entry.repeat:
        entry.rang = context.now
        await _wait(context, entry)


def _rings(context: ToolContext, entry: Entry) -> bool:
    """Whether it rings now; one that repeats waits for its next time already."""
    lately = entry.rang is not None and context.now - entry.rang < RINGS_FOR
    return entry.state == "ringing" or lately


async def set_entry(
    context: ToolContext, kind: Literal["reminder", "alarm"], what: str, said: When
) -> ToolResult:
    """Keep a new entry, with its first wake-up."""
    if len(await _entries(context)) >= MAXIMUM:
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
    )
    await context.jobs.run_at(entry.id, due)  # first: an entry without it would never ring
    await context.storage.put(entry.id, msgspec.to_builtins(entry))
    context.emit("reminder", {**_data(entry), "state": "waiting"})
    return ToolResult(
        text=_line(context, entry),
        data=_data(entry),
        undo=ToolCall(tool="reminders.cancel", arguments={"which": entry.id}),
    )


async def _await_arrival(context: ToolContext, what: str, who: str) -> ToolResult:
    """Keep a reminder for when somebody gets home, the next time if they are there."""
    if len(await _entries(context)) >= MAXIMUM:
        raise ToolError(say(context.language, "reminders_full", value=MAXIMUM))
    person = _person(context, who)
    entry = Entry(
        id=f"r{secrets.token_hex(6)}",
        kind="reminder",
        what=what,
        due=context.now,
        language=context.language,
        arrival=person.id,
        away=person.state != HOME,
    )
    await context.jobs.run_at(ARRIVALS, context.now + LOOK_EVERY)
    await context.storage.put(entry.id, msgspec.to_builtins(entry))
    context.emit("reminder", {**_data(entry), "state": "waiting"})
    return ToolResult(
        text=_line(context, entry),
        data=_data(entry),
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
    waiting = [e for e in await _entries(context) if e.arrival and e.state == "waiting"]
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


async def _entries(context: ToolContext) -> list[Entry]:
    """What waits or rings, soonest first; what has rung for half a day is forgotten."""
    entries = []
    for key, stored in (await context.storage.all()).items():
        entry = msgspec.convert(stored, Entry)
        if entry.state == "ringing" and context.now - entry.due > FORGET_RINGING:
            await context.storage.delete(key)
        else:
            entries.append(entry)
    return sorted(entries, key=lambda entry: (entry.snoozed or entry.due, entry.id))


def _chosen(context: ToolContext, entries: list[Entry], which: str) -> list[Entry]:
    wanted = which.casefold().strip()
    if wanted == "all":
        found = entries
    elif not wanted:
        ringing = [entry for entry in entries if _rings(context, entry)]
        found = ringing or entries[:1]
    elif wanted == "alarm":
        found = [entry for entry in entries if entry.kind == "alarm"][:1]
    else:
        found = [e for e in entries if e.id == which or wanted in e.what.casefold()]
    if not found:
        raise ToolError(say(context.language, "no_reminder"))
    return found


def _data(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "kind": entry.kind,
        "what": entry.what,
        "due": (entry.snoozed or entry.due).isoformat(),
        "state": entry.state,
        "repeat": list(entry.repeat),
        "arrival": entry.arrival,
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
