"""How humid the air shall be."""

from typing import Annotated

from msgspec import Meta

from plugins.acting import EntityIds, act
from plugins.api import Entity, Plugin, ToolContext, ToolResult

plugin = Plugin("humidifiers")


@plugin.tool(risk="act")
async def set_(
    context: ToolContext, entities: EntityIds, humidity: Annotated[int, Meta(ge=0, le=100)]
) -> ToolResult:
    """Set the humidity that humidifiers or dehumidifiers bring about.

    humidity: percent
    """
    return await act(
        context,
        entities,
        {"humidifier": "set_humidity"},
        "humidity",
        data={"humidity": humidity},
        reached=lambda e: _target(e) == humidity,
        value=_target,
    )


def _target(humidifier: Entity) -> int:
    return int(humidifier.attributes.get("humidity") or 0)
