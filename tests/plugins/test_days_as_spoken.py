"""Days as people say them and as a speech recognizer writes them down; what is no day is none."""

from datetime import date

import pytest

from plugins.dates import plugin
from plugins.days import day_of

TODAY = date(2026, 3, 27)  # a Friday

SAID = [
    ("en", "April twelfth", "2026-04-12"),
    ("en", "April the twelfth", "2026-04-12"),
    ("en", "the Fourth, July Fourth", "2026-07-04"),
    ("en", "July Fourth, the Fourth", "2026-07-04"),
    ("en", "July Fourth", "2026-07-04"),
    ("en", "Fourth of July", "2026-07-04"),
    ("en", "April twenty third", "2026-04-23"),
    ("en", "the twenty-third of April", "2026-04-23"),
    ("en", "August third of twenty-nineteen", "2019-08-03"),
    ("en", "August third, twenty nineteen", "2019-08-03"),
    ("en", "August third two thousand and nineteen", "2019-08-03"),
    ("en", "August third, nineteen ninety-nine", "1999-08-03"),
    ("en", "August third twenty oh eight", "2008-08-03"),
    ("en", "the third of August 2019", "2019-08-03"),
    ("en", "the third of August next year", "2027-08-03"),
    ("en", "August third last year", "2025-08-03"),
    ("en", "Saturday, July 4th", "2026-07-04"),
    ("en", "Saturday the fourth of July", "2026-07-04"),
    ("en", "Friday the thirteenth", "2026-11-13"),
    ("en", "Halloween", "2026-10-31"),
    ("en", "hollow wean", "2026-10-31"),
    ("en", "east a", "2026-04-05"),
    ("en", "easter", "2026-04-05"),
    ("en", "East a Monday", "2026-04-06"),
    ("en", "Thanks giving", "2026-11-26"),
    ("en", "New Years Eve", "2026-12-31"),
    ("en", "Mother's Day", "2026-05-10"),
    ("en", "Mothers' Day", "2026-05-10"),
    ("en", "Boxing Day", "2026-12-26"),
    ("en", "Pancake Day", "2027-02-09"),
    ("en", "Shrove Tuesday", "2027-02-09"),
    ("en", "the first of next month", "2026-04-01"),
    ("en", "the 15th of this month", "2026-03-15"),
    ("en", "the last day of next month", "2026-04-30"),
    ("en", "last Christmas", "2025-12-25"),
    ("en", "next Christmas", "2026-12-25"),
    ("en", "Christmas last year", "2025-12-25"),
    ("en", "last year's Thanksgiving", "2025-11-27"),
    ("en", "Easter in twenty thirty", "2030-04-21"),
    ("en", "leap day", "2028-02-29"),
    ("de", "Heiligabend", "2026-12-24"),
    ("de", "dritte Oktober dieses Jahr", "2026-10-03"),
    ("de", "der dritte Oktober dieses Jahres", "2026-10-03"),
    ("de", "der dritte Februar dieses Jahres", "2026-02-03"),
    ("de", "dritter Oktober nächsten Jahres", "2027-10-03"),
    ("de", "vier und zwanzigste dezember", "2026-12-24"),
    ("de", "der vierundzwanzigste Dezember", "2026-12-24"),
    ("de", "am dreißigsten April", "2026-04-30"),
    ("de", "der einunddreißigste März", "2026-03-31"),
    ("de", "dritter August zweitausendneunzehn", "2019-08-03"),
    ("de", "dritter August zwei tausend neunzehn", "2019-08-03"),
    ("de", "dritter August neunzehnhundertneunundneunzig", "1999-08-03"),
    ("de", "zum dritten August", "2026-08-03"),
    ("de", "Samstag, den 4. Juli", "2026-07-04"),
    ("de", "am ersten nächsten Monats", "2026-04-01"),
    ("de", "weih nachten", "2026-12-25"),
    ("de", "ost ern", "2026-04-05"),
    ("de", "Sylvester", "2026-12-31"),
    ("de", "Silvester", "2026-12-31"),
    ("de", "Nikolaus", "2026-12-06"),
    ("de", "Rosenmontag", "2027-02-08"),
    ("de", "Pfingsten", "2026-05-24"),
    ("de", "Himmelfahrt", "2026-05-14"),
    ("de", "Christi Himmelfahrt", "2026-05-14"),
    ("de", "der Muttertag", "2026-05-10"),
    ("de", "heilige drei Könige", "2027-01-06"),
    ("de", "Buß- und Bettag", "2026-11-18"),
    ("de", "erster Advent", "2026-11-29"),
    ("de", "letztes Weihnachten", "2025-12-25"),
    ("de", "Ostern nächstes Jahr", "2027-03-28"),
    ("zh", "高考", "2026-06-07"),
    ("zh", "明年高考", "2027-06-07"),
    ("zh", "2020年高考", "2020-07-07"),
    ("zh", "去年国庆", "2025-10-01"),
    ("zh", "国庆", "2026-10-01"),
    ("zh", "十一", "2026-10-01"),
    ("zh", "五一", "2026-05-01"),
    ("zh", "国庆节那天", "2026-10-01"),
    ("zh", "中秋", "2026-09-25"),
    ("zh", "去年中秋节", "2025-10-06"),
    ("zh", "春节", "2027-02-06"),
    ("zh", "过年", "2027-02-06"),
    ("zh", "元宵", "2027-02-20"),
    ("zh", "端午", "2026-06-19"),
    ("zh", "清明", "2026-04-05"),
    ("zh", "七夕", "2026-08-19"),
    ("zh", "重阳", "2026-10-18"),
    ("zh", "腊八", "2027-01-15"),
    ("zh", "冬至", "2026-12-22"),
    ("zh", "正月初五", "2027-02-10"),
    ("zh", "农历八月十五", "2026-09-25"),
    ("zh", "零八年五月二十", "2008-05-20"),
    ("zh", "九八年五月二十号", "1998-05-20"),
    ("zh", "二零一九年八月三号", "2019-08-03"),
    ("zh", "两千零八年八月八号", "2008-08-08"),
    ("zh", "二零三零年国庆", "2030-10-01"),
    ("zh", "去年五月二十号", "2025-05-20"),
    ("zh", "下个月一号", "2026-04-01"),
    ("zh", "7月4号星期六", "2026-07-04"),
    ("zh", "儿童节", "2026-06-01"),
    ("zh", "教师节", "2026-09-10"),
    ("zh", "双十一", "2026-11-11"),
    ("zh", "情人节", "2027-02-14"),
    ("zh", "母亲节", "2026-05-10"),
    ("zh", "圣蛋节", "2026-12-25"),
    ("fr", "le premier mai deux mille trente", "2030-05-01"),
    ("fr", "le premier du mois prochain", "2026-04-01"),
    ("fr", "Noël l'année prochaine", "2027-12-25"),
    ("es", "el primero de mayo de dos mil treinta", "2030-05-01"),
    ("es", "Navidad del año pasado", "2025-12-25"),
]


