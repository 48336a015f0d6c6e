"""The moment of what somebody means: the next half past six, the next sunset.

Times are wall-clock times in the household's zone, so that an alarm at 7 rings at 7 after the
clocks were changed as well. No plugin itself.
"""

from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta

from plugins.api import Location
from plugins.daylight import SUN_EVENTS, sun_time
from plugins.days import DAILY, is_nth
from plugins.when import WAKING_HOURS, When
from plugins.when_reader import Cycle

A_WEEK, A_MONTH, A_YEAR = 9, 37, 367
"""Days to look ahead, from today on: one more than the longest wait, and one that a change of
clocks may take."""


BY_DAY = range(6, 18)
"""Of another day, an hour without its half is the one of these: tomorrow at seven the blinds go up
in the morning."""


class NoLocationError(ValueError):
    """It takes the sun, and nobody knows where the house stands."""


def next_time(when: When, now: datetime, location: Location | None = None) -> datetime:
    """The first moment after ``now`` that ``when`` names, aware, in the zone of ``now``.

    A wall-clock time that a change of clocks skips is the moment after the gap.

    location: where the house stands, for what the sun does

    Raises:
        ValueError: that time has passed, or the sun does not do so that day.
        NoLocationError: it takes the sun, and nobody knows where the house stands.
    """
    if when.delay is not None:
        return now + when.delay
    if when.cycle.minutes:
        return _next_within_a_day(when, now)
    day = when.on or now.date()
    cycle = when.cycle
    ahead = A_MONTH if cycle.month_day or cycle.nth else A_WEEK * cycle.every
    if cycle.month or (when.sun and not when.on):
        ahead = A_YEAR  # in a polar winter the sun is away long
    for days in range(ahead):
        candidate = _on_day(when, day + timedelta(days=days), now, location)
        if candidate is not None and candidate > now and is_turn(when, candidate.date()):
            return candidate
        if when.on and not when.repeat:
            break
    raise ValueError("that time has passed")


def _next_within_a_day(when: When, now: datetime) -> datetime:
    """The next moment, on one of its days, of what comes again after a while."""
    period, moment = timedelta(minutes=when.cycle.minutes), now
    while moment == now or (when.repeat and moment.weekday() not in when.repeat):
        moment = _next_of(period, when.cycle.hours, moment)
    return moment


def _next_of(period: timedelta, hours: tuple[time, time] | None, now: datetime) -> datetime:
    """The next moment on whatever day: counted from now, on whole minutes; or from the first of
    some hours of each day on, to the last, which may be behind midnight."""
    if hours is None:
        then = now.astimezone(UTC) + period  # by the clock it is an hour more on one night a year
        return then.replace(second=0, microsecond=0).astimezone(now.tzinfo)
    first, last = hours
    for day in (now.date() + timedelta(days=ahead) for ahead in (-1, 0, 1)):
        begin = _wall(day, first, now)
        end = _wall(day if last > first else day + timedelta(days=1), last, now)
        if now < begin:
            return begin
        passed = (now.astimezone(UTC) - begin.astimezone(UTC)) // period
        then = (begin.astimezone(UTC) + (passed + 1) * period).astimezone(now.tzinfo)
        if then <= end:
            return then
    raise AssertionError("it begins on each day")


def is_turn(when: When, day: date) -> bool:
    """Whether something that repeats comes on that day; what does not repeat comes on any."""
    cycle = when.cycle
    if cycle.month_day:
        last_day = monthrange(day.year, day.month)[1]
        return cycle.month in (0, day.month) and day.day == min(cycle.month_day, last_day)
    if when.repeat and day.weekday() not in when.repeat:
        return False
    if cycle.nth:
        return is_nth(day, cycle.nth)
    if cycle.every == 1 or cycle.since is None:
        return True
    if when.repeat == DAILY:
        return (day - cycle.since).days % cycle.every == 0
    return (_monday(day) - _monday(cycle.since)).days // 7 % cycle.every == 0


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _on_day(when: When, day: date, now: datetime, location: Location | None) -> datetime | None:
    """The moment of that day; ``None`` where the sun does not do so then."""
    if when.sun is None:
        assert when.at is not None
        return _wall(day, when.at, now)
    if location is None:
        raise NoLocationError("nobody knows where the house stands")
    assert now.tzinfo is not None
    found = sun_time(when.sun, day, location, now.tzinfo)
    return found + when.offset if found else None


