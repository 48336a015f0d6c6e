"""What was misheard is tried as what sounds alike; a word that is known stays what it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.heard import otherwise, vocabulary_of
from hubd.assistant.understanding.lexicon import lexicon

WORDS = ("grün", "abend", "wetter", "wird", "schließen", "bad")


def heard(text: str, language: str, *words: str) -> str:
    known = lexicon(language)
    return otherwise(text, known, vocabulary_of(known, (), words))


@pytest.mark.parametrize(
    ("said", "meant", "language"),
    [
        ("mach die lampe grühn", "mach die lampe grün", "de"),
        ("wie wirt das wetter", "wie wird das wetter", "de"),
        ("look the back door", "lock the back door", "en"),
        ("set it to twenty tree degrees", "set it to twenty three degrees", "en"),
        ("取笑计时器", "取消计时器", "zh"),
        ("把大门锁伤", "把大门锁上", "zh"),
    ],
)
def test_words_that_sound_alike_are_tried(said, meant, language):
    assert heard(said, language, *WORDS) == meant


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("mach das licht im bad an", "de"),
        ("look at the door", "en"),
        ("把灯关了", "zh"),
        ("打开灯", "zh"),
    ],
)
def test_what_is_known_stays(said, language):
    assert heard(said, language, *WORDS, "mach", "das", "licht", "灯光", "关灯") == ""


def test_of_two_words_that_sound_alike_neither_is_meant():
    known = lexicon("de")
    assert otherwise("seiten", known, vocabulary_of(known, (), ("saiten",))) == "saiten"
    assert otherwise("seiten", known, vocabulary_of(known, (), ("saiten", "sayten"))) == ""


@given(st.text(max_size=60), st.sampled_from(["en", "de", "zh", "fr"]))
def test_any_text_can_be_tried(text, language):
    assert isinstance(heard(text, language, *WORDS), str)
