"""Which appointment is asked for; any where none is named."""

import pytest

from hubd.assistant.understanding.appointments import appointment_in
from hubd.assistant.understanding.plain import plain


@pytest.mark.parametrize(
    ("language", "text", "name"),
    [
        ("en", "When is Owen's next vet appointment?", "vet"),
        ("en", "When's the vet appointment for the dog?", "vet"),
        ("en", "Do I have a hair appointment coming up", "hair"),
        ("en", "Any idea when my appointment with the eye doctor is", "eye doctor"),
        ("en", "I keep wondering when my optician's appointment is.", "optician"),
        ("en", "What's my next appointment", ""),
        ("en", "So what's, uh, what's my next, like, the very next appointment I have?", ""),
        ("en", "Is there a meeting next", ""),
        ("en", "what's the next thing on my calendar", ""),
        ("de", "Wann hab ich den nächsten Termin?", ""),
        ("de", "Was habe ich als nächstes für einen Termin", ""),
        ("de", "Welche Termine stehen an", ""),
        ("de", "Nächster Zahnarzttermin?", "zahnarzt"),
        ("de", "wann leons kieferorthopäden termin war", "kieferorthopäden"),
        ("de", "Wann war nochmal der Termin mit dem Schornsteinfeger", "schornsteinfeger"),
        ("de", "nachsehen, wann ich meinen Termin beim Zahnarzt habe", "zahnarzt"),
        ("zh", "奶奶的体检预约是哪天？", "体检"),
        ("zh", "我和牙医约的几点", "牙医"),
        ("zh", "我脑袋一片空白，接下来那个约是什么事来着", ""),
        ("zh", "下一个预约是什么时候", ""),
        ("zh", "我的预约是几点", ""),
        ("fr", "quand est mon prochain rendez-vous", ""),
    ],
)
def test_which_one(language, text, name):
    assert appointment_in(plain(text), language) == name
