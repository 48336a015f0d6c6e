"""Words that were heard in the place of a name, or of a word of a command, are tried as it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding import garbled
from hubd.assistant.understanding.heard import vocabulary_of
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.words import phrases_of
from hubd.home.file import read_description

HOMES = {
    "en": """
areas: [{name: Guest Room}, {name: Office}]
entities:
  - {id: climate.office, name: Office Thermostat, area: Office}
  - {id: binary_sensor.shed, name: Shed Window}
""",
    "de": """
areas: [{name: Küche}]
entities:
  - {id: fan.hood, name: Dunstabzug, area: Küche}
  - {id: cover.hall, name: Dielenfenster}
""",
    "zh": """
areas: [{name: 客厅}]
entities:
  - {id: todo.list, name: 待办清单}
""",
}


def forms(text: str, language: str, *, exactly: bool = False) -> list[str]:
    known = lexicon(language)
    phrases = phrases_of(read_description(HOMES[language]), known)
    vocabulary = vocabulary_of(known, phrases, ("cancel", "timer"))
    return garbled.forms(text, known, vocabulary, garbled.named(phrases, known), exactly=exactly)


@pytest.mark.parametrize(
    ("said", "meant", "language"),
    [
        ("is the shed win dough open", "is the shed window open", "en"),
        ("open the blind in the guessed room", "open the blind in the guest room", "en"),
        ("set the off his thermo stat to sixty", "set the office thermostat to sixty", "en"),
        ("can sell the timer", "cancel the timer", "en"),
        ("schalt den dunst anzug ein", "schalt den dunstabzug ein", "de"),
        ("mach das dielen finster zu", "mach das dielenfenster zu", "de"),
        ("带办轻单念给我听", "待办清单念给我听", "zh"),
    ],
)
def test_several_words_are_one_name(said, meant, language):
    assert meant in forms(said, language)


def test_what_sounds_the_same_is_told_from_what_is_near():
    assert forms("can sell the timer", "en", exactly=True) == ["cancel the timer"]
    assert forms("schalt den dunst anzug ein", "de", exactly=True) == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("turn on the light in the office", "en"),
        ("open the shed window", "en"),
        ("schalt den dunstabzug ein", "de"),
        ("mach das licht in der küche an", "de"),
        ("打开客厅的灯", "zh"),
    ],
)
def test_what_is_known_stays(text, language):
    assert forms(text, language) == []


@given(st.text(max_size=60), st.sampled_from(list(HOMES)))
def test_any_text_can_be_tried(text, language):
    assert len(forms(text, language)) <= garbled.MOST_FORMS
