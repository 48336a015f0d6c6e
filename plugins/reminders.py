"""Reminders and alarms: once, on days of the week or when somebody gets home; told late but once.

``plugins/alarms.py`` keeps its own here as well, so that one list has them all and one word stops
what rings. They differ in what they say and in which half of the day an hour without "am" or "pm"
means. While one waits for somebody's arrival, one job looks every half minute whether they have
been away and are back.
"""

import re
from datetime import datetime, timedelta
from typing import Annotated

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
from plugins.arrivals import addressed, mentioned, person_of
from plugins.before_events import at_new_time, before_event, key_of, of_nothing, says_hour
from plugins.calendar_words import asked
from plugins.moments import asked_when, coming
from plugins.next_time import kept_as, kept_time, still_today
from plugins.reminder_entries import (
    RINGS_FOR,
    Entry,
    Kind,
    asked_of,
    at_nearest,
    chosen,
    data,
    end,
    entries,
    is_of,
    is_within_a_day,
    keep,
    line,
    made,
    moved,
    name_of,
    named,
    put_back,
    remember,
    rings,
    shift_of,
    skip,
    told,
    wait,
)
from plugins.speech import say
from plugins.when import When, as_time, parse
from plugins.when_reader import Cycle
from plugins.while_ringing import again_after, says_heard

plugin = Plugin("reminders", sentences="reminders.{language}.yaml")

MAXIMUM = 200
SHORTEST_NAME = 2
"""Characters of what a reminder is called by."""
LATE = timedelta(minutes=2)
LOOK_EVERY = timedelta(seconds=30)
ARRIVALS = "arrivals"
"""The key of the job that looks for them."""
HOME = "home"
"""The state of a person who is there, in Home Assistant's words."""
_JOINT = re.compile(
    r"(?:(?:,|bitte|mal|doch|please)(?: +|$))*"
    r"(?:(?:too?|that|about|of|daran|dran|ans?(?: (?:den|die|das))?|de|que)\b,? +|d')?",
    re.IGNORECASE,
)
"""What joins the time to what is to be done, where the time comes first: "in an hour to …"."""
_PARTICLES = re.compile("^(?:吧|呀|啊|哦|了|一下)+$|(?<=..)(?<![酒网书茶氧冰影])吧$")
"""What says nothing by itself, or at the end."""
_SOMEBODY = re.compile("(?P<when>.+?)提醒(?P<what>.+)")
"""A reminder for another person, in Chinese, where their name may begin with a number: 一凡."""
Text = Annotated[str, Meta(min_length=1, max_length=300)]
Moment = Annotated[str, Meta(max_length=100)]
Minutes = Annotated[int, Meta(ge=1, le=1440)]
Which = Annotated[str, Meta(max_length=120)]


@plugin.tool(risk="act")
async def add(context: ToolContext, what: Text, when: Moment = "", who: Which = "") -> ToolResult:
    """Remind the person of something at a time.

    what: what to remind of; may hold the time as well
    when: for instance at 6 pm, in 20 minutes, every weekday at 7
    who: whose coming home it waits for, where several could be meant
    """
    said = parse(when or what, context.language, context.now, awake=True)
    task = _PARTICLES.sub("", what if when else task_in(said))
    if said.arrival is not None:
        named, task = addressed(context, task or what)
        person = person_of(context, who or said.arrival, named or mentioned(context, task))
        return await _await_arrival(context, task, person)
    told = f"{what} {when}".strip()
    of_event = not said.said or says_hour(told, context.language)
    if of_event and (event := await before_event(context, told)):
        at = event.at
        on_time = When(at=at.time(), on=at.date(), exact=True)
        return await set_entry(context, "reminder", event.what, on_time, event=event.event)
    if of_nothing(f"{when} {what}".strip(), context.language):
        raise ToolError(say(context.language, "before_what"))
    if not said.said:
        raise MissingArgumentError("when", asked_when(said, context.language))
    if not task:
        raise MissingArgumentError("what", say(context.language, "remind_what"))
    return await set_entry(context, "reminder", task, still_today(said, context.now))


def task_in(said: When) -> str:
    """What is to be done, of a text that says when as well: "in an hour to call Ann"."""
    return _JOINT.sub("", said.rest, count=1)


@plugin.tool(risk="read")
async def list_(context: ToolContext, which: Which = "", besides: Which = "") -> ToolResult:
    """Tell the reminders and alarms, soonest first.

    which: an id, or a day; empty: all
    besides: the id of one that is left out
    """
    return told(context, asked_of(context, await entries(context), which), besides)


