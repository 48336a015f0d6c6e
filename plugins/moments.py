"""The moment that somebody means, and how it is told. Shared by plugins; no plugin itself."""

from datetime import datetime
from typing import Any

from plugins.api import ToolContext, ToolError
from plugins.next_time import NoLocationError, kept_time, next_time, soonest
from plugins.speech import say
from plugins.spoken import DAYS, language_known
from plugins.when import DAILY, WEEKDAYS, When


def coming(
    context: ToolContext,
    when: When,
    after: datetime | None = None,
    *,
    either_half: bool = False,
    language: str = "",
) -> datetime:
    """The first moment behind ``after`` (now) that ``when`` names.

    either_half: "at nine" is whichever comes first, in the morning or in the evening
    language: that of the error, where nobody asks

    Raises:
        ToolError: that time has passed; or nobody knows when the sun sets here.
    """
    now, location = after or context.now, context.home.location()
    language = language or context.language
    try:
        return (soonest if either_half else next_time)(when, now, location)
    except NoLocationError as error:
        raise ToolError(say(language, "no_location")) from error
    except ValueError as error:
        key = "no_sun" if when.sun else "time_passed"
        raise ToolError(say(language, key)) from error


def repeated(context: ToolContext, repeat: tuple[int, ...], kept: str, due: datetime) -> str:
    """``every day 07:00``, or ``every weekday at sunset (16:02)``: when something comes that
    repeats; ``due`` is the next time."""
    language = context.language
    if repeat == DAILY:
        day = say(language, "daily")
    elif repeat == WEEKDAYS:
        day = say(language, "weekdays")
    else:
        day = ", ".join(DAYS[language_known(language)][number] for number in repeat)
    told = f"{due.astimezone(context.now.tzinfo):%H:%M}"
    sun = sun_words(kept_time(kept), language) if kept else ""
    return f"{day} {sun} ({told})" if sun else f"{day} {told}"


def sun_words(when: When, language: str) -> str:
    """``at sunset``, ``30 minutes after sunrise``; empty where it is a time of the clock."""
    if when.sun is None:
        return ""
    minutes = round(when.offset.total_seconds() / 60)
    key = f"{when.sun}_later" if minutes > 0 else f"{when.sun}_earlier" if minutes < 0 else when.sun
    value: Any = abs(minutes) or ""
    return say(language, key, value=value)
