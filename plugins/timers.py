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
from typing import Annotated, Any, Literal, NoReturn

import msgspec
from msgspec import Meta

from plugins.api import (
    ArgumentGroup,
    MissingArgumentError,
    OfferedError,
    Plugin,
    ToolCall,
    ToolContext,
    ToolError,
    ToolResult,
)
from plugins.numbers import digits
from plugins.speech import say
from plugins.spoken import duration
from plugins.which_timer import said_of_one

plugin = Plugin("timers", sentences="timers.{language}.yaml")

LONGEST = timedelta(days=7)
LATE = timedelta(seconds=30)
"""A timer that rings later than this says so."""
FORGET_RINGING = timedelta(hours=12)
MAXIMUM_TIMERS = 100
LONGEST_SAID = 120
"""Characters of what may be said of a timer that is there."""
LEAST_ALIKE = 2
"""Characters of a name that may be the beginning of another."""
RINGING = "ringing"
"""What a "stop" means that names nothing."""

UNNAMED = "unnamed"
"""What means all that have no name."""
_LENGTH = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?:个)?(?P<unit>[^\W\d]+)")
_SECONDS = {"h": 3600, "st": 3600, "小": 3600, "m": 60, "分": 60, "s": 1, "秒": 1}
"""By how a unit begins."""
_CAPITALS = re.compile(r"\b(?!(?:und|mit|im|in|der|die|das|den|für|von|vom|zum)\b)\w")
"""What is written with a capital in German, of a name that is kept without."""
_COUNT = re.compile("[零一二两三四五六七八九十百半个\\d ]+")
"""What counts, and calls nothing."""
_ID = re.compile(r"[0-9a-f]{16,}")
"""How an id looks: a moment and some chance, in hexadecimal digits."""

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
    language: str = "en"
    """Of the person who started it: it rings in that language."""


class Length(ArgumentGroup, frozen=True, kw_only=True):
    """A time span; hours, minutes and seconds add up."""

    hours: Amount = 0
    minutes: Amount = 0
    seconds: Amount = 0


class HowSet(ArgumentGroup, frozen=True, kw_only=True):
    """How a timer was set: for how long, and in which room."""

    of_hours: Amount = 0
    of_minutes: Amount = 0
    of_seconds: Amount = 0
    area: Name = ""

    @property
    def seconds(self) -> int:
        return round(self.of_hours * 3600 + self.of_minutes * 60 + self.of_seconds)


@plugin.tool(risk="act")
async def start(context: ToolContext, length: Length, name: Name = "") -> ToolResult:
    """Start a timer; hours, minutes and seconds add up.

    name: what it is for, for instance pasta
    """
    span = duration_of(context.language, length)
    if _COUNT.fullmatch(name):  # 二十分钟 is no "二" of ten minutes
        raise MissingArgumentError("minutes", say(context.language, "timer_how_long"))
    timers = await _timers(context)
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
    await _keep(context, timer, "started")
    if context.now >= timer.due:  # the disk took so long that the job found no timer
        await ring(context, timer.id)
    return ToolResult(
        text=_say(context, "timer_set" if timer.name else "timer_set_unnamed", timer, span),
        data=_data(timer, now),
        undo=ToolCall(tool="timers.cancel", arguments={"timer": timer.id}),
    )


@plugin.tool(risk="read")
async def list_(
    context: ToolContext, how_set: HowSet, name: Name = "", until: bool = False
) -> ToolResult:
    """How long is left on the timers, soonest first.

    name: only the timers of this name
    of_hours: only those that were set for so long; with of_minutes and of_seconds
    area: only those that were started in this room
    until: whether it is asked when they end, by the clock
    """
    timers = await _timers(context)
    if name or how_set != HowSet():
        timers = _chosen(context, timers, name or "all", how_set)
    standing = " ".join(
        _until(context, timer) if until else _standing(context, timer) for timer in timers
    )
    return _result(context, standing or say(context.language, "timer_none"), timers)


def _is_name(arguments: Mapping[str, Any], language: str) -> bool:
    """Whether what says which timer is a name, and not a clause: 鱼好了，计时器关了吧."""
    return re.search(r"[,，]\s*", str(arguments.get("timer", ""))) is None


