"""Routines defined, run and forgotten by names that people give."""

import pytest

from plugins.routine_words import defined, forgotten, run


@pytest.mark.parametrize(
    ("text", "language", "name", "commands"),
    [
        ("when I say party mode, turn on the TV", "en", "party mode", "turn on the TV"),
        ("Whenever we say “off to bed” then lock up", "en", "off to bed", "lock up"),
        ("make a routine called tea: boil it, then wait", "en", "tea", "boil it, then wait"),
        (
            "create a new routine named bedtime that turns off the TV and locks the door",
            "en",
            "bedtime",
            "turn off the TV and lock the door",
        ),
        ("Wenn ich Feierabend sage, mach Musik an.", "de", "Feierabend", "mach Musik an"),
        ("我说看电影的时候，关灯", "zh", "看电影", "关灯"),
        ("当我说“开饭了”就打开餐厅灯", "zh", "开饭了", "打开餐厅灯"),
        ("so from now on when I say, supper, dim the lights", "en", "supper", "dim the lights"),
        ("以后我喊吃饭啦，你就打开餐厅灯", "zh", "吃饭啦", "打开餐厅灯"),
        ("每次我们说晚安就关灯", "zh", "晚安", "关灯"),
        (
            "mach eine Routine an, die Kino heißt und erst das Licht ausmacht und dann das Radio",
            "de",
            "Kino",
            "mach das Licht aus, dann mach das Radio aus",
        ),
        (
            "leg uns eine Routine namens Abend an, die das Rollo schließt und die Lampe anmacht",
            "de",
            "Abend",
            "schließ das Rollo, dann mach die Lampe an",
        ),
        ("quand je dis bonsoir, ferme les volets", "fr", "bonsoir", "ferme les volets"),
    ],
)
def test_a_definition(text, language, name, commands):
    assert defined(text, language) == (name, commands)


@pytest.mark.parametrize("text", ["我说过了，就关灯吧", "以后每天早上说早安", "他说开饭了"])
def test_no_chinese_definition(text):
    assert defined(text, "zh") is None


@pytest.mark.parametrize("text", ["when I say so", "what do I say, then", "say hello, please"])
def test_no_definition(text):
    assert defined(text, "en") is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Party mode!", "party mode"),
        ("run party mode", "party mode"),
        ("start the party mode routine please", "party mode"),
        ("starte Feierabend", "feierabend"),
        ("führe Feierabend aus", "feierabend"),
        ("运行看电影", "看电影"),
        ("请执行看电影流程", "看电影"),
    ],
)
def test_running(text, name):
    assert run(text) == name


def test_forgetting():
    assert forgotten("delete the party mode routine") == "party mode"
    assert forgotten("lösche Feierabend") == "feierabend"
    assert forgotten("删除看电影") == "看电影"
    assert forgotten("party mode") == ""
    assert forgotten("we don't need party mode any more, delete it") == "party mode"
    assert forgotten("die Routine Feierabend brauchen wir nicht mehr") == "feierabend"
    assert forgotten("把看电影这个口令删掉吧") == "看电影"
    assert forgotten("看电影那个口令不要了，删了吧") == "看电影"
