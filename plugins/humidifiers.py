"""How humid the air shall be."""

from typing import Annotated

from msgspec import Meta

from plugins.acting import EntityIds, act, after
from plugins.api import Entity, Plugin, ToolContext, ToolResult

plugin = Plugin("humidifiers")


@plugin.tool(risk="act")
async def set_(
    context: ToolContext, entities: EntityIds, humidity: Annotated[int, Meta(ge=0, le=100)]
) -> ToolResult:
    """Set the humidity that humidifiers or dehumidifiers bring about; those that are off are turned
    on, since nothing comes of it else.

    humidity: percent
    """
    home = context.home.snapshot()
    off = [one for one in entities if (found := home.entity(one)) and found.state == "off"]
    on = await act(context, off, "homeassistant.turn_on", "on", reached=_runs) if off else None
    set_to = await act(
        context,
        entities,
        {"humidifier": "set_humidity"},
        "humidity",
        data={"humidity": humidity},
        reached=lambda e: _target(e) == humidity,
        value=_target,
    )
    return after(on, set_to) if on else set_to


def _runs(humidifier: Entity) -> bool:
    return humidifier.state != "off"


def _target(humidifier: Entity) -> int:
    return int(humidifier.attributes.get("humidity") or 0)
