"""Calendar files: every kind of recurrence against recurring-ical-events, and spiteful files."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import icalendar
import pytest
import recurring_ical_events
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins import ics
from plugins.ics import CalendarError, Window, occurrences, read

BERLIN = ZoneInfo("Europe/Berlin")
WINDOW = Window(
    start=datetime(2026, 3, 1, tzinfo=BERLIN),
    end=datetime(2026, 6, 1, tzinfo=BERLIN),
    zone="Europe/Berlin",
)


def calendar(*events):
    body = "".join(
        f"BEGIN:VEVENT\nDTSTAMP:20260101T000000Z\n{e.strip()}\nEND:VEVENT\n" for e in events
    )
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test\n{body}END:VCALENDAR\n"
    return text.replace("\n", "\r\n").encode()


FILES = {
    "once": [
        (
            "UID:1\n"
            "SUMMARY:Dentist\n"
            "DTSTART;TZID=Europe/Berlin:20260330T100000\n"
            "DTEND;TZID=Europe/Berlin:20260330T103000"
        ),
    ],
    "weekly over the change of clocks": [
        (
            "UID:1\n"
            "SUMMARY:Choir\n"
            "DTSTART;TZID=Europe/Berlin:20251103T190000\n"
            "DURATION:PT2H\n"
            "RRULE:FREQ=WEEKLY"
        ),
    ],
    "another zone": [
        (
            "UID:1\n"
            "SUMMARY:Call\n"
            "DTSTART;TZID=America/New_York:20260302T090000\n"
            "DTEND;TZID=America/New_York:20260302T100000\n"
            "RRULE:FREQ=WEEKLY;COUNT=8"
        ),
    ],
    "until in UTC": [
        (
            "UID:1\n"
            "SUMMARY:Course\n"
            "DTSTART;TZID=Europe/Berlin:20260303T080000\n"
            "DTEND;TZID=Europe/Berlin:20260303T090000\n"
            "RRULE:FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20260407T060000Z"
        ),
    ],
    "last Friday of the month": [
        ("UID:1\nSUMMARY:Rent\nDTSTART;VALUE=DATE:20250131\nRRULE:FREQ=MONTHLY;BYDAY=-1FR"),
    ],
    "every other week, some left out": [
        (
            "UID:1\n"
            "SUMMARY:Bins\n"
            "DTSTART;VALUE=DATE:20260302\n"
            "RRULE:FREQ=WEEKLY;INTERVAL=2\n"
            "EXDATE;VALUE=DATE:20260316,20260413"
        ),
    ],
    "extra dates": [
        (
            "UID:1\n"
            "SUMMARY:Garden\n"
            "DTSTART:20260310T080000Z\n"
            "DTEND:20260310T090000Z\n"
            "RDATE:20260412T080000Z,20260513T080000Z"
        ),
    ],
    "a birthday": [
        (
            "UID:1\n"
            "SUMMARY:Ann\n"
            "DTSTART;VALUE=DATE:19800414\n"
            "DTEND;VALUE=DATE:19800415\n"
            "RRULE:FREQ=YEARLY"
        ),
    ],
    "one time moved": [
        (
            "UID:1\n"
            "SUMMARY:Gym\n"
            "DTSTART;TZID=Europe/Berlin:20260302T180000\n"
            "DTEND;TZID=Europe/Berlin:20260302T190000\n"
            "RRULE:FREQ=WEEKLY;COUNT=6"
        ),
        (
            "UID:1\n"
            "SUMMARY:Gym (moved)\n"
            "RECURRENCE-ID;TZID=Europe/Berlin:20260316T180000\n"
            "DTSTART;TZID=Europe/Berlin:20260317T200000\n"
            "DTEND;TZID=Europe/Berlin:20260317T210000"
        ),
    ],
    "over midnight": [
        (
            "UID:1\n"
            "SUMMARY:Party\n"
            "DTSTART;TZID=Europe/Berlin:20260228T220000\n"
            "DTEND;TZID=Europe/Berlin:20260301T030000"
        ),
    ],
    "a holiday of two weeks": [
        ("UID:1\nSUMMARY:Holiday\nDTSTART;VALUE=DATE:20260220\nDTEND;VALUE=DATE:20260306"),
    ],
    "first and third Monday": [
        (
            "UID:1\n"
            "SUMMARY:Club\n"
            "DTSTART;TZID=Europe/Berlin:20260105T200000\n"
            "DURATION:PT90M\n"
            "RRULE:FREQ=MONTHLY;BYDAY=1MO,3MO"
        ),
    ],
}


def by_the_oracle(content, window):
    events = recurring_ical_events.of(icalendar.Calendar.from_ical(content)).between(
        window.start, window.end
    )
    return sorted(
        (str(e["SUMMARY"]), moment(e["DTSTART"].dt), moment(e["DTEND"].dt)) for e in events
    )


def moment(value):
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=BERLIN)
    return value.astimezone(UTC)


def by_us(content, window=WINDOW):
    return sorted(
        (o.title, o.start.astimezone(UTC), o.end.astimezone(UTC))
        for o in occurrences(content, window)
    )


@pytest.mark.parametrize("name", FILES)
def test_occurrences_are_those_of_the_reference(name):
    content = calendar(*FILES[name])
    expected = by_the_oracle(content, WINDOW)
    assert expected
    assert by_us(content) == expected


RULES = st.builds(
    lambda frequency, interval, days, count: (
        f"FREQ={frequency};INTERVAL={interval}"
        + (f";BYDAY={','.join(sorted(days))}" if days and frequency == "WEEKLY" else "")
        + (f";COUNT={count}" if count else "")
    ),
    st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]),
    st.integers(1, 5),
    st.sets(st.sampled_from(["MO", "TU", "WE", "TH", "FR", "SA", "SU"]), max_size=3),
    st.none() | st.integers(1, 300),
)


@settings(deadline=None, max_examples=60)
@given(RULES, st.datetimes(datetime(2024, 1, 1), datetime(2026, 5, 1)), st.integers(0, 3000))
def test_rules_are_those_of_the_reference(rule, start, minutes):
    content = calendar(
        f"UID:1\nSUMMARY:x\nDTSTART;TZID=Europe/Berlin:{start:%Y%m%dT%H%M}00\n"
        f"DURATION:PT{minutes}M\nRRULE:{rule}"
    )
    ours = {(a, b) for a, b, _ in by_us(content)}
    theirs = {(a, b) for a, b, _ in by_the_oracle(content, WINDOW)}
    # an event that ends at the very start of the window, and gaps of the clock, are told otherwise
    unlike = {b for _, b in ours ^ theirs}
    assert all(b <= WINDOW.start.astimezone(UTC) or _in_gap(b) for b in unlike)


def _in_gap(start):
    """Around the hour of 29 March 2026 that Berlin's clocks skip."""
    return abs(start - datetime(2026, 3, 29, 1, tzinfo=UTC)) <= timedelta(hours=1)


