"""The family's calendars: "what's on tomorrow", "when is the next dentist appointment".

Calendars are files or addresses in iCalendar form, named in the configuration and nowhere else,
and those that Home Assistant exposes. They are read again, in the background or when they are asked
for; what they said is kept, so that a network that is away changes nothing but how old the answer
is.
"""

import asyncio
import contextlib
import hashlib
import logging
import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import aiohttp
import msgspec
from msgspec import Meta

from plugins import home_calendars, ics
from plugins.api import (
    Entity,
    HomeError,
    NoAnswerError,
    Plugin,
    ToolCall,
    ToolContext,
    ToolError,
    ToolResult,
)
from plugins.days import span_of
from plugins.ics import CalendarError, Occurrence, Window
from plugins.notes import words_of
from plugins.speech import day_name, moment, say
from plugins.spoken import language_known

plugin = Plugin("calendar", sentences="calendar.{language}.yaml")
log = logging.getLogger(__name__)

BACK, AHEAD = timedelta(days=1), timedelta(days=400)
"""How much of a calendar is kept; it is read again long before that is over."""
FETCH_LIMIT_S = 30.0
REDIRECTS = 3
OLD = timedelta(hours=24)
"""An answer from a calendar that was read longer ago says so."""
FRESH = timedelta(minutes=15)
"""How long a calendar of Home Assistant is taken for read where a question may not be of it."""
AT_HOME = "home:"
"""What the keys of its calendars begin with."""
SHOWN = 10
PART = 4
"""Letters of a word that is a part of another."""
ANY_EVENT = frozenset({
    "appointment", "appointments", "event", "events", "meeting", "anything", "next", "thing",
    "termin", "termine", "rendez", "vous", "événement", "cita", "evento",
    "约", "预", "活", "动", "程", "日", "次", "下", "一",
})  # fmt: skip
"""Words that say that something is an event, and nothing about which."""
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
        r"什么时候|几点|哪天|哪一天|下次|下一次|(?:还有|有)?(?:几天|多少天|多久)|离|距离|是|在"
    ),
}
"""What asks for a time, or for where something takes place."""
Said = Annotated[str, Meta(max_length=80)]


class Source(NamedTuple):
    """A calendar of the configuration."""

    name: str
    place: str
    """An address, which may hold a secret and is never shown, or a path."""


class Kept(msgspec.Struct, kw_only=True):
    """What is kept of a calendar."""

    name: str
    read: datetime | None = None
    """When it was last read; ``None``: never."""
    problem: str = ""
    """Why the last attempt failed."""
    events: list[Occurrence] = []


class Event(NamedTuple):
    """An occurrence, and the calendar that says so."""

    occurrence: Occurrence
    calendar: str


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
    keys = {_key(source) for source in found}
    for old in await context.storage.all():
        if old not in keys and not old.startswith(AT_HOME):
            await context.storage.delete(old)
    await asyncio.gather(*(_refresh(context, source) for source in found))


def _is_day(arguments: Mapping[str, Any], language: str) -> bool:
    said = str(arguments.get("day", ""))
    return not said or span_of(said, language, date(2026, 1, 1)) is not None


@plugin.tool(risk="read", fits=_is_day)
async def agenda(context: ToolContext, day: Said = "") -> ToolResult:
    """Tell what is in the family's calendars on a day.

    day: for instance tomorrow, Friday, this weekend, the next 7 days; empty: today
    """
    today = context.now.date()
    span = span_of(day, context.language, today) if day else (today, today)
    if span is None:
        raise ToolError(say(context.language, "no_day", [day]))
    await _ask_home(context)
    kept = await _calendars(context)
    if not kept and not sources(context.settings):
        data = {"events": [], "calendars": 0}
        return ToolResult(text=say(context.language, "no_calendar"), data=data)
    first, last = (datetime.combine(d, time(), context.now.tzinfo) for d in span)
    until = last + timedelta(days=1)
    found = [e for e in _events(kept) if e.occurrence.start < until and _ends(e) > first]
    one_day = span[0] == span[1]
    title = day_name(span[0], today, context.language) if one_day else day
    if not found:
        text = say(context.language, "no_events", value=title)
    else:
        lines = [_line(context, event, with_day=not one_day) for event in found[:SHOWN]]
        text = say(context.language, "events", [f"{'; '.join(lines)}"], title)
    return ToolResult(text=text + _as_of(context, kept), data={"events": [_data(e) for e in found]})


