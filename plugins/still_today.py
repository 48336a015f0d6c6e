"""What waits for its time on this day: reminders, alarms, commands for later. No plugin itself."""

from datetime import datetime

from plugins.api import ToolCall, ToolContext, ToolError
from plugins.speech import quoted, say


async def still_today(context: ToolContext) -> list[str]:
    """``19:00 Water the plants``, ``22:00 “turn off the lights”``, soonest first."""
    found: list[tuple[datetime, str]] = []
    for entry in await _listed(context, "reminders.list", "reminders"):
        if entry["state"] == "waiting" and not entry["arrival"]:
            found.append((_due(context, entry), entry["what"] or say(context.language, "alarm")))
    for one in await _listed(context, "routines.scheduled", "scheduled"):
        if one["state"] == "waiting":
            found.append((_due(context, one), quoted(one["command"], context.language)))
    today = sorted(one for one in found if one[0].date() == context.now.date())
    return [f"{due:%H:%M} {what}" for due, what in today]


def _due(context: ToolContext, entry: dict[str, str]) -> datetime:
    return datetime.fromisoformat(entry["due"]).astimezone(context.now.tzinfo)


async def _listed(context: ToolContext, tool: str, key: str) -> list[dict[str, str]]:
    try:
        found = (await context.call(ToolCall(tool=tool))).data.get(key, [])
    except ToolError:
        return []
    return list(found)