def test_whole_days_stay_whole():
    (found,) = occurrences(calendar("UID:1\nSUMMARY:Ann\nDTSTART;VALUE=DATE:20260414"), WINDOW)
    assert found.whole_day
    assert (found.start.date(), found.end.date()) == (date(2026, 4, 14), date(2026, 4, 15))


def test_what_is_cancelled_does_not_happen():
    rule = FILES["one time moved"][0]
    gone = FILES["one time moved"][1] + "\nSTATUS:CANCELLED"
    starts = [o.start for o in occurrences(calendar(rule, gone), WINDOW)]
    assert len(starts) == 5
    assert datetime(2026, 3, 16, 18, tzinfo=BERLIN) not in starts


ODD = ["FREQ=SECONDLY", "FREQ=MINUTELY", "FREQ=HOURLY", "FREQ=DAILY;INTERVAL=0", "FREQ=NEVER"]


@pytest.mark.parametrize("rule", ODD)
def test_an_odd_event_is_left_out_and_hides_no_other(rule):
    odd = f"UID:2\nSUMMARY:odd\nDTSTART:19700101T000000Z\nRRULE:{rule}"
    content = calendar(odd, FILES["once"][0])
    assert [o.title for o in occurrences(content, WINDOW)] == ["Dentist"]


@pytest.mark.parametrize("content", [b"", b"<html>", b"\x00\xff" * 100])
async def test_what_is_no_calendar_is_refused(content):
    with pytest.raises(CalendarError, match="no calendar"):
        await read(content, WINDOW)


async def test_reading_happens_in_a_process_of_its_own():
    assert [o.title for o in await read(calendar(*FILES["once"]), WINDOW)] == ["Dentist"]


async def test_a_file_that_takes_for_ever_is_given_up(monkeypatch):
    monkeypatch.setattr(ics, "TIME_LIMIT_S", 0.05)
    with pytest.raises(CalendarError, match="longer than"):
        await read(calendar(*FILES["once"]), WINDOW)


async def test_a_file_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(ics, "MAXIMUM_BYTES", 100)
    with pytest.raises(CalendarError, match="larger"):
        await read(calendar(*FILES["once"]), WINDOW)


def test_a_day_that_never_comes_ends():
    rule = "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"
    never = f"UID:2\nSUMMARY:never\nDTSTART:20260101T000000Z\n{rule}"
    assert occurrences(calendar(never), WINDOW) == []
