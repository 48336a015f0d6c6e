"""Timers: they survive a restart, and ring late but once when the box was off.

A timer is one document in storage (``running`` or ``paused``, then ``ringing`` until somebody stops
it) and one job at its end. The job may be run twice if the process dies between ringing and the
job's end, so the document is marked ``ringing`` before the event goes out, and a timer that is
marked is not rung again. A page that was not there to hear it finds the ringing timer in the list.
"""

import secrets
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plugins.api import MissingArgumentError, Plugin, ToolCall, ToolContext, ToolError, ToolResult

plugin = Plugin("timers", sentences="timers.{language}.yaml")

LONGEST = timedelta(days=7)
LATE = timedelta(seconds=30)
"""A timer that rings later than this says so."""
FORGET_RINGING = timedelta(hours=12)
MAXIMUM_TIMERS = 100

Amount = Annotated[float, Meta(ge=0, le=604_800)]
Name = Annotated[str, Meta(max_length=60)]


class Timer(msgspec.Struct, kw_only=True):
    id: str
    name: str
    state: Literal["running", "paused", "ringing"]
    started: datetime
    due: datetime
    duration_s: int
    left_s: int = 0
    """What is left of a paused timer."""
    area: str = ""
    """The id of the area where it was started."""


class Which(msgspec.Struct, frozen=True, kw_only=True):
    """Which timer is meant: by name, by how long it was set for, by the room; else the latest."""

    name: str = "latest"
    duration_s: int = 0
    area: str = ""


@plugin.tool(risk="act")
async def start(
    context: ToolContext,
    hours: Amount = 0,
    minutes: Amount = 0,
    seconds: Amount = 0,
    name: Name = "",
) -> ToolResult:
    """Start a timer; hours, minutes and seconds add up.

    name: what it is for, for instance pasta
    """
    duration = duration_of(hours, minutes, seconds)
    timers = await _timers(context)
    if len(timers) >= MAXIMUM_TIMERS:
        raise ToolError(f"There are {MAXIMUM_TIMERS} timers already. Cancel some first.")
    now = context.now
    timer = Timer(
        id=f"{int(now.timestamp() * 1e6):x}{secrets.token_hex(2)}",
        name=clean_name(name),
        state="running",
        started=now,
        due=now + duration,
        duration_s=round(duration.total_seconds()),
        area=context.area,
    )
    await context.jobs.run_at(timer.id, timer.due)  # first: a timer without it would never ring
    await context.storage.put(timer.id, msgspec.to_builtins(timer))
    _show(context, timer, "started")
    if context.now >= timer.due:  # the disk took so long that the job found no timer
        await ring(context, timer.id)
    return ToolResult(
        text=f"{_called(timer)} is set for {spoken(duration)}.",
        data=_data(timer, now),
        undo=ToolCall(tool="timers.cancel", arguments={"timer": timer.id}),
    )


@plugin.tool(risk="read")
async def list_(
    context: ToolContext,
    name: Name = "",
    of_hours: Amount = 0,
    of_minutes: Amount = 0,
    of_seconds: Amount = 0,
    area: Name = "",
) -> ToolResult:
    """How long is left on the timers, soonest first.

    name: only the timers of this name
    of_hours: only those that were set for so long; with of_minutes and of_seconds
    area: only those that were started in this room
    """
    which = _which(context, name or "all", of_hours, of_minutes, of_seconds, area)
    timers = await _timers(context)
    if which != Which(name="all"):
        timers = _chosen(timers, which)
    now = context.now
    text = " ".join(_standing(timer, now) for timer in timers) or "No timer is running."
    return ToolResult(text=text, data={"timers": [_data(timer, now) for timer in timers]})


@plugin.tool(risk="act")
async def cancel(
    context: ToolContext,
    timer: Name = "latest",
    of_hours: Amount = 0,
    of_minutes: Amount = 0,
    of_seconds: Amount = 0,
    area: Name = "",
) -> ToolResult:
    """Cancel a timer, or stop it ringing.

    timer: a name, an id, ``all``, or ``latest`` (what rings, else the one started last)
    of_hours: the one that was set for so long; with of_minutes and of_seconds
    area: the one that was started in this room
    """
    which = _which(context, timer, of_hours, of_minutes, of_seconds, area)
    chosen = _chosen(await _timers(context), which)
    for one in chosen:
        await context.jobs.cancel(one.id)
        await context.storage.delete(one.id)
        _show(context, one, "cancelled")
    verb = "stopped" if all(one.state == "ringing" for one in chosen) else "cancelled"
    return _told(context, chosen, f"is {verb}", f"are {verb}")


