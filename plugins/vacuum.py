"""Robots that clean the floor."""

from typing import Annotated

from msgspec import Meta

from plugins.acting import EntityIds, act
from plugins.api import Plugin, ToolContext, ToolError, ToolResult
from plugins.speech import say

plugin = Plugin("vacuum", sentences="vacuum.{language}.yaml")


@plugin.tool(risk="act")
async def start(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Start cleaning."""
    return await act(
        context, entities, {"vacuum": "start"}, "cleaning", reached=lambda e: e.state == "cleaning"
    )


@plugin.tool(risk="act")
async def stop(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Stop cleaning, where it is."""
    return await act(
        context, entities, {"vacuum": "pause"}, "halted", reached=lambda e: e.state != "cleaning"
    )


@plugin.tool(risk="act")
async def return_home(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Send the robot back to its dock."""
    return await act(
        context, entities, {"vacuum": "return_to_base"}, "returning",
        reached=lambda e: e.state in ("returning", "docked"),
    )  # fmt: skip


@plugin.tool(risk="act")
async def clean_area(
    context: ToolContext, entities: EntityIds, area: Annotated[str, Meta(max_length=120)] = ""
) -> ToolResult:
    """Clean one room.

    area: the room; empty for the room that the person is in
    """
    snapshot = context.home.snapshot()
    wanted = (area or context.area).casefold()
    called = {a: {a.id, a.name.casefold(), *map(str.casefold, a.aliases)} for a in snapshot.areas}
    room = next((a for a, names in called.items() if wanted in names), None)
    if room is None:
        raise ToolError(say(context.language, "which_room"))
    return await act(
        context,
        entities,
        {"vacuum": "clean_area"},
        "cleaning",
        data={"cleaning_area_id": [room.id]},
        reached=lambda e: e.state == "cleaning",
    )
