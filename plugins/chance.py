"""Coins, dice and numbers, for games and decisions; as fair as the machine's own randomness."""

import re
import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from plugins.api import Plugin, ToolContext, ToolError, ToolResult
from plugins.speech import full_stop, joined, say

plugin = Plugin("chance", sentences="chance.{language}.yaml")

_OR = re.compile(r"\s*(?:,|，|、)\s*(?:or |oder |ou |o )?|\s+(?:or|oder|ou|o)\s+|还是|或者?")
_AND = re.compile(r"\s+(?:and|und|et|y)\s+|和|跟")
_CHINESE_CHOICE = re.compile("还是|或|[、和跟]")
Whole = Annotated[int, Meta(ge=-1_000_000_000, le=1_000_000_000)]


def _are_several(arguments: Mapping[str, Any], language: str) -> bool:
    said = str(arguments.get("between", ""))
    if language == "zh" and not _CHINESE_CHOICE.search(said):
        return False  # a comma there may part two clauses
    return len(_choices(said)) > 1


@plugin.tool(risk="read")
async def coin(context: ToolContext) -> ToolResult:
    """Toss a coin."""
    side = secrets.choice(("heads", "tails"))
    return ToolResult(text=say(context.language, f"coin_{side}"), data={"side": side})


@plugin.tool(risk="read")
async def dice(
    context: ToolContext,
    count: Annotated[int, Meta(ge=1, le=20)] = 1,
    sides: Annotated[int, Meta(ge=2, le=1000)] = 6,
) -> ToolResult:
    """Throw dice.

    count: how many
    sides: of each
    """
    thrown = [secrets.randbelow(sides) + 1 for _ in range(count)]
    told = joined(context.language, [str(one) for one in thrown])
    key = "dice" if count == 1 else "dice_sum"
    text = say(context.language, key, [told], sum(thrown), count=False)
    return ToolResult(text=text, data={"thrown": thrown, "sum": sum(thrown)})


@plugin.tool(risk="read")
async def number(context: ToolContext, low: Whole = 1, high: Whole = 100) -> ToolResult:
    """Pick a whole number, both ends included.

    low: the least
    high: the greatest
    """
    low, high = min(low, high), max(low, high)
    picked = low + secrets.randbelow(high - low + 1)
    return ToolResult(text=f"{picked}{full_stop(context.language)}", data={"number": picked})


@plugin.tool(risk="read", fits=_are_several)
async def pick(
    context: ToolContext, between: Annotated[str, Meta(min_length=1, max_length=300)]
) -> ToolResult:
    """Pick one of several things.

    between: for instance pizza, pasta or salad
    """
    choices = _choices(between)
    if len(choices) < 2:
        raise ToolError(say(context.language, "pick_several"))
    picked = secrets.choice(choices)
    return ToolResult(
        text=f"{picked[:1].upper()}{picked[1:]}{full_stop(context.language)}",
        data={"picked": picked},
    )


def _choices(between: str) -> list[str]:
    parts = _OR.split(between)
    parts = parts if len(parts) > 1 else _AND.split(between)
    return [one for part in parts if (one := part.strip(" ?？.。"))]
