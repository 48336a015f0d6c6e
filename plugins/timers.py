"""Timers: they survive a restart, and ring late but once when the box was off.

A timer is one document in storage (``running`` or ``paused``, then ``ringing`` until somebody stops
it) and one job at its end. The job may be run twice if the process dies between ringing and the
job's end, so the document is marked ``ringing`` before the event goes out, and a timer that is
marked is not rung again. A page that was not there to hear it finds the ringing timer in the list.
"""

import contextlib
import re
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from plugins.api import (
    MissingArgumentError,
    OfferedError,
    Plugin,
    ToolCall,
    ToolContext,
    ToolError,
    ToolResult,
)
from plugins.numbers import digits
from plugins.running_timers import (
    ID,
    LONGEST,
    HowSet,
    Length,
    Name,
    Timer,
    all_timers,
    called,
    chosen_of,
    clean_name,
    data,
    duration_of,
    keep,
    show,
)
from plugins.speech import capital, say
from plugins.spoken import duration
from plugins.which_timer import said_of_one

plugin = Plugin("timers", sentences="timers.{language}.yaml")

LATE = timedelta(seconds=30)
"""A timer that rings later than this says so."""
MAXIMUM_TIMERS = 100
LONGEST_SAID = 120
"""Characters of what may be said of a timer that is there."""
_NO_NAME = re.compile(
    r"[,，]\s*|^\d.* from |^[把将]|\b(?:the|my|our|den|der|die|das|meinen?)$", re.IGNORECASE
)
"""What is in no name of a timer; and none ends with an article („kannst den Timer ausmachen“)."""
RINGING = "ringing"
"""What a "stop" means that names nothing."""
RINGS_FOR = timedelta(minutes=5)
"""After that it is told when it ran out: it rings three times, a minute apart."""

_COUNT = re.compile("[零一二两三四五六七八九十百半个\\d ]+")
"""What counts, and calls nothing."""


@plugin.tool(risk="act")
async def start(context: ToolContext, length: Length, name: Name = "") -> ToolResult:
    """Start a timer; hours, minutes and seconds add up.

    name: what it is for, for instance pasta
    """
    span = duration_of(context.language, length)
    if _COUNT.fullmatch(name):  # 二十分钟 is no "二" of ten minutes
        raise MissingArgumentError("minutes", say(context.language, "timer_how_long"))
    timers = await all_timers(context)
    if len(timers) >= MAXIMUM_TIMERS:
        raise ToolError(say(context.language, "timers_full", value=MAXIMUM_TIMERS))
    now = context.now
    timer = Timer(
        id=f"{int(now.timestamp() * 1e6):x}{secrets.token_hex(2)}",
        name=clean_name(name),
        state="running",
        started=now,
        due=now + span,
        duration_s=round(span.total_seconds()),
        area=context.area,
        language=context.language,
    )
    await context.jobs.run_at(timer.id, timer.due)  # first: a timer without it would never ring
    await keep(context, timer, "started")
    if context.now >= timer.due:  # the disk took so long that the job found no timer
        await ring(context, timer.id)
    return ToolResult(
        text=_say(context, "timer_set" if timer.name else "timer_set_unnamed", timer, span),
        data=data(timer, now),
        undo=ToolCall(tool="timers.cancel", arguments={"timer": timer.id}),
    )


@plugin.tool(risk="read")
async def list_(
    context: ToolContext,
    how_set: HowSet,
    name: Name = "",
    until: bool = False,
    besides: Name = "",
) -> ToolResult:
    """How long is left on the timers, soonest first.

    name: only the timers of this name
    besides: the id of one that is left out
    of_hours: only those that were set for so long; with of_minutes and of_seconds
    area: only those that were started in this room
    until: whether it is asked when they end, by the clock
    """
    timers = await all_timers(context)
    if name or how_set != HowSet():
        timers = chosen_of(context, timers, name or "all", how_set)
    timers = [timer for timer in timers if timer.id != besides]
    standing = " ".join(
        _until(context, timer) if until else _standing(context, timer) for timer in timers
    )
    none = say(context.language, "nothing_else" if besides else "timer_none")
    return _result(context, standing or none, timers)


def _is_name(arguments: Mapping[str, Any], language: str) -> bool:
    """Whether what says which timer is a name: a clause is none (鱼好了，计时器关了吧), and "remove
    five minutes from the pasta timer" ends none."""
    return _NO_NAME.search(digits(str(arguments.get("timer", "")), language)) is None