@pytest.mark.parametrize(("language", "said", "day"), SAID)
def test_a_day_is_found(language, said, day):
    assert day_of(said, language, TODAY) == date.fromisoformat(day)


NO_DAYS = [
    ("en", "my birthday"),
    ("en", "the holidays"),
    ("en", "a while"),
    ("en", "the yeast"),
    ("en", "east"),
    ("en", "the wean"),
    ("en", "hollow"),
    ("en", "next year"),
    ("en", "twenty nineteen"),
    ("en", "august nineteen ninety"),
    ("en", "the first floor"),
    ("en", "the second"),
    ("en", "Sunday, July 4th"),
    ("en", "the fifth, July fourth"),
    ("en", "Christmas, Easter"),
    ("en", "July thirty-second"),
    ("en", "the 31st of next month"),
    ("en", "zorgle day"),
    ("de", "mein Geburtstag"),
    ("de", "die Ferien"),
    ("de", "eine Weile"),
    ("de", "Osten"),
    ("de", "der dritte"),
    ("de", "nächstes Jahr"),
    ("zh", "宝宝"),
    ("zh", "我的生日"),
    ("zh", "放假"),
    ("zh", "三四年前"),
    ("zh", "去年"),
    ("zh", "零八年"),
    ("zh", "1998年高考"),
    ("zh", "腊月三十一"),
    ("zh", "二零零八年五月三十二"),
]


@pytest.mark.parametrize(("language", "said"), NO_DAYS)
def test_what_is_no_day_is_refused(language, said):
    assert day_of(said, language, TODAY) is None
    for name in ("until", "since", "day"):
        assert not plugin.tools[f"dates.{name}"].fits({"day": said}, language)


@pytest.mark.parametrize(
    ("said", "today", "day"),
    [
        ("今年春节", date(2026, 10, 20), "2027-02-06"),
        ("今年春节", date(2026, 1, 20), "2026-02-17"),
        ("今年除夕", date(2026, 12, 1), "2027-02-05"),
        ("今年中秋", date(2026, 11, 20), "2026-09-25"),
        ("今年中秋", date(2026, 1, 5), "2026-09-25"),
        ("今年情人节", date(2026, 11, 20), "2026-02-14"),
    ],
)
def test_the_chinese_new_year_of_this_year_is_the_nearer(said, today, day):
    assert day_of(said, "zh", today) == date.fromisoformat(day)


def test_a_feast_of_the_past_is_the_last_one():
    assert day_of("Easter", "en", TODAY, past=True) == date(2025, 4, 20)
    assert day_of("国庆", "zh", TODAY, past=True) == date(2025, 10, 1)
    assert day_of("中秋", "zh", TODAY, past=True) == date(2025, 10, 6)
    assert day_of("Heiligabend", "de", TODAY, past=True) == date(2025, 12, 24)
    assert day_of("next Easter", "en", TODAY, past=True) == date(2026, 4, 5)
