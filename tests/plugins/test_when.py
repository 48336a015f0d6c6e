"""Times as they are said, and the moments they are, across changes of the clocks."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.days import DAILY, WEEKDAYS
from plugins.next_time import kept_as, kept_time, next_time
from plugins.when import When, as_time, parse

BERLIN = ZoneInfo("Europe/Berlin")
SATURDAY_NOON = datetime(2026, 3, 28, 12, tzinfo=BERLIN)  # the clocks change that night

SAID = [
    ("7", "en", time(7)),
    ("at half past six", "en", time(6, 30)),
    ("quarter to eight", "en", time(7, 45)),
    ("quarter past 5 pm", "en", time(17, 15)),
    ("at 12 am", "en", time(0)),
    ("noon", "en", time(12)),
    ("18:05", "en", time(18, 5)),
    ("six o'clock", "en", time(6)),
    ("um halb sieben", "de", time(6, 30)),
    ("um 18 Uhr 15", "de", time(18, 15)),
    ("um siebzehn Uhr dreißig", "de", time(17, 30)),
    ("viertel vor acht abends", "de", time(19, 45)),
    ("morgen früh um zehn nach sechs", "de", time(6, 10)),
    ("morgen früh dreiviertel sechs", "de", time(5, 45)),
    ("um viertel sechs", "de", time(5, 15)),
    ("早上六点半", "zh", time(6, 30)),
    ("早上八点一定", "zh", time(8)),
    ("早上八点零五", "zh", time(8, 5)),
    ("下午三点一刻", "zh", time(15, 15)),
    ("晚上八点三刻", "zh", time(20, 45)),
    ("晚上8:05", "zh", time(20, 5)),
    ("à 7 heures et demie", "fr", time(7, 30)),
    ("a las siete y media de la tarde", "es", time(19, 30)),
]


@pytest.mark.parametrize(("text", "language", "at"), SAID)
def test_a_time_of_day(text, language, at):
    assert parse(text, language, SATURDAY_NOON).at == at


@pytest.mark.parametrize(
    ("text", "language", "rest", "at", "days"),
    [
        ("water the plants at 6 pm", "en", "water the plants", time(18), ()),
        ("every weekday at 7 take the bins out", "en", "take the bins out", time(7), WEEKDAYS),
        ("take the pill every day at noon", "en", "take the pill", time(12), DAILY),
        ("jeden Montag um 8 Uhr Müll rausbringen", "de", "Müll rausbringen", time(8), (0,)),
        ("jeden Montagabend um 6 Müll rausbringen", "de", "Müll rausbringen", time(18), (0,)),
        ("montagabends um acht Chor", "de", "Chor", time(20), (0,)),
        ("jeden sonntagnachmittag um drei", "de", "", time(15), (6,)),
        ("every Monday evening at 6 choir", "en", "choir", time(18), (0,)),
        ("on tuesday and thursday evenings at 7", "en", "", time(19), (1, 3)),
        ("weekday mornings at 6:30", "en", "", time(6, 30), WEEKDAYS),
        ("每天早上七点吃药", "zh", "吃药", time(7), DAILY),
    ],
)
def test_the_rest_is_what_to_do(text, language, rest, at, days):
    said = parse(text, language, SATURDAY_NOON)
    assert (said.rest, said.at, said.repeat) == (rest, at, days)


@pytest.mark.parametrize(
    ("text", "language", "delay"),
    [("in 20 minutes", "en", 20), ("in half an hour", "en", 30), ("in two hours", "en", 120),
     ("in einer Stunde", "de", 60), ("十分钟后", "zh", 10), ("半小时后", "zh", 30),
     ("in 90 seconds", "en", 1.5), ("in zwei Wochen", "de", 20_160),
     ("dans une semaine", "fr", 10_080), ("en 30 segundos", "es", 0.5), ("一周后", "zh", 10_080)],
)  # fmt: skip
def test_a_delay(text, language, delay):
    assert parse(text, language, SATURDAY_NOON).delay == timedelta(minutes=delay)


@pytest.mark.parametrize(
    ("text", "at", "rest"),
    [
        ("at seven thirty", time(7, 30), ""),
        ("at seven-ten a.m.", time(7, 10), ""),
        ("five-thirty tomorrow morning", time(5, 30), ""),
        ("at seven-twenty-five", time(7, 25), ""),
        ("at five-oh-five", time(5, 5), ""),
        ("seven forty-five tomorrow", time(7, 45), ""),
        ("call Ann at eight oh five pm", time(20, 5), "call Ann"),
        ("at four thirty this afternoon to call Ann", time(16, 30), "to call Ann"),
        ("at seven ten people come", time(7), "ten people come"),
    ],
)
def test_a_time_of_two_numbers(text, at, rest):
    said = parse(text, "en", SATURDAY_NOON)
    assert (said.at, said.rest) == (at, rest)


def test_days_are_dates():
    assert parse("tomorrow at 8", "en", SATURDAY_NOON).on == date(2026, 3, 29)
    assert parse("on Monday at 8", "en", SATURDAY_NOON).on == date(2026, 3, 30)
    assert parse("on Saturday at 8", "en", SATURDAY_NOON).on == date(2026, 4, 4)


def test_a_reminder_at_five_is_in_waking_hours_an_alarm_is_not():
    assert parse("at 5", "en", SATURDAY_NOON, awake=True).at == time(17)
    assert parse("at 5", "en", SATURDAY_NOON).at == time(5)


def test_what_comes_on_many_days_comes_when_it_was_said():
    said = parse("every weekday at 7 take the bins out", "en", SATURDAY_NOON, awake=True)
    assert (said.at, said.repeat) == (time(7), WEEKDAYS)


def test_seven_is_seven_after_the_clocks_were_changed():
    seven = next_time(When(at=time(7), repeat=DAILY), SATURDAY_NOON)
    assert seven.isoformat() == "2026-03-29T07:00:00+02:00"
    assert seven.astimezone(UTC).hour == 5


def test_a_time_that_the_change_skips_is_after_the_gap():
    half_past_two = next_time(When(at=time(2, 30)), SATURDAY_NOON)
    assert half_past_two.isoformat() == "2026-03-29T03:30:00+02:00"


def test_a_time_that_comes_twice_rings_once():
    before = datetime(2026, 10, 24, 12, tzinfo=BERLIN)
    first = next_time(When(at=time(2, 30), repeat=DAILY), before)
    assert first.isoformat() == "2026-10-25T02:30:00+02:00"
    assert next_time(When(at=time(2, 30), repeat=DAILY), first).day == 26


def test_a_day_that_has_passed_is_refused():
    with pytest.raises(ValueError, match="passed"):
        next_time(When(at=time(8), on=date(2026, 3, 28)), SATURDAY_NOON)


@given(
    st.times(),
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)),
    st.sets(st.integers(0, 6)),
)
def test_the_next_time_is_after_now_and_within_a_week(at, now, days):
    now = now.replace(tzinfo=BERLIN)
    at = at.replace(second=0, microsecond=0)
    found = next_time(When(at=at, repeat=tuple(sorted(days))), now)
    assert now < found <= now + timedelta(days=8, hours=2)
    assert not days or found.weekday() in days


@given(st.text(max_size=60), st.sampled_from(["en", "de", "fr", "es", "zh"]))
def test_no_text_breaks_it(text, language):
    said = parse(text, language, SATURDAY_NOON)
    assert said.at is None or said.at.tzinfo is None


@pytest.mark.parametrize(
    ("text", "language", "minutes", "rest"),
    [
        ("in twenty minutes to take the cake out", "en", 20, "to take the cake out"),
        ("in forty-five minutes", "en", 45, ""),
        ("in a quarter of an hour", "en", 15, ""),
        ("in an hour and a half", "en", 90, ""),
        ("in an hour and a quarter", "en", 75, ""),
        ("in 2.5 hours", "en", 150, ""),
        ("in half an hour", "en", 30, ""),
        ("in zwanzig Minuten an den Kuchen", "de", 20, "an den Kuchen"),
        ("in fünfundvierzig Minuten", "de", 45, ""),
        ("in einer Viertelstunde", "de", 15, ""),
        ("in anderthalb Stunden", "de", 90, ""),
        ("in einer Stunde und einer Viertelstunde", "de", 75, ""),
        ("dans vingt minutes", "fr", 20, ""),
        ("en veinte minutos", "es", 20, ""),
        ("二十分钟后", "zh", 20, ""),
        ("一小时半后", "zh", 90, ""),
        ("一小时二十分钟后", "zh", 80, ""),
    ],
)
def test_a_delay_in_words(text, language, minutes, rest):
    found = parse(text, language, SATURDAY_NOON)
    assert (found.delay, found.rest) == (timedelta(minutes=minutes), rest)


@pytest.mark.parametrize(
    ("text", "language", "hour"),
    [("nine tomorrow", "en", 9), ("tomorrow 9", "en", 9), ("morgen auf neun", "de", 9)],
)
def test_an_hour_is_all_that_is_said_beside_the_day(text, language, hour):
    found = parse(text, language, SATURDAY_NOON)
    assert (found.at, found.on) == (time(hour), SATURDAY_NOON.date() + timedelta(days=1))
    assert parse(f"order {hour} tomorrow", "en", SATURDAY_NOON).at is None


@pytest.mark.parametrize(
    ("text", "language", "day", "hour", "rest"),
    [
        ("on the 3rd of December at 9 to call mum", "en", date(2026, 12, 3), 9, "to call mum"),
        ("call mum on December 3 at 9", "en", date(2026, 12, 3), 9, "call mum"),
        ("on Christmas Eve at noon", "en", date(2026, 12, 24), 12, ""),
        ("Oma anrufen am 3.12. um neun", "de", date(2026, 12, 3), 9, "Oma anrufen"),
        ("12月3号九点给妈妈打电话", "zh", date(2026, 12, 3), 9, "给妈妈打电话"),
        ("十二月二十三号上午十一点包礼物", "zh", date(2026, 12, 23), 11, "包礼物"),
        ("12月23号11点包礼物", "zh", date(2026, 12, 23), 11, "包礼物"),
        ("le 3 décembre à neuf heures", "fr", date(2026, 12, 3), 9, ""),
        ("el 3 de diciembre a las nueve", "es", date(2026, 12, 3), 9, ""),
        ("Easter eggs at 9", "en", None, 9, "Easter eggs"),
        ("buy the May issue at 9", "en", None, 9, "buy the May issue"),
    ],
)
def test_a_date(text, language, day, hour, rest):
    found = parse(text, language, SATURDAY_NOON)
    assert (found.on, found.at, found.rest) == (day, time(hour), rest)


@pytest.mark.parametrize(
    ("text", "language", "at", "days"),
    [
        ("every evening at 7", "en", time(19), DAILY),
        ("at 11 every night", "en", time(23), DAILY),
        ("each morning at half past six", "en", time(6, 30), DAILY),
        ("every Tuesday and Friday at 8 pm", "en", time(20), (1, 4)),
        ("on Mondays at six", "en", time(6), (0,)),
        ("Monday to Friday at 7", "en", time(7), WEEKDAYS),
        ("jeden Abend um sieben", "de", time(19), DAILY),
        ("jede Nacht um eins", "de", time(1), DAILY),
        ("montags und donnerstags um 8", "de", time(8), (0, 3)),
        ("unter der Woche um 6 Uhr 30", "de", time(6, 30), WEEKDAYS),
        ("每天晚上七点", "zh", time(19), DAILY),
        ("每晚十点", "zh", time(22), DAILY),
        ("每周一三五早上八点", "zh", time(8), (0, 2, 4)),
        ("每个星期天八点", "zh", time(8), (6,)),
        ("tous les soirs à 8 heures", "fr", time(20), DAILY),
        ("todas las noches a las diez", "es", time(22), DAILY),
    ],
)
def test_days_that_come_again(text, language, at, days):
    when = parse(text, language, SATURDAY_NOON)
    assert (when.at, when.repeat, when.rest) == (at, days, "")


@pytest.mark.parametrize(
    ("text", "language", "sun", "minutes"),
    [
        ("at sunset", "en", "sunset", 0),
        ("half an hour after sunset", "en", "sunset", 30),
        ("20 minutes before sunrise", "en", "sunrise", -20),
        ("when it gets dark", "en", "dusk", 0),
        ("bei Sonnenuntergang", "de", "sunset", 0),
        ("eine halbe Stunde nach Sonnenuntergang", "de", "sunset", 30),
        ("wenn es hell wird", "de", "dawn", 0),
        ("日落后半小时", "zh", "sunset", 30),
        ("日出前20分钟", "zh", "sunrise", -20),
        ("天黑的时候", "zh", "dusk", 0),
        ("30 minutes après le coucher du soleil", "fr", "sunset", 30),
        ("al amanecer", "es", "sunrise", 0),
    ],
)
def test_what_the_sun_does(text, language, sun, minutes):
    when = parse(text, language, SATURDAY_NOON)
    assert (when.sun, when.offset, when.rest) == (sun, timedelta(minutes=minutes), "")
    assert kept_time(kept_as(when)) == When(sun=sun, offset=timedelta(minutes=minutes))


@pytest.mark.parametrize("text", ["the sunset scene", "it is dark in here", "after the news"])
def test_what_does_not_wait_for_the_sun(text):
    assert parse(text, "en", SATURDAY_NOON).sun is None


@pytest.mark.parametrize("said", ["星期天上午九点", "周天上午九点", "礼拜天上午九点"])
def test_sunday_has_three_names_in_chinese(said):
    now = datetime(2026, 3, 3, 12, tzinfo=UTC)
    when = parse(said, "zh", now)
    assert when.on == date(2026, 3, 8)
    assert parse("这周天气怎么样", "zh", now).on is None


def test_a_while_is_no_time_of_each_day():
    assert as_time("二十分钟", "zh", SATURDAY_NOON) == ""
    assert as_time("周六", "zh", SATURDAY_NOON) == "周六"


@pytest.mark.parametrize(
    ("language", "text", "at", "rest"),
    [
        ("de", "heute Mittag um zwölf an Opas Tabletten", "12:00", "an Opas Tabletten"),
        ("de", "heute mittag um eins an die Post", "13:00", "an die Post"),
        ("de", "mittags um zwölf an die Post", "12:00", "an die Post"),
        ("de", "mittags um elf an die Post", "11:00", "an die Post"),
        ("de", "am Mittag um halb eins an die Post", "12:30", "an die Post"),
        ("de", "um zwölf Uhr mittags an die Post", "12:00", "an die Post"),
        ("de", "heute Mittag an die Post", "12:00", "an die Post"),
        ("de", "gegen Mittag an die Post", "12:00", "an die Post"),
        ("de", "jeden Mittag Tabletten", "12:00", "Tabletten"),
        ("de", "Montagmittag um eins Zahnarzt", "13:00", "Zahnarzt"),
        ("de", "am Vormittag um elf Zahnarzt", "11:00", "Zahnarzt"),
        ("en", "at midday call Bob", "12:00", "call Bob"),
        ("en", "this lunchtime at twelve call Bob", "12:00", "call Bob"),
        ("zh", "中午十一点半吃药", "11:30", "吃药"),
        ("zh", "中午一点吃药", "13:00", "吃药"),
        ("es", "a las once del mediodía", "11:00", ""),
    ],
)
def test_noon_is_a_part_of_the_day_as_well(language, text, at, rest):
    when = parse(text, language, datetime(2026, 12, 1, 8, tzinfo=UTC))
    assert (f"{when.at:%H:%M}", when.rest) == (at, rest)