@plugin.tool(risk="act", fits=_is_name)
async def cancel(context: ToolContext, how_set: HowSet, timer: Name = "latest") -> ToolResult:
    """Cancel a timer, or stop it ringing.

    timer: a name, an id, ``all``, ``latest`` (what rings, else the one started last), or
        ``ringing`` (all that rings, reminders and alarms as well; where nothing does, what plays in
        this room)
    of_hours: the one that was set for so long; with of_minutes and of_seconds
    area: the one that was started in this room
    """
    timers = await _timers(context)
    if timer == RINGING:
        stopped = await _stop_another(context, timers)
        if stopped is not None:
            return stopped
        timers, timer = [one for one in timers if one.state == "ringing"], "all"
    try:
        chosen = _chosen(context, timers, timer, how_set)
    except ToolError as error:
        if len(timers) != 1 or how_set != HowSet() or _ID.fullmatch(timer):
            raise
        call = ToolCall(tool="timers.cancel", arguments={"timer": timers[0].id})
        asked = say(context.language, "timer_or", [_called(timers[0], context.language)])
        raise OfferedError(call, f"{error} {asked}") from error
    for one in chosen:
        await context.jobs.cancel(one.id)
        await context.storage.delete(one.id)
        _show(context, one, "cancelled")
    if all(one.state == "ringing" for one in chosen):
        return _told(context, chosen, "timer_stopped")
    (first, *others), undo = chosen, None
    if not others:
        left = {"seconds": _data(first, context.now)["left_s"], "name": first.name}
        undo = ToolCall(tool="timers.start", arguments=left)
    return _told(context, chosen, "timer_cancelled", undo)


@plugin.tool(risk="act")
async def pause(context: ToolContext, how_set: HowSet, timer: Name = "latest") -> ToolResult:
    """Pause a timer; see cancel for how to say which."""
    running = [one for one in await _timers(context) if one.state == "running"]
    chosen = _chosen(context, running, timer, how_set)
    for one in chosen:
        one.left_s = max(1, round((one.due - context.now).total_seconds()))
        one.state = "paused"
        await _keep(context, one, "paused")
        await context.jobs.cancel(one.id)
    return _told(context, chosen, "timer_paused", _undo("resume", chosen))


@plugin.tool(risk="act")
async def resume(context: ToolContext, how_set: HowSet, timer: Name = "latest") -> ToolResult:
    """Let a paused timer run on; see cancel for how to say which."""
    paused = [one for one in await _timers(context) if one.state == "paused"]
    if not paused:
        raise ToolError(say(context.language, "timer_none_paused"))
    chosen = _chosen(context, paused, timer, how_set)
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
    chosen = _chosen(context, await _timers(context), timer, HowSet())
    if len(chosen) > 1:
        standing = " ".join(_standing(context, one) for one in chosen)
        raise ToolError(say(context.language, "timer_which", value=standing))
    (one,) = chosen
    before, one.name = one.name, clean_name(name)
    await _keep(context, one, "paused" if one.state == "paused" else "started")
    undo = ToolCall(tool="timers.rename", arguments={"name": before, "timer": one.id})
    return _result(context, _standing(context, one), [one], undo)


@plugin.understands
async def by_what_is_said(context: ToolContext, text: str) -> ToolCall | None:
    """What is asked of one of the timers that there are: "give the soup another minute"."""
    if len(text) > LONGEST_SAID or not (timers := await _timers(context)):
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
    name, ago = _called(timer, timer.language), duration(late, timer.language)
    text = say(timer.language, said, [name], ago)
    await _keep(context, timer, "ringing", text[:1].upper() + text[1:])


async def _move(context: ToolContext, name: str, how_set: HowSet, by: timedelta) -> ToolResult:
    """Let one timer end earlier or later; one whose time is up then rings at once."""
    counting = [one for one in await _timers(context) if one.state != "ringing"]
    chosen = _chosen(context, counting, name, how_set)
    if len(chosen) > 1:
        standing = " ".join(_standing(context, one) for one in chosen)
        raise ToolError(say(context.language, "timer_which", value=standing))
    (one,) = chosen
    if one.state == "paused":
        left = timedelta(seconds=max(1, one.left_s + round(by.total_seconds())))
        one.left_s = round(left.total_seconds())
        await _keep(context, one, "paused")
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
        data={"timers": [_data(one, context.now)]},
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
    await _keep(context, timer, "started")


def duration_of(language: str, length: Length) -> timedelta:
    """The sum, in whole seconds.

    Raises:
        MissingArgumentError: shorter than a second.
        ToolError: longer than a week.
    """
    total = length.hours * 3600 + length.minutes * 60 + length.seconds
    if not total >= 1:  # false for NaN as well
        raise MissingArgumentError("minutes", say(language, "timer_how_long"))
    if total > LONGEST.total_seconds():
        raise ToolError(say(language, "timer_too_long"))
    return timedelta(seconds=round(total))


_WHERE_IT_IS = re.compile(r" (?:is|are|ist|sind|steht|liegt) .+$")
""" "The rice is on the hob": rice."""

