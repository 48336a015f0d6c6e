"""Reminders before what is in the calendar."""

import pytest

from plugins.api import Location, MissingArgumentError, ToolError


@pytest.fixture
async def family(workshop):
    await workshop("calendar.add", title="dentist on Monday at 3")
    await workshop("calendar.add", "de", title="Zahnarzt am Montag um 15 Uhr")
    await workshop("calendar.add", "zh", title="周一下午三点看牙")
    await workshop("calendar.add", title="Ann's birthday on 12 May")
    return workshop


@pytest.mark.parametrize(
    ("language", "what", "text"),
    [
        ("en", "an hour before the dentist", "Dentist (15:00): Monday 30 March 14:00."),
        ("en", "the dentist an hour before", "Dentist (15:00): Monday 30 March 14:00."),
        ("en", "half an hour before my dentist appointment to take the card",
         "Take the card: Monday 30 March 14:30."),
        ("en", "twenty minutes before the dentist", "Dentist (15:00): Monday 30 March 14:40."),
        ("en", "the day before the dentist", "Dentist (15:00): Sunday 29 March 15:00."),
        ("en", "the evening before the dentist to brush my teeth",
         "Brush my teeth: Sunday 29 March 19:00."),
        ("en", "a week before Ann's birthday", "Ann's birthday: Tuesday 5 May 09:00."),
        ("de", "eine Stunde vor dem Zahnarzt", "Zahnarzt (15:00): Montag 30. März 14:00."),
        ("de", "30 Minuten vor dem Zahnarzt an die Karte", "Die Karte: Montag 30. März 14:30."),
        ("de", "am Tag vor dem Zahnarzt", "Zahnarzt (15:00): Sonntag 29. März 15:00."),
        ("zh", "看牙前一个小时", "看牙 (15:00)：3月30日星期一 14:00。"),
        ("zh", "看牙前十分钟", "看牙 (15:00)：3月30日星期一 14:50。"),
        ("zh", "看牙的前一天晚上", "看牙 (15:00)：3月29日星期日 19:00。"),
    ],
)  # fmt: skip
async def test_so_long_before_an_event(family, language, what, text):
    assert (await family("reminders.add", language, what=what)).text == text


async def test_what_is_in_no_calendar_is_said(family):
    with pytest.raises(ToolError, match="nothing like that: plumber"):
        await family("reminders.add", what="an hour before the plumber")


async def test_what_is_over_then(family):
    with pytest.raises(ToolError, match="passed"):
        await family("reminders.add", what="a week before the dentist")


@pytest.mark.parametrize("what", ["to call mum", "to be there before the others"])
async def test_what_is_before_nothing_is_asked_about(family, what):
    with pytest.raises(MissingArgumentError, match="When"):
        await family("reminders.add", what=what)


async def test_the_sun_is_no_event(family):
    family.home.location = lambda: Location(52.52, 13.41)
    told = await family("reminders.add", what="water the plants an hour before sunset")
    assert told.text == "Water the plants: today 17:31."
