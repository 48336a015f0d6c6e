"""A clause that says nothing about the command is left out; what changes it is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.idle import (
    FOLDER,
    clauses_of,
    digest_of,
    idleness,
    is_idle,
)
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.ngrams import PLACES

LANGUAGES = ("en", "de", "zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_weights_were_fitted_to_the_clauses(language):
    with np.load(FOLDER / f"{language}.npz") as stored:
        made_of, words = stored["made_of"].tobytes(), stored["words"]
    assert made_of == digest_of(clauses_of(language)), "run bench/fit_clauses.py"
    assert words.shape == (PLACES,)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_clause_is_both(language):
    clauses = clauses_of(language)
    assert not set(clauses.idle) & set(clauses.needed)
    assert min(len(clauses.idle), len(clauses.needed)) >= 500


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("my back is killing me today", "en"),
        ("we've got people coming over", "en"),
        ("it gets so stuffy after a shower", "en"),
        ("ich hab gerade die Hände voll", "de"),
        ("die Kinder sind endlich im Bett", "de"),
        ("我手上全是面粉", "zh"),
        ("孩子刚睡着", "zh"),
    ],
)
def test_a_reason_is_idle(text, language):
    assert is_idle(text, lexicon(language))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("but only the left one", "en"),
        ("as soon as we're home", "en"),
        ("no, leave it", "en"),
        ("I mean the other one", "en"),
        ("and the fan too", "en"),
        ("turn off the light", "en"),
        ("aber nur das linke", "de"),
        ("erst wenn wir weg sind", "de"),
        ("nein, lass es", "de"),
        ("只关左边那个", "zh"),
        ("算了不用了", "zh"),
        ("等我们回来再开", "zh"),
    ],
)
def test_what_changes_the_command_is_not(text, language):
    assert not is_idle(text, lexicon(language))


def test_a_language_without_clauses_has_no_idle_ones():
    assert idleness("il fait froid", lexicon("fr")) == 0.0


@given(st.text(max_size=60), st.sampled_from(LANGUAGES))
def test_any_text_has_a_chance(text, language):
    assert 0.0 <= idleness(text, lexicon(language)) <= 1.0
