"""Greetings, thanks and "what can you do?": what the hub is for, in a few sentences."""

from plugins.api import Plugin, ToolContext, ToolResult
from plugins.speech import say

plugin = Plugin("help", sentences="help.{language}.yaml")


@plugin.tool(risk="read")
async def show(context: ToolContext) -> ToolResult:
    """Say what the hub can do."""
    return ToolResult(text=say(context.language, "help"))


@plugin.tool(risk="read")
async def hello(context: ToolContext) -> ToolResult:
    """Answer a greeting."""
    return ToolResult(text=say(context.language, "hello"))


@plugin.tool(risk="read")
async def welcome(context: ToolContext) -> ToolResult:
    """Answer thanks."""
    return ToolResult(text=say(context.language, "welcome"))


@plugin.tool(risk="read")
async def never_mind(context: ToolContext) -> ToolResult:
    """Do nothing after all."""
    return ToolResult(text=say(context.language, "all_right"))