@plugin.tool(risk="act", fits=_is_name)
async def cancel(context: ToolContext, how_set: HowSet, timer: Name = "latest") -> ToolResult:
    """Cancel a timer, or stop it ringing.

    timer: a name, an id, ``all``, ``latest`` (what rings, else the one started last), or
        ``ringing`` (all that rings, reminders and alarms as well; where nothing does, what plays in
        this room)
    of_hours: the one that was set for so long; with of_minutes and of_seconds
    area: the one that was started in this room
    """
    timers = await all_timers(context)
    if timer == RINGING:
        stopped = await _stop_another(context, timers)
        if stopped is not None:
            return stopped
        timers, timer = [one for one in timers if one.state == "ringing"], "all"
    try:
        chosen = chosen_of(context, timers, timer, how_set)
    except ToolError as error:
        if len(timers) != 1 or how_set != HowSet() or ID.fullmatch(timer):
            raise
        call = ToolCall(tool="timers.cancel", arguments={"timer": timers[0].id})
        asked = say(context.language, "timer_or", [called(timers[0], context.language)])
        raise OfferedError(call, f"{error} {asked}") from error
    for one in chosen:
        await context.jobs.cancel(one.id)
        await context.storage.delete(one.id)
        show(context, one, "cancelled")
    if all(one.state == "ringing" for one in chosen):
        return _told(context, chosen, "timer_stopped")
    (first, *others), undo = chosen, None
    if not others:
        left = {"seconds": data(first, context.now)["left_s"], "name": first.name}
        undo = ToolCall(tool="timers.start", arguments=left)
    return _told(context, chosen, "timer_cancelled", undo)


@plugin.tool(risk="act")
async def pause(context: ToolContext, how_set: HowSet, timer: Name = "latest") -> ToolResult:
    """Pause a timer; see cancel for how to say which."""
    running = [one for one in await all_timers(context) if one.state == "running"]
    chosen = chosen_of(context, running, timer, how_set)
    for one in chosen:
        one.left_s = max(1, round((one.due - context.now).total_seconds()))
        one.state = "paused"
        await keep(context, one, "paused")
        await context.jobs.cancel(one.id)
    return _told(context, chosen, "timer_paused", _undo("resume", chosen))


@plugin.tool(risk="act")
async def resume(context: ToolContext, how_set: HowSet, timer: Name = "latest") -> ToolResult:
    """Let a paused timer run on; see cancel for how to say which."""
    paused = [one for one in await all_timers(context) if one.state == "paused"]
    if not paused:
        raise ToolError(say(context.language, "timer_none_paused"))
    chosen = chosen_of(context, paused, timer, how_set)
    for one in chosen:
        await _run_until(context, one, context.now + timedelta(seconds=one.left_s))
    return _told(context, chosen, "timer_resumed", _undo("pause", chosen))


@plugin.tool(risk="act")
async def add(
    context: ToolContext, length: Length, how_set: HowSet, timer: Name = "latest"
) -> ToolResult:
    """Give a timer more time; see cancel for how to say which."""
    return await _move(context, timer, how_set, duration_of(context.language, length))


@plugin.tool(risk="act")
async def subtract(
    context: ToolContext, length: Length, how_set: HowSet, timer: Name = "latest"
) -> ToolResult:
    """Take time off a timer; see cancel for how to say which."""
    return await _move(context, timer, how_set, -duration_of(context.language, length))


@plugin.tool(risk="act")
async def rename(context: ToolContext, name: Name, timer: Name = "latest") -> ToolResult:
    """Give a timer another name; see cancel for how to say which."""
    chosen = chosen_of(context, await all_timers(context), timer, HowSet())
    if len(chosen) > 1:
        standing = " ".join(_standing(context, one) for one in chosen)
        raise ToolError(say(context.language, "timer_which", value=standing))
    (one,) = chosen
    before, one.name = one.name, clean_name(name)
    await keep(context, one, "paused" if one.state == "paused" else "started")
    undo = ToolCall(tool="timers.rename", arguments={"name": before, "timer": one.id})
    return _result(context, _standing(context, one), [one], undo)