@plugin.answers
async def answer(context: ToolContext, question: str) -> ToolCall | None:
    """When something is, if it asks when and every other word is in the title of an event."""
    asked = " ".join(question.casefold().split())
    when = WHEN[language_known(context.language)].search(asked)
    if when is None or not words_of(WHEN[language_known(context.language)].sub(" ", asked)):
        return None
    event = WHEN[language_known(context.language)].sub(" ", asked)[:80]
    with contextlib.suppress(HomeError):
        await _ask_home(context, older_than=FRESH)
    found = _matching(await _calendars(context), event, context.now)
    return ToolCall(tool="calendar.next", arguments={"event": event.strip()}) if found else None


@plugin.tool(risk="read")
async def next_(context: ToolContext, event: Said = "") -> ToolResult:
    """Tell when something in the family's calendars is, the next time.

    event: a part of its title, for instance dentist; empty: whatever is next
    """
    await _ask_home(context)
    kept = await _calendars(context)
    if not kept and not sources(context.settings):
        raise ToolError(say(context.language, "no_calendar"))
    found = _matching(kept, event, context.now)
    if not found:
        raise ToolError(say(context.language, "no_such_event", [event or "-"]))
    text = f"{_line(context, found[0], with_day=True)}."
    start = found[0].occurrence.start.astimezone(context.now.tzinfo)
    ahead = (start.date() - context.now.date()).days
    if ahead > 1:
        text += f" {say(context.language, 'in_days', value=ahead)}"
    return ToolResult(text=text + _as_of(context, kept), data={"events": [_data(found[0])]})


def sources(settings: Mapping[str, Any]) -> list[Source]:
    """The calendars of the configuration: ``Family = https://…``, or a path alone."""
    found = []
    for entry in settings.get("sources", ()):
        name, equals, place = (part.strip() for part in str(entry).partition(" = "))
        if not equals:
            name, place = "", name
        is_address = "://" in place
        known_as = urlsplit(place).hostname if is_address else Path(place).stem
        found.append(Source(name or known_as or "calendar", place))
    return found


async def fetched(place: str) -> bytes:
    """The calendar at an address or path.

    Raises:
        CalendarError: it cannot be had, or is too large.
    """
    if "://" not in place:
        return await asyncio.to_thread(_from_file, place)
    address = place.replace("webcal://", "https://", 1)
    if not address.startswith(("https://", "http://")):
        raise CalendarError("its address does not begin with https://, http:// or webcal://")
    timeout = aiohttp.ClientTimeout(total=FETCH_LIMIT_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(address, max_redirects=REDIRECTS) as response,
        ):
            if response.status != 200:
                raise CalendarError(f"its server answers {response.status}")
            content = bytearray()
            async for piece in response.content.iter_chunked(65_536):
                content += piece
                if len(content) > ics.MAXIMUM_BYTES:
                    raise CalendarError(f"it is larger than {ics.MAXIMUM_BYTES // 1_000_000} MB")
            return bytes(content)
    except TimeoutError as error:
        raise CalendarError(f"its server takes longer than {FETCH_LIMIT_S:.0f} s") from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        # the words of the error may hold the address, and the address a secret
        raise CalendarError(f"its server cannot be reached ({type(error).__name__})") from error


def _from_file(place: str) -> bytes:
    try:
        with Path(place).expanduser().open("rb") as file:
            return file.read(ics.MAXIMUM_BYTES + 1)
    except (OSError, RuntimeError) as error:
        raise CalendarError(f"the file cannot be read: {error}") from error


