"""The weather, as the household's own weather entity tells it."""

from plugins.acting import found
from plugins.api import Entity, Plugin, ToolContext, ToolError, ToolResult
from plugins.speech import say

plugin = Plugin("weather", sentences="weather.{language}.yaml")


@plugin.tool(risk="read")
async def now(context: ToolContext, entities: tuple[str, ...] = ()) -> ToolResult:
    """Tell the weather."""
    places = found(context, entities) or [
        entity for entity in context.home.snapshot().entities if entity.domain == "weather"
    ]
    if not places:
        raise ToolError("The household has no weather entity.")
    text = " ".join(
        say(context.language, "weather", [place.name], _told(place)) for place in places
    )
    return ToolResult(text=text, data={"weather": {p.id: p.state for p in places}})


def _told(place: Entity) -> str:
    """``rainy, 8 °C``."""
    degrees = place.attributes.get("temperature")
    unit = place.attributes.get("temperature_unit", "°C")
    return place.state.replace("-", " ") + (f", {degrees} {unit}" if degrees is not None else "")
