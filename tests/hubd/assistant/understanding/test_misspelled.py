"""The nearest name is found by length and by sound; comparing with every name finds the same."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.lexicon import Tag, lexicon
from hubd.assistant.understanding.misspelled import LEAST_AS_LONG, nearest, spellings_of
from hubd.assistant.understanding.sounds import sound
from hubd.assistant.understanding.words import phrases_of
from hubd.home.file import read_description
from hubd.home.model import Snapshot

NAMED = ("floor", "area", "entity")
LETTERS = {"en": "aeionrstlk dph", "de": "aeionrstlkäß ch", "zh": "灯床客厅厨房卧室窗帘空调等厂门"}


def known_phrases(language, names):
    phrases = phrases_of(Snapshot(), lexicon(language))
    phrases.update({name: (Tag("entity", name),) for name in names if name.strip()})
    return phrases


def compared_with_all(heard, phrases, language):
    """The definition: one by one."""
    spaces, joined, found = lexicon(language).spaces, "".join(heard).replace(" ", ""), []
    for phrase, tags in phrases.items():
        text, noun = phrase.replace(" ", ""), tags[0].kind == "noun"
        if not noun and tags[0].kind not in NAMED:
            continue
        if noun and spaces and len(heard) > 1:
            found += [(1, tags)] if text == joined else []
        elif sound(joined, language) and sound(joined, language) == sound(text, language):
            lengths = sorted((len(joined), len(text)))
            found += [(1, tags)] if lengths[0] > LEAST_AS_LONG * lengths[1] else []
        else:
            allowed = 0 if len(text) < 5 else 1 if len(text) < 6 else 2
            allowed = min(allowed, 1) if noun else allowed
            if not spaces:
                allowed = int(len(text) >= 3 and len(text) == len(joined) and not noun)
            if spaces and len(joined) >= len(text) + 2 and joined.endswith(text):
                continue
            wrong = letters_wrong(joined, text)
            found += [(wrong, tags)] if 0 < wrong <= allowed else []
    least = min((wrong for wrong, _ in found), default=0)
    meant = {tags for wrong, tags in found if wrong == least}
    return (least, meant.pop()) if len(meant) == 1 else None


def letters_wrong(one, other):
    """Optimal string alignment, the whole table."""
    rows = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    rows[0] = list(range(len(other) + 1))
    for i, row in enumerate(rows):
        row[0] = i
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            changed = rows[i - 1][j - 1] + (one[i - 1] != other[j - 1])
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, changed)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@pytest.mark.parametrize("language", LETTERS)
@given(data=st.data())
def test_it_is_that_of_comparing_with_every_name(language, data):
    word = st.text(LETTERS[language], min_size=1, max_size=9)
    names = data.draw(st.lists(word, max_size=8))
    phrases = known_phrases(language, names)
    compared = [p for p, tags in phrases.items() if tags[0].kind in ("noun", *NAMED)]
    spoken = data.draw(st.one_of(word, st.sampled_from(compared)))
    at = data.draw(st.integers(0, len(spoken)))
    instead = data.draw(st.sampled_from(["", LETTERS[language][0]]))
    heard = (spoken[:at] + instead + spoken[at + 1 :]).split() or ["x"]
    known = spellings_of(phrases, lexicon(language))
    assert nearest(heard, known) == compared_with_all(heard, phrases, language)


@pytest.mark.parametrize(
    ("heard", "meant"), [("厨房扫", None), ("除房灯", "厨房灯"), ("书房落地等", "书房落地灯")]
)
def test_a_room_and_another_word_is_no_lamp_of_that_room(heard, meant):
    phrases = known_phrases("zh", ["厨房灯", "书房落地灯"])
    phrases.update({room: (Tag("area", room),) for room in ("厨房", "书房")})
    found = nearest([heard], spellings_of(phrases, lexicon("zh")))
    assert found == (meant and (1, (Tag("entity", meant),)))


@pytest.mark.parametrize(
    ("heard", "meant"),
    [("dehumidifier", None), ("ahumidifier", "humidifier"), ("umidifier", "humidifier")],
)
def test_a_word_with_a_syllable_before_it_is_another_word(heard, meant):
    known = spellings_of(known_phrases("en", ["humidifier"]), lexicon("en"))
    assert nearest([heard], known) == (meant and (1, (Tag("entity", meant),)))


def test_of_two_that_are_as_near_neither():
    phrases = known_phrases("en", ["redding lamp", "reeding lamp"])
    known = spellings_of(phrases, lexicon("en"))
    assert nearest(["readding", "lamp"], known) is None
    assert nearest(["redding", "lanp"], known) == (1, (Tag("entity", "redding lamp"),))


def test_every_name_of_a_home_is_known_with_two_letters_swapped(assistant_data):
    home = read_description((assistant_data / "home4.en.yaml").read_text("utf-8"))
    phrases = phrases_of(home, lexicon("en"))
    long = [e.name.casefold() for e in home.entities if len(e.name) > 8]
    assert long
    for name in long:
        swapped = (i for i, (a, b) in enumerate(pairwise(name)) if a != b and (a + b).isalpha())
        at = next(i for i in swapped if i > 2)
        said = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
        found = nearest(said.split(), phrases.spellings)
        assert found
        assert found[1] == phrases[name]
