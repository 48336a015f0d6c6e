"""Days, hours and lengths of time as documents write them."""

from datetime import date, time, timedelta

import pytest

from hubd.assistant.answers.days_told import (
    Day,
    Hours,
    day_of_month_in,
    days_in,
    hours_in,
    lengths_in,
)

TODAY = date(2026, 11, 29)


@pytest.mark.parametrize(
    ("text", "around", "days"),
    [
        ("Tetanus | 4 May 2024 | 4 May 2034", "", [date(2024, 5, 4), date(2034, 5, 4)]),
        ("2026: 30 November, 14 December", "", [date(2026, 11, 30), date(2026, 12, 14)]),
        ("The fair is on 3 March.", "", [date(2027, 3, 3)]),
        ("Friday 18 December", "", [date(2026, 12, 18)]),
        ("9 October | Photographs", "calendar 2026/27", [date(2026, 10, 9)]),
        ("9 January | Swimming", "calendar 2026/27", [date(2027, 1, 9)]),
        ("10 and 12 November", "2027", [date(2027, 11, 10), date(2027, 11, 12)]),
        ("Expires: 2029-04-11", "", [date(2029, 4, 11)]),
        ("Abgabe bis 3. März 2027", "", [date(2027, 3, 3)]),
        ("am 12.3.2027", "", [date(2027, 3, 12)]),
        ("考试在12月5日", "", [date(2026, 12, 5)]),
        ("2027年1月8日", "", [date(2027, 1, 8)]),
        ("31 June, and 195 °C for 12 to 16 minutes", "", []),
    ],
)
def test_days(text: str, around: str, days: list[date]) -> None:
    assert [day.first for day in days_in(text, TODAY, around)] == days


def test_several_days_are_one_span() -> None:
    assert days_in("8 to 12 March | away", TODAY) == [Day(date(2027, 3, 8), date(2027, 3, 12))]
    assert days_in("4月9日到11日", TODAY) == [Day(date(2027, 4, 9), date(2027, 4, 11))]


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("Concert | all | 17:30", [Hours(time(17, 30))]),
        ("It begins at 14:30.", [Hours(time(14, 30))]),
        ("Trip | 8:50 to 15:00", [Hours(time(8, 50), time(15))]),
        ("at 2 pm", [Hours(time(14))]),
        ("ab 9 Uhr", [Hours(time(9))]),
        ("下午2点半", [Hours(time(14, 30))]),
        ("£14.50 a day, 12.5 kg", []),
    ],
)
def test_hours(text: str, hours: list[Hours]) -> None:
    assert hours_in(text) == hours


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("Bake for 55 minutes.", [55]),
        ("forty minutes", [40]),
        ("an hour and ten minutes", [70]),
        ("2 h 35 min", [155]),
        ("40 to 50 minutes", [40, 50]),
        ("eine halbe Stunde ruhen, zwanzig Minuten backen", [30, 20]),
        ("小火炖75分钟", [75]),
        ("一个半小时", [90]),
        ("at 195 °C on level 2", []),
    ],
)
def test_lengths(text: str, minutes: list[int]) -> None:
    assert lengths_in(text) == [timedelta(minutes=number) for number in minutes]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("It is due on the third day of each month.", 3),
        ("taken on the 15th of every month", 15),
        ("fällig zum 3. jedes Monats", 3),
        ("每月8号交", 8),
        ("on 3 May", 0),
    ],
)
def test_the_day_of_each_month(text: str, day: int) -> None:
    assert day_of_month_in(text) == day
