"""The time and the date."""

from plugins.api import Plugin, ToolContext, ToolResult
from plugins.speech import say
from plugins.spoken import full_date

plugin = Plugin("clock", sentences="clock.{language}.yaml")


@plugin.tool(risk="read")
async def time(context: ToolContext) -> ToolResult:
    """Tell the time."""
    now = context.now
    text = say(context.language, "time_now", value=f"{now:%H:%M}")
    return ToolResult(text=text, data={"now": now.isoformat()})


@plugin.tool(risk="read")
async def date(context: ToolContext) -> ToolResult:
    """Tell the date and the day of the week."""
    now = context.now
    text = say(context.language, "date_today", value=full_date(now.date(), context.language))
    return ToolResult(text=text, data={"now": now.isoformat()})
