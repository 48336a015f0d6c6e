"""Announcements, on every open page and out of the speakers that the configuration names, which say
what rings as well."""

import contextlib
import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any

from msgspec import Meta

from plugins.api import (
    HomeError,
    Plugin,
    ServiceResult,
    StillBusyError,
    ToolContext,
    ToolError,
    ToolResult,
)
from plugins.german_clauses import main_clause
from plugins.speech import say as told

plugin = Plugin("announce", sentences="announce.{language}.yaml")

log = logging.getLogger(__name__)

RINGS = 3
"""So often is said what rings, unless somebody stops it; a reminder once."""
EVERY = timedelta(minutes=1)
SATELLITE = "assist_satellite."
"""Speaks by itself; a media player needs a voice."""


@plugin.tool(risk="act", timeout_s=20)
async def say(
    context: ToolContext, message: Annotated[str, Meta(min_length=1, max_length=2000)]
) -> ToolResult:
    """Tell everyone in the house a message, on the open pages and out of the speakers."""
    message = main_clause(message) if context.language == "de" else message
    pages = context.emit("announcement", {"text": message, "at": context.now.isoformat()})
    heard = [told(context.language, "open_pages", value=pages)] if pages else []
    problem = ""
    try:
        heard += await _speak(context, message, _speakers(context))
    except HomeError as error:
        problem = str(error)
    if problem and not heard:
        raise ToolError(problem)
    if not heard:
        return ToolResult(text=told(context.language, "unheard", [message], count=False))
    text = told(context.language, "announced", [message], ", ".join(heard), count=False)
    return ToolResult(text=f"{text}. {problem}" if problem else text)


@plugin.hears("timer", "reminder")
async def ring(context: ToolContext, event: str, data: Mapping[str, Any]) -> None:
    """Let the speakers say what rings, in the room where it was set if that has one."""
    key = str(data["id"])
    if data["state"] != "ringing":
        await context.storage.delete(key)
        await context.jobs.cancel(key)
        return
    entities = context.home.snapshot().entities
    rooms = {entity.id: entity.area for entity in entities}
    speakers = _speakers(context) if context.settings.get("rings") else []
    here = [one for one in speakers if data["area"] and rooms.get(one) == data["area"]]
    if speakers:
        times = 1 if data.get("kind") == "reminder" else RINGS
        await _ring(context, key, data["text"], here or speakers, times)


@plugin.job
async def ring_again(context: ToolContext, key: str) -> None:
    """Say once more what still rings."""
    stored = await context.storage.get(key)
    if stored is not None:
        await _ring(context, key, stored["text"], stored["speakers"], stored["times"])


async def _ring(
    context: ToolContext, key: str, text: str, speakers: Sequence[str], times: int
) -> None:
    """Say it so many times, this time included. What is to come is kept before it is said."""
    if times > 1:
        left = {"text": text, "speakers": list(speakers), "times": times - 1}
        await context.storage.put(key, left)
        await context.jobs.run_at(key, context.now + EVERY)
    else:
        await context.storage.delete(key)
    try:
        await _speak(context, text, speakers)
    except HomeError as error:  # the pages and Home Assistant's event ring all the same
        log.warning("what rings cannot be said: %s", error)


def _speakers(context: ToolContext) -> list[str]:
    return [str(one) for one in context.settings.get("speakers", ())]


async def _speak(context: ToolContext, message: str, speakers: Sequence[str]) -> list[str]:
    """Let speakers say it; returns their names.

    Raises:
        HomeError: one of them does not.
    """
    voice = str(context.settings.get("voice", ""))
    satellites = [one for one in speakers if one.startswith(SATELLITE)]
    players = [one for one in speakers if not one.startswith(SATELLITE)]
    names = {entity.id: entity.name for entity in context.home.snapshot().entities}
    speaks = players and not voice.endswith("_say")  # else an older one: an action, no entity
    for one in (*speakers, voice) if speaks else speakers:
        if one not in names:
            raise HomeError(told(context.language, "not_here", value=one))
    call, said = context.home.call, {"message": message}
    if satellites:
        with contextlib.suppress(StillBusyError):  # it answers when it has said all of it
            _check(await call("assist_satellite.announce", satellites, said))
    if speaks:  # the voice's own state is a time, or unknown before it first spoke: not read back
        spoken = {**said, "entity_id": voice, "media_player_entity_id": players}
        _check(await call("tts.speak", (), spoken))
    elif players:
        _check(await call(voice, players, said))
    return [names[one] for one in speakers]


def _check(result: ServiceResult) -> None:
    for entity, why in result.failed.items():
        raise HomeError(f"{entity}: {why}.")
