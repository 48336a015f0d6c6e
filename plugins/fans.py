"""How fast fans turn."""

from typing import Annotated, Literal

from msgspec import Meta

from plugins.acting import EntityIds, act, found
from plugins.api import Plugin, ToolContext, ToolResult

plugin = Plugin("fans")

STEP_PERCENT = 25


@plugin.tool(risk="act")
async def set_speed(
    context: ToolContext, entities: EntityIds, percentage: Annotated[int, Meta(ge=0, le=100)]
) -> ToolResult:
    """Set the speed of fans.

    percentage: 0 is off
    """
    return await act(
        context,
        entities,
        {"fan": "set_percentage"},
        "speed",
        data={"percentage": percentage},
        reached=lambda e: abs(int(e.attributes.get("percentage") or 0) - percentage) <= 10,
        value=lambda e: int(e.attributes.get("percentage") or 0),
    )


@plugin.tool(risk="act")
async def change(
    context: ToolContext, entities: EntityIds, step: Literal["up", "down"]
) -> ToolResult:
    """Make fans a step faster or slower."""
    now = max(
        int(fan.attributes.get("percentage") or (50 if fan.state == "on" else 0))
        for fan in found(context, entities)
    )
    wanted = now + (STEP_PERCENT if step == "up" else -STEP_PERCENT)
    return await set_speed(context, entities, percentage=min(100, max(0, wanted)))
