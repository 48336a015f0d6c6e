"""How long somebody says, by how much something is moved, what is said while something rings."""

from datetime import timedelta

import pytest

from hubd.assistant.joined.each_timed import each_timed
from plugins.lengths import length_of
from plugins.reminder_entries import part_of_day, shift_of
from plugins.while_ringing import again_after, says_heard

LENGTHS = [
    ("en", "an hour and a half", 90),
    ("en", "a quarter of an hour", 15),
    ("en", "one hour and twenty minutes", 80),
    ("de", "anderthalb Stunden", 90),
    ("de", "einer Viertelstunde", 15),
    ("de", "eine Stunde und zehn Minuten", 70),
    ("zh", "一个半小时", 90),
    ("zh", "两个半钟头", 150),
    ("zh", "半个小时", 30),
    ("zh", "一刻钟", 15),
]


@pytest.mark.parametrize(("language", "said", "minutes"), LENGTHS)
def test_a_length_in_words(language, said, minutes):
    assert length_of(said, language) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("language", "said"), [("en", "soup"), ("en", "at ten"), ("de", "um zehn"), ("zh", "十点")]
)
def test_what_is_no_length(language, said):
    assert length_of(said, language) is None


def test_earlier_and_later():
    assert shift_of("half an hour later", "en") == timedelta(minutes=30)
    assert shift_of("um eine Viertelstunde früher", "de") == timedelta(minutes=-15)
    assert shift_of("推迟一个半小时", "zh") == timedelta(minutes=90)
    assert shift_of("half past six", "en") is None


def test_a_part_of_the_day_says_which():
    assert 20 in part_of_day("the evening one")
    assert 7 in part_of_day("in der Früh")
    assert 7 in part_of_day("早上那个")
    assert not part_of_day("the dentist")


def test_what_rings_again_after_a_while():
    assert again_after("Not now, again in a quarter of an hour", "en") == 15
    assert again_after("Five more minutes", "en") == 5
    assert again_after("Jetzt nicht, in zehn Minuten noch einmal", "de") == 10
    assert again_after("再睡十分钟", "zh") == 10
    assert again_after("in ten minutes turn off the light", "en") == 0


def test_what_says_that_it_was_heard():
    assert says_heard("Okay okay, I'm up", "en")
    assert says_heard("Hat sich erledigt", "de")
    assert says_heard("知道了，停", "zh")
    assert not says_heard("stop the music", "en")


def test_several_timers_only_by_their_lengths():
    assert each_timed("set two timers, one for ten minutes and one for half an hour", "en") == [
        "set a timer for 10 minutes",
        "set a timer for 30 minutes",
    ]
    assert each_timed("set two timers and turn off the light", "en") == []
    assert each_timed("set three timers for ten minutes", "en") == []
