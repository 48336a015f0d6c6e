"""Numerals that were heard as other words of the same sound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.heard_numbers import numerals_heard


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        ("定一个明天早上六点班的闹钟", "定一个明天早上六点半的闹钟"),
        ("明早六点办叫我起床", "明早六点半叫我起床"),
        ("风扇调到百分之武十", "风扇调到百分之五十"),
        ("音量调到百分之是五", "音量调到百分之十五"),
        ("空调调到二是六度", "空调调到二十六度"),
        ("定个是二分钟的计时器", "定个十二分钟的计时器"),
        ("定时三分钟泡方便面", "定时三分钟泡方便面"),
        ("早上六点四时五的闹钟", "早上六点四十五的闹钟"),
        ("提醒我半个小时一后收衣服", "提醒我半个小时以后收衣服"),
        ("明天早上刘点五十叫我", "明天早上六点五十叫我"),
        ("下午思点提醒我买邮票", "下午四点提醒我买邮票"),
    ],
)
def test_what_can_only_be_a_numeral_is_one(heard, said):
    assert numerals_heard(heard, "zh") == said


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        ("remind me in to ours to ring the vet", "remind me in two hours to ring the vet"),
        ("remind me at ate thirty to night", "remind me at eight thirty tonight"),
        ("wake me at sicks o'clock to morrow", "wake me at six o'clock tomorrow"),
        ("set a timer for tin minutes", "set a timer for ten minutes"),
        ("what is on sun day", "what is on sunday"),
        ("how many grams are in ate ounces", "how many grams are in eight ounces"),
        ("turn it off in half an our", "turn it off in half an hour"),
        ("In an our turn it off", "In an hour turn it off"),
        (
            "remind me to by stamps at for this afternoon",
            "remind me to buy stamps at four this afternoon",
        ),
        ("remind me at to to call mum", "remind me at two to call mum"),
        (
            "remind us at ate on Friday to put the bins out",
            "remind us at eight on Friday to put the bins out",
        ),
        ("set an alarm for for o'clock", "set an alarm for four o'clock"),
        ("wake me at for", "wake me at four"),
        ("remind me to right to the council", "remind me to write to the council"),
    ],
)
def test_what_can_only_be_a_numeral_is_one_in_english(heard, said):
    assert numerals_heard(heard, "en") == said


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        ("auf zwei tausend sieben hundert kelvin", "auf zweitausendsiebenhundert kelvin"),
        ("auf fünf und zwanzig Grad", "auf fünfundzwanzig Grad"),
        ("Milch und zwei Brötchen", "Milch und zwei Brötchen"),
        ("zwei und drei", "zwei und drei"),
        ("erinner mich um für Uhr ans Tanken", "erinner mich um vier Uhr ans Tanken"),
        ("erinner mich heute um fier daran", "erinner mich heute um vier daran"),
        ("um ach heute Abend", "um acht heute Abend"),
        ("um für morgen zu kochen", "um für morgen zu kochen"),
    ],
)
def test_a_number_word_in_german_is_one_word(heard, said):
    assert numerals_heard(heard, "de") == said


@pytest.mark.parametrize(
    "text",
    [
        "remind me to ring the vet",
        "we ate at the table",
        "put it in ours, please",
        "it is free for minutes",
        "look at to do",
        "remind me to turn right at the lights",
        "remind me to go by the shop",
        "remind me to reply to by Friday",
    ],
)
def test_what_may_be_a_word_stays_one_in_english(text):
    assert numerals_heard(text, "en") == text


@pytest.mark.parametrize(
    "text",
    [
        "温度调到是二十五度",
        "现在是五点吗",
        "上班时间是八点",
        "调到是二十",
        "这是什么",
        "把是非题念一遍",
    ],
)
def test_what_may_be_a_word_stays_one(text):
    assert numerals_heard(text, "zh") == text


@given(st.text(max_size=60))
def test_no_other_language_is_touched(text):
    assert numerals_heard(text, "fr") == text
    assert len(numerals_heard(text, "zh")) == len(text)
