"""What "half past" and "quarter to" are, of the hour of the time before."""

from datetime import time

import pytest

from hubd.assistant.follow_ups.same_hour import in_that_hour


@pytest.mark.parametrize(
    ("said", "language", "before", "meant"),
    [
        ("make that half past", "en", time(6), "6:30"),
        ("make it quarter to", "en", time(6), "5:45"),
        ("make it quarter to", "en", time(6, 30), "6:45"),
        ("quarter past would be better", "en", time(13, 30), "13:15"),
        ("ten to", "en", time(0), "23:50"),
        ("no it's twenty past", "en", time(8), "8:20"),
        ("mach halb draus", "de", time(6), "um 30 nach 6"),
        ("doch lieber viertel vor", "de", time(6), "um 45 nach 5"),
        ("改成半吧", "zh", time(20), "20:30"),
        ("改到一刻", "zh", time(20), "20:15"),
    ],
)
def test_a_part_of_an_hour_is_of_the_hour_before(said, language, before, meant):
    assert in_that_hour(said, language, before) == meant


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("half past seven", "en"),
        ("make it half", "en"),
        ("it's half past now", "en"),
        ("make it ten", "en"),
        ("half to", "en"),
        ("mach die lampe halb so hell", "de"),
        ("mach viertel draus", "de"),
        ("半", "zh"),
        ("改成七点半", "zh"),
        ("moitié", "fr"),
    ],
)
def test_what_says_more_or_less_is_none(said, language):
    assert in_that_hour(said, language, time(6)) == ""


def test_without_a_time_before_there_is_none():
    assert in_that_hour("make that half past", "en", None) == ""
