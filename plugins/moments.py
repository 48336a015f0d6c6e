"""The moment that somebody means, and how it is told. Shared by plugins; no plugin itself."""

from datetime import datetime, timedelta
from typing import Any

from plugins.api import ToolContext, ToolError
from plugins.days import DAILY, WEEKDAYS
from plugins.next_time import NoLocationError, kept_time, next_time, soonest
from plugins.speech import day_name, moment, say
from plugins.spoken import DAYS, NTH, day_of_year, duration, language_known
from plugins.when import When
from plugins.when_reader import Cycle

AN_HOUR = 60
"""Minutes."""


def coming(
    context: ToolContext,
    when: When,
    after: datetime | None = None,
    *,
    either_half: bool = False,
    late: bool = False,
    language: str = "",
) -> datetime:
    """The first moment behind ``after`` (now) that ``when`` names.

    either_half: "at nine" is whichever comes first, in the morning or in the evening
    late: of another day rather in the evening, where that is not said
    language: that of the error, where nobody asks

    Raises:
        ToolError: that time has passed; or nobody knows when the sun sets here.
    """
    now, location = after or context.now, context.home.location()
    language = language or context.language
    try:
        if either_half:
            return soonest(when, now, location, late=late)
        return next_time(when, now, location)
    except NoLocationError as error:
        raise ToolError(say(language, "no_location")) from error
    except ValueError as error:
        key = "no_sun" if when.sun else "time_passed"
        raise ToolError(say(language, key)) from error


def asked_when(when: When, language: str) -> str:
    """What is asked where a time is missing: the hour alone, where the day was said."""
    return say(language, "at_what_time" if when.on or when.repeat else "when")


def repeated(context: ToolContext, repeat: tuple[int, ...], kept: str, due: datetime) -> str:
    """``every day 07:00``, or ``every weekday at sunset (16:02)``: when something comes that
    repeats; ``due`` is the next time."""
    language = context.language
    when = kept_time(kept) if kept else When()
    day = days_told(when._replace(repeat=repeat), language)
    due = due.astimezone(context.now.tzinfo)
    told = f"{due:%H:%M}"
    if when.cycle.minutes:
        return f"{day} ({moment(due, context.now, language)})"
    if when.cycle.every > 1:  # which of the Tuesdays is not told by their name
        told = f"{told} ({day_name(due.date(), context.now.date(), language)})"
    sun = sun_words(when, language)
    return f"{day} {sun} ({told})" if sun else f"{day} {told}"


def days_told(when: When, language: str) -> str:
    """``every weekday``, ``Monday, Thursday``, ``Tuesday every 2 weeks``, ``on day 15 of each
    month``, ``every year on 12 May``, ``on the first Monday of each month``."""
    cycle = when.cycle
    names = [DAYS[language_known(language)][number] for number in when.repeat]
    if cycle.minutes:
        period = duration(timedelta(minutes=cycle.minutes), language)
        each = say(language, "hourly" if cycle.minutes == AN_HOUR else "each_period", value=period)
        hours = " – ".join(f"{at:%H:%M}" for at in cycle.hours or ())
        day = say(language, "between", value=hours) if hours else say(language, "day_and_night")
        days = days_told(when._replace(cycle=Cycle()), language)
        joint = "，" if language == "zh" else ", "
        return f"{each}{day}" if when.repeat == DAILY else f"{days}{joint}{each}{day}"
    if cycle.month:
        return say(language, "each_year", value=day_of_year(cycle.month, cycle.month_day, language))
    if cycle.month_day:
        return say(language, "each_month", value=cycle.month_day)
    if cycle.nth:
        return say(language, "each_nth", names, NTH[language_known(language)][cycle.nth])
    if cycle.every > 1:
        key = "each_few_days" if when.repeat == DAILY else "each_few_weeks"
        return say(language, key, [", ".join(names)], cycle.every)
    if when.repeat == DAILY:
        return say(language, "daily")
    return say(language, "weekdays") if when.repeat == WEEKDAYS else ", ".join(names)


def sun_words(when: When, language: str) -> str:
    """``at sunset``, ``30 minutes after sunrise``; empty where it is a time of the clock."""
    if when.sun is None:
        return ""
    minutes = round(when.offset.total_seconds() / 60)
    key = f"{when.sun}_later" if minutes > 0 else f"{when.sun}_earlier" if minutes < 0 else when.sun
    value: Any = abs(minutes) or ""
    return say(language, key, value=value)
