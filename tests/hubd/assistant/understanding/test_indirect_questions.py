"""Indirect questions become direct ones, and commands become nothing."""

import pytest

from hubd.assistant.understanding.indirect_questions import direct


@pytest.mark.parametrize(
    ("text", "language", "question"),
    [
        ("tell me whether the front door is locked", "en", "is the front door locked"),
        ("check if any windows are still open", "en", "are any windows open"),
        ("tell me which lights are still on", "en", "which lights are on"),
        ("sag mir ob die haustür abgeschlossen ist", "de", "ist die haustür abgeschlossen"),
        ("weißt welche fenster noch offen sind", "de", "welche fenster sind offen"),
        ("welche fenster sind noch offen", "de", "welche fenster sind offen"),
        ("ob wir morgen einen schirm brauchen", "de", "brauchen wir morgen einen schirm"),
        ("sagen ob es am samstag regnen wird", "de", "wird es am samstag regnen"),
        ("weißt wie warm es im bad ist", "de", "wie warm ist es im bad"),
        ("sag welches datum wir heute haben", "de", "welches datum haben wir heute"),
        ("frage mich was auf der liste steht", "de", "was steht auf der liste"),
        ("看看大门是不是锁着", "zh", "大门锁着吗"),
    ],
)
def test_a_reported_question_is_asked(text, language, question):
    assert direct(text, language) == question


@pytest.mark.parametrize(
    ("text", "language"),
    [("turn off the lamp", "en"), ("schalte das licht aus", "de"), ("关灯", "zh"), ("x", "fr")],
)
def test_a_command_reports_nothing(text, language):
    assert direct(text, language) == ""


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("tell me whether the office heater is on", "en"),
        ("check if the fountain is running", "en"),
        ("please see whether the hallway light is off", "en"),
    ],
)
def test_whoever_asks_switches_nothing(real_router, text, language):
    decision = real_router("home.en.yaml").route(text, language=language, area="Living Room")
    assert decision.tool in (None, "home.state")
