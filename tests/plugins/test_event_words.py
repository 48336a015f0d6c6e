"""Events as they are said: what, from when to when, and how they come again."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from plugins.event_words import moment_to, read, says_when, title_in
from plugins.ics import Occurrence

NOW = datetime(2026, 3, 27, 12, tzinfo=ZoneInfo("Europe/Berlin"))  # a Friday
WEEKLY = "FREQ=WEEKLY;BYDAY="

TIMED = [
    ("en", "the dentist on Friday at 3 pm", "Dentist", "04-03 15:00", "16:00"),
    ("en", "dentist appointment tomorrow from three to four", "Dentist appointment", "03-28 15:00",
     "16:00"),
    ("en", "parents evening next Thursday 7-9 pm", "Parents evening", "04-02 19:00", "21:00"),
    ("en", "an appointment with Dr Smith on the 2nd of April at half past ten for two hours",
     "Appointment with Dr Smith", "04-02 10:30", "12:30"),
    ("en", "lunch with two friends tomorrow at noon", "Lunch with two friends", "03-28 12:00",
     "13:00"),
    ("en", "dinner with Tom and Jo on Saturday at 8", "Dinner with Tom and Jo", "03-28 20:00",
     "21:00"),
    ("en", "breakfast with Tom on Saturday at 8", "Breakfast with Tom", "03-28 08:00", "09:00"),
    ("en", "school play on 14 December at 6 pm until 8 pm", "School play", "12-14 18:00", "20:00"),
    ("en", "one-on-one with Tom on Monday at eleven", "One-on-one with Tom", "03-30 11:00",
     "12:00"),
    ("en", "dentist on the 5th at quarter past nine", "Dentist", "04-05 09:15", "10:15"),
    ("en", "a meeting with the bank for the 5th at 11 am", "Meeting with the bank", "04-05 11:00",
     "12:00"),
    ("en", "the school play, it's on the 12th of May at 6", "School play", "05-12 18:00", "19:00"),
    ("en", "car service next week on Tuesday at 8", "Car service", "03-31 08:00", "09:00"),
    ("en", "flight on Sunday 11 am to 1 pm", "Flight", "03-29 11:00", "13:00"),
    ("en", "that we have guests on 5 May at 7 pm", "Guests", "05-05 19:00", "20:00"),
    ("de", "den Zahnarzt am Freitag um drei", "Zahnarzt", "04-03 15:00", "16:00"),
    ("de", "einen Termin beim Arzt morgen von zehn bis elf Uhr", "Termin beim Arzt", "03-28 10:00",
     "11:00"),
    ("de", "Elternabend am Donnerstag von 19 bis 21 Uhr", "Elternabend", "04-02 19:00", "21:00"),
    ("de", "Kino mit Jana am Samstagabend um acht", "Kino mit Jana", "03-28 20:00", "21:00"),
    ("de", "Friseur übermorgen um halb zehn", "Friseur", "03-29 09:30", "10:30"),
    ("de", "Reifenwechsel am 2.4. um neun für zwei Stunden", "Reifenwechsel", "04-02 09:00",
     "11:00"),
    ("de", "für den zehnten April um 18 Uhr den Elternabend", "Elternabend", "04-10 18:00",
     "19:00"),
    ("de", "für den zehnten um 18 Uhr Elternabend", "Elternabend", "04-10 18:00", "19:00"),
    ("de", "also am neunten um fünfzehn Uhr Friseur", "Friseur", "04-09 15:00", "16:00"),
    ("de", "Dünger für den Garten um drei am Samstag", "Dünger für den Garten", "03-28 15:00",
     "16:00"),
    ("en", "well, on the ninth at 3 pm haircut", "Haircut", "04-09 15:00", "16:00"),
    ("en", "Well woman clinic on Friday at 3 pm", "Well woman clinic", "04-03 15:00", "16:00"),
    ("zh", "就是9号下午三点理发", "理发", "04-09 15:00", "16:00"),
    ("zh", "周五下午三点看牙医", "看牙医", "04-03 15:00", "16:00"),
    ("zh", "明天上午十点到十一点开会", "开会", "03-28 10:00", "11:00"),
    ("zh", "下周三晚上七点和小王吃饭", "和小王吃饭", "04-01 19:00", "20:00"),
    ("zh", "家长会，4月2号晚上七点，两个小时", "家长会", "04-02 19:00", "21:00"),
    ("fr", "dentiste vendredi à 15h", "Dentiste", "04-03 15:00", "16:00"),
    ("es", "dentista el viernes a las 3 de la tarde", "Dentista", "04-03 15:00", "16:00"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "title", "start", "end"), TIMED)
def test_what_has_an_hour(language, text, title, start, end):
    said = read(text, language, NOW)
    assert said.title == title
    assert f"{said.event.start:%m-%d %H:%M}" == start
    assert f"{said.event.end:%H:%M}" == end
    assert (said.event.title, said.event.whole_day, said.event.rule) == (title, False, "")


DAYS = [
    ("en", "holiday from 3 to 10 August", "Holiday", "08-03", "08-11"),
    ("en", "holiday from Monday to Friday", "Holiday", "03-30", "04-04"),
    ("en", "Ann is away next weekend", "Ann is away", "04-04", "04-06"),
    ("en", "yoga in two weeks", "Yoga", "04-10", "04-11"),
    ("en", "dinner on Saturday evening", "Dinner (evening)", "03-28", "03-29"),
    ("de", "Urlaub vom 3. bis 10. August", "Urlaub", "08-03", "08-11"),
    ("de", "Besuch von Tante Helga nächstes Wochenende", "Besuch von Tante Helga", "04-04",
     "04-06"),
    ("zh", "8月3日到10日去海边度假", "去海边度假", "08-03", "08-11"),
    ("zh", "下周六爬山", "爬山", "04-04", "04-05"),
    ("fr", "vacances du 3 au 10 août", "Vacances", "08-03", "08-11"),
    ("es", "vacaciones del 3 al 10 de agosto", "Vacaciones", "08-03", "08-11"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "title", "first", "behind"), DAYS)
def test_what_takes_whole_days(language, text, title, first, behind):
    said = read(text, language, NOW)
    assert (said.title, said.event.whole_day) == (title, True)
    assert f"{said.event.start:%m-%d %H:%M}" == f"{first} 00:00"
    assert f"{said.event.end:%m-%d %H:%M}" == f"{behind} 00:00"


AGAIN = [
    ("en", "football training every Tuesday at 5", "Football training", "03-31 17:00",
     f"{WEEKLY}TU"),
    ("en", "choir every Monday from 7 to 9 pm", "Choir", "03-30 19:00", f"{WEEKLY}MO"),
    ("en", "bins out every Thursday", "Bins out", "04-02 00:00", f"{WEEKLY}TH"),
    ("en", "Ann's birthday on 12 May", "Ann's birthday", "05-12 00:00", "FREQ=YEARLY"),
    ("en", "tax return on 31 January every year", "Tax return", "01-31 00:00", "FREQ=YEARLY"),
    ("en", "medicine every day at 8", "Medicine", "03-28 08:00", "FREQ=DAILY"),
    ("en", "choir every other Monday at 7 pm", "Choir", "03-30 19:00",
     "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"),
    ("en", "rent on the 1st of every month", "Rent", "04-01 00:00", "FREQ=MONTHLY;BYMONTHDAY=1"),
    ("de", "Müll alle zwei Wochen dienstags", "Müll", "03-31 00:00",
     "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"),
    ("zh", "每隔一天早上九点浇花", "浇花", "03-28 09:00", "FREQ=DAILY;INTERVAL=2"),
    ("de", "Klavierstunde jeden Dienstag um 17 Uhr", "Klavierstunde", "03-31 17:00",
     f"{WEEKLY}TU"),
    ("de", "Omas Geburtstag am 12. Mai", "Omas Geburtstag", "05-12 00:00", "FREQ=YEARLY"),
    ("zh", "每周二下午五点钢琴课", "钢琴课", "03-31 17:00", f"{WEEKLY}TU"),
    ("zh", "5月12号奶奶生日", "奶奶生日", "05-12 00:00", "FREQ=YEARLY"),
    ("es", "cumpleaños de la abuela el 12 de mayo", "Cumpleaños de la abuela", "05-12 00:00",
     "FREQ=YEARLY"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "title", "start", "rule"), AGAIN)
def test_what_comes_again(language, text, title, start, rule):
    said = read(text, language, NOW)
    assert (said.title, f"{said.event.start:%m-%d %H:%M}", said.event.rule) == (title, start, rule)


def test_a_party_on_a_birthday_is_once():
    assert read("birthday party on Saturday at 3", "en", NOW).event.rule == ""


def test_what_says_nothing_of_when_is_no_event_yet():
    assert read("pick up the parcel", "en", NOW) == ("Pick up the parcel", None)
    assert read("picnic at sunset", "en", NOW).event is None
    assert read("on Friday at 3", "en", NOW).title == ""


def test_a_time_that_has_passed():
    with pytest.raises(ValueError, match="passed"):
        read("dentist today at 9 am", "en", NOW)


DENTIST = Occurrence(
    title="Dentist",
    start=datetime(2026, 4, 3, 15, tzinfo=NOW.tzinfo),
    end=datetime(2026, 4, 3, 15, 30, tzinfo=NOW.tzinfo),
    location="Main Street",
    uid="7",
)


@pytest.mark.parametrize(
    ("language", "to", "start", "end"),
    [
        ("en", "Thursday", "04-02 15:00", "15:30"),
        ("en", "4 pm", "04-03 16:00", "16:30"),
        ("en", "Thursday at 4", "04-02 16:00", "16:30"),
        ("en", "Saturday from 10 to 12", "03-28 10:00", "12:00"),
        ("de", "Donnerstag um vier", "04-02 16:00", "16:30"),
        ("zh", "周四下午四点", "04-02 16:00", "16:30"),
    ],
)
def test_where_an_event_is_moved(language, to, start, end):
    moved = moment_to(to, language, DENTIST, NOW)
    assert (f"{moved.start:%m-%d %H:%M}", f"{moved.end:%H:%M}") == (start, end)
    assert (moved.title, moved.location, moved.uid) == ("Dentist", "Main Street", "")


def test_a_move_to_nowhere_or_into_the_past():
    assert moment_to("somewhere nice", "en", DENTIST, NOW) is None
    with pytest.raises(ValueError, match="passed"):
        moment_to("today at 9 am", "en", DENTIST, NOW)


@pytest.mark.parametrize(
    ("language", "text", "says"),
    [
        ("en", "Thursday at 4", True),
        ("en", "the kitchen", False),
        ("en", "50 percent", False),
        ("de", "Donnerstag", True),
        ("zh", "周四下午四点", True),
        ("zh", "厨房", False),
    ],
)
def test_what_is_nothing_but_a_time(language, text, says):
    assert says_when(text, language, NOW) == says


@pytest.mark.parametrize(
    ("said", "begins", "ends"),
    [
        ("soccer Wednesday from four to five thirty", "16:00", "17:30"),
        ("soccer Wednesday from 4 to 5:30", "16:00", "17:30"),
        ("soccer Wednesday from four fifteen to five thirty", "16:15", "17:30"),
        ("party Saturday from 8 pm to 1 am", "20:00", "01:00"),
        ("night shift Friday from 22:00 to 5:30", "22:00", "05:30"),
    ],
)
def test_hours_with_minutes(said, begins, ends):
    event = read(said, "en", NOW).event
    assert (f"{event.start:%H:%M}", f"{event.end:%H:%M}") == (begins, ends)


@pytest.mark.parametrize(
    "said", ["dentist today at 9 am", "dentist today at midnight", "dentist today at 11 pm"]
)
def test_what_is_over_keeps_its_title(said):
    assert title_in(said, "en", NOW) == "Dentist"
