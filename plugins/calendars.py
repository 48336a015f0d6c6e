"""The family's calendars as they are kept: read from files and addresses in iCalendar form, from
Home Assistant, and the hub's own. Shared by plugins; no plugin itself.

What a calendar said is kept, so that a network that is away changes nothing but how old the answer
is.
"""

import asyncio
import hashlib
import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import aiohttp
import msgspec

from plugins import home_calendars, ics, own_calendar
from plugins.api import Entity, HomeError, NoAnswerError, ToolContext
from plugins.home_calendars import CAN_ADD, CAN_CHANGE, CAN_DELETE
from plugins.ics import CalendarError, Occurrence, Window
from plugins.note_words import words_of
from plugins.speech import say

log = logging.getLogger(__name__)

BACK, AHEAD = timedelta(days=1), timedelta(days=400)
"""How much of a calendar is kept; it is read again long before that is over."""
FETCH_LIMIT_S = 30.0
REDIRECTS = 3
FRESH = timedelta(minutes=15)
"""How long a calendar of Home Assistant is taken for read where a question may not be of it."""
AT_HOME = "home:"
"""What the keys of its calendars begin with."""
PART = 4
"""Letters of a word that is a part of another."""
ANY_EVENT = frozenset({
    "appointment", "appointments", "event", "events", "meeting", "anything", "next", "thing",
    "termin", "termine", "rendez", "vous", "événement", "cita", "evento",
    "约", "预", "活", "动", "程", "日", "次", "下", "一",
})  # fmt: skip
"""Words that say that something is an event, and nothing about which."""


class Source(NamedTuple):
    """A calendar of the configuration."""

    name: str
    place: str
    """An address, which may hold a secret and is never shown, or a path."""


class Kept(msgspec.Struct, kw_only=True):
    """What is kept of a calendar."""

    name: str
    key: str = ""
    """Its own: where it is kept, or whose it is."""
    allowed: int = 0
    """What may be done with its events, as bits: ``home_calendars.CAN_ADD`` …"""
    read: datetime | None = None
    """When it was last read; ``None``: never."""
    problem: str = ""
    """Why the last attempt failed."""
    events: list[Occurrence] = []


class Event(NamedTuple):
    """An occurrence, and the calendar that says so."""

    occurrence: Occurrence
    calendar: str
    """Its name."""
    key: str = ""
    allowed: int = 0
    """As of its calendar."""

    @property
    def id(self) -> str:
        """Of this time of it."""
        return f"{self.occurrence.uid}@{self.occurrence.start.isoformat()}"


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


async def refresh_one(context: ToolContext, source: Source) -> None:
    """Read one calendar; one that cannot be read keeps what it said before."""
    stored = await context.storage.get(key_of(source))
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
    await context.storage.put(key_of(source), msgspec.to_builtins(kept))


def key_of(source: Source) -> str:
    """Of a place, so that another address under the same name is another calendar."""
    return hashlib.sha256(f"{source.name}\n{source.place}".encode()).hexdigest()[:24]


async def calendars(
    context: ToolContext,
    older_than: timedelta = timedelta(0),
    days: tuple[datetime, datetime] | None = None,
) -> list[Kept]:
    """All of them, the hub's own last; those of Home Assistant that were read before so long are
    read again.

    days: the beginning and the end of what is asked for; else all that is kept

    Raises:
        HomeError: nothing is known of one of them yet, and it cannot be read.
    """
    places = {f"{AT_HOME}{place.id}": place for place in home_calendars.exposed(context)}
    if context.home.snapshot().as_of is None:
        for old in await context.storage.all():
            if old.startswith(AT_HOME) and old not in places:
                await context.storage.delete(old)
    for key, place in places.items():
        await _ask_one(context, key, place, older_than)
    return await kept_calendars(context, days)


async def calendar_now(context: ToolContext, key: str) -> Kept | None:
    """One of them alone, if it is there; where it is one of Home Assistant's it is read again.

    Raises:
        HomeError: as of ``calendars``.
    """
    for place in home_calendars.exposed(context):
        if f"{AT_HOME}{place.id}" == key:
            await _ask_one(context, key, place, timedelta(0))
    return next((one for one in await kept_calendars(context) if one.key == key), None)


async def kept_calendars(
    context: ToolContext, days: tuple[datetime, datetime] | None = None
) -> list[Kept]:
    """The same as they are known, without asking anyone."""
    places = home_calendars.exposed(context)
    allowed = {f"{AT_HOME}{place.id}": home_calendars.allowed(place) for place in places}
    found = []
    for key, stored in (await context.storage.all()).items():
        if not key.startswith(own_calendar.PREFIX):
            kept = msgspec.convert({**stored, "key": key}, Kept)
            kept.allowed = allowed.get(key, 0)
            found.append(kept)
    first, last = days or (context.now - BACK, context.now + AHEAD)
    own = await own_calendar.occurrences(context, first, last)
    name = say(context.language, "own_calendar")
    everything = CAN_ADD | CAN_DELETE | CAN_CHANGE
    found.append(Kept(name=name, key=own_calendar.KEY, allowed=everything, events=own))
    return found


async def forget_others(context: ToolContext, keys: Collection[str]) -> None:
    """Forget what was kept of files and addresses that are not among these."""
    for old in await context.storage.all():
        if old not in keys and not old.startswith((AT_HOME, own_calendar.PREFIX)):
            await context.storage.delete(old)


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


def all_events(kept: Sequence[Kept]) -> list[Event]:
    """Of all calendars, soonest first; whole days before hours."""
    events = [
        Event(occurrence, one.name, one.key, one.allowed)
        for one in kept
        for occurrence in one.events
    ]
    return sorted(events, key=lambda e: (e.occurrence.start, not e.occurrence.whole_day))


def matching(kept: Sequence[Kept], said: str, now: datetime) -> list[Event]:
    """What begins after now and has every word that means something in its title or place."""
    words = words_of(said) - ANY_EVENT
    return [
        event
        for event in all_events(kept)
        if event.occurrence.start > now
        and speaks_of(f"{event.occurrence.title} {event.occurrence.location}", words)
    ]


def speaks_of(title: str, words: frozenset[str]) -> bool:
    """Whether every word is in a title, or a part of one: "Zahnarzt" for "Zahnarzttermin"."""
    there = words_of(title)
    return all(
        any(word == t or (len(t) >= PART and t in word) or (len(word) >= PART and word in t)
            for t in there)
        for word in words
    )  # fmt: skip