@plugin.tool(risk="act")
async def cancel(context: ToolContext, which: Which = "") -> ToolResult:
    """Cancel a reminder, or stop what rings.

    which: a part of its text, when it is, an id, ``all``; empty: what rings, else the next
    """
    return await cancel_one(context, which, "reminder")


@plugin.tool(risk="act")
async def change(
    context: ToolContext, to: Moment, which: Which = "", days: Moment = ""
) -> ToolResult:
    """Put a reminder at another time.

    to: for instance half past six, tomorrow
    which: as for cancel
    days: of one that repeats those on which it is then: at weekends, on Fridays; empty: all
    """
    return await change_one(context, to, which, "reminder", days=days)


@plugin.tool(risk="act")
async def stop(context: ToolContext, which: Which = "") -> ToolResult:
    """Stop reminders and alarms that ring; one that repeats comes again.

    which: an id; empty: all that ring
    """
    ringing = [entry for entry in await entries(context) if rings(context, entry)]
    stopped = [entry for entry in ringing if which.strip() in ("", entry.id)]
    if not stopped:
        raise ToolError(say(context.language, "nothing_rings"))
    for entry in stopped:
        if entry.repeat:
            entry.rang = None
            await wait(context, entry)
            context.emit("reminder", data(context, entry))
        else:
            await end(context, entry)
    names = [name_of(context, entry) for entry in stopped]
    return ToolResult(text=say(context.language, "stopped", names))


@plugin.tool(risk="act")
async def snooze(context: ToolContext, minutes: Minutes = 10) -> ToolResult:
    """Let what rings ring again later.

    minutes: how much later
    """
    ringing = [entry for entry in await entries(context) if rings(context, entry)]
    if not ringing:
        raise ToolError(say(context.language, "nothing_rings"))
    for entry in ringing:
        entry.state, entry.rang = "waiting", None
        entry.snoozed = context.now + timedelta(minutes=minutes)
        await context.jobs.run_at(entry.id, entry.snoozed)
        await keep(context, entry)
    return ToolResult(text=say(context.language, "snoozed", value=minutes))


@plugin.tool(risk="act")
async def restore(context: ToolContext, which: Which) -> ToolResult:
    """Take back what was done to reminders and alarms last.

    which: their ids, with spaces between
    """
    restored = [await put_back(context, key) for key in which.split()]
    return told(context, [entry for entry in restored if entry])


@plugin.understands
async def by_text(context: ToolContext, text: str) -> ToolCall | None:
    """A reminder that is put at another time or cancelled by what it is of ("move the phone bill to
    Sunday", "drop the phone bill one"), or what rings and shall ring again, or no more."""
    if minutes := again_after(text, context.language):
        if await _something_rings(context):
            return ToolCall(tool="reminders.snooze", arguments={"minutes": minutes})
        return None
    if says_heard(text, context.language):
        return ToolCall(tool="reminders.stop") if await _something_rings(context) else None
    if (for_other := _for_somebody(context, text)) is not None:
        return for_other
    said = asked(text, context.language)
    if said is None or not (said.to or said.one) or len(said.event) < SHORTEST_NAME:
        return None
    to = as_time(said.to, context.language, context.now)
    if said.to and not to:
        return None
    found = [e for e in await entries(context) if e.kind == "reminder" and is_of(e, said.event)]
    if not found:
        return None
    if said.one and not (context.language == "zh" and all(said.event not in e.what for e in found)):
        return ToolCall(tool="reminders.cancel", arguments={"which": said.event[:120]})
    if not to:
        return None
    return ToolCall(tool="reminders.change", arguments={"which": said.event[:120], "to": to})


def _for_somebody(context: ToolContext, text: str) -> ToolCall | None:
    """A reminder for a person of the household: 下周一提醒林浩交物业费."""
    found = _SOMEBODY.fullmatch(text.strip(" .!。！")) if context.language == "zh" else None
    if found is None or not addressed(context, found["what"])[0]:
        return None
    when = parse(found["when"], "zh", context.now, awake=True)
    if when.rest or not (when.said or when.on or when.repeat):
        return None
    given = {"when": found["when"], "what": found["what"]}
    return ToolCall(tool="reminders.add", arguments=given)


async def _something_rings(context: ToolContext) -> bool:
    """Whether something rings that has not rung for long, so that it is what is spoken of."""
    ringing = [entry for entry in await entries(context) if rings(context, entry)]
    begun = [entry.rang or entry.snoozed or entry.due for entry in ringing]
    return any(context.now - one < RINGS_FOR for one in begun)


