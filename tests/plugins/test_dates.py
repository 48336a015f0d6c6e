"""Days: said in five languages, counted to and from."""

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.api import ToolError
from plugins.dates import say_count
from plugins.days import day_of, moved, span_of

TODAY = date(2026, 3, 27)  # a Friday

SAID = [
    ("en", "tomorrow", "2026-03-28"),
    ("en", "the day before yesterday", "2026-03-25"),
    ("en", "in 10 days", "2026-04-06"),
    ("en", "three weeks ago", "2026-03-06"),
    ("en", "a year from now", "2027-03-27"),
    ("en", "in a month", "2026-04-27"),
    ("en", "next Friday", "2026-04-03"),
    ("en", "Monday", "2026-03-30"),
    ("en", "last Friday", "2026-03-20"),
    ("en", "December 24th", "2026-12-24"),
    ("en", "the 3rd of June 2027", "2027-06-03"),
    ("en", "March 27", "2026-03-27"),
    ("en", "March 26", "2027-03-26"),
    ("en", "2030-01-02", "2030-01-02"),
    ("en", "February 29", "2028-02-29"),
    ("en", "Christmas", "2026-12-25"),
    ("en", "Thanksgiving", "2026-11-26"),
    ("en", "Memorial Day", "2026-05-25"),
    ("en", "Black Friday 2027", "2027-11-26"),
    ("en", "Easter next year", "2027-03-28"),
    ("en", "Easter", "2026-04-05"),
    ("en", "good friday", "2026-04-03"),
    ("en", "New Year's Eve", "2026-12-31"),
    ("en", "Christmas 2030", "2030-12-25"),
    ("en", "Chinese New Year", "2027-02-06"),
    ("en", "twenty days from now", "2026-04-16"),
    ("zh", "明天", "2026-03-28"),
    ("zh", "十天后", "2026-04-06"),
    ("zh", "两个星期前", "2026-03-13"),
    ("zh", "下周一", "2026-03-30"),
    ("zh", "下个星期五", "2026-04-03"),
    ("en", "Friday next week", "2026-04-03"),
    ("en", "on the 5th", "2026-04-05"),
    ("en", "the 31st", "2026-03-31"),
    ("de", "am 5.", "2026-04-05"),
    ("zh", "5号", "2026-04-05"),
    ("en", "next week on Saturday", "2026-04-04"),
    ("de", "Freitag nächster Woche", "2026-04-03"),
    ("fr", "vendredi de la semaine prochaine", "2026-04-03"),
    ("es", "el viernes de la semana que viene", "2026-04-03"),
    ("zh", "星期天", "2026-03-29"),
    ("zh", "10月1日", "2026-10-01"),
    ("zh", "2030年1月2号", "2030-01-02"),
    ("zh", "十二月二十四日", "2026-12-24"),
    ("zh", "春节", "2027-02-06"),
    ("zh", "中秋节", "2026-09-25"),
    ("zh", "国庆节", "2026-10-01"),
    ("de", "übermorgen", "2026-03-29"),
    ("de", "in zehn Tagen", "2026-04-06"),
    ("de", "vor einer Woche", "2026-03-20"),
    ("de", "am 24. Dezember", "2026-12-24"),
    ("de", "24.12.2030", "2030-12-24"),
    ("de", "24.12.", "2026-12-24"),
    ("de", "Pfingsten", "2026-05-24"),
    ("de", "nächsten Montag", "2026-03-30"),
    ("fr", "dans 10 jours", "2026-04-06"),
    ("fr", "le 1er mai", "2026-05-01"),
    ("fr", "Noël", "2026-12-25"),
    ("es", "pasado mañana", "2026-03-29"),
    ("es", "hace dos semanas", "2026-03-13"),
    ("es", "el 6 de enero de 2028", "2028-01-06"),
    ("de", "der dritte März", "2027-03-03"),
    ("en", "the third of March", "2027-03-03"),
    ("en", "the oven", None),
    ("en", "", None),
    ("en", "February 30", None),
    ("en", "in 99999 years", None),
    ("en", "may", None),
    ("en", "5", None),
    ("en", "tomorrow and the next day", None),
]


@pytest.mark.parametrize(("language", "said", "day"), SAID)
def test_a_day_is_found(language, said, day):
    assert day_of(said, language, TODAY) == (day and date.fromisoformat(day))


@pytest.mark.parametrize(
    ("language", "said", "days"),
    [
        ("en", "the next seven days", 7),
        ("en", "in the coming 10 days", 10),
        ("de", "in den nächsten drei Tagen", 3),
        ("fr", "les 5 prochains jours", 5),
        ("es", "los próximos 4 días", 4),
        ("zh", "未来七天", 7),
        ("de", f"{TODAY:%Y-%m-%d}/{TODAY + timedelta(days=6):%Y-%m-%d}", 7),
        ("en", "the next 99999 days", None),
        ("en", f"{TODAY:%Y-%m-%d}/{TODAY - timedelta(days=6):%Y-%m-%d}", None),
        ("en", "2026-02-31/2026-03-02", None),
    ],
)
def test_the_coming_days_and_two_dates_are_a_span(language, said, days):
    wanted = (TODAY, TODAY + timedelta(days=days - 1)) if days else None
    assert span_of(said, language, TODAY) == wanted


