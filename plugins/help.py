"""Greetings, thanks and "what can you do?": what the hub is for, in two sentences."""

from plugins.api import Plugin, ToolContext, ToolResult

plugin = Plugin("help", sentences="help.{language}.yaml")


@plugin.tool(risk="read")
async def show(context: ToolContext) -> ToolResult:
    """Say what the hub can do."""
    return ToolResult(
        text="Ask me what your documents tell, for instance what an error code means or when the"
        " bins are emptied, and I show you the page. I also set timers:"
        " “set a pasta timer for 9 minutes”."
    )


@plugin.tool(risk="read")
async def welcome(context: ToolContext) -> ToolResult:
    """Answer thanks."""
    return ToolResult(text="You're welcome.")


@plugin.tool(risk="read")
async def never_mind(context: ToolContext) -> ToolResult:
    """Do nothing after all."""
    return ToolResult(text="All right.")
