"""How fast fans turn."""

from typing import Annotated, Literal

from msgspec import Meta

from plugins.acting import EntityIds, act, act_by_value, found
from plugins.api import Entity, Plugin, ToolContext, ToolResult

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
    context: ToolContext,
    entities: EntityIds,
    step: Literal["up", "down"],
    by: Annotated[int, Meta(ge=0, le=100)] = STEP_PERCENT,
) -> ToolResult:
    """Make fans a step faster or slower.

    by: percent of the full speed
    """
    difference = by if step == "up" else -by
    wanted = {
        fan.id: min(100, max(0, _speed(fan) + difference)) for fan in found(context, entities)
    }
    return await act_by_value(
        wanted, lambda ids, value: set_speed(context, ids, percentage=int(value))
    )


def _speed(fan: Entity) -> int:
    """Percent; half for one that turns and does not tell how fast."""
    return int(fan.attributes.get("percentage") or (50 if fan.state == "on" else 0))
