"""Two reminders in one sentence, each with a time of its own: "remind me to water the plants at six
and to call Ann at eight". Decides and does nothing.
"""

import re
from datetime import UTC, datetime

from hubd.assistant.understanding.plain import NEVER
from plugins.when import parse

_TWO = {
    "en": re.compile(
        r"(?P<lead>(?:please |can you |could you |will you )*remind (?:me|us)) (?P<one>.+?),? and"
        r"(?: also| then)?(?: remind (?:me|us))?"
        r" (?P<two>(?:to|about|of|that|at|on|in|tomorrow|every) .+)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"(?P<lead>(?:bitte |kannst du |könntest du )*erinnere? (?:mich|uns))(?: bitte| mal)?"
        r" (?P<one>.+?),? und(?: auch| dann)?(?: erinnere? mich)?"
        r" (?P<two>(?:um|an|ans|daran|morgen|am|heute|jeden|in)\b.+)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?P<lead>)(?P<one>.+?提醒.+?)[，,；;]?(?:还有|另外|然后|再就是|并且)[，,]?(?P<two>.+?提醒.+)"
    ),
}


def each_reminded(text: str, language: str) -> list[str]:
    """The sentences of the two; empty where it is one reminder, or both share a time."""
    found = _TWO.get(language, NEVER).fullmatch(text.strip(" .!。！"))
    if found is None or not all(_says_when(found[part], language) for part in ("one", "two")):
        return []
    return [f"{found['lead']} {found[part]}".strip() for part in ("one", "two")]


def _says_when(text: str, language: str) -> bool:
    when = parse(text, language, datetime.now(UTC))
    return bool(when.said or when.on or when.repeat or when.arrival is not None)
