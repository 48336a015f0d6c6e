"""The hub's own calendar: what the family has it put down where no other calendar can be written.

An event is one document of the plugin ``calendar``. What comes again is kept once, with its rule
and the days that were left out. No plugin itself.
"""

import asyncio
import secrets
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

import msgspec

from plugins.api import ToolContext, ToolError
from plugins.ics import Occurrence
from plugins.speech import say

KEY = "own"
PREFIX = f"{KEY}:"
"""Of the keys of its events in the storage."""
MAXIMUM = 2_000
MOST_TIMES = 60
"""More than a year of what comes every week."""
WEEKLY = ("FREQ=DAILY", "FREQ=WEEKLY")
"""What comes on the same days of every week."""
FORGET = timedelta(days=400)
"""What happened once and is over so long is forgotten."""


class _Kept(msgspec.Struct, kw_only=True):
    event: Occurrence
    skipped: tuple[date, ...] = ()
    """Days on which one that comes again does not."""


async def add(context: ToolContext, event: Occurrence) -> str:
    """Keep an event; its new id.

    Raises:
        ToolError: there are too many.
    """
    if len(await _all(context)) >= MAXIMUM:
        raise ToolError(say(context.language, "calendar_full", value=MAXIMUM))
    uid = secrets.token_hex(8)
    await _put(context, uid, _Kept(event=event))
    return uid


async def remove(context: ToolContext, event: Occurrence, *, series: bool) -> None:
    """Delete an event; of one that comes again that day alone, unless the series is meant."""
    if series or not event.rule:
        await context.storage.delete(f"{PREFIX}{event.uid}")
        return
    kept = await _get(context, event.uid)
    kept.skipped = (*kept.skipped, event.start.astimezone(context.now.tzinfo).date())
    await _put(context, event.uid, kept)


async def put_back(context: ToolContext, event: Occurrence) -> None:
    """Let one that comes again do so on the day that was left out."""
    kept = await _get(context, event.uid)
    day = event.start.astimezone(context.now.tzinfo).date()
    kept.skipped = tuple(one for one in kept.skipped if one != day)
    await _put(context, event.uid, kept)


async def change(context: ToolContext, event: Occurrence, to: Occurrence) -> str:
    """Let an event be another; of one that comes again that day alone. Its id."""
    if not event.rule:
        await _put(context, event.uid, _Kept(event=to))
        return event.uid
    await remove(context, event, series=False)
    return await add(context, to)


async def occurrences(context: ToolContext, first: datetime, last: datetime) -> list[Occurrence]:
    """What happens between two times, soonest first; of each event the first ``MOST_TIMES``."""
    there = await _all(context)
    for uid, kept in there.items():
        if not kept.event.rule and context.now - kept.event.end > FORGET:
            await context.storage.delete(f"{PREFIX}{uid}")
    now = context.now

    def every() -> list[Occurrence]:
        found = [
            msgspec.structs.replace(one, uid=uid)
            for uid, kept in there.items()
            for one in islice(_times(kept, first, last, now), MOST_TIMES)
        ]
        return sorted(found, key=lambda one: (one.start, one.title))

    return await asyncio.to_thread(every)  # 1 ms for what comes every day, and the import once


async def is_empty(context: ToolContext) -> bool:
    """Whether nothing is kept in it."""
    return not await _all(context)


async def _all(context: ToolContext) -> dict[str, _Kept]:
    """Its events, by their ids."""
    return {
        key.removeprefix(PREFIX): msgspec.convert(stored, _Kept)
        for key, stored in (await context.storage.all()).items()
        if key.startswith(PREFIX)
    }


def _times(kept: _Kept, first: datetime, last: datetime, now: datetime) -> Iterator[Occurrence]:
    """The times of an event, by the clock on the wall: seven stays seven all the year."""
    event = kept.event
    begin = event.start.astimezone(now.tzinfo)
    length = event.end - event.start
    for wall in _walls(event.rule, begin.replace(tzinfo=None), first, last, length):
        start = wall.replace(tzinfo=now.tzinfo)
        start = start.astimezone(UTC).astimezone(now.tzinfo)  # a moment that exists
        end = (wall + length).replace(tzinfo=now.tzinfo) if event.whole_day else start + length
        if start < last and end > first and start.date() not in kept.skipped:
            yield msgspec.structs.replace(event, start=start, end=end)


def _walls(
    rule: str, begin: datetime, first: datetime, last: datetime, length: timedelta
) -> list[datetime]:
    if not rule:
        return [begin]
    from dateutil.rrule import rrulestr

    margin = length + timedelta(days=2)
    if rule.startswith(WEEKLY) and "INTERVAL" not in rule:
        # whole weeks, which change nothing, need not be counted one by one
        weeks = (first.replace(tzinfo=None) - margin - begin) // timedelta(weeks=1)
        begin += timedelta(weeks=max(0, weeks))
    every: Any = rrulestr(rule, dtstart=begin)
    found: list[datetime] = every.between(
        first.replace(tzinfo=None) - margin, last.replace(tzinfo=None) + margin, inc=True
    )
    return found


async def _get(context: ToolContext, uid: str) -> _Kept:
    """Raises ``ToolError`` where it is not there any more."""
    stored = await context.storage.get(f"{PREFIX}{uid}")
    if stored is None:
        raise ToolError(say(context.language, "no_such_event", ["-"]))
    return msgspec.convert(stored, _Kept)


async def _put(context: ToolContext, uid: str, kept: _Kept) -> None:
    await context.storage.put(f"{PREFIX}{uid}", msgspec.to_builtins(kept))
