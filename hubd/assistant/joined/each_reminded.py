"""Two reminders in one sentence, each with a time of its own: "remind me to water the plants at six
and to call Ann at eight". Decides and does nothing.
"""

import re
from datetime import UTC, datetime

from hubd.assistant.follow_ups.set_for_a_time import days_of_week
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
        r"(?P<lead>)(?P<one>.+?提醒.+?)(?:[，,；;]?(?:还有|另外|然后|再就是|并且)[，,]?|"
        r"[，,；;。](?=[^，,；;。]{1,8}[点刻半分后早晚]提醒))(?P<two>.+?提醒.+)"
    ),
}
NOON, EVENING = 12, 17
_TONIGHT = {"en": "tonight", "de": "heute Abend", "zh": "今晚"}
_DAY = {
    "en": re.compile(
        r"\b(?:the day after )?tomorrow\b|"
        r"\b(?:on |next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\bübermorgen\b|(?<!am )\bmorgen\b|"
        r"\b(?:am )?(?:(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile("明(?=[天早晚])天?|大?后天|下?个?(?:周|星期|礼拜)[一二三四五六日天]"),
}
"""The day of what is said first, which goes on for what is said of no day."""


def each_reminded(text: str, language: str) -> list[str]:
    """The sentences of the two; empty where it is one reminder, or both share a time."""
    found = _TWO.get(language, NEVER).fullmatch(text.strip(" .!。！"))
    if found is None or not all(_says_when(found[part], language) for part in ("one", "two")):
        return []
    one, two = found["one"], found["two"]
    if shared := _at_both(one, two, language):
        one, two = shared
    elif _is_of_the_same_evening(one, two, language):
        two = f"{_TONIGHT[language]} {two}"
    elif day := _day_of_both(one, two, language):
        two = f"{day} {two}"
    return [f"{found['lead']} {said}".strip() for said in (one, two)]


def _at_both(one: str, two: str, language: str) -> tuple[str, str] | None:
    """The two of the same: "every day at eight and at noon to take my tablets"; ``None`` where each
    says what it is of."""
    now = datetime.now(UTC)
    first, second = parse(one, language, now), parse(two, language, now)
    if not (first.said and second.said) or bool(first.rest) == bool(second.rest):
        return None
    if first.rest:
        return one, f"{two} {first.rest}"
    if first.repeat and not (second.repeat or second.on):
        two = f"{days_of_week(first.repeat, language)} {two}"
    return f"{one} {second.rest}", two


def _day_of_both(one: str, two: str, language: str) -> str:
    """The day that ``one`` names, where ``two`` says an hour and no day; empty else."""
    day, second = _DAY[language].search(one), parse(two, language, datetime.now(UTC))
    if day is None or second.on or second.repeat or not second.at:
        return ""
    return "明天" if day[0] == "明" else day[0]


def _is_of_the_same_evening(one: str, two: str, language: str) -> bool:
    """Whether the first is for this evening and the second for an hour behind that, of which it
    does not say more: "at seven tonight to … and at half nine to …"."""
    now = datetime.now(UTC)
    first, second = parse(one, language, now), parse(two, language, now)
    tonight = parse(_TONIGHT.get(language, ""), language, now).on
    on = first.on or tonight
    if not (first.at and second.at and first.exact) or first.repeat or on != tonight:
        return False
    bare = not (second.exact or second.on or second.repeat) and second.at.hour < NOON
    evening = first.at.hour >= EVENING
    return evening and bare and first.at < second.at.replace(hour=second.at.hour + NOON)


def _says_when(text: str, language: str) -> bool:
    when = parse(text, language, datetime.now(UTC))
    return bool(when.said or when.on or when.repeat or when.arrival is not None)