_ARTICLES = frozenset({
    "the", "my", "a", "an", "den", "der", "mein", "meinen", "le", "la", "les", "mon", "ma", "mes",
    "el", "los", "las", "mi", "mis",
})  # fmt: skip


def clean_name(name: str) -> str:
    """A name as people mean it: without article, the word timer, odd spaces, or where it is."""
    words = _WHERE_IT_IS.sub("", name.casefold()).split()
    if words and words[0] in _ARTICLES:
        words = words[1:]
    whole = " ".join(words)
    bare = whole.removesuffix("timers").removesuffix("timer").strip(" -")  # "Nudel-Timer"
    bare = bare.removesuffix("的")
    return bare or ("" if whole in ("timer", "timers") else whole)


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


def _chosen(context: ToolContext, timers: list[Timer], name: str, how_set: HowSet) -> list[Timer]:
    """The timers that are meant: what rings comes before what runs. The area may be said by name.

    Raises:
        ToolError: there is no such timer.
    """
    if not timers:
        raise ToolError(say(context.language, "timer_none"))
    rooms = {room.name.casefold(): room.id for room in context.home.snapshot().areas}
    area = rooms.get(how_set.area.casefold(), how_set.area)
    timers = [
        timer
        for timer in timers
        if how_set.seconds in (0, timer.duration_s) and area in ("", timer.area)
    ]
    if not timers:
        raise ToolError(say(context.language, "timer_no_such"))
    by_id = [timer for timer in timers if timer.id == name]
    said_how = how_set != HowSet()
    if name == UNNAMED:
        return [timer for timer in timers if not timer.name] or _none_such(context)
    if by_id or name == "all" or (said_how and name == "latest"):
        return by_id or timers
    if name in ("latest", ""):
        ringing = [timer for timer in timers if timer.state == "ringing"]
        return ringing or [max(timers, key=lambda timer: (timer.started, timer.id))]
    return _named(context, timers, name)


def _named(context: ToolContext, timers: list[Timer], name: str) -> list[Timer]:
    """Those of that name; the only one there is, if nobody gave it a name. The id of one that is
    gone, as a page or an undo still has it, means none."""
    if len(timers) == 1 and not timers[0].name and not _ID.fullmatch(name):
        return timers
    wanted = clean_name(name)
    found = [timer for timer in timers if timer.name == wanted]
    if not found and (seconds := _seconds_in(wanted, context.language)):
        found = [timer for timer in timers if timer.duration_s == seconds]
    if not found and len(wanted) >= LEAST_ALIKE:  # "egg" is the one for the eggs
        found = [t for t in timers if t.name.startswith(wanted) or wanted.startswith(t.name or "-")]
    if not found:
        known = ", ".join(_called(timer, context.language) for timer in timers)
        raise ToolError(say(context.language, "timer_unknown", [wanted], known))
    return found


def _none_such(context: ToolContext) -> NoReturn:
    raise ToolError(say(context.language, "timer_no_such"))


def _seconds_in(said: str, language: str) -> int:
    """How long a timer was set for that is called by that: „zehn-minuten“; 0 where it is not."""
    found = _LENGTH.fullmatch(digits(said.replace("-", " "), language))
    unit = found["unit"] if found else ""
    factor = next((f for begin, f in _SECONDS.items() if unit.startswith(begin)), 0)
    return round(float(found["number"]) * factor) if found else 0


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
    listed = [_data(timer, context.now) for timer in timers]
    return ToolResult(text=text, data={"timers": listed}, undo=undo)


def _called(timer: Timer, language: str) -> str:
    """``the pasta timer``, or ``the 9 minutes timer`` when it has no name."""
    if timer.name:
        name = _CAPITALS.sub(lambda word: word[0].upper(), timer.name)
        return say(language, "timer_named", [name if language == "de" else timer.name])
    return say(
        language, "timer_unnamed", value=duration(timedelta(seconds=timer.duration_s), language)
    )


def _say(context: ToolContext, key: str, timer: Timer, span: timedelta | None = None) -> str:
    shown = duration(span, context.language) if span is not None else ""
    text = say(context.language, key, [_called(timer, context.language)], shown)
    return text[:1].upper() + text[1:]


def _standing(context: ToolContext, timer: Timer) -> str:
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
        "area": timer.area,
    }


async def _keep(context: ToolContext, timer: Timer, state: str, text: str = "") -> None:
    """Write a timer down, then show what became of it."""
    await context.storage.put(timer.id, msgspec.to_builtins(timer))
    _show(context, timer, state, text)


def _show(context: ToolContext, timer: Timer, state: str, text: str = "") -> None:
    context.emit("timer", _data(timer, context.now) | {"state": state, "text": text})
