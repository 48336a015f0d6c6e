"""Speech without hesitations, and with what is said twice once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.assistant.understanding.fluent import fluent, said_once


@pytest.mark.parametrize(
    ("language", "said", "meant"),
    [
        ("en", "turn on the, uh, the lamp", "turn on the lamp"),
        (
            "en",
            "remind me to, what was it, oh, to thaw the chicken at, at three",
            "remind me to thaw the chicken at three",
        ),
        ("zh", "放个，那个叫啥来着，哦，《穆桂英挂帅》", "放个《穆桂英挂帅》"),
        ("zh", "排骨那个计时器先，先停一停", "排骨那个计时器先停一停"),
        ("zh", "那个……排骨计时器停一停", "排骨计时器停一停"),
        ("en", "in, say, twenty minutes", "in twenty minutes"),
        ("de", "das Radio so auf, sagen wir mal, dreißig", "das Radio so auf dreißig"),
        ("de", "Senf, ja, und, Würstel", "Senf und Würstel"),
        ("de", "was steht auf der, der, na, auf der Packliste", "was steht auf der Packliste"),
        ("de", "ist noch in der, in der Dings, in der Tonne", "ist noch in der Tonne"),
        ("de", "Was ist, äh, was steht auf der Liste?", "was steht auf der Liste?"),
        ("en", "how is, how warm is it in the kitchen", "how warm is it in the kitchen"),
        ("zh", "提醒我，嗯，半小时以后收衣服", "提醒我，半小时以后收衣服"),
        ("en", "stop the, ah, the rice timer", "stop the rice timer"),
        ("en", "play something by, um, by Neil Young, yeah", "play something by Neil Young"),
        ("en", "play Yeah by Usher", "play Yeah by Usher"),
        ("de", "spiel was von, ähm, von, na, von Max, genau", "spiel was von Max"),
        (
            "de",
            "den Timer, ähm, also den kannst du abbrechen",
            "den Timer, den kannst du abbrechen",
        ),
        ("zh", "放点那个，谁来着，王菲，对，王菲的歌", "放点王菲的歌"),
        ("en", "cancel the, what's it called, the pasta timer", "cancel the pasta timer"),
        ("en", "put the, what do you call them, wet wipes on", "put the wet wipes on"),
        ("en", "stop the, whatchamacallit, the fan", "stop the fan"),
        (
            "en",
            "Play some, um, what are they called, er, Arctic Monkeys",
            "Play some Arctic Monkeys",
        ),
        (
            "en",
            "what is that called, the thing on the wall",
            "what is that called, the thing on the wall",
        ),
        ("de", "mach die, wie nennt man das, die Lampe aus", "mach die Lampe aus"),
        ("de", "setz, wie heißt das Zeug, Natron auf die Liste", "setz Natron auf die Liste"),
        ("zh", "关掉那个，怎么说呢，灯带", "关掉灯带"),
        ("en", "um", "um"),
    ],
)
def test_hesitations_are_left_out(language, said, meant):
    assert fluent(said, language) == meant


def test_what_is_said_twice_counts_once():
    assert said_once("with the the music", "en", spaces=True) == "with the music"
    assert said_once("打开灯带灯带", "zh", spaces=False) == "打开灯带"
    assert said_once("奶奶", "zh", spaces=False) == "奶奶"


@given(st.text(), st.sampled_from(["en", "de", "zh", "fr"]))
def test_nothing_becomes_of_nothing_only(text, language):
    assert bool(fluent(text, language)) == bool(text)