def kept_as(when: When) -> str:
    """When on its days something that repeats is due, to be kept: ``07:00``, ``sunset``,
    ``dusk+30``; with ``/2 2026-03-31`` every other week (or day) from that day on, with ``/15.`` on
    the 15th of each month, with ``/12.5.`` on 12 May, with ``/#1`` or ``/#-1`` on the first or last
    such day of each month; ``/120m`` is every two hours, with ``09:00 17:00`` from nine to five."""
    if when.sun is None:
        kept = when.at.isoformat("minutes") if when.at else ""
    else:
        minutes = round(when.offset.total_seconds() / 60)
        kept = f"{when.sun}{minutes:+d}" if minutes else when.sun
    cycle = when.cycle
    if cycle.month_day:
        return f"{kept}/{cycle.month_day}.{f'{cycle.month}.' if cycle.month else ''}"
    if cycle.nth:
        return f"{kept}/#{cycle.nth}"
    if cycle.minutes:
        hours = [f" {at.isoformat('minutes')}" for at in cycle.hours or ()]
        return f"/{cycle.minutes}m{''.join(hours)}"
    return f"{kept}/{cycle.every} {cycle.since}" if cycle.every > 1 and cycle.since else kept


def kept_time(kept: str) -> When:
    """What `kept_as` wrote down.

    Raises:
        ValueError: it is something else.
    """
    kept, _, cycle = kept.partition("/")
    when = When(cycle=_kept_cycle(cycle))
    if when.cycle.minutes:
        return when
    if kept[:1].isdigit():
        return when._replace(at=time.fromisoformat(kept))
    event = next((event for event in SUN_EVENTS if kept.startswith(event)), None)
    if event is None:
        raise ValueError(f"{kept!r} is no time of day")
    return when._replace(sun=event, offset=timedelta(minutes=int(kept.removeprefix(event) or 0)))


def _kept_cycle(kept: str) -> Cycle:
    if kept.endswith("."):
        day, _, month = kept[:-1].partition(".")
        return Cycle(month_day=int(day), month=int(month or 0))
    if kept.startswith("#"):
        return Cycle(nth=int(kept[1:]))
    minutes, _, hours = kept.partition("m")
    if minutes and minutes.isdigit():
        first, _, last = hours.strip().partition(" ")
        within = (time.fromisoformat(first), time.fromisoformat(last)) if hours else None
        return Cycle(minutes=int(minutes), hours=within)
    if not kept:
        return Cycle()
    every, since = kept.split(" ")
    return Cycle(every=int(every), since=date.fromisoformat(since))


def is_at_sun(said: When, kept: str) -> bool:
    """Whether what was kept waits for the sun as it was said."""
    when = kept_time(kept) if kept else When()
    return (when.sun, when.offset) == (said.sun, said.offset)


def soonest(
    when: When, now: datetime, location: Location | None = None, *, late: bool = False
) -> datetime:
    """The same of something for once, where "at nine" may be in the morning or in the evening:
    whichever comes first; of another day that is named, the one in ``BY_DAY``.

    late: it is rather for the evening, so that of another day it is when people are awake
    """
    if when.at is None or when.exact or when.repeat or not 1 <= when.at.hour <= 12:
        return next_time(when, now, location)
    halves = [when.at.replace(hour=when.at.hour % 12), when.at.replace(hour=when.at.hour % 12 + 12)]
    if when.on and when.on != now.date():
        meant = [at for at in halves if at.hour in (WAKING_HOURS if late else BY_DAY)]
        return next_time(when._replace(at=meant[0]), now)
    coming = (_wall(now.date() + timedelta(days=days), at, now) for days in (0, 1) for at in halves)
    return next(moment for moment in coming if moment > now)


def still_today(when: When, now: datetime) -> When:
    """The same of something for once, for which people are awake: "at nine" is this evening, where
    nine in the morning is over and no day is said."""
    if when.at is None or when.exact or when.repeat or when.on or when.at.hour >= 12:
        return when
    evening = when.at.replace(hour=when.at.hour + 12)
    if evening.hour in WAKING_HOURS and when.at <= now.time() < evening:
        return when._replace(at=evening)
    return when


def _wall(day: date, at: time, now: datetime) -> datetime:
    """A wall-clock time as a moment that exists."""
    local = datetime.combine(day, at, tzinfo=now.tzinfo)
    return local.astimezone(UTC).astimezone(now.tzinfo)