async def _refresh(context: ToolContext, source: Source) -> None:
    """Read one calendar; one that cannot be read keeps what it said before."""
    stored = await context.storage.get(_key(source))
    kept = msgspec.convert(stored, Kept) if stored else Kept(name=source.name)
    now = context.now
    zone = now.tzinfo.key if isinstance(now.tzinfo, ZoneInfo) else ""
    try:
        window = Window(start=now - BACK, end=now + AHEAD, zone=zone)
        kept.events = await ics.read(await fetched(source.place), window)
        kept.read, kept.problem = now, ""
    except CalendarError as error:
        kept.problem = str(error)
        log.warning("calendar not read name=%s: %s", source.name, error)
    await context.storage.put(_key(source), msgspec.to_builtins(kept))


def _key(source: Source) -> str:
    """Of a place, so that another address under the same name is another calendar."""
    return hashlib.sha256(f"{source.name}\n{source.place}".encode()).hexdigest()[:24]


async def _calendars(context: ToolContext) -> list[Kept]:
    return [msgspec.convert(stored, Kept) for stored in (await context.storage.all()).values()]


async def _ask_home(context: ToolContext, older_than: timedelta = timedelta(0)) -> None:
    """Read the calendars of Home Assistant again that were read before so long."""
    places = {f"{AT_HOME}{place.id}": place for place in home_calendars.exposed(context)}
    if context.home.snapshot().as_of is None:
        for old in await context.storage.all():
            if old.startswith(AT_HOME) and old not in places:
                await context.storage.delete(old)
    for key, place in places.items():
        await _ask_one(context, key, place, older_than)


async def _ask_one(context: ToolContext, key: str, place: Entity, older_than: timedelta) -> None:
    """Read one of them; one that cannot be read keeps what it said before."""
    stored, now = await context.storage.get(key), context.now
    kept = msgspec.convert(stored, Kept) if stored else Kept(name=place.name)
    if kept.read and now - kept.read < older_than:
        return
    try:
        kept.events = await home_calendars.read(context, place, now - BACK, now + AHEAD)
        kept.read, kept.problem = now, ""
    except NoAnswerError:
        return
    except HomeError as error:
        kept.problem = str(error)
        if kept.read is None:
            raise  # nothing is known of it: that nothing is in it would be made up
    await context.storage.put(key, msgspec.to_builtins(kept))


def _events(kept: list[Kept]) -> list[Event]:
    """Of all calendars, soonest first; whole days before hours."""
    events = [Event(occurrence, one.name) for one in kept for occurrence in one.events]
    return sorted(events, key=lambda e: (e.occurrence.start, not e.occurrence.whole_day))


def _matching(kept: list[Kept], said: str, now: datetime) -> list[Event]:
    """What begins after now and has every word that means something in its title or place."""
    words = words_of(said) - ANY_EVENT
    return [
        event
        for event in _events(kept)
        if event.occurrence.start > now
        and _speaks_of(f"{event.occurrence.title} {event.occurrence.location}", words)
    ]


def _speaks_of(title: str, words: frozenset[str]) -> bool:
    """Whether every word is in a title, or a part of one: "Zahnarzt" for "Zahnarzttermin"."""
    there = words_of(title)
    return all(
        any(word == t or (len(t) >= PART and t in word) or (len(word) >= PART and word in t)
            for t in there)
        for word in words
    )  # fmt: skip


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
    return f"{what.title or '-'}: {when}{place} ({event.calendar})"


def _as_of(context: ToolContext, kept: list[Kept]) -> str:
    """How old the oldest calendar is, if it is old."""
    oldest = min((one.read for one in kept if one.read), default=None)
    if oldest is None or context.now - oldest < OLD:
        return ""
    then = oldest.astimezone(context.now.tzinfo)
    return " " + say(context.language, "as_of", value=moment(then, context.now, context.language))


def _data(event: Event) -> dict[str, Any]:
    return {**msgspec.to_builtins(event.occurrence), "calendar": event.calendar}
