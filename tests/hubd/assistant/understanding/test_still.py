"""What is told to be still so is what is so, told of one thing that is named."""

import pytest

from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.mentions import mentions
from hubd.assistant.understanding.still import OTHERWISE, unwished
from hubd.assistant.understanding.words import phrases_of
from hubd.home.file import read_description

THINGS = {
    "en": "Fountain switch.fountain, Awning cover.awning, Porch lock.porch",
    "de": "Brunnen switch.fountain, Markise cover.awning, Haustür lock.porch",
    "zh": "喷泉 switch.fountain, 遮阳棚 cover.awning, 大门 lock.porch",
}


def told(text, language, **states):
    """The tool for what ``text`` tells is still so, where things are in these states."""
    lines = []
    for thing in THINGS[language].split(", "):
        name, entity = thing.split()
        state = states.get(entity.partition(".")[2], "unavailable")
        lines.append(f"  - {{id: {entity}, name: {name}, state: '{state}'}}")
    home = read_description("entities:\n" + "\n".join(lines))
    known = lexicon(language)
    said = mentions(text, known, phrases_of(home, known))
    found = unwished(text, said, home, known)
    return found and found.tool


@pytest.mark.parametrize(
    ("text", "language", "states", "tool"),
    [
        ("there's a storm coming and the awning's still out", "en", {"awning": "open"},
         "home.close"),
        ("it's baking out there, and the awning is still rolled up", "en", {"awning": "closed"},
         "home.open"),
        ("the fish look poorly and the fountain isn't even on", "en", {"fountain": "off"},
         "home.turn_on"),
        ("we're off to bed and the porch still isn't locked", "en", {"porch": "unlocked"},
         "home.lock"),
        ("es stürmt schon, und die Markise ist noch draußen", "de", {"awning": "open"},
         "home.close"),
        ("die Fische schnappen, weil der Brunnen noch aus ist", "de", {"fountain": "off"},
         "home.turn_on"),
        ("alle schlafen, aber die Haustür ist immer noch nicht abgeschlossen", "de",
         {"porch": "unlocked"}, "home.lock"),
        ("起大风了，遮阳棚还伸着呢", "zh", {"awning": "open"}, "home.close"),
        ("都半夜了，大门到现在还没锁上", "zh", {"porch": "unlocked"}, "home.lock"),
    ],
)  # fmt: skip
def test_it_shall_be_otherwise(text, language, states, tool):
    assert told(text, language, **states) == tool


@pytest.mark.parametrize(
    ("text", "language", "states"),
    [
        ("there's a storm coming and the awning's still out", "en", {"awning": "closed"}),
        ("the fish look poorly and the fountain isn't even on", "en", {"fountain": "on"}),
        ("der Brunnen läuft noch gar nicht", "de", {"fountain": "on"}),
        ("die Markise ist noch auf dem Dachboden", "de", {"awning": "open"}),
        ("we're off to bed and the porch is still locked", "en", {"porch": "locked"}),
        ("the fountain and the awning are still on", "en", {"fountain": "on", "awning": "open"}),
        ("the fountain is on", "en", {"fountain": "on"}),
        ("喷泉还没开着呢", "zh", {"fountain": "on"}),
    ],
)
def test_or_nothing_is_told(text, language, states):
    assert told(text, language, **states) is None


def test_nothing_is_unlocked():
    assert "home.unlock" not in OTHERWISE.values()
