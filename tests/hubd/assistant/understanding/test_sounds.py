"""What sounds alike is taken for the same; what does not is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.sounds import sound


@pytest.mark.parametrize(
    ("said", "heard", "language"),
    [
        ("chandelier", "chandeleer", "en"),
        ("fairylights", "verylights", "en"),
        ("sonos", "sonose", "en"),
        ("fernseher", "vernseher", "de"),
        ("kronleuchter", "kronläuchter", "de"),
        ("小夜灯", "小叶灯", "zh"),
        ("阳台门", "阳台们", "zh"),
        ("遮阳篷", "者阳篷", "zh"),
    ],
)
def test_what_is_misheard_sounds_the_same(said, heard, language):
    assert sound(said, language) == sound(heard, language) != ""


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("kitchen", "chicken", "en"),
        ("fountain", "curtain", "en"),
        ("garage", "carriage", "en"),
        ("vorhang", "vorgang", "de"),
        ("锁门", "开门", "zh"),
        ("打开", "关闭", "zh"),
    ],
)
def test_what_differs_sounds_different(one, other, language):
    assert sound(one, language) != sound(other, language)


def test_short_words_and_languages_without_rules_sound_like_nothing():
    assert sound("tv", "en") == sound("灯", "zh") == sound("lampe", "fr") == ""


@given(st.text(max_size=30), st.sampled_from(["en", "de", "zh", "fr"]))
def test_any_text_has_a_sound_or_none(text, language):
    assert sound(text, language) == sound(text, language)
