"""Which language somebody speaks, from a few words."""

from pathlib import Path

import pytest

from hubd.assistant.understanding.grammar import LANGUAGES
from hubd.assistant.understanding.language import language_of, sentence_words

PLUGINS = Path(__file__).parents[4] / "plugins"


@pytest.fixture(scope="module")
def words():
    return sentence_words(tuple(sorted(PLUGINS.glob("*.*.yaml"))))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("qué hora es", "es"),
        ("cancela el temporizador", "es"),
        ("buenas noches", "es"),
        ("quelle heure est-il", "fr"),
        ("quel temps fait-il", "fr"),
        ("réveille-moi à sept heures", "fr"),
        ("wie spät ist es", "de"),
        ("weck mich um sieben", "de"),
        ("现在几点", "zh"),
        ("what time is it", "en"),
        ("is the garage shut", "en"),
        ("cancel the timer", "en"),
        ("xyzzy", "en"),
    ],
)
def test_a_few_words_tell(words, text, language):
    assert language_of(text, tuple(LANGUAGES), words) == language


def test_a_file_that_cannot_be_read_knows_no_words(tmp_path):
    bad, right = tmp_path / "a.en.yaml", tmp_path / "b.en.yaml"
    bad.write_text("language: en\nintents: {x: [")
    right.write_text(
        "language: en\nintents: {x: {data: [{sentences: ['(ring|chime) the {bell} <now>']}]}}\n"
        "expansion_rules: {now: '[right] away'}\n"
    )
    found = sentence_words((bad, right, tmp_path / "c.en.yaml"))
    assert found == {"en": frozenset({"ring", "chime", "the", "right", "away"})}
