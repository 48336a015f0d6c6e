"""How bright and in what color lights shine."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta

from plugins.acting import EntityIds, act, act_by_value, found
from plugins.api import Entity, Plugin, ToolContext, ToolError, ToolResult
from plugins.speech import color_word, say

plugin = Plugin("lights", sentences="lights.{language}.yaml")

Percent = Annotated[int, Meta(ge=0, le=100)]
Kelvin = Annotated[int, Meta(ge=1_000, le=12_000)]
Step = Literal["up", "down"]

WHITES = {"warmwhite": 2_700, "coolwhite": 4_000}
"""Kelvin: Home Assistant has no color of these names, and would take plain white for them."""
WARMTH = {"warmer": -700, "cooler": 700}
"""Kelvin by which light becomes warmer or cooler; no color, but said like one."""
WHITE_MODES = frozenset({"color_temp", "rgbww"})
"""Color modes of a light that has a color temperature."""
FULL = 100
"""Percent."""
STEP_PERCENT = 25
"""What "brighter" means."""
ON_OFF = "onoff"
PLAIN_MODES = frozenset({ON_OFF, "brightness", "unknown"})
"""Home Assistant's color modes of lights that have one color."""
NO_COLOR_MODES = PLAIN_MODES | {"color_temp", "white"}
"""The same with those of lights that shine in white alone."""


@plugin.tool(risk="act")
async def set_(
    context: ToolContext,
    entities: EntityIds,
    brightness: Percent | None = None,
    color: Annotated[str, Meta(max_length=40)] = "",
    kelvin: Kelvin | None = None,
) -> ToolResult:
    """Set the brightness, the color or the color temperature of lights.

    brightness: percent
    color: an English color name, for instance blue; warmer or cooler, for what is on
    kelvin: color temperature; warm is 2700, cold is 6500
    """
    if brightness is not None:
        entities = _dimmable(context, entities) if 0 < brightness < FULL else entities
        return await act(
            context,
            entities,
            {"light": "turn_on"},
            "brightness",
            data={"brightness_pct": brightness},
            reached=lambda e: abs((percent(e) or 0) - brightness) <= 2,
            value=lambda e: percent(e) or 0,
        )
    if (step := WARMTH.get(color.lower())) is not None:
        return await _in_warmer_light(context, entities, color.lower(), step)
    entities = _able(context, entities, color) if color or kelvin is not None else entities
    if (white := WHITES.get(color.replace(" ", "").lower())) or kelvin is not None:
        told = color_word(color, context.language) if white else f"{kelvin} K"
        return await act(
            context, entities, {"light": "turn_on"}, "color",
            data={"color_temp_kelvin": white or kelvin}, value=lambda e: told,
        )  # fmt: skip
    if color:
        return await act(
            context, entities, {"light": "turn_on"}, "color",
            data={"color_name": color}, value=lambda e: color_word(color, context.language),
        )  # fmt: skip
    raise ToolError(say(context.language, "which_light"))


async def _in_warmer_light(
    context: ToolContext, entities: EntityIds, color: str, step: int
) -> ToolResult:
    """A step warmer or cooler, of the lights that are on and have a color temperature.

    Raises:
        ToolError: none of them is, or goes any further.
    """
    language = context.language
    able = [e for e in found(context, entities) if e.state == "on" and _has_warmth(e)]
    if not able:
        raise ToolError(say(language, "no_warmth"))
    wanted = {light.id: _kelvin(light, color, step) for light in able}
    if all(
        kelvin == light.attributes.get("color_temp_kelvin")
        for light, kelvin in zip(able, wanted.values(), strict=True)
    ):
        raise ToolError(say(language, "warmth_limit", [light.name for light in able]))
    told = color_word(color, language)
    return await act_by_value(
        wanted,
        lambda ids, kelvin: act(
            context, ids, {"light": "turn_on"}, "color",
            data={"color_temp_kelvin": int(kelvin)}, value=lambda e: told,
        ),
    )  # fmt: skip


def _has_warmth(light: Entity) -> bool:
    return bool(WHITE_MODES & set(light.attributes.get("supported_color_modes") or ()))


def _kelvin(light: Entity, color: str, step: int) -> int:
    """The color temperature a step further; of a light that is colored now, a white."""
    now = light.attributes.get("color_temp_kelvin")
    if now is None:
        wanted = WHITES["warmwhite" if color == "warmer" else "coolwhite"]
    else:
        wanted = round(float(now)) + step
    least = light.attributes.get("min_color_temp_kelvin") or wanted
    most = light.attributes.get("max_color_temp_kelvin") or wanted
    return max(int(least), min(int(most), wanted))


@plugin.tool(risk="act")
async def change(
    context: ToolContext, entities: EntityIds, step: Step, by: Percent | None = None
) -> ToolResult:
    """Make lights a step brighter or darker.

    by: percent of the full brightness; else a quarter, and no more than half of what there is

    Raises:
        ToolError: what shall be darker is off.
    """
    lights = found(context, _dimmable(context, entities))
    lit = [light for light in lights if light.state == "on"]
    if not lit and step == "down":
        raise ToolError(say(context.language, "still_off", [light.name for light in lights]))
    lit = lit or lights
    wanted = {light.id: _stepped(percent(light) or 0, step, by) for light in lit}
    return await act_by_value(wanted, lambda ids, value: set_(context, ids, brightness=int(value)))


def _dimmable(context: ToolContext, entities: Sequence[str]) -> list[str]:
    """Those of the lights that are more than on and off, as far as they tell.

    Raises:
        ToolError: none is.
    """
    lights = found(context, entities)
    able = [light.id for light in lights if _color_modes(light) != {ON_OFF}]
    if not able:
        names = [light.name for light in lights]
        raise ToolError(say(context.language, "no_brightness", names))
    return able


def _able(context: ToolContext, entities: Sequence[str], color: str = "") -> list[str]:
    """Those of the lights that shine in several whites, or in colors where one is named, as far as
    they tell.

    Raises:
        ToolError: none does.
    """
    lights = found(context, entities)
    white = color.replace(" ", "").lower() in {"", "white", *WHITES}
    lacking = PLAIN_MODES if white else NO_COLOR_MODES
    able = [light.id for light in lights if not _color_modes(light) <= lacking]
    if not able:
        names = [light.name for light in lights]
        raise ToolError(
            say(context.language, "no_color_temperature" if white else "no_color", names)
        )
    return able


def _color_modes(light: Entity) -> frozenset[str]:
    """Home Assistant's color modes of a light; where it does not tell, that of any color."""
    modes = light.attributes.get("supported_color_modes")
    return frozenset(map(str, modes)) if isinstance(modes, list) else frozenset({"hs"})


def _stepped(now: int, step: Step, by: int | None) -> int:
    """A light that is on is not dimmed until it is off, nor by a step to next to nothing: half the
    light looks a step darker however bright it was."""
    if step == "up":
        return min(100, now + (STEP_PERCENT if by is None else by))
    less = min(STEP_PERCENT, now // 2) if by is None else by
    return max(1 if now else 0, now - less)


def percent(light: Entity) -> int | None:
    """Brightness in percent; 100 for a light that is on and cannot be dimmed."""
    brightness = light.attributes.get("brightness")
    if light.state != "on":
        return 0
    return 100 if brightness is None else round(float(brightness) / 2.55)
