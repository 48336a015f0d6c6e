"""What a timer is for, where it is said of what is on the stove."""

import pytest

from hubd.assistant.by_likeness.timer_names import timer_named
from hubd.assistant.decision import Decision
from plugins.api import ToolCall


def timer(language, **arguments):
    """A decision to start a timer."""
    call = ToolCall(tool="timers.start", arguments={"minutes": 6, **arguments})
    return Decision(route="semantic", tool=call.tool, call=call, language=language)


@pytest.mark.parametrize(
    ("language", "text", "name"),
    [
        ("en", "The eggs need exactly six minutes.", "eggs"),
        ("en", "The soda bread's just gone in and it wants forty minutes.", "soda bread"),
        ("en", "Okay so, twelve minutes, for the, uh, the salmon.", "salmon"),
        ("de", "Das Ei soll genau sechs Minuten kochen", "Ei"),
        ("de", "Ähm, Timer, neun Minuten, wegen dem Reis.", "Reis"),
        ("zh", "帮我定个十五分钟的计时，蒸鱼用的。", "蒸鱼"),
        ("zh", "二十分钟的计时器，那个，炖肉的", "炖肉"),
        ("zh", "饺子还得煮八分钟", "饺子"),
        ("en", "twenty-five minutes, and call it, um, call it loaf", "loaf"),
        ("de", "Timer auf zehn Minuten, nenn ihn Leim", "Leim"),
        ("de", "Stell für den Hefeteig eine Dreiviertelstunde, der soll aufgehen", "Hefeteig"),
        ("zh", "煮鸡蛋，八分钟倒计时", "煮鸡蛋"),
        ("zh", "溏心蛋，计时六分钟", "溏心蛋"),
        ("zh", "藕汤计时，两个钟头", "藕汤"),
        ("zh", "帮我定个十分钟，蒸蛋的，计时", "蒸蛋"),
        ("zh", "馄饨下锅了，五分钟就得捞出来", "馄饨"),
        ("en", "The dumplings are on, they need nine minutes", "dumplings"),
        ("en", "The lasagne's in the oven now, it wants half an hour", "lasagne"),
        ("en", "er, a timer, for the, the scones, twelve, no, fifteen minutes", "scones"),
        ("de", "Die Klöße kochen jetzt, die brauchen zwanzig Minuten", "Klöße"),
    ],
)
def test_what_is_on_the_stove_names_its_timer(language, text, name):
    assert timer_named(timer(language), text).call.arguments["name"] == name


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "set a timer for six minutes"),
        ("en", "The timer needs to be six minutes."),
        ("en", "a timer, please, for me"),
        ("de", "Der Timer soll sechs Minuten laufen"),
        ("zh", "给我定个六分钟的"),
        ("fr", "un minuteur de six minutes"),
    ],
)
def test_others_have_no_name(language, text):
    assert "name" not in timer_named(timer(language), text).call.arguments


def test_a_name_does_without_the_word_for_a_timer():
    decision = timer_named(timer("de", name="Leim-Timer"), "Leim-Timer, sechs Minuten")
    assert decision.call.arguments["name"] == "Leim"


@pytest.mark.parametrize("name", ["die", "der", "it", "they", "它"])
def test_what_only_points_is_no_name(name):
    assert "name" not in timer_named(timer("de", name=name), "die brauchen elf Minuten").arguments
    decision = timer_named(
        timer("de", name=name), "Der Reis ist im Topf, der braucht zwölf Minuten"
    )
    assert decision.call.arguments["name"] == "Reis"


def test_a_name_that_is_said_stays():
    said = timer("en", name="pasta")
    assert timer_named(said, "The eggs need six minutes.") is said
