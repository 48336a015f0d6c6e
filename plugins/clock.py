"""The time, here and elsewhere, the date, and when the sun rises and sets."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta

from plugins.api import Plugin, ToolContext, ToolError, ToolResult
from plugins.daylight import SunEvent
from plugins.days import day_of
from plugins.moments import coming
from plugins.speech import moment, say
from plugins.spoken import DAYS, full_date, language_known
from plugins.when import When
from plugins.zones import zone_of

plugin = Plugin("clock", sentences="clock.{language}.yaml")


def _is_known(arguments: Mapping[str, Any], language: str) -> bool:
    place = str(arguments.get("place", ""))
    return not place or zone_of(place) is not None


@plugin.tool(risk="read", fits=_is_known)
async def time(context: ToolContext, place: Annotated[str, Meta(max_length=60)] = "") -> ToolResult:
    """Tell the time, here or in a city or country.

    place: for instance Tokyo; empty: here
    """
    now = context.now
    if not place:
        text = say(context.language, "time_now", value=f"{now:%H:%M}")
        return ToolResult(text=text, data={"now": now.isoformat()})
    zone = zone_of(place)
    if zone is None:
        raise ToolError(say(context.language, "time_unknown", [place]))
    there = now.astimezone(zone)
    told = f"{there:%H:%M}"
    if there.date() != now.date():
        told += f", {DAYS[language_known(context.language)][there.weekday()]}"
    text = say(context.language, "time_there", [place], told)
    return ToolResult(text=text, data={"now": there.isoformat()})


@plugin.tool(risk="read")
async def date(context: ToolContext) -> ToolResult:
    """Tell the date and the day of the week."""
    now = context.now
    text = say(context.language, "date_today", value=full_date(now.date(), context.language))
    return ToolResult(text=text, data={"now": now.isoformat()})


@plugin.tool(risk="read")
async def sun(
    context: ToolContext,
    event: SunEvent = "sunset",
    day: Annotated[str, Meta(max_length=60)] = "",
) -> ToolResult:
    """Tell when the sun rises or sets, or when it gets light or dark.

    event: sunrise, sunset, dawn (it gets light) or dusk (it gets dark)
    day: for instance tomorrow; empty: the next time
    """
    now, begin = context.now, None
    on = day_of(day, context.language, now.date()) if day else None
    if day and on is None:
        raise ToolError(say(context.language, "no_day", [day]))
    if on is not None:  # today's is told as well where it is over
        begin = datetime.combine(on, datetime.min.time(), tzinfo=now.tzinfo)
    then = coming(context, When(sun=event, on=on), begin)
    name = say(context.language, f"name_{event}")
    told = say(context.language, "sun_at", [name], moment(then, now, context.language))
    return ToolResult(text=told, data={"event": event, "at": then.isoformat()})