@plugin.tool(risk="act")
async def follow_event(
    context: ToolContext, title: Text, start: datetime, to: datetime | None = None
) -> ToolResult:
    """Let the reminders of an event of the calendar go where that went.

    start: when it was
    to: when it is now; not said: it is no more, and neither are they
    """
    found = [e for e in await entries(context) if e.event == key_of(title, start)]
    for entry in found:
        if to is None:
            await end(context, entry)
            continue
        remember(entry)
        zone = context.now.tzinfo
        entry.what = at_new_time(entry.what, start.astimezone(zone), to.astimezone(zone))
        entry.due, entry.event = max(entry.due + (to - start), context.now), key_of(title, to)
        entry.state, entry.snoozed = "waiting", None
        await context.jobs.run_at(entry.id, entry.due)
        await keep(context, entry)
    key = "without_event" if to is None else "with_event"
    told_of = [line(context, entry).rstrip(".。") for entry in found]
    text = say(context.language, key, told_of) if found else ""
    return ToolResult(text=text, undo=_restoring(found) if found else None)


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
    if entry.ended:
        return
    if entry.state == "waiting":
        due = entry.snoozed or entry.due
        entry.state, entry.snoozed = "ringing", None
        await context.storage.put(key, msgspec.to_builtins(entry))
        text, late = entry.what or say(entry.language, "alarm"), context.now - due
        text = text[:1].upper() + text[1:]
        if late > LATE:
            text = f"{text} ({due.astimezone(context.now.tzinfo):%H:%M})"
        context.emit("reminder", {**data(context, entry), "text": text})
    if entry.repeat:
        entry.rang = context.now
        await _wait_or_ring_once(context, entry)


async def _wait_or_ring_once(context: ToolContext, entry: Entry) -> None:
    """Set one that repeats to its next time. Where nobody knows any more when the sun sets, it is
    one that rings now and not again, and that is said."""
    try:
        await wait(context, entry)
    except ToolError as error:
        entry.state, entry.repeat, entry.rang = "ringing", (), None
        await context.storage.put(entry.id, msgspec.to_builtins(entry))
        text = f"{name_of(context, entry)}: {error}"
        context.emit("announcement", {"text": text, "at": context.now.isoformat()})


async def set_entry(
    context: ToolContext, kind: Kind, what: str, said: When, *, event: str = ""
) -> ToolResult:
    """Keep a new entry, with its first wake-up; event: what it reminds of, if that is one."""
    due = coming(context, said)
    kept = kept_as(said.since(due.date()))
    entry = made(context, kind, what, due, time=kept, repeat=said.repeat, event=event)
    return await _add(context, entry, entry.id, due)


async def cancel_one(context: ToolContext, which: str, kind: Kind) -> ToolResult:
    """Cancel an entry of this kind, or stop what rings: see `cancel`. Of one that repeats only that
    day, where a day was said.

    Raises:
        ToolError: there is no such entry, or several may be meant.
    """
    found = await entries(context)
    if not which.strip() and any(rings(context, entry) for entry in found):
        return await stop(context)
    meant, said = chosen(context, found, which, kind)
    texts, names = [], [named(context, entry) for entry in meant if not (said.on and entry.repeat)]
    if names:
        texts = [say(context.language, "cancelled", names)]
    for entry in meant:
        if said.on and entry.repeat:
            then = await skip(context, entry, said.on)
            name = name_of(context, entry)
            text = say(context.language, "skipped", [f"{name[:1].upper()}{name[1:]}"], then)
            texts.append(text)
        else:
            await end(context, entry)
    return ToolResult(text=" ".join(texts), undo=_restoring(meant))


async def change_one(
    context: ToolContext, to: str, which: str, kind: Kind, by: str = "", days: str = ""
) -> ToolResult:
    """Put an entry of this kind at another time: see `change`. Of one that repeats only that day,
    where a day is said. by: how much earlier or later, in place of to.

    An hour of which the half of the day is not said stays in the half that it was in.

    Raises:
        MissingArgumentError: no time is said.
        ToolError: there is no such entry, several may be meant, or that time has passed.
    """
    said = parse(to, context.language, context.now, awake=kind == "reminder")
    shift = shift_of(by or to, context.language)
    if shift is None and not (said.said or said.on or said.repeat):
        raise MissingArgumentError("to", say(context.language, "when"))
    meant, _ = chosen(context, await entries(context), which, kind)
    if len(meant) > 1:
        lines = " ".join(line(context, entry) for entry in meant[:10])
        raise ToolError(say(context.language, "reminder_which", value=lines))
    (entry,) = meant
    if is_within_a_day(entry) and not (said.said and not said.on and shift is None):
        raise MissingArgumentError("to", say(context.language, "when"))
    if shift is not None:
        then = entry.due.astimezone(context.now.tzinfo) + shift
        said = When(at=then.time(), on=None if entry.repeat else then.date(), exact=True)
    if entry.repeat or said.repeat:
        said = at_nearest(entry.due.astimezone(context.now.tzinfo), said)
    if days:
        return await _change_on_days(context, entry, said, days)
    remember(entry)
    if entry.repeat and not said.repeat and said.on:
        return await _change_once(context, entry, said)
    if entry.repeat or said.repeat:
        entry.time = _kept_anew(context, entry, said)
        entry.repeat = said.repeat or entry.repeat
        await wait(context, entry)
    else:
        entry.due, entry.state, entry.arrival = moved(context, entry, said), "waiting", ""
        entry.time = ""  # it is as late as it is due from now on
        await context.jobs.run_at(entry.id, entry.due)
    entry.snoozed, entry.rang = None, None
    await keep(context, entry)
    text, shown = line(context, entry), data(context, entry)
    return ToolResult(text=text, data=shown, undo=_restoring([entry]))