@plugin.tool(risk="act")
async def pause(
    context: ToolContext,
    timer: Name = "latest",
    of_hours: Amount = 0,
    of_minutes: Amount = 0,
    of_seconds: Amount = 0,
    area: Name = "",
) -> ToolResult:
    """Pause a timer; see cancel for how to say which."""
    which = _which(context, timer, of_hours, of_minutes, of_seconds, area)
    running = [one for one in await _timers(context) if one.state == "running"]
    chosen = _chosen(running, which)
    for one in chosen:
        one.left_s = max(1, round((one.due - context.now).total_seconds()))
        one.state = "paused"
        await context.storage.put(one.id, msgspec.to_builtins(one))
        await context.jobs.cancel(one.id)
        _show(context, one, "paused")
    return _told(context, chosen, "is paused", "are paused")


@plugin.tool(risk="act")
async def resume(
    context: ToolContext,
    timer: Name = "latest",
    of_hours: Amount = 0,
    of_minutes: Amount = 0,
    of_seconds: Amount = 0,
    area: Name = "",
) -> ToolResult:
    """Let a paused timer run on; see cancel for how to say which."""
    which = _which(context, timer, of_hours, of_minutes, of_seconds, area)
    paused = [one for one in await _timers(context) if one.state == "paused"]
    if not paused:
        raise ToolError("No timer is paused.")
    chosen = _chosen(paused, which)
    for one in chosen:
        await _run_until(context, one, context.now + timedelta(seconds=one.left_s))
    return _told(context, chosen, "runs again", "run again")


@plugin.tool(risk="act")
async def add(
    context: ToolContext,
    hours: Amount = 0,
    minutes: Amount = 0,
    seconds: Amount = 0,
    timer: Name = "latest",
    of_hours: Amount = 0,
    of_minutes: Amount = 0,
    of_seconds: Amount = 0,
    area: Name = "",
) -> ToolResult:
    """Give a timer more time; see cancel for how to say which."""
    which = _which(context, timer, of_hours, of_minutes, of_seconds, area)
    return await _move(context, which, duration_of(hours, minutes, seconds))


@plugin.tool(risk="act")
async def subtract(
    context: ToolContext,
    hours: Amount = 0,
    minutes: Amount = 0,
    seconds: Amount = 0,
    timer: Name = "latest",
    of_hours: Amount = 0,
    of_minutes: Amount = 0,
    of_seconds: Amount = 0,
    area: Name = "",
) -> ToolResult:
    """Take time off a timer; see cancel for how to say which."""
    which = _which(context, timer, of_hours, of_minutes, of_seconds, area)
    return await _move(context, which, -duration_of(hours, minutes, seconds))


@plugin.job
async def ring(context: ToolContext, key: str) -> None:
    """A timer's end: mark it, then show it."""
    stored = await context.storage.get(key)
    if stored is None:
        return
    timer = msgspec.convert(stored, Timer)
    if timer.state != "running":
        return
    timer.state = "ringing"
    await context.storage.put(key, msgspec.to_builtins(timer))
    late = context.now - timer.due
    done = f"was done {spoken(late)} ago" if late > LATE else "is done"
    _show(context, timer, "ringing", text=f"{_called(timer)} {done}.")


async def _move(context: ToolContext, which: Which, by: timedelta) -> ToolResult:
    """Let one timer end earlier or later; one whose time is up then rings at once."""
    counting = [one for one in await _timers(context) if one.state != "ringing"]
    chosen = _chosen(counting, which)
    if len(chosen) > 1:
        raise ToolError("Which timer? " + " ".join(_standing(o, context.now) for o in chosen))
    (one,) = chosen
    if one.state == "paused":
        one.left_s = max(1, one.left_s + round(by.total_seconds()))
        await context.storage.put(one.id, msgspec.to_builtins(one))
        _show(context, one, "paused")
        left = timedelta(seconds=one.left_s)
    else:
        left = max(timedelta(0), one.due - context.now + by)
        if left > LONGEST:
            raise ToolError("A timer can run for a week at most.")
        await _run_until(context, one, context.now + left)
        if not left:
            await ring(context, one.id)
    opposite = "add" if by < timedelta(0) else "subtract"
    seconds = abs(round(by.total_seconds()))
    return ToolResult(
        text=f"{_called(one)} has {spoken(left)} left now.",
        data={"timers": [_data(one, context.now)]},
        undo=ToolCall(tool=f"timers.{opposite}", arguments={"seconds": seconds, "timer": one.id}),
    )


async def _run_until(context: ToolContext, timer: Timer, due: datetime) -> None:
    timer.state, timer.due = "running", due
    await context.jobs.run_at(timer.id, due)
    await context.storage.put(timer.id, msgspec.to_builtins(timer))
    _show(context, timer, "started")


