"""Announcements on every open page."""

from typing import Annotated

from msgspec import Meta

from plugins.api import Plugin, ToolContext, ToolResult

plugin = Plugin("announce", sentences="announce.{language}.yaml")

SAID = {
    "en": "Announced: {}", "de": "Durchgesagt: {}", "fr": "Annoncé : {}", "es": "Anunciado: {}",
    "zh": "已广播：{}",
}  # fmt: skip


@plugin.tool(risk="act")
async def say(
    context: ToolContext, message: Annotated[str, Meta(min_length=1, max_length=500)]
) -> ToolResult:
    """Show a message on every page of the household that is open."""
    context.emit("announcement", {"text": message, "at": context.now.isoformat()})
    return ToolResult(text=SAID.get(context.language, SAID["en"]).format(message))
