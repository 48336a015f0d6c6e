"""Robots that mow the lawn."""

from plugins.acting import EntityIds, act
from plugins.api import Plugin, ToolContext, ToolResult

plugin = Plugin("mower")


@plugin.tool(risk="act")
async def start(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Start mowing."""
    return await act(
        context, entities, {"lawn_mower": "start_mowing"}, "mowing",
        reached=lambda e: e.state == "mowing",
    )  # fmt: skip


@plugin.tool(risk="act")
async def return_home(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Send the mower back to its dock."""
    return await act(
        context, entities, {"lawn_mower": "dock"}, "returning",
        reached=lambda e: e.state in ("returning", "docked"),
    )  # fmt: skip
