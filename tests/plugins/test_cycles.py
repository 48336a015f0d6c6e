"""What comes every other week, every few days or on a day of the month: said, kept, due, told."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given
from hypothesis import strategies as st

from plugins.api import MissingArgumentError
from plugins.days import DAILY, WEEKDAYS
from plugins.event_words import BY_DAY
from plugins.moments import days_told
from plugins.next_time import kept_as, kept_time, next_time
from plugins.when import When, parse
from plugins.when_reader import Cycle

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 27, 12, tzinfo=BERLIN)  # a Friday
TUESDAY = (1,)

SAID = [
    ("en", "every other Tuesday at 7 put the bins out", TUESDAY, 2, 0, "put the bins out"),
    ("en", "every second Tuesday at 7", TUESDAY, 2, 0, ""),
    ("en", "every two weeks on Tuesday at 7", TUESDAY, 2, 0, ""),
    ("en", "on Tuesdays every three weeks at 7", TUESDAY, 3, 0, ""),
    ("en", "fortnightly on Tuesdays at 7", TUESDAY, 2, 0, ""),
    ("en", "every other day at 7", DAILY, 2, 0, ""),
    ("en", "every 3 days at 7", DAILY, 3, 0, ""),
    ("en", "on the 15th of every month at 7 pay the rent", DAILY, 1, 15, "pay the rent"),
    ("en", "every month on the first at 7", DAILY, 1, 1, ""),
    ("en", "every week on Tuesday at 7", TUESDAY, 1, 0, ""),
    ("de", "jeden zweiten Dienstag um 7", TUESDAY, 2, 0, ""),
    ("de", "alle zwei Wochen dienstags um 7", TUESDAY, 2, 0, ""),
    ("de", "jeden zweiten Tag um 7", DAILY, 2, 0, ""),
    ("de", "alle drei Tage um 7", DAILY, 3, 0, ""),
    ("de", "am 15. jedes Monats um 7 Miete", DAILY, 1, 15, "Miete"),
    ("de", "jede Woche am Dienstag um 7", TUESDAY, 1, 0, ""),
    ("zh", "隔周周二早上七点倒垃圾", TUESDAY, 2, 0, "倒垃圾"),
    ("zh", "每两个星期的星期二早上七点", TUESDAY, 2, 0, ""),
    ("zh", "每隔一天早上七点", DAILY, 2, 0, ""),
    ("zh", "每隔一个星期二早上七点", TUESDAY, 2, 0, ""),
    ("zh", "每三天早上七点", DAILY, 3, 0, ""),
    ("zh", "每月十五号早上七点交房租", DAILY, 1, 15, "交房租"),
    ("fr", "un mardi sur deux à 7h", TUESDAY, 2, 0, ""),
    ("fr", "tous les deux jours à 7h", DAILY, 2, 0, ""),
    ("es", "cada dos días a las 7", DAILY, 2, 0, ""),
    ("es", "el 15 de cada mes a las 7", DAILY, 1, 15, ""),
]


@pytest.mark.parametrize(("language", "text", "repeat", "every", "month_day", "rest"), SAID)
def test_it_is_understood(language, text, repeat, every, month_day, rest):
    said = parse(text, language, NOW)
    assert (said.repeat, said.cycle.every, said.cycle.month_day) == (repeat, every, month_day)
    assert (said.at, said.rest) == (time(7), rest)


@pytest.mark.parametrize(
    ("language", "text", "day", "nth", "rest"),
    [
        (
            "en",
            "on the first Monday of every month at 7 put the bins out",
            0,
            1,
            "put the bins out",
        ),
        ("en", "every first Monday of the month at 7", 0, 1, ""),
        ("en", "each month on the third Thursday at 7", 3, 3, ""),
        ("en", "every second Tuesday of the month at 7", 1, 2, ""),
        ("en", "every last Friday at 7", 4, -1, ""),
        ("de", "jeden ersten Montag im Monat um 7 die Tonne", 0, 1, "die Tonne"),
        ("de", "am letzten Freitag jedes Monats um 7", 4, -1, ""),
        ("de", "jeden Monat am 2. Dienstag um 7", 1, 2, ""),
        ("zh", "每个月第一个星期一早上七点倒垃圾", 0, 1, "倒垃圾"),
        ("zh", "每月最后一个周五早上七点", 4, -1, ""),
        ("fr", "le premier lundi de chaque mois à 7h", 0, 1, ""),
        ("es", "el último viernes de cada mes a las 7", 4, -1, ""),
    ],
)
def test_a_weekday_of_each_month_is_understood(language, text, day, nth, rest):
    said = parse(text, language, NOW)
    assert (said.repeat, said.cycle, said.at, said.rest) == ((day,), Cycle(nth=nth), time(7), rest)


@pytest.mark.parametrize(
    ("language", "text", "rest"),
    [
        ("en", "every year on 12 May at 7 call Ann", "call Ann"),
        ("en", "on the 12th of May each year at 7", ""),
        ("en", "every year on May 12th at 7", ""),
        ("de", "jedes Jahr am 12. Mai um 7 Anna anrufen", "Anna anrufen"),
        ("de", "am 12.5. jedes Jahr um 7 Uhr", ""),
        ("zh", "每年五月十二号早上七点给安娜打电话", "给安娜打电话"),
        ("fr", "tous les ans le 12 mai à 7h", ""),
        ("es", "cada año el 12 de mayo a las 7", ""),
    ],
)
def test_a_day_of_each_year_is_understood(language, text, rest):
    said = parse(text, language, NOW)
    assert (said.repeat, said.cycle) == (DAILY, Cycle(month_day=12, month=5))
    assert (said.at, said.rest) == (time(7), rest)


NINE_TO_FIVE = (time(9), time(17))


@pytest.mark.parametrize(
    ("language", "text", "minutes", "hours", "rest"),
    [
        ("en", "every two hours drink", 120, None, "drink"),
        ("en", "hourly", 60, None, ""),
        ("en", "every other hour", 120, None, ""),
        ("en", "every half hour between 9 and 5", 30, NINE_TO_FIVE, ""),
        ("en", "every 90 minutes from 9 am to 5 pm stretch", 90, NINE_TO_FIVE, "stretch"),
        ("en", "every hour from nine in the morning until midnight", 60, (time(9), time(0)), ""),
        ("de", "alle zwei Stunden trinken", 120, None, "trinken"),
        ("de", "stündlich zwischen 9 und 17 Uhr", 60, NINE_TO_FIVE, ""),
        ("de", "jede halbe Stunde von neun bis fünf", 30, NINE_TO_FIVE, ""),
        ("zh", "每两个小时喝水", 120, None, "喝水"),
        ("zh", "从早上九点到下午五点每隔半小时", 30, NINE_TO_FIVE, ""),
        ("fr", "toutes les deux heures", 120, None, ""),
        ("fr", "toutes les heures entre 9h et 17h", 60, NINE_TO_FIVE, ""),
        ("es", "cada dos horas", 120, None, ""),
        ("es", "cada hora entre las 9 y las 5 de la tarde", 60, NINE_TO_FIVE, ""),
    ],
)
def test_every_few_hours_is_understood(language, text, minutes, hours, rest):
    said = parse(text, language, NOW)
    assert (said.repeat, said.cycle) == (DAILY, Cycle(minutes=minutes, hours=hours))
    assert (said.said, said.at, said.rest) == (True, None, rest)


@pytest.mark.parametrize(
    ("language", "text", "repeat", "hours", "told"),
    [
        ("en", "every hour from nine to five on weekdays", WEEKDAYS, NINE_TO_FIVE,
         "every weekday, every hour, 09:00 – 17:00"),
        ("en", "every two hours on Mondays", (0,), None, "Monday, every 2 hours, day and night"),
        ("de", "werktags stündlich zwischen 9 und 17 Uhr", WEEKDAYS, NINE_TO_FIVE,
         "an jedem Werktag, jede Stunde, 09:00 – 17:00"),
        ("zh", "每周一从早上九点到下午五点每小时", (0,), NINE_TO_FIVE,
         "星期一，每小时（09:00 – 17:00）"),
    ],
)  # fmt: skip
def test_every_few_hours_on_some_days(language, text, repeat, hours, told):
    said = parse(text, language, NOW)
    assert (said.repeat, said.cycle.hours, said.rest) == (repeat, hours, "")
    assert days_told(said, language) == told


@pytest.mark.parametrize(
    ("language", "text", "on"),
    [
        ("en", "on the first Monday of the month at 9", date(2026, 4, 6)),
        ("en", "the last Friday of next month at 9", date(2026, 4, 24)),
        ("en", "on the last Friday of this month at 9", date(2026, 4, 24)),  # today is this one's
        ("de", "am letzten Dienstag im Monat um 9", date(2026, 3, 31)),
        ("de", "zum zweiten Montag nächsten Monats um 9", date(2026, 4, 13)),
        ("zh", "下个月第一个星期一上午九点", date(2026, 4, 6)),
    ],
)
def test_a_weekday_of_one_month_is_once(language, text, on):
    said = parse(text, language, NOW)
    assert (said.on, said.at, said.repeat, said.rest) == (on, time(9), (), "")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "every minute drink"),
        ("en", "every two hours at nine"),
        ("en", "every hour between breakfast and dinner"),
        ("en", "every two hours every evening"),
        ("en", "the report every month tomorrow at 9"),
        ("en", "every year on 31 June at 9"),
        ("en", "every fifth Monday at 9"),
        ("de", "alle zwei Minuten trinken"),
        ("de", "jeden Monat morgen um neun"),
        ("zh", "每两分钟喝水"),
        ("zh", "每年6月31号上午九点"),
    ],
)
def test_what_is_not_understood_is_not_once(language, text):
    said = parse(text, language, NOW)
    assert not said.said
    assert said.on is None


def test_the_fee_of_a_month_is_paid_once():
    assert parse("pay the monthly fee tomorrow at 9", "en", NOW).on == date(2026, 3, 28)


@given(
    days=st.sets(st.integers(0, 6), min_size=1),
    every=st.integers(1, 5),
    now=st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)),
    since=st.dates(date(2025, 1, 1), date(2025, 12, 31)),
)
def test_the_next_time_is_that_of_another_implementation(days, every, now, since):
    """dateutil's rules of RFC 5545; a week begins on Monday."""
    now, repeat = now.replace(tzinfo=BERLIN), tuple(sorted(days))
    when = When(at=time(9), repeat=repeat, cycle=Cycle(every=every, since=since))
    rule = f"FREQ=WEEKLY;INTERVAL={every};BYDAY={','.join(BY_DAY[day] for day in repeat)}"
    if repeat == DAILY:
        rule = f"FREQ=DAILY;INTERVAL={every}"
    begin = since if repeat == DAILY else since - timedelta(days=since.weekday())
    theirs = rrulestr(rule, dtstart=datetime.combine(begin, time(9))).after(
        now.replace(tzinfo=None)
    )
    assert next_time(kept_time(kept_as(when))._replace(repeat=repeat), now) == theirs.replace(
        tzinfo=BERLIN
    )


