"""Calendar files (RFC 5545) → what happens when, in the household's zone. No plugin itself.

A file from elsewhere may be large or spiteful, and two libraries are needed to read it: that is
done by a process of its own, with limits on its time and memory, which is gone afterwards.
"""

import asyncio
import resource
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

MAXIMUM_BYTES = 5_000_000
MAXIMUM_EVENTS = 20_000
MAXIMUM_OCCURRENCES = 5_000
TIME_LIMIT_S = 30.0
CPU_LIMIT_S = 20
MEMORY_LIMIT = 1 << 30
FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
"""What comes every hour or second is no household's appointment."""


Component = Any
"""An event of icalendar, whose properties are unions of thirty types."""


class CalendarError(Exception):
    """The file cannot be read; the message says why."""


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happens once: an event, or one time of an event that comes again."""

    title: str
    start: datetime
    end: datetime
    """Both aware, in the household's zone; midnight for whole days."""
    whole_day: bool = False
    location: str = ""
    uid: str = ""
    """Of the event, in its calendar."""
    recurrence_id: str = ""
    """Which time of an event that comes again, in Home Assistant's words."""
    rule: str = ""
    """By which it comes again (RFC 5545, RRULE); empty where it does not, or nobody told."""
    description: str = ""


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for: occurrences that touch this time."""

    start: datetime
    end: datetime
    zone: str
    """The household's zone, by its name; empty for the system's."""


async def read(content: bytes, window: Window) -> list[Occurrence]:
    """The occurrences of a calendar file, soonest first.

    Raises:
        CalendarError: it is too large, no calendar, or takes too long.
    """
    if len(content) > MAXIMUM_BYTES:
        raise CalendarError(f"it is larger than {MAXIMUM_BYTES // 1_000_000} MB")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "plugins.ics", msgspec.json.encode(window).decode(),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(TIME_LIMIT_S):
            found, complaint = await process.communicate(content)
    except TimeoutError as error:
        raise CalendarError(f"reading it takes longer than {TIME_LIMIT_S:.0f} s") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        lines = complaint.decode(errors="replace").strip().splitlines()
        raise CalendarError(lines[-1][:200] if lines else "its reader was ended")
    return msgspec.json.decode(found, type=list[Occurrence])


def occurrences(content: bytes, window: Window) -> list[Occurrence]:
    """What ``read`` does, in this process.

    Raises:
        CalendarError: it is no calendar.
    """
    import icalendar

    try:
        calendar = icalendar.Calendar.from_ical(content)
        events: list[Component] = list(islice(calendar.walk("VEVENT"), MAXIMUM_EVENTS))
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise CalendarError(f"it is no calendar: {error}") from error
    found: list[Occurrence] = []
    zone = ZoneInfo(window.zone) if window.zone else window.start.tzinfo
    assert zone is not None
    moved: dict[str, list[date]] = {}
    for event in events:
        if "RECURRENCE-ID" in event:
            moved.setdefault(_uid(event), []).append(event["RECURRENCE-ID"].dt)
    for event in events:
        try:
            found += islice(_of(event, window, zone, moved), MAXIMUM_OCCURRENCES)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            continue  # one odd event must not hide the others
    return sorted(found, key=lambda o: (o.start, o.title))[:MAXIMUM_OCCURRENCES]


def _of(
    event: Component, window: Window, zone: tzinfo, moved: dict[str, list[date]]
) -> Iterator[Occurrence]:
    """The times of one event within the window."""
    if str(event.get("STATUS", "")).upper() == "CANCELLED":
        return
    first = event["DTSTART"].dt
    whole_day = not isinstance(first, datetime)
    own_zone = zone if whole_day or first.tzinfo is None else first.tzinfo
    length = _length(event, first)
    uid = _uid(event)
    instead = {_wall(moment, own_zone) for moment in moved.get(uid, ())}
    title = " ".join(str(event.get("SUMMARY", "")).split())[:200]
    location = " ".join(str(event.get("LOCATION", "")).split())[:200]
    for wall in _walls(event, _wall(first, own_zone), own_zone, window, length):
        if "RECURRENCE-ID" not in event and wall in instead:
            continue
        start = wall.replace(tzinfo=own_zone).astimezone(UTC).astimezone(zone)
        end = start + length if not whole_day else (wall + length).replace(tzinfo=zone)
        if start < window.end and (end > window.start or start >= window.start):
            yield Occurrence(
                title=title, start=start, end=end, whole_day=whole_day, location=location, uid=uid
            )


def _walls(
    event: Component, first: datetime, zone: tzinfo, window: Window, length: timedelta
) -> Iterator[datetime]:
    """The starts by the wall clock of the event's own zone, near the window; what is every day at
    seven is at seven after the clocks were changed as well."""
    margin = length + timedelta(days=2)
    after, before = (_wall(moment, zone) for moment in (window.start, window.end))
    rules = [_rule(rule, first, zone) for rule in _listed(event.get("RRULE"))]
    extra = [_wall(value, zone) for value in _dates(event, "RDATE")]
    excluded = {_wall(value, zone) for value in _dates(event, "EXDATE")}
    starts = {first, *extra}
    for rule in rules:
        starts.update(rule.between(after - margin, before + margin, inc=True))
    yield from sorted(start for start in starts if start not in excluded)


def _rule(rule: Any, first: datetime, zone: tzinfo) -> Any:
    """dateutil's rule, on the wall clock.

    Raises:
        ValueError: it is one that no household needs.
    """
    from dateutil.rrule import rrulestr

    if rule["FREQ"][0] not in FREQUENCIES or int(rule.get("INTERVAL", [1])[0]) < 1:
        raise ValueError(f"a rule of {rule['FREQ'][0]}")
    until = rule.pop("UNTIL", None)
    text = rule.to_ical().decode()
    if until:
        text += f";UNTIL={_wall(_end_of(until[0]), zone):%Y%m%dT%H%M%S}"
    return rrulestr(text, dtstart=first)


def _end_of(until: date) -> date:
    """A day is over at its end."""
    return until if isinstance(until, datetime) else datetime.combine(until, time(23, 59, 59))


def _length(event: Component, first: date) -> timedelta:
    if "DTEND" in event:
        length: timedelta = event["DTEND"].dt - first
    elif "DURATION" in event:
        length = event["DURATION"].dt
    else:
        length = timedelta(0) if isinstance(first, datetime) else timedelta(days=1)
    return max(length, timedelta(0))


def _uid(event: Component) -> str:
    return str(event.get("UID", ""))


def _wall(moment: date, zone: tzinfo) -> datetime:
    """What the clocks of a zone show; a day begins at midnight."""
    if not isinstance(moment, datetime):
        return datetime.combine(moment, time())
    return (moment.astimezone(zone) if moment.tzinfo else moment).replace(tzinfo=None)


def _dates(event: Component, key: str) -> Iterator[date]:
    for row in _listed(event.get(key)):
        for value in row.dts:
            if isinstance(value.dt, date):  # a period says more than its start
                yield value.dt


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def main() -> None:
    """Read a file from standard input, print its occurrences as JSON."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    window = msgspec.json.decode(sys.argv[1], type=Window)
    try:
        found = occurrences(sys.stdin.buffer.read(MAXIMUM_BYTES + 1), window)
    except CalendarError as error:
        sys.exit(str(error))
    sys.stdout.buffer.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main()
