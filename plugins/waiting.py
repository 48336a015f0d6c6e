"""What waits for its time on a day: reminders, alarms, commands for later. No plugin itself."""

from datetime import date, datetime
from typing import Any

from plugins.api import ToolCall, ToolContext, ToolError
from plugins.speech import quoted, say


async def waiting_on(context: ToolContext, day: date) -> list[str]:
    """``19:00 Water the plants``, ``22:00 “turn off the lights”``, soonest first."""
    found: list[tuple[datetime, str]] = []
    for entry in await _listed(context, "reminders.list", "reminders"):
        if entry["state"] == "waiting" and not entry["arrival"]:
            what = entry["what"] or say(context.language, "alarm")
            found += [(_at(context, moment), what) for moment in entry["times"]]
    for one in await _listed(context, "routines.scheduled", "scheduled"):
        if one["state"] == "waiting":
            found.append((_at(context, one["due"]), quoted(one["command"], context.language)))
    then = sorted(one for one in found if one[0].date() == day)
    return [f"{at:%H:%M} {what}" for at, what in then]


def _at(context: ToolContext, moment: str) -> datetime:
    return datetime.fromisoformat(moment).astimezone(context.now.tzinfo)


async def _listed(context: ToolContext, tool: str, key: str) -> list[dict[str, Any]]:
    try:
        found = (await context.call(ToolCall(tool=tool))).data.get(key, [])
    except ToolError:
        return []
    return list(found)