@given(st.integers(1, 31), st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)))
def test_a_day_of_the_month_is_its_last_where_it_is_shorter(number, now):
    now = now.replace(tzinfo=BERLIN)
    found = next_time(When(at=time(9), repeat=DAILY, cycle=Cycle(month_day=number)), now)
    next_day = (found + timedelta(days=1)).day
    assert found.day == number or (found.day < number and next_day == 1)
    assert timedelta(0) < found - now <= timedelta(days=32)


@given(
    day=st.integers(0, 6),
    nth=st.sampled_from([1, 2, 3, 4, -1]),
    now=st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)),
)
def test_a_weekday_of_a_month_is_that_of_another_implementation(day, nth, now):
    """dateutil's rules of RFC 5545."""
    when = When(at=time(9), repeat=(day,), cycle=Cycle(nth=nth))
    rule = rrulestr(f"FREQ=MONTHLY;BYDAY={nth}{BY_DAY[day]}", dtstart=datetime(2026, 1, 1, 9))
    found = next_time(kept_time(kept_as(when))._replace(repeat=(day,)), now.replace(tzinfo=BERLIN))
    assert found == rule.after(now).replace(tzinfo=BERLIN)


@given(
    st.dates(date(2024, 1, 1), date(2024, 12, 31)),
    st.datetimes(datetime(2026, 1, 1), datetime(2031, 12, 31)),
)
def test_a_day_of_the_year_comes_once_a_year(day, now):
    now = now.replace(tzinfo=BERLIN)
    when = When(at=time(9), repeat=DAILY, cycle=Cycle(month_day=day.day, month=day.month))
    kept = kept_time(kept_as(when))._replace(repeat=DAILY)
    found = next_time(kept, now)
    assert timedelta(0) < found - now <= timedelta(days=366)
    assert found.month == day.month
    assert found.day == day.day or (found.month, found.day, day.day) == (2, 28, 29)


