"""The hub's own calendar: events put down, found, moved, taken out, and all of it undone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import icalendar
import pytest
import recurring_ical_events
from hypothesis import example, given
from hypothesis import strategies as st

from hubd.tool_context import Speaker
from hubd.tools import NotConfirmedError
from plugins import own_calendar
from plugins.api import MissingArgumentError, ToolError
from plugins.ics import Occurrence
from plugins.own_calendar import _Kept, _times

BERLIN = ZoneInfo("Europe/Berlin")


async def on(workshop, day):
    return (await workshop("calendar.agenda", day=day)).text


async def test_an_event_is_put_down_told_and_taken_back(workshop):
    added = await workshop("calendar.add", title="the dentist on Monday at 3")
    assert added.text == "In the calendar: Dentist: Monday 30 March 15:00–16:00 (our calendar)."
    assert await on(workshop, "Monday") == "Monday 30 March: Dentist: 15:00 (our calendar)."
    told = await workshop("calendar.next", event="dentist")
    assert told.text == "Dentist: Monday 30 March 15:00 (our calendar). That is in 3 days."
    undone = await workshop.undo(added)
    assert (
        undone.text == "Out of the calendar: Dentist: Monday 30 March 15:00–16:00 (our calendar)."
    )
    assert "There is no calendar yet" in await on(workshop, "Monday")


async def test_what_else_there_is_then_is_said(workshop):
    await workshop("calendar.add", title="football on Monday from 3 to 5")
    added = await workshop("calendar.add", title="dentist on Monday at 4")
    assert added.text.endswith(
        "Then there is also Football: Monday 30 March 15:00–17:00 (our calendar)."
    )
    assert "also" not in (await workshop("calendar.add", title="tea on Monday at 5")).text


async def test_it_is_asked_what_and_when(workshop):
    with pytest.raises(MissingArgumentError, match="When") as asked:
        await workshop("calendar.add", title="dentist")
    assert asked.value.argument == "when"
    with pytest.raises(MissingArgumentError, match="What shall I put") as asked:
        await workshop("calendar.add", title="Friday at three")
    assert asked.value.argument == "title"
    with pytest.raises(ToolError, match="passed"):
        await workshop("calendar.add", title="dentist", when="today at 9 am")
    with pytest.raises(ToolError, match="no calendar “work” to write in, only our calendar"):
        await workshop("calendar.add", title="dentist", when="Friday", calendar="work")


async def test_one_that_comes_every_week_is_there_over_the_change_of_clocks(workshop):
    added = await workshop("calendar.add", title="choir every Monday from 7 to 9 pm")
    assert await on(workshop, "tomorrow") == "Nothing is in the calendar tomorrow."
    assert "Choir" in await on(workshop, "2028-03-27")
    assert added.text == "In the calendar: Choir: every Monday 19:00–21:00 (our calendar)."
    for day in ("2026-03-30", "2026-04-06", "2026-11-02"):
        assert "Choir: 19:00" in await on(workshop, day)
    taken = await workshop("calendar.remove", event="choir on Monday")
    assert taken.text == "Out of the calendar: Choir: Monday 30 March 19:00–21:00 (our calendar)."
    assert "Nothing" in await on(workshop, "2026-03-30")
    assert "Choir: 19:00" in await on(workshop, "2026-04-06")
    await workshop.undo(taken)
    assert "Choir: 19:00" in await on(workshop, "2026-03-30")


async def test_a_series_is_taken_out_once_that_is_confirmed(workshop):
    await workshop("calendar.add", title="choir every Monday from 7 to 9 pm")
    with pytest.raises(NotConfirmedError):
        await workshop("calendar.remove", event="every choir")
    gone = await workshop("calendar.remove", event="every choir", confirmed=True)
    assert gone.undo is None
    with pytest.raises(ToolError, match="no calendar"):
        await workshop("calendar.next", event="choir")


async def test_a_full_calendar_says_so(workshop, monkeypatch):
    monkeypatch.setattr(own_calendar, "MAXIMUM", 1)
    await workshop("calendar.add", title="choir on Monday at 7")
    with pytest.raises(ToolError, match="1 events already"):
        await workshop("calendar.add", title="dentist on Monday at 3")


async def test_a_birthday_is_there_every_year(workshop):
    added = await workshop("calendar.add", "de", title="Omas Geburtstag am 12. Mai")
    assert added.text == (
        "Steht im Kalender: Omas Geburtstag: Dienstag 12. Mai (jedes Jahr) (unser Kalender)."
    )
    await workshop.pass_time(days=300)
    told = await workshop("calendar.next", event="Oma")
    assert told.text.startswith("Omas Geburtstag: Wednesday 12 May")
    assert told.data["events"][0]["start"].startswith("2027-05-12")


async def test_an_event_is_moved_and_moved_back(workshop):
    await workshop("calendar.add", title="dentist on Monday at 3")
    moved = await workshop("calendar.move", event="dentist", to="Tuesday at 4")
    assert moved.text == "Moved: Dentist: Tuesday 31 March 16:00–17:00 (our calendar)."
    assert "Nothing" in await on(workshop, "2026-03-30")
    back = await workshop.undo(moved)
    assert back.text == "In the calendar: Dentist: Monday 30 March 15:00–16:00 (our calendar)."
    assert "Nothing" in await on(workshop, "2026-03-31")
    with pytest.raises(MissingArgumentError, match="When"):
        await workshop("calendar.move", event="dentist", to="the kitchen")


async def test_one_time_of_a_series_is_moved(workshop):
    await workshop("calendar.add", title="choir every Monday at 7 pm")
    later = await workshop("calendar.move", event="choir", to="Monday at 7:30 pm")
    assert later.text == "Moved: Choir: Monday 30 March 19:30–20:30 (our calendar)."
    await workshop.undo(later)
    moved = await workshop("calendar.move", event="choir", to="Tuesday")
    assert moved.text == "Moved: Choir: Tuesday 31 March 19:00–20:00 (our calendar)."
    assert "Nothing" in await on(workshop, "2026-03-30")
    assert "Choir" in await on(workshop, "2026-04-06")
    await workshop.undo(moved)
    assert "Choir" in await on(workshop, "2026-03-30")
    assert "Nothing" in await on(workshop, "2026-03-31")


async def test_which_one_is_asked_where_several_may_be_meant(workshop):
    await workshop("calendar.add", title="dentist for Ann on Monday at 3")
    await workshop("calendar.add", title="dentist for Bob on Tuesday at 3")
    with pytest.raises(ToolError, match=r"Which one\? Dentist for Ann: .*; Dentist for Bob: "):
        await workshop("calendar.remove", event="dentist")
    taken = await workshop("calendar.remove", event="dentist on Tuesday")
    assert "Dentist for Bob" in taken.text
    taken = await workshop("calendar.remove", event="Monday at 3")
    assert "Dentist for Ann" in taken.text


async def test_a_calendar_that_is_a_file_is_not_changed(workshop, tmp_path):
    (tmp_path / "family.ics").write_text(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test\nBEGIN:VEVENT\nUID:1\nSUMMARY:Dentist\n"
        "DTSTART;TZID=Europe/Berlin:20260328T100000\nDURATION:PT30M\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    workshop.settings["calendar"] = {"sources": [f"Family = {tmp_path / 'family.ics'}"]}
    await workshop.tools.start()
    await workshop.pass_time(seconds=1)
    for tool, more in (("calendar.remove", {}), ("calendar.move", {"to": "Friday"})):
        with pytest.raises(ToolError, match="Family cannot be changed from here"):
            await workshop(tool, event="dentist", **more)
    assert await workshop.tools.meant("cancel the dentist") is None
    added = await workshop("calendar.add", title="lunch tomorrow at 10")
    assert added.text.endswith("Then there is also Dentist: tomorrow 10:00–10:30 (Family).")
    await workshop.pass_time(minutes=31)  # reading the file again forgets none of the hub's own
    assert "Lunch" in await on(workshop, "tomorrow")


@pytest.mark.parametrize(
    ("language", "text", "tool", "arguments"),
    [
        ("en", "cancel the dentist", "remove", {"event": "dentist"}),
        ("en", "please call off football on Monday", "remove", {"event": "football on Monday"}),
        ("en", "could you move football to Tuesday at 5?", "move",
         {"event": "football", "to": "Tuesday at 5"}),
        ("de", "sag den Zahnarzt ab", "remove", {"event": "Zahnarzt"}),
        ("de", "verschieb den Zahnarzt auf Dienstag um fünf", "move",
         {"event": "Zahnarzt", "to": "Dienstag um fünf"}),
        ("zh", "取消看牙", "remove", {"event": "看牙"}),
        ("zh", "把看牙改到周四下午四点", "move", {"event": "看牙", "to": "周四下午四点"}),
        ("en", "cancel the milk", None, {}),
        ("en", "move football to the kitchen", None, {}),
        ("en", "cancel the dentist reminder", None, {}),
    ],
)  # fmt: skip
async def test_what_cancels_or_moves_by_a_title(workshop, language, text, tool, arguments):
    for title in ("the dentist", "football", "milk delivery", "Zahnarzt", "看牙"):
        await workshop("calendar.add", title=title, when="Monday at 3")
    call = await workshop.tools.meant(text, Speaker(language=language))
    assert (call.tool, call.arguments) == (f"calendar.{tool}", arguments) if tool else call is None


SENTENCES = [
    ("en", "put dentist on Friday at 3 pm in the calendar", "add",
     {"title": "dentist on Friday at 3 pm"}),
    ("en", "add football training to the calendar every Tuesday at 5", "add",
     {"title": "football training", "when": "every Tuesday at 5"}),
    ("en", "could you put the school play in the calendar, 14 December at 6", "add",
     {"title": "the school play", "when": "14 December at 6"}),
    ("en", "add lunch with Tom tomorrow at noon to the work calendar", "add",
     {"title": "lunch with Tom tomorrow at noon", "calendar": "work"}),
    ("en", "we have parents evening on Thursday at 7, can you put that in the calendar", "add",
     {"title": "parents evening on Thursday at 7"}),
    ("en", "cancel the dentist appointment", "remove", {"event": "dentist"}),
    ("en", "remove football from our calendar", "remove", {"event": "football"}),
    ("en", "move the dentist appointment to Thursday at 4", "move",
     {"event": "dentist", "to": "Thursday at 4"}),
    ("de", "trag den Zahnarzt am Freitag um drei in den Kalender ein", "add",
     {"title": "den Zahnarzt am Freitag um drei"}),
    ("de", "Bitte trag Urlaub vom 3. bis 10. August in unseren Kalender ein", "add",
     {"title": "Urlaub vom 3. bis 10. August"}),
    ("de", "Kannst du den Kindergeburtstag am Samstag um 15 Uhr in den Kalender eintragen?", "add",
     {"title": "den Kindergeburtstag am Samstag um 15 Uhr"}),
    ("de", "sag den Termin beim Zahnarzt ab", "remove", {"event": "Zahnarzt"}),
    ("de", "verschieb den Termin beim Zahnarzt auf Donnerstag um vier", "move",
     {"event": "Zahnarzt", "to": "Donnerstag um vier"}),
    ("zh", "把周五下午三点看牙医记到日历上", "add", {"title": "周五下午三点看牙医"}),
    ("zh", "把看牙医从日历里删掉", "remove", {"event": "看牙医"}),
    ("fr", "mets le dentiste au calendrier vendredi à 15 h", "add",
     {"title": "le dentiste", "when": "vendredi à 15 h"}),
    ("es", "pon dentista el viernes a las 3 en el calendario", "add",
     {"title": "dentista el viernes a las 3"}),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "tool", "arguments"), SENTENCES)
def test_a_sentence_is_understood(understood, language, text, tool, arguments):
    assert understood(text, language) == (f"calendar.{tool}", arguments)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "put it in the calendar"),
        ("en", "put the kettle on"),
        ("en", "schedule the lights for 8"),
        ("en", "add milk to the list"),
        ("en", "cancel the meeting timer"),
        ("de", "trag mich ein"),
        ("de", "schreib Milch auf die Liste"),
        ("zh", "加一个闹钟"),
    ],
)
def test_what_is_for_no_calendar(understood, language, text):
    call = understood(text, language)
    assert call is None or not call[0].startswith("calendar.")


RULES = st.sampled_from([
    "", "FREQ=DAILY", "FREQ=YEARLY", "FREQ=WEEKLY;BYDAY=MO", "FREQ=WEEKLY;BYDAY=TU,SA,SU",
    "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU", "FREQ=MONTHLY;BYMONTHDAY=15",
])  # fmt: skip


@given(
    start=st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)),
    minutes=st.integers(1, 3 * 1440),
    rule=RULES,
    whole_day=st.booleans(),
    first=st.datetimes(datetime(2026, 1, 1), datetime(2029, 6, 1)),
    days=st.integers(1, 40),
)
@example(  # two o'clock of 26 March 2028, which has no such hour
    start=datetime(2026, 1, 1, 2),
    minutes=60,
    rule="FREQ=DAILY",
    whole_day=False,
    first=datetime(2028, 3, 20),
    days=10,
)
def test_the_times_are_those_of_another_implementation(
    start, minutes, rule, whole_day, first, days
):
    """recurring-ical-events, of the same event in a calendar file."""
    start = start.replace(minute=0, second=0, microsecond=0)
    length = timedelta(minutes=minutes)
    if whole_day:
        start, length = start.replace(hour=0), timedelta(days=1 + minutes // 1440)
    begin = start.replace(tzinfo=BERLIN).astimezone(UTC).astimezone(BERLIN)
    if rule.startswith("FREQ=WEEKLY"):  # a series begins on one of its days, as `read` makes it
        names = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
        while names[begin.weekday()] not in rule.partition("BYDAY=")[2]:
            begin += timedelta(days=1)
    event = Occurrence(title="A", start=begin, end=begin + length, whole_day=whole_day, rule=rule)
    window = first.replace(tzinfo=BERLIN), first.replace(tzinfo=BERLIN) + timedelta(days=days)
    ours = [one.start for one in _times(_Kept(event=event), *window, begin)]

    if "BYMONTHDAY" in rule:
        begin = begin.replace(day=15)
        event = Occurrence(
            title="A", start=begin, end=begin + length, whole_day=whole_day, rule=rule
        )
        ours = [one.start for one in _times(_Kept(event=event), *window, begin)]
    component = icalendar.Event()
    component.add("UID", "1")
    component.add("DTSTART", begin.date() if whole_day else begin)
    component.add("DTEND", (begin + length).date() if whole_day else begin + length)
    if rule:
        component.add("RRULE", icalendar.vRecur.from_ical(rule))
    calendar = icalendar.Calendar()
    calendar.add_component(component)
    theirs = [one["DTSTART"].dt for one in recurring_ical_events.of(calendar).between(*window)]
    if whole_day:
        assert sorted(one.date() for one in ours) == sorted(theirs)
    else:  # in UTC: two o'clock in the night that has none is three, which only ours says
        mine, others = (sorted(t.astimezone(UTC) for t in times) for times in (ours, theirs))
        assert mine == others
