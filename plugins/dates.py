"""Date arithmetic: "how many days until Christmas", "what day is it in 10 days"."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from msgspec import Meta

from plugins.api import Plugin, ToolContext, ToolError, ToolResult
from plugins.days import day_of, moved
from plugins.feasts import feast_named
from plugins.speech import full_stop, say
from plugins.spoken import count, full_date, together

plugin = Plugin("dates", sentences="dates.{language}.yaml")

Said = Annotated[str, Meta(min_length=1, max_length=80)]
Unit = Literal["day", "week", "month"]
_ANY_DAY = date(2026, 1, 1)


def _fits(arguments: Mapping[str, Any], language: str) -> bool:
    return day_of(str(arguments.get("day", "")), language, _ANY_DAY) is not None


@plugin.tool(risk="read", fits=_fits)
async def until(context: ToolContext, day: Said, unit: Unit = "day") -> ToolResult:
    """Count the days (weeks, months) from today until a day.

    day: for instance Christmas, 24 December, next Friday
    unit: what to count
    """
    return _counted(context, day, unit, past=False)


@plugin.tool(risk="read", fits=_fits)
async def since(context: ToolContext, day: Said, unit: Unit = "day") -> ToolResult:
    """Count the days (weeks, months) that have passed since a day.

    day: for instance New Year, 24 December 2020, last Friday
    unit: what to count
    """
    return _counted(context, day, unit, past=True)


@plugin.tool(risk="read", fits=_fits)
async def day(context: ToolContext, day: Said) -> ToolResult:
    """Tell the date and the day of the week of a day.

    day: for instance in 10 days, next Friday, Easter, 24 December 2030
    """
    found = _day(context, day, past=False)
    text = full_date(found, context.language) + full_stop(context.language)
    return ToolResult(text=text[:1].upper() + text[1:], data={"date": found.isoformat()})


def _counted(context: ToolContext, said: str, unit: Unit, *, past: bool) -> ToolResult:
    today, found = context.now.date(), _day(context, said, past=past)
    named, days = full_date(found, context.language), (found - today).days
    if feast_named(said.strip(" ?？"), context.language) is not None:
        named = say(context.language, "feast_on", [said.strip(" ?？")], named)
    if not days:
        text = say(context.language, "date_is_today", value=named)
    else:
        passed = say_count(today, found, unit, context.language)
        text = say(context.language, "date_until" if days > 0 else "date_since", [passed], named)
    return ToolResult(text=text, data={"days": days, "date": found.isoformat()})


def say_count(one: date, other: date, unit: Unit, language: str) -> str:
    """``34 days``, ``4 weeks and 6 days``, ``2 months and 3 days``."""
    start, end = sorted((one, other))
    whole, rest = _split(start, end, unit)
    parts = [count(whole, unit, language)] if whole or unit == "day" else []
    if rest or not parts:
        parts.append(count(rest, "day", language))
    return together(parts, language)


def _split(start: date, end: date, unit: Unit) -> tuple[int, int]:
    """Whole units, and the days that are left."""
    days = (end - start).days
    if unit == "day":
        return days, 0
    if unit == "week":
        return divmod(days, 7)
    months = (end.year - start.year) * 12 + end.month - start.month
    if moved(start, months, "month") > end:
        months -= 1
    return months, (end - moved(start, months, "month")).days


def _day(context: ToolContext, said: str, *, past: bool) -> date:
    found = day_of(said, context.language, context.now.date(), past=past)
    if found is None:
        raise ToolError(say(context.language, "no_day", [said]))
    return found