@given(
    minutes=st.integers(5, 600),
    hours=st.none() | st.tuples(st.times(), st.times()),
    days=st.sets(st.integers(0, 6), min_size=1),
    now=st.datetimes(datetime(2026, 3, 27), datetime(2026, 4, 1)),
)
def test_what_comes_every_few_hours_is_the_first_of_its_moments(minutes, hours, days, now):
    """They are all counted up from the beginning of each day's hours."""
    now = now.replace(tzinfo=UTC)
    hours = hours and tuple(at.replace(second=0, microsecond=0) for at in hours)
    when = kept_time(kept_as(When(repeat=DAILY, cycle=Cycle(minutes=minutes, hours=hours))))
    found = next_time(when._replace(repeat=tuple(days)), now)
    moments = []
    if hours is None:
        moment = (now + timedelta(minutes=minutes)).replace(second=0, microsecond=0)
        moments = [moment + number * timedelta(minutes=minutes) for number in range(2100)]
    else:
        for day in range(-2, 11):
            moment = datetime.combine(now.date() + timedelta(days=day), hours[0], UTC)
            last = datetime.combine(moment.date(), hours[1], UTC)
            last += timedelta(days=hours[1] <= hours[0])
            while moment <= last:
                moments.append(moment)
                moment += timedelta(minutes=minutes)
    assert found == min(one for one in moments if one > now and one.weekday() in days)


