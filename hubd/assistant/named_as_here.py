"""An utterance in the house's own names for rooms that it calls by another language's words."""

from collections.abc import Awaitable, Callable

from hubd.assistant.several import Part
from hubd.assistant.understanding.house_words import in_house_words
from hubd.home.model import Snapshot

KEEP_TEXTS = ("alarms.", "announce.", "calendar.", "lists.", "notes.", "reminders.", "timers.")
"""Plugins to which a text is given in a person's words."""

Parts = Callable[[str, str, str], Awaitable[list[Part]]]
"""The commands of a text in a language, said in an area."""


async def named_as_here(
    text: str, language: str, area: str, snapshot: Snapshot, parts: Parts
) -> str:
    """``text`` with the house's names, but where a text is kept ("clean the „Bad“")."""
    said = in_house_words(text, language, snapshot)
    if said == text:
        return text
    tools = {part.decision.tool or "" for part in await parts(said, language, area)}
    return text if any(tool.startswith(KEEP_TEXTS) for tool in tools) else said