def test_a_day_of_the_past_is_the_last_one():
    assert day_of("Christmas", "en", TODAY, past=True) == date(2025, 12, 25)
    assert day_of("April 1st", "en", TODAY, past=True) == date(2025, 4, 1)
    assert day_of("Friday", "en", TODAY, past=True) == date(2026, 3, 20)
    assert day_of("February 29", "en", TODAY, past=True) == date(2024, 2, 29)


@settings(deadline=None)
@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(-600, 600))
def test_a_month_later_is_in_the_month_after(day, months):
    later = moved(day, months, "month")
    assert later.year * 12 + later.month == day.year * 12 + day.month + months
    assert later.day == day.day or (later + timedelta(days=1)).day == 1


@settings(deadline=None)
@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.dates(date(1900, 1, 1), date(2100, 1, 1)))
def test_counted_weeks_and_days_are_all_the_days(one, other):
    words = say_count(one, other, "week", "en").replace(" and", "").split()
    pairs = zip(words[::2], words[1::2], strict=True)
    days = sum(int(number) * (7 if unit.startswith("week") else 1) for number, unit in pairs)
    assert days == abs((one - other).days)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text):
    for language in ("en", "zh", "de", "fr", "es"):
        day_of(text, language, TODAY)


SENTENCES = [
    ("en", "How many days until Christmas?", "dates.until", {"day": "Christmas", "unit": "day"}),
    (
        "en",
        "how many weeks is it until new year's eve",
        "dates.until",
        {"day": "new year's eve", "unit": "week"},
    ),
    ("en", "what day is it in 10 days", "dates.day", {"day": "in 10 days"}),
    ("en", "what day of the week is 24 December 2027", "dates.day", {"day": "24 December 2027"}),
    ("en", "when is easter", "dates.day", {"day": "easter"}),
    ("en", "how many days since January 1st", "dates.since", {"day": "January 1st", "unit": "day"}),
    ("zh", "离圣诞节还有几天", "dates.until", {"day": "圣诞节", "unit": "day"}),
    ("zh", "十天后是星期几", "dates.day", {"day": "十天后"}),
    ("zh", "春节是哪天", "dates.day", {"day": "春节"}),
    (
        "de",
        "Wie viele Tage sind es noch bis Weihnachten?",
        "dates.until",
        {"day": "Weihnachten", "unit": "day"},
    ),
    ("de", "wann ist ostern", "dates.day", {"day": "ostern"}),
    ("fr", "combien de jours jusqu'à Noël", "dates.until", {"day": "Noël", "unit": "day"}),
    ("es", "cuántos días faltan para Navidad", "dates.until", {"day": "Navidad", "unit": "day"}),
]


@pytest.mark.parametrize(("language", "text", "tool", "arguments"), SENTENCES)
def test_a_question_is_understood(understood, language, text, tool, arguments):
    assert understood(text, language) == (tool, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "when is the bin collection",
        "how long until the heating starts",
        "what day is the plumber coming",
    ],
)
def test_a_question_about_another_thing_is_left_alone(understood, text):
    call = understood(text)
    assert call is None or not call[0].startswith("dates.")


async def test_the_answers(workshop):
    until = await workshop("dates.until", day="Christmas")
    assert until.text == "273 days until Friday, 25 December 2026."
    assert until.data == {"days": 273, "date": "2026-12-25"}
    weeks = await workshop("dates.until", day="Christmas", unit="week")
    assert weeks.text == "39 weeks until Friday, 25 December 2026."
    months = await workshop("dates.until", day="Easter", unit="month")
    assert months.text == "9 days until Sunday, 5 April 2026."
    assert (await workshop("dates.since", day="Christmas")).data["days"] == -92
    assert (
        await workshop("dates.until", day="today")
    ).text == "That is today, Friday, 27 March 2026."
    assert (await workshop("dates.day", day="in 10 days")).text == "Monday, 6 April 2026."
    assert (
        await workshop("dates.until", "zh", day="国庆节")
    ).text == "离国庆节（2026年10月1日星期四）还有188天。"
    assert (await workshop("dates.day", "de", day="morgen")).text == "Samstag, 28. März 2026."
    with pytest.raises(ToolError, match="the flood"):
        await workshop("dates.until", day="the flood")


@pytest.mark.parametrize(
    ("language", "said", "first", "last"),
    [
        ("en", "next weekend", "2026-04-04", "2026-04-05"),
        ("en", "the week after next", "2026-04-06", "2026-04-12"),
        ("de", "nächstes Wochenende", "2026-04-04", "2026-04-05"),
        ("de", "übernächste Woche", "2026-04-06", "2026-04-12"),
        ("zh", "下周末", "2026-04-04", "2026-04-05"),
        ("zh", "下下周", "2026-04-06", "2026-04-12"),
    ],
)
def test_weeks_and_weekends_to_come(language, said, first, last):
    friday = date(2026, 3, 27)
    assert span_of(said, language, friday) == (date.fromisoformat(first), date.fromisoformat(last))
