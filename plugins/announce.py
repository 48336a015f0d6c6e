"""Announcements: on every open page, and out of the speakers that the configuration names."""

import contextlib
from typing import Annotated

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
from plugins.speech import say as told

plugin = Plugin("announce", sentences="announce.{language}.yaml")

SATELLITE = "assist_satellite."
"""Speaks by itself; a media player needs a voice."""


@plugin.tool(risk="act", timeout_s=20)
async def say(
    context: ToolContext, message: Annotated[str, Meta(min_length=1, max_length=2000)]
) -> ToolResult:
    """Tell everyone in the house a message, on the open pages and out of the speakers."""
    pages = context.emit("announcement", {"text": message, "at": context.now.isoformat()})
    heard = [told(context.language, "open_pages", value=pages)] if pages else []
    problem = ""
    try:
        heard += await _speak(context, message)
    except HomeError as error:
        problem = str(error)
    if problem and not heard:
        raise ToolError(problem)
    if not heard:
        return ToolResult(text=told(context.language, "unheard", [message], count=False))
    text = told(context.language, "announced", [message], ", ".join(heard), count=False)
    return ToolResult(text=f"{text}. {problem}" if problem else text)


async def _speak(context: ToolContext, message: str) -> list[str]:
    """Let the speakers of the configuration say it; returns their names.

    Raises:
        HomeError: one of them does not.
    """
    speakers = [str(one) for one in context.settings.get("speakers", ())]
    voice = str(context.settings.get("voice", ""))
    satellites = [one for one in speakers if one.startswith(SATELLITE)]
    players = [one for one in speakers if not one.startswith(SATELLITE)]
    names = {entity.id: entity.name for entity in context.home.snapshot().entities}
    speaks = players and not voice.endswith("_say")  # else an older one: an action, no entity
    for one in (*speakers, voice) if speaks else speakers:
        if one not in names:
            raise HomeError(f"There is no {one} in this household, or it is not exposed.")
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
