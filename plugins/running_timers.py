"""Timers as they are kept: which of them is meant, and how they are told to pages."""

import re
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NoReturn

import msgspec
from msgspec import Meta

from plugins.api import (
    ArgumentGroup,
    MissingArgumentError,
    ToolContext,
    ToolError,
)
from plugins.numbers import digits
from plugins.speech import say
from plugins.spoken import duration

LONGEST = timedelta(days=7)
FORGET_RINGING = timedelta(hours=12)
LEAST_ALIKE = 2
"""Characters of a name that may be the beginning of another."""
UNNAMED = "unnamed"
"""What means all that have no name."""
_LENGTH = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?:个)?(?P<unit>[^\W\d]+)")
_SECONDS = {"h": 3600, "st": 3600, "小": 3600, "m": 60, "分": 60, "s": 1, "秒": 1}
"""By how a unit begins."""
_CAPITALS = re.compile(r"\b(?!(?:und|mit|im|in|der|die|das|den|für|von|vom|zum)\b)\w")
"""What is written with a capital in German, of a name that is kept without."""
ID = re.compile(r"[0-9a-f]{16,}")
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
_ONLY = re.compile(r" (?:only|just|still|also|nur|bloß|noch|auch)$")
_ARTICLES = frozenset({
    "the", "my", "a", "an", "den", "der", "mein", "meinen", "le", "la", "les", "mon", "ma", "mes",
    "el", "los", "las", "mi", "mis",
})  # fmt: skip


def clean_name(name: str) -> str:
    """A name as people mean it: without article, the word timer, odd spaces, where it is, or the
    "only" of "the pasta only needs five minutes"."""
    words = _ONLY.sub("", _WHERE_IT_IS.sub("", name.casefold())).split()
    if words and words[0] in _ARTICLES:
        words = words[1:]
    whole = " ".join(words)
    bare = whole.removesuffix("timers").removesuffix("timer").strip(" -")  # "Nudel-Timer"
    bare = bare.removesuffix("的")
    return bare or ("" if whole in ("timer", "timers") else whole)


async def all_timers(context: ToolContext) -> list[Timer]:
    """What runs or rings, soonest first; what has rung for half a day is forgotten."""
    timers = []
    for key, stored in (await context.storage.all()).items():
        timer = msgspec.convert(stored, Timer)
        if timer.state == "ringing" and context.now - timer.due > FORGET_RINGING:
            await context.storage.delete(key)
        else:
            timers.append(timer)
    return sorted(timers, key=lambda timer: (timer.due, timer.id))


def chosen_of(context: ToolContext, timers: list[Timer], name: str, how_set: HowSet) -> list[Timer]:
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
    if len(timers) == 1 and not timers[0].name and not ID.fullmatch(name):
        return timers
    wanted = clean_name(name)
    found = [timer for timer in timers if _letters(timer.name) == _letters(wanted)]
    if not found and (seconds := _seconds_in(wanted, context.language)):
        found = [timer for timer in timers if timer.duration_s == seconds]
    if not found and len(wanted) >= LEAST_ALIKE:  # "egg" is the one for the eggs
        found = [t for t in timers if t.name.startswith(wanted) or wanted.startswith(t.name or "-")]
    if not found:
        known = ", ".join(called(timer, context.language) for timer in timers)
        raise ToolError(say(context.language, "timer_unknown", [wanted], known))
    return found


def _letters(name: str) -> str:
    """A name without what is between its words: "past a" is the pasta."""
    return name.replace(" ", "").replace("-", "")


def _none_such(context: ToolContext) -> NoReturn:
    raise ToolError(say(context.language, "timer_no_such"))


def _seconds_in(said: str, language: str) -> int:
    """How long a timer was set for that is called by that: „zehn-minuten“; 0 where it is not."""
    found = _LENGTH.fullmatch(digits(said.replace("-", " "), language))
    unit = found["unit"] if found else ""
    factor = next((f for begin, f in _SECONDS.items() if unit.startswith(begin)), 0)
    return round(float(found["number"]) * factor) if found else 0


_ENGLISH_LENGTH = re.compile(r"(\d+) (hour|minute|second)s?\b")


def called(timer: Timer, language: str) -> str:
    """``the pasta timer``, or ``the 9-minute timer`` when it has no name."""
    if timer.name:
        name = _CAPITALS.sub(lambda word: word[0].upper(), timer.name)
        return say(language, "timer_named", [name if language == "de" else timer.name])
    length = duration(timedelta(seconds=timer.duration_s), language)
    if language == "en":
        length = _ENGLISH_LENGTH.sub(r"\1-\2", length)
    return say(language, "timer_unnamed", value=length)


def data(timer: Timer, now: datetime) -> dict[str, Any]:
    """A timer for programs and the page."""
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


async def keep(context: ToolContext, timer: Timer, state: str, text: str = "") -> None:
    """Write a timer down, then show what became of it."""
    await context.storage.put(timer.id, msgspec.to_builtins(timer))
    show(context, timer, state, text)


def show(context: ToolContext, timer: Timer, state: str, text: str = "") -> None:
    """Tell the pages what became of a timer."""
    context.emit("timer", data(timer, context.now) | {"state": state, "text": text})