def _kept_anew(context: ToolContext, entry: Entry, said: When) -> str:
    """When one that repeats is due on its days, once it is changed: its time stays where only its
    days are said, and the other way round."""
    due = entry.due.astimezone(context.now.tzinfo)
    was = kept_time(entry.time) if entry.time else When(at=due.time())
    if was.cycle.minutes:
        return kept_as(said)  # "every two hours" to "at nine": once a day
    if not said.said:
        said = said._replace(at=was.at, sun=was.sun, offset=was.offset)
    if not said.repeat:
        said = said._replace(cycle=was.cycle)
    elif said.cycle.every > 1:
        said = said.since(coming(context, said).date())
    return kept_as(said)


async def _change_once(context: ToolContext, entry: Entry, said: When) -> ToolResult:
    """Have one that repeats ring at another time on one day."""
    assert said.on is not None
    usual = kept_time(entry.time)._replace(cycle=Cycle())
    once = said if said.said else usual._replace(on=said.on)
    result = await set_entry(context, entry.kind, entry.what, once)
    await skip(context, entry, said.on)
    undo = ToolCall(
        tool="reminders.restore", arguments={"which": f"{entry.id} {result.data['id']}"}
    )
    return ToolResult(text=result.text, data=result.data, undo=undo)


async def _change_on_days(context: ToolContext, entry: Entry, said: When, days: str) -> ToolResult:
    """Have one that repeats come at another time on some of its days: one for the others stays, and
    one for these is set.

    Raises:
        MissingArgumentError: no time is said.
        ToolError: it does not come on these days, or not on days of the week at all.
    """
    which = parse(days, context.language, context.now).repeat
    others = tuple(day for day in entry.repeat if day not in which)
    cycle = kept_time(entry.time).cycle if entry.time else Cycle()
    if said.at is None:
        raise MissingArgumentError("to", say(context.language, "when"))
    if not which or not set(which) <= set(entry.repeat) or cycle != Cycle(since=cycle.since):
        raise ToolError(f"{say(context.language, 'not_those_days')} {line(context, entry)}")
    if not others:
        return await change_one(context, f"{said.at:%H:%M}", entry.id, entry.kind)
    result = await set_entry(context, entry.kind, entry.what, said._replace(repeat=which))
    remember(entry)
    entry.repeat = others
    await wait(context, entry)
    await keep(context, entry)
    undo = ToolCall(
        tool="reminders.restore", arguments={"which": f"{entry.id} {result.data['id']}"}
    )
    return ToolResult(text=f"{line(context, entry)} {result.text}", data=result.data, undo=undo)


def _restoring(changed: list[Entry]) -> ToolCall:
    which = " ".join(entry.id for entry in changed)
    return ToolCall(tool="reminders.restore", arguments={"which": which})


async def _add(context: ToolContext, entry: Entry, job: str, at: datetime) -> ToolResult:
    """Keep a new entry, and the job that wakes it."""
    if len(await entries(context)) >= MAXIMUM:
        raise ToolError(say(context.language, "reminders_full", value=MAXIMUM))
    await context.jobs.run_at(job, at)  # first: an entry without it would never ring
    await keep(context, entry)
    undo = ToolCall(tool="reminders.cancel", arguments={"which": entry.id})
    return ToolResult(text=line(context, entry), data=data(context, entry), undo=undo)


async def _await_arrival(context: ToolContext, what: str, person: Entity) -> ToolResult:
    """Keep a reminder for when somebody gets home, the next time if they are there."""
    away = person.state != HOME
    entry = made(context, "reminder", what, context.now, arrival=person.id, away=away)
    return await _add(context, entry, ARRIVALS, context.now + LOOK_EVERY)


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
