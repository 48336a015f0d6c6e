"""The daily briefing, announced: date, weather, calendar, reminders and timers."""

import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from msgspec import Meta

from plugins.api import (
    MissingArgumentError,
    Plugin,
    ToolCall,
    ToolContext,
    ToolError,
    ToolResult,
)
from plugins.days import DAILY
from plugins.moments import asked_when, repeated
from plugins.next_time import kept_as, kept_time, next_time
from plugins.speech import full_stop, say
from plugins.when import parse

plugin = Plugin("briefing", sentences="briefing.{language}.yaml")

KEY = "daily"
LONGEST = 2000
"""Characters of an announcement."""
LATE = timedelta(hours=3)
"""A briefing that would come later than this, because the box was off, is left out."""


@plugin.tool(risk="read", timeout_s=30)
async def tell(context: ToolContext) -> ToolResult:
    """Tell the day: date, weather, calendar, reminders and timers."""
    parts = [part for part in [await _said(context, tool) for tool in SAID] if part]
    parts += await _reminders(context)
    timers = await _result(context, "timers.list")
    if timers and timers.data["timers"]:
        parts.append(timers.text)
    return ToolResult(text=" ".join(parts))


SAID = ("clock.date", "weather.now", "calendar.agenda")
"""The tools whose words are said as they are."""


def _fits(arguments: Mapping[str, Any], language: str) -> bool:
    """Whether it says a time: "my briefing while I pack the lunches" is wanted now."""
    when = str(arguments.get("when", ""))
    return not when or parse(when, language, datetime(2000, 1, 1, tzinfo=UTC)).at is not None


@plugin.tool(risk="act", fits=_fits)
async def schedule(
    context: ToolContext, when: Annotated[str, Meta(max_length=100)] = ""
) -> ToolResult:
    """Announce the briefing every day at a time.

    when: for instance at 7, or every weekday at half past six
    """
    said = parse(when, context.language, context.now)
    if said.at is None:
        raise MissingArgumentError("when", asked_when(said, context.language))
    said = said._replace(repeat=said.repeat or DAILY, rest="")
    first = next_time(said, context.now)
    said = said.since(first.date())
    repeat, time = said.repeat, kept_as(said)
    stored: dict[str, Any] = {
        "time": time,
        "repeat": list(repeat),
        "language": context.language,
        "area": context.area,
    }
    await context.storage.put(KEY, stored)
    await _wait(context, stored)
    text = say(context.language, "briefing_set", value=repeated(context, repeat, time, first))
    return ToolResult(text=text, data=stored, undo=ToolCall(tool="briefing.stop"))


@plugin.tool(risk="act")
async def stop(context: ToolContext) -> ToolResult:
    """Announce no briefing any more."""
    await context.jobs.cancel(KEY)
    if not await context.storage.delete(KEY):
        raise ToolError(say(context.language, "briefing_none"))
    return ToolResult(text=say(context.language, "briefing_off"))


@plugin.job
async def announce(context: ToolContext, key: str) -> None:
    """The time has come; the next is set first, so that a fault costs one day and not all."""
    stored = await context.storage.get(key)
    if stored is None:
        return
    due = datetime.fromisoformat(stored["due"])
    await _wait(context, stored)
    if context.now - due > LATE:
        return
    told = await context.call(ToolCall(tool="briefing.tell"), stored["language"], stored["area"])
    with contextlib.suppress(ToolError):  # a speaker does not answer
        await context.call(
            ToolCall(tool="announce.say", arguments={"message": told.text[:LONGEST]})
        )


async def _wait(context: ToolContext, stored: dict[str, Any]) -> None:
    """Set the next time."""
    when = kept_time(stored["time"])._replace(repeat=tuple(stored["repeat"]))
    due = next_time(when, context.now)
    await context.storage.put(KEY, {**stored, "due": due.isoformat()})
    await context.jobs.run_at(KEY, due)


async def _said(context: ToolContext, tool: str) -> str:
    result = await _result(context, tool)
    return f"{result.text[:1].upper()}{result.text[1:]}" if result else ""


async def _result(context: ToolContext, tool: str) -> ToolResult | None:
    """What another tool says; ``None`` where it has nothing: no calendar, no weather."""
    try:
        result = await context.call(ToolCall(tool=tool))
    except ToolError:
        return None
    return None if result.data.get("calendars") == 0 else result


async def _reminders(context: ToolContext) -> list[str]:
    """Those of today that wait for their time."""
    result = await _result(context, "reminders.list")
    today = []
    for entry in result.data["reminders"] if result else ():
        due = datetime.fromisoformat(entry["due"]).astimezone(context.now.tzinfo)
        waits = entry["state"] == "waiting" and not entry["arrival"]
        if waits and entry["what"] and due.date() == context.now.date():
            today.append(f"{due:%H:%M} {entry['what']}{full_stop(context.language)}")
    return today
