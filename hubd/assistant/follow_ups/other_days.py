"""The same question of another day: "what's on tomorrow?", "and on Saturday?"."""

import re
from collections.abc import Mapping
from datetime import date

import msgspec

from hubd.assistant.decision import Decision
from plugins.api import ToolCall
from plugins.days import span_of

ASKS_OF_DAYS: Mapping[str, str] = {
    tool: tool
    for tool in ("calendar.agenda", "clock.sun", "dates.day", "dates.until", "weather.on")
} | {"weather.now": "weather.on"}
"""What told something of a day → what tells it of another; its argument is ``day``."""
_OPENING = {
    "en": re.compile(
        r"(?:and|or|what about|how about|and what about|and how about)\s+"
        r"(?:(?:on|for|till|until|at|over)\s+(?=.))?",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"(?:und|oder|und wie (?:ist|sieht) es|wie (?:ist|sieht) es|und was ist)\s+(?:mit\s+)?"
        r"(?:(?:bis(?: zu[mr]?)?|für)\s+(?=.))?",
        re.IGNORECASE,
    ),
    "zh": re.compile("(?:那么?|还有)(?:到|离|距离)?(?=.)"),
}
_ENDING = re.compile(
    r"(?:,?\s+(?:then|too|as well|the same|dann|aus|auch(?: so)?|genauso)"
    r"|也(?:是|一样|这样)?吗?|呢|怎么样)?[?？.。!！]*$",
    re.IGNORECASE,
)
SCORE = 0.85


def of_another_day(text: str, before: Decision | None) -> Decision | None:
    """The question that ``before`` answered, of the day that ``text`` names and nothing besides;
    ``None`` where it is no such one."""
    if before is None or before.call is None:
        return None
    if (tool := ASKS_OF_DAYS.get(before.call.tool)) is None:
        return None
    opening = _OPENING.get(before.language)
    said = text.strip()
    found = opening.match(said) if opening else None
    if found is None and not said.endswith(("?", "？", "呢")):
        return None
    day = _ENDING.sub("", said[found.end() if found else 0 :]).strip(" ,，")
    if not day or span_of(day, before.language, date(2026, 1, 1)) is None:
        return None
    given = {} if tool != before.tool else before.call.arguments
    return msgspec.structs.replace(
        before,
        tool=tool,
        route="words",
        entities=[],
        arguments={"day": day},
        score=SCORE,
        asks=None,
        reason=f"it continues {before.tool}",
        call=ToolCall(tool=tool, arguments={**given, "day": day}),
    )
