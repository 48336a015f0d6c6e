"""Reasons before and behind a command are left out; what may be meant by it is not."""

import pytest

from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.reasons import without_reasons


@pytest.mark.parametrize(
    ("said", "left", "language"),
    [
        (
            "set the office thermostat to sixty-six, I'm heading down there after lunch",
            "set the office thermostat to sixty-six",
            "en",
        ),
        (
            "would you mind opening the curtain so we get some sun in here?",
            "would you mind opening the curtain",
            "en",
        ),
        ("mach den Dunstabzug an, es riecht nach Fisch", "mach den Dunstabzug an", "de"),
        ("我手上全是面粉，打开厨房灯", "打开厨房灯", "zh"),
    ],
)
def test_what_is_left(said, left, language):
    assert without_reasons(said, lexicon(language)) == left


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("turn off the light, but only the left one", "en"),
        ("stop that blind, the rose window one", "en"),
        ("turn on the fan, if it's warm", "en"),
        ("the kids are asleep, then turn off the light", "en"),
        ("put eggs, milk and oat biscuits on the list", "en"),
        ("gestern hat er glatt vergessen, die Tür abzuschließen", "de"),
        ("mach das Licht aus, sobald wir weg sind", "de"),
        ("乐乐要是睡了，把小夜灯关了", "zh"),
        ("乐乐睡着了，就把小夜灯关了", "zh"),
        ("花椒、豆瓣酱，记到清单上", "zh"),
    ],
)
def test_nothing_is_left_out(text, language):
    assert without_reasons(text, lexicon(language)) == ""