def _told(context: ToolContext, chosen: list[Timer], one: str, many: str) -> ToolResult:
    text = f"{_called(chosen[0])} {one}." if len(chosen) == 1 else f"{len(chosen)} timers {many}."
    return ToolResult(text=text, data={"timers": [_data(timer, context.now) for timer in chosen]})


def duration_of(hours: float, minutes: float, seconds: float) -> timedelta:
    """The sum, in whole seconds.

    Raises:
        ToolError: shorter than a second or longer than a week.
    """
    total = hours * 3600 + minutes * 60 + seconds
    if not total >= 1:  # false for NaN as well
        raise MissingArgumentError(
            "minutes", "How long should the timer run? Say for instance: 9 minutes."
        )
    if total > LONGEST.total_seconds():
        raise ToolError("A timer can run for a week at most.")
    return timedelta(seconds=round(total))


def spoken(duration: timedelta) -> str:
    """The duration in words, parts that are zero left out: ``1 hour, 20 minutes and 5 seconds``."""
    rest = max(0, round(duration.total_seconds()))
    parts = []
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}{'' if count == 1 else 's'}")
    if len(parts) < 2:
        return parts[0] if parts else "0 seconds"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def clean_name(name: str) -> str:
    """A name as people mean it: without article, the word timer, or odd spaces."""
    words = name.casefold().split()
    if words and words[0] in ("the", "my", "a", "an"):
        words = words[1:]
    if words and words[-1] in ("timer", "timers"):
        words = words[:-1]
    return " ".join(words)


async def _timers(context: ToolContext) -> list[Timer]:
    """What runs or rings, soonest first; what has rung for half a day is forgotten."""
    timers = []
    for key, stored in (await context.storage.all()).items():
        timer = msgspec.convert(stored, Timer)
        if timer.state == "ringing" and context.now - timer.due > FORGET_RINGING:
            await context.storage.delete(key)
        else:
            timers.append(timer)
    return sorted(timers, key=lambda timer: (timer.due, timer.id))


def _which(
    context: ToolContext, name: str, hours: float, minutes: float, seconds: float, area: str
) -> Which:
    """The area may be said by name."""
    duration_s = round(hours * 3600 + minutes * 60 + seconds)
    rooms = {room.name.casefold(): room.id for room in context.home.snapshot().areas}
    if name == "latest" and (duration_s or area):
        name = "all"
    return Which(name=name, duration_s=duration_s, area=rooms.get(area.casefold(), area))


def _chosen(timers: list[Timer], which: Which) -> list[Timer]:
    """The timers that are meant: what rings comes before what runs.

    Raises:
        ToolError: there is no such timer.
    """
    if not timers:
        raise ToolError("No timer is running.")
    if which.duration_s:
        timers = [timer for timer in timers if timer.duration_s == which.duration_s]
    if which.area:
        timers = [timer for timer in timers if timer.area == which.area]
    if not timers:
        raise ToolError("There is no such timer.")
    by_id = [timer for timer in timers if timer.id == which.name]
    if by_id or which.name == "all":
        return by_id or timers
    if which.name in ("latest", ""):
        ringing = [timer for timer in timers if timer.state == "ringing"]
        return ringing or [max(timers, key=lambda timer: (timer.started, timer.id))]
    return _named(timers, which.name)


def _named(timers: list[Timer], name: str) -> list[Timer]:
    wanted = clean_name(name)
    found = [timer for timer in timers if timer.name == wanted]
    if not found:
        known = ", ".join(timer.name or "one without a name" for timer in timers)
        there_are = f"There are: {known}." if timers else "No timer is running."
        raise ToolError(f"There is no {wanted} timer. {there_are}")
    return found


def _called(timer: Timer) -> str:
    """``The pasta timer``, or ``The 9 minutes timer`` when it has no name."""
    return f"The {timer.name or spoken(timedelta(seconds=timer.duration_s))} timer"


def _standing(timer: Timer, now: datetime) -> str:
    if timer.state == "ringing":
        return f"{_called(timer)} is ringing."
    if timer.state == "paused":
        return f"{_called(timer)} is paused with {spoken(timedelta(seconds=timer.left_s))} left."
    return f"{_called(timer)} has {spoken(timer.due - now)} left."


def _data(timer: Timer, now: datetime) -> dict[str, Any]:
    left = max(0.0, (timer.due - now).total_seconds())
    if timer.state == "paused":
        left = timer.left_s
    return {
        "id": timer.id,
        "name": timer.name,
        "state": timer.state,
        "due": timer.due.isoformat(),
        "duration_s": timer.duration_s,
        "left_s": round(left),
    }


def _show(context: ToolContext, timer: Timer, state: str, text: str = "") -> None:
    context.emit("timer", _data(timer, context.now) | {"state": state, "text": text})
