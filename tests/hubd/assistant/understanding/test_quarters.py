"""Quarters and halves of an hour are minutes where a command is left for later."""

import pytest

from hubd.assistant.understanding.quarters import in_minutes


@pytest.mark.parametrize(
    ("language", "said", "counted"),
    [
        ("en", "lamp off in a quarter of an hour", "lamp off in 15 minutes"),
        ("en", "lamp off in three quarters of an hour", "lamp off in 45 minutes"),
        ("en", "a quarter past seven", "a quarter past seven"),
        ("de", "in einer Viertelstunde die Lampe aus", "in 15 Minuten die Lampe aus"),
        ("de", "in 'ner Dreiviertelstunde", "in 45 Minuten"),
        ("de", "um Viertel nach sieben", "um Viertel nach sieben"),
        ("zh", "过一刻钟关灯", "过15分钟关灯"),
        ("zh", "半个钟头后关灯", "30分钟后关灯"),
        ("zh", "七点一刻", "七点一刻"),
        ("fr", "dans un quart d'heure", "dans un quart d'heure"),
    ],
)
def test_in_minutes(language, said, counted):
    assert in_minutes(said, language) == counted


@pytest.mark.parametrize(
    ("home", "said"),
    [
        ("home.en.yaml", "turn the hallway light off in a quarter of an hour"),
        ("home30.de.yaml", "schalte die Kaffeemaschine in einer Viertelstunde ein"),
        ("home29.zh.yaml", "一刻钟后关掉院子灯"),
    ],
)
async def test_a_command_is_left_for_a_quarter_of_an_hour(make_house, home, said):
    decider = (await make_house(home)).commands.decider
    (part,) = await decider.parts(said, home.split(".")[1], "")
    assert part.decision.tool == "routines.later", part
    assert "15" in str(part.decision.call.arguments)
