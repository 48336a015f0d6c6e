"""Reminders of what is in the calendar: "an hour before the dentist", „am Tag vor dem Zahnarzt“,
开会前十分钟. No plugin itself.
"""

import re
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

from plugins.api import ToolCall, ToolContext
from plugins.numbers import chinese_digits, digits
from plugins.when import parse

EVENING = time(19)
BEGINS = time(9)
"""When what takes whole days begins, for whoever shall be reminded of it an hour before."""
_LEAD = {
    "en": r"(?P<n>half an|an?|\w+) (?P<unit>minute|hour|day|week)s?|"
          r"the (?P<part>day|evening|night)(?: at (?P<at>[\w:' ]+?))?",
    "de": r"(?P<n>eine halbe|eine?n?|\w+) (?P<unit>minute|stunde|tag|woche)[ne]?|"
          r"am (?P<part>tag|abend)(?: um (?P<at>[\w:. ]+?))?",
    "zh": r"(?P<n>半|[0-9一二两三四五六七八九十]+)个?(?P<unit>分钟|小时|钟头|天|周|星期)",
}  # fmt: skip
_FORMS = {
    language: tuple(
        re.compile(form.replace("{lead}", _LEAD[language]), re.IGNORECASE) for form in forms
    )
    for language, forms in {
        "en": (
            r"(?:{lead}) (?:before|ahead of) (?:the |my |our )?(?P<event>.+?)"
            r"(?:,? (?:to|about|that) (?P<task>.+))?",
            r"(?:(?:about|of|for) )?(?:the |my |our )?(?P<event>.+?),? (?:{lead}) "
            r"(?:before|beforehand|ahead|early)",
        ),
        "de": (
            r"(?:{lead}) vor (?:dem |der |den |meine[mr] |unsere[mr] )?(?P<event>.+?)"
            r"(?: (?:daran,?|an) (?P<task>.+))?",
            r"(?:an )?(?:den |die |das |meinen? |unseren? )?(?P<event>.+?),? (?:{lead}) "
            r"(?:vorher|davor)",
        ),
        "zh": (
            r"(?P<event>.+?)[，,]?提前{lead}(?:提醒我?)?(?:要|去)?(?P<task>.*)",
            r"(?P<event>.+?)的?前一天(?P<part>晚上(?!.{1,3}点))?(?P<at>(?:[早晚]上|[上中下]午)?"
            r"(?:.{1,3}点(?:半|.{1,2}分)?)?)(?:提醒[我我们]*)?(?:要|去)?(?P<task>.*)",
            r"(?P<event>.+?)(?<!提)(?:开始)?之?前{lead}(?:提醒我?)?(?:要|去)?(?P<task>.*)",
        ),
    }.items()
}
_AT = {"en": "at {}", "de": "um {}"}
_DAY_BEFORE = {
    "en": re.compile(
        r"\bthe (?:day|evening|night)(?: at [\w :']+?)? (?:before|ahead)\b", re.IGNORECASE
    ),
    "de": re.compile(
        r"\bam (?:tag|abend)(?: um [\w:. ]+?)? (?:davor|vorher|vor)\b|\bam vor(?:tag|abend)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile("前一[天晚]"),
}
"""What is counted from something that is not named."""
_HALF = frozenset({"half an", "eine halbe", "半"})
_UNITS = {
    "m": timedelta(minutes=1), "分": timedelta(minutes=1), "h": timedelta(hours=1),
    "s": timedelta(hours=1), "小": timedelta(hours=1), "钟": timedelta(hours=1),
    "d": timedelta(days=1), "t": timedelta(days=1), "天": timedelta(days=1),
    "w": timedelta(weeks=1), "周": timedelta(weeks=1), "星": timedelta(weeks=1),
}  # fmt: skip
"""By the first letter of a unit, in English, German and Chinese."""


class BeforeEvent(NamedTuple):
    """When to remind somebody, and of what."""

    at: datetime
    what: str
    event: str
    """Which event it is, as `key_of` tells."""


async def before_event(context: ToolContext, said: str) -> BeforeEvent | None:
    """The reminder that ``said`` asks for; ``None`` where it speaks of no time before anything.

    Raises:
        ToolError: the calendar has nothing like that.
    """
    for form in _FORMS.get(context.language, ()):
        found = form.fullmatch(said.strip(" .!。！"))
        if found is None:
            continue
        call = ToolCall(tool="calendar.next", arguments={"event": found["event"][:80]})
        event = (await context.call(call)).data["events"][0]
        start = datetime.fromisoformat(event["start"]).astimezone(context.now.tzinfo)
        title = str(event["title"])
        task = (found.groupdict().get("task") or "").strip()
        shown = title if event["whole_day"] else f"{title} ({start:%H:%M})"
        begin = datetime.combine(start, BEGINS, start.tzinfo) if event["whole_day"] else start
        at = _moment(found, begin, context.language)
        if hour := (found.groupdict().get("at") or "").strip():
            when = parse(
                _AT.get(context.language, "{}").format(hour), context.language, at, awake=True
            )
            if when.at is None or when.rest:
                return None
            at = datetime.combine(at, when.at, at.tzinfo)
        return BeforeEvent(at, task or shown, key_of(title, start))
    return None


def is_before_something(said: str, language: str) -> bool:
    """Whether ``said`` counts a day from something else, so that an hour alone is no time."""
    pattern = _DAY_BEFORE.get(language)
    return pattern is not None and pattern.search(said) is not None


def key_of(title: str, start: datetime) -> str:
    """What a reminder remembers of its event, so that it goes where that goes."""
    return f"{start.astimezone(UTC):%Y-%m-%dT%H:%M} {title}"


def at_new_time(what: str, before: datetime, after: datetime) -> str:
    """What is reminded of, where it says when the event is: ``Dentist (15:30)``."""
    return what.replace(f"({before:%H:%M})", f"({after:%H:%M})")


def _moment(found: re.Match[str], begin: datetime, language: str) -> datetime:
    """So long before it begins, or the evening or the day before."""
    said = found.groupdict()
    unit = said.get("unit")
    if unit is None:
        day_before = begin - timedelta(days=1)
        evening = (said.get("part") or "").casefold() in ("evening", "night", "abend", "晚上")
        return datetime.combine(day_before, EVENING, begin.tzinfo) if evening else day_before
    amount = (said["n"] or "").casefold()
    figures = chinese_digits(amount) if language == "zh" else digits(amount, language)
    number = 0.5 if amount in _HALF else float(figures) if figures.isdigit() else 1.0
    return begin - number * _UNITS[unit[0].casefold()]
