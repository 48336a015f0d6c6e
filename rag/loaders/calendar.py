"""Calendars (.ics): each event or task as a record with its day, time and repetition in words."""

import datetime
import re
from pathlib import Path

from rag.errors import LoadError
from rag.loaders.contentlines import ContentLine, content_lines, unescaped
from rag.loaders.page import LoadedDocument, PageBuilder, collapse
from rag.loaders.text import decode

ENTRIES = 100_000
_WHEN = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
_EVERY = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_WEEKDAYS = dict(
    zip(
        ("MO", "TU", "WE", "TH", "FR", "SA", "SU"),
        ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
        strict=True,
    )
)
_ALL_DAY = datetime.time()


def read(path: Path) -> LoadedDocument:
    """The calendar as one page of text; times as written, UTC ones say so.

    Raises:
        LoadError: it is no calendar, or has too many entries.
    """
    text = decode(path.read_bytes())
    if "BEGIN:VCALENDAR" not in text[:2_000].upper():
        raise LoadError("named .ics, but the content is no calendar")
    builder = PageBuilder()
    entry: dict[str, ContentLine] | None = None
    inner = entries = 0  # alarms stand inside of events
    for line in content_lines(text):
        if line.name == "BEGIN" and line.value.upper() in ("VEVENT", "VTODO"):
            entry, inner = {}, 0
        elif line.name == "BEGIN":
            inner += entry is not None
        elif line.name == "END" and line.value.upper() in ("VEVENT", "VTODO"):
            if entry:
                entries += 1
                builder.item(_record(entry))
            entry = None
        elif line.name == "END":
            inner -= inner > 0
        elif line.name == "X-WR-CALNAME":
            builder.heading(unescaped(line.value), 1)
        elif entry is not None and not inner:
            entry.setdefault(line.name, line)
        if entries > ENTRIES:
            raise LoadError(f"the calendar has more than {ENTRIES:,} entries")
    return LoadedDocument("ics", [builder.build()])


def _record(entry: dict[str, ContentLine]) -> str:
    """``Dentist: Saturday 2026-03-14 09:30 to 10:00; every week; where: Fernbridge``."""
    values = {name: collapse(unescaped(line.value)) for name, line in entry.items()}
    parts = [values.get("SUMMARY") or "(no title)"]
    if when := _when(values):
        parts[0] += f": {when}"
    if rule := values.get("RRULE"):
        parts.append(_repetition(rule))
    if place := values.get("LOCATION"):
        parts.append(f"where: {place}")
    if values.get("STATUS", "").upper() == "CANCELLED":
        parts.append("cancelled")
    if text := values.get("DESCRIPTION"):
        parts.append(text)
    return "; ".join(parts)


def _when(values: dict[str, str]) -> str:
    start, end = _moment(values.get("DTSTART", "")), _moment(values.get("DTEND", ""))
    if due := _moment(values.get("DUE", "")):
        return f"due {_told(due)}"
    if start is None:
        return ""
    is_day = "T" not in values["DTSTART"]
    if end is not None and is_day:
        end -= datetime.timedelta(days=1)  # RFC 5545: the end of a day-long event is not in it
    zone = " UTC" if values["DTSTART"].endswith("Z") else ""
    if end is None or end <= start:
        return _told(start) + zone
    same_day = start.date() == end.date()
    return f"{_told(start)} to {f'{end:%H:%M}' if same_day else _told(end)}{zone}"


def _moment(value: str) -> datetime.datetime | None:
    match = _WHEN.match(value)
    if not match:
        return None
    try:
        year, month, day, hour, minute = (int(part or 0) for part in match.groups()[:5])
        return datetime.datetime(year, month, day, hour, minute)
    except ValueError:
        return None


def _told(moment: datetime.datetime) -> str:
    day = f"{moment:%A} {moment:%Y-%m-%d}"
    return day if moment.time() == _ALL_DAY else f"{day} {moment:%H:%M}"


def _repetition(rule: str) -> str:
    """The rule's frequency, interval, days and end; the rest of RFC 5545's rules is left out."""
    given = dict(part.split("=", 1) for part in rule.upper().split(";") if "=" in part)
    unit = _EVERY.get(given.get("FREQ", ""), "")
    if not unit:
        return f"repeats: {rule}"
    interval = given.get("INTERVAL", "1")
    words = f"every {unit}" if interval == "1" else f"every {interval} {unit}s"
    days = [_WEEKDAYS.get(day[-2:], day) for day in given.get("BYDAY", "").split(",") if day]
    if days:
        words += f" on {', '.join(days)}"
    if until := _moment(given.get("UNTIL", "")):
        words += f" until {until:%Y-%m-%d}"
    return words