@plugin.understands
async def by_what_is_said(context: ToolContext, text: str) -> ToolCall | None:
    """What is asked of one of the timers that there are: "give the soup another minute"."""
    if len(text) > LONGEST_SAID or not (timers := await all_timers(context)):
        return None
    entities = context.home.snapshot().entities
    things = [name.casefold() for one in entities for name in (one.name, *one.aliases)]
    said = said_of_one(text, context.language, timers, things)
    if said is None:
        return None
    if said.operation == "list":
        return ToolCall(tool="timers.list", arguments={"name": said.timer})
    given: dict[str, Any] = {"timer": said.timer}
    if said.length is not None:
        seconds = round(said.length.total_seconds())
        given |= {"minutes": seconds // 60} if seconds % 60 == 0 else {"seconds": seconds}
    if said.called:
        given["name"] = said.called
    return ToolCall(tool=f"timers.{said.operation}", arguments=given)


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
    late = context.now - timer.due
    said = "timer_was_done" if late > LATE else "timer_done"
    name, ago = called(timer, timer.language), duration(late, timer.language)
    text = say(timer.language, said, [name], ago)
    await keep(context, timer, "ringing", capital(text))


async def _move(context: ToolContext, name: str, how_set: HowSet, by: timedelta) -> ToolResult:
    """Let one timer end earlier or later; one whose time is up then rings at once."""
    counting = [one for one in await all_timers(context) if one.state != "ringing"]
    chosen = chosen_of(context, counting, name, how_set)
    if len(chosen) > 1:
        standing = " ".join(_standing(context, one) for one in chosen)
        raise ToolError(say(context.language, "timer_which", value=standing))
    (one,) = chosen
    if one.state == "paused":
        left = timedelta(seconds=max(1, one.left_s + round(by.total_seconds())))
        one.left_s = round(left.total_seconds())
        await keep(context, one, "paused")
    else:
        left = max(timedelta(0), one.due - context.now + by)
        if left > LONGEST:
            raise ToolError(say(context.language, "timer_too_long"))
        await _run_until(context, one, context.now + left)
        if not left:
            await ring(context, one.id)
    opposite = "add" if by < timedelta(0) else "subtract"
    seconds = abs(round(by.total_seconds()))
    return ToolResult(
        text=_say(context, "timer_left_now", one, left),
        data={"timers": [data(one, context.now)]},
        undo=ToolCall(tool=f"timers.{opposite}", arguments={"seconds": seconds, "timer": one.id}),
    )


async def _stop_another(context: ToolContext, timers: list[Timer]) -> ToolResult | None:
    """Stop what a "stop" means besides timers: reminders and alarms that ring, or what plays here
    while nothing rings. ``None`` where timers ring, be it as well.

    Raises:
        ToolError: nothing rings or plays. A timer that runs is not ended by a "quiet".
    """
    stopped = None
    with contextlib.suppress(ToolError):  # none rings
        stopped = await context.call(ToolCall(tool="reminders.stop"))
    if any(one.state == "ringing" for one in timers):
        return None
    if stopped is not None:
        return stopped
    playing = [
        entity
        for entity in context.home.snapshot().entities
        if entity.domain == "media_player" and entity.state == "playing"
    ]
    here = [e.id for e in playing if not context.area or e.area == context.area]
    if not here or (not context.area and len(here) > 1):
        standing = " ".join(_standing(context, one) for one in timers)
        raise ToolError(f"{say(context.language, 'nothing_rings')} {standing}".strip())
    return await context.call(ToolCall(tool="media.pause", arguments={"entities": here}))


async def _run_until(context: ToolContext, timer: Timer, due: datetime) -> None:
    timer.state, timer.due = "running", due
    await context.jobs.run_at(timer.id, due)
    await keep(context, timer, "started")


def _undo(tool: str, chosen: list[Timer]) -> ToolCall | None:
    """What takes it back, where it was done to one timer."""
    if len(chosen) > 1:
        return None
    return ToolCall(tool=f"timers.{tool}", arguments={"timer": chosen[0].id})


def _told(
    context: ToolContext, chosen: list[Timer], key: str, undo: ToolCall | None = None
) -> ToolResult:
    """What became of one timer, or how many were meant."""
    if len(chosen) == 1:
        text = _say(context, key, chosen[0])
    else:
        text = say(context.language, f"{key}_many", value=len(chosen))
    return _result(context, text, chosen, undo)


def _result(
    context: ToolContext, text: str, timers: list[Timer], undo: ToolCall | None = None
) -> ToolResult:
    listed = [data(timer, context.now) for timer in timers]
    return ToolResult(text=text, data={"timers": listed}, undo=undo)


def _say(context: ToolContext, key: str, timer: Timer, span: timedelta | None = None) -> str:
    shown = duration(span, context.language) if span is not None else ""
    return capital(say(context.language, key, [called(timer, context.language)], shown))


def _standing(context: ToolContext, timer: Timer) -> str:
    if timer.state == "ringing" and context.now - timer.due > RINGS_FOR:
        due = timer.due.astimezone(context.now.tzinfo)
        return capital(
            say(context.language, "timer_over", [called(timer, context.language)], f"{due:%H:%M}")
        )
    if timer.state == "ringing":
        return _say(context, "timer_rings", timer)
    if timer.state == "paused":
        return _say(context, "timer_paused_with", timer, timedelta(seconds=timer.left_s))
    return _say(context, "timer_left", timer, timer.due - context.now)


def _until(context: ToolContext, timer: Timer) -> str:
    """How long it runs yet, and when it ends."""
    standing, due = _standing(context, timer), timer.due.astimezone(context.now.tzinfo)
    if timer.state != "running":
        return standing
    return f"{standing[:-1]} ({due:%H:%M}){standing[-1:]}"