def test_every_two_hours_are_two_hours_when_the_clocks_are_changed():
    now = datetime(2026, 3, 29, 1, tzinfo=BERLIN)
    every = When(repeat=DAILY, cycle=Cycle(minutes=120))
    found = next_time(every, now)
    assert (found.hour, found.astimezone(UTC) - now.astimezone(UTC)) == (4, timedelta(hours=2))


async def test_a_reminder_every_two_hours(workshop):
    said = "every two hours between 9 and 5 to drink"
    added = await workshop("reminders.add", what=said)
    assert added.text == "Drink: every 2 hours, 09:00 – 17:00 (today 13:00)."
    async with workshop.board.listen() as queue:
        await workshop.pass_time(days=1)
        heard = [queue.get_nowait() for _ in range(queue.qsize())]
    rung = [one.data["due"][8:16] for one in heard if one.data["state"] == "ringing"]
    assert rung == ["27T13:00", "27T15:00", "27T17:00", "28T09:00", "28T11:00"]
    skipped = await workshop("reminders.cancel", which="drink tomorrow")
    assert skipped.text == "Drink does not ring tomorrow; it does again after that."
    moved = await workshop("reminders.change", which="drink", to="every three hours")
    assert moved.text == "Drink: every 3 hours, day and night (today 15:00)."
    with pytest.raises(MissingArgumentError, match="When"):
        await workshop("reminders.change", which="drink", to="tomorrow at 8 pm")
    once = await workshop("reminders.change", which="drink", to="8 pm")
    assert once.text == "Drink: every day 20:00."
    await workshop("reminders.restore", which=added.data["id"])
    (kept,) = (await workshop("reminders.list")).data["reminders"]
    assert kept["due"].startswith("2026-03-28T15:00")


