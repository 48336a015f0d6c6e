"""How participles end by what they are said of."""

import pytest

from plugins.agreement import ending
from plugins.speech import say, state_word


@pytest.mark.parametrize(
    ("language", "names", "end"),
    [
        ("fr", ["Lampe du bureau"], "e"),
        ("fr", ["Volet"], ""),
        ("fr", ["Volets du salon"], "s"),
        ("fr", ["Guirlandes"], "es"),
        ("fr", ["La cafetière"], "e"),
        ("fr", ["Lampe", "Radio"], "es"),
        ("fr", ["Lampe", "Ventilateur"], "s"),
        ("fr", [], ""),
        ("es", ["Lámpara"], "a"),
        ("es", ["Ventilador"], "o"),
        ("es", ["Luces del patio"], "as"),
        ("es", ["Sofá"], "o"),
        ("es", ["La tele", "Radio"], "as"),
        ("es", ["Puerta", "Toldo"], "os"),
        ("en", ["Lamps"], ""),
    ],
)
def test_an_ending(language, names, end):
    assert ending(names, language) == end


def test_more_things_than_are_named_are_several():
    assert say("fr", "on", ["Lampe"] * 5) == "5 appareils : allumés."
    assert say("es", "off", ["Luz"] * 5) == "5 dispositivos: apagados."


def test_a_state_without_a_name_is_masculine():
    assert state_word("locked", "fr") == "verrouillé"
    assert state_word("on", "es", "", ["Luz"]) == "encendida"
