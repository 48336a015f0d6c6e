"""What is said to the hub's last words, and what only sounds like it."""

import pytest

from hubd.assistant.replies import asks_what_was_done, besides_no, besides_yes, says_undo

YES = [
    ("yes", "en", ""),
    ("Yes, close it", "en", "close it"),
    ("do it", "en", ""),
    ("okay thanks", "en", ""),
    ("ja klar, mach das", "de", ""),
    ("对，关吧", "zh", "关吧"),
    ("对对对", "zh", ""),
    ("好的", "zh", ""),
    ("oui, vas-y", "fr", ""),
    ("sí, adelante", "es", ""),
]
NO_YES = [
    ("please unlock the front door", "en"),
    ("right", "en"),
    ("yes?", "en"),
    ("Bitte?", "de"),
    ("Mach das Garagentor auf", "de"),
    ("好大", "zh"),
    ("对门", "zh"),
    ("可以打开吗", "zh"),
    ("行不行", "zh"),
    ("si llueve, cierra la ventana", "es"),
]
NO = [
    ("no", "en", ""),
    ("no thanks", "en", ""),
    ("oh no, leave it locked", "en", ""),
    ("no, the bedroom", "en", "the bedroom"),
    ("Ach ne, lass zu", "de", ""),
    ("Nein, erst in einer halben Stunde", "de", "erst in einer halben stunde"),
    ("等等，我看看是谁，先别开", "zh", ""),
    ("不是，只去掉鸡蛋", "zh", "只去掉鸡蛋"),
]


@pytest.mark.parametrize(("text", "language", "beside"), YES)
def test_a_yes_and_what_is_beside_it(text, language, beside):
    assert besides_yes(text, language) == beside


@pytest.mark.parametrize(("text", "language"), NO_YES)
def test_what_is_no_yes(text, language):
    assert besides_yes(text, language) is None


@pytest.mark.parametrize(("text", "language", "beside"), NO)
def test_a_no_and_what_is_asked_for_instead(text, language, beside):
    assert besides_no(text, language) == beside


@pytest.mark.parametrize("text", ["now", "stop the music", "别的灯", "cancel the pasta timer"])
def test_what_is_no_no(text):
    assert besides_no(text, "zh" if "灯" in text else "en") is None


def test_undo_and_what_was_done_in_words():
    for text in ("undo that", "no, that's wrong, undo that", "put them back the way they were",
                 "stell das wieder wie vorher", "调回刚才那样"):  # fmt: skip
        assert says_undo(text), text
    for text in ("turn it back on", "put the milk back", "set it back to 20"):
        assert not says_undo(text), text
    assert asks_what_was_done("what did you just do?")
    assert not asks_what_was_done("did you do it")