async def test_a_reminder_for_every_other_week_rings_then_is_moved_and_left_out(workshop):
    added = await workshop("reminders.add", what="put the bins out every other Tuesday at 7 am")
    assert added.text == "Put the bins out: Tuesday every 2 weeks 07:00 (Tuesday 31 March)."
    assert [moment[:10] for moment in added.data["times"]] == ["2026-03-31"]
    async with workshop.board.listen() as queue:
        await workshop.pass_time(days=40)
        heard = [queue.get_nowait() for _ in range(queue.qsize())]
    rung = [one.data["due"][:16] for one in heard if one.data["state"] == "ringing"]
    assert rung == ["2026-03-31T07:00", "2026-04-14T07:00", "2026-04-28T07:00"]
    moved = await workshop("reminders.change", which="bins", to="8 am")
    assert moved.text == "Put the bins out: Tuesday every 2 weeks 08:00 (Tuesday 12 May)."
    assert moved.data["due"].startswith("2026-05-12T08:00")
    skipped = await workshop("reminders.cancel", which="12 May")
    assert "Put the bins out" in skipped.text
    (kept,) = (await workshop("reminders.list")).data["reminders"]
    assert kept["due"].startswith("2026-05-26T08:00")


async def test_a_reminder_on_a_day_of_the_month(workshop):
    added = await workshop("reminders.add", "de", what="Miete am 31. jedes Monats um neun")
    assert added.text == "Miete: am 31. jedes Monats 09:00."
    assert added.data["due"].startswith("2026-03-31T09:00")
    await workshop.pass_time(days=20)
    (kept,) = (await workshop("reminders.list")).data["reminders"]
    assert kept["due"].startswith("2026-04-30T09:00")


async def test_a_reminder_on_the_first_monday_of_each_month(workshop):
    said = "every first Monday of the month at 7 pm put the bins out"
    added = await workshop("reminders.add", what=said)
    assert added.text == "Put the bins out: on the first Monday of each month 19:00."
    assert added.data["due"].startswith("2026-04-06T19:00")
    moved = await workshop("reminders.change", which="bins", to="8 pm")
    assert moved.text == "Put the bins out: on the first Monday of each month 20:00."
    async with workshop.board.listen() as queue:
        await workshop.pass_time(days=75)
        heard = [queue.get_nowait() for _ in range(queue.qsize())]
    rung = [one.data["due"][:16] for one in heard if one.data["state"] == "ringing"]
    assert rung == ["2026-04-06T20:00", "2026-05-04T20:00", "2026-06-01T20:00"]
    skipped = await workshop("reminders.cancel", which="6 July")
    assert "Put the bins out" in skipped.text
    (kept,) = (await workshop("reminders.list")).data["reminders"]
    assert kept["due"].startswith("2026-08-03T20:00")


async def test_a_reminder_of_a_birthday(workshop):
    added = await workshop("reminders.add", "de", what="jedes Jahr am 12. Mai um neun Anna anrufen")
    assert added.text == "Anna anrufen: jedes Jahr am 12. Mai 09:00."
    await workshop.pass_time(days=60)
    (kept,) = (await workshop("reminders.list")).data["reminders"]
    assert kept["due"].startswith("2027-05-12T09:00")


async def test_an_event_on_the_last_friday_of_each_month(workshop):
    added = await workshop("calendar.add", title="choir", when="every last Friday at 8 pm")
    assert "on the last Friday of each month 20:00–21:00" in added.text
    told = await workshop("calendar.agenda", day="24 April")
    assert "Choir" in told.text


async def test_when_is_asked_where_it_is_not_understood(workshop):
    with pytest.raises(MissingArgumentError, match="When"):
        await workshop("reminders.add", what="drink something every two minutes")


async def test_a_briefing_every_other_day(workshop):
    told = await workshop("briefing.schedule", when="every other day at 7")
    assert "every 2 days 07:00" in told.text


async def test_a_command_every_few_days(workshop):
    done = []

    async def carry_out(utterance, speaker):
        done.append(workshop.time.strftime("%d. %H:%M"))
        return ""

    workshop.tools.set_carry_out(carry_out)
    told = await workshop(
        "routines.later", command="water the garden", every="every 3 days", when="at 7 pm"
    )
    assert told.text == "“water the garden”: every 3 days 19:00 (today)."
    await workshop.pass_time(days=8)
    assert done == ["27. 19:00", "30. 19:00", "02. 19:00"]
