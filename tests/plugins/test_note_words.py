"""What says that a fact is another one by now, and what is asked for by somebody who forgot it."""

import pytest

from plugins.note_words import changed, said_now, without_forgetting


@pytest.mark.parametrize(
    ("language", "said", "now"),
    [
        ("en", "it isn't there any more, it's now in the cellar", "in the cellar"),
        ("en", "not any more, it's behind the larder door now", "behind the larder door"),
        ("en", "no, it's on the hook", "on the hook"),
        ("de", "stimmt nicht mehr, die hängt jetzt im Flur", "im Flur"),
        ("de", "da liegt er nicht mehr, er ist inzwischen im Auto", "im Auto"),
        ("de", "nein, er steht hinter der Tür", "hinter der Tür"),
        ("zh", "早就不在那里了，现在在车库里", "车库里"),
        ("zh", "不对，在衣柜里", "衣柜里"),
    ],
)
def test_a_fact_is_another_one_by_now(language, said, now):
    assert said_now(said, language) == now


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "it's not there any more"),
        ("en", "it's not in the cellar now"),
        ("en", "it's too dark in here now"),
        ("en", "no, it's fine"),
        ("de", "nein, das ist gut"),
        ("de", "es ist jetzt zu hell hier"),
        ("zh", "现在几点了"),
        ("zh", "现在太亮了"),
    ],
)
def test_what_was_never_noted_changes_nothing(language, said):
    assert said_now(said, language) == ""


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("I keep forgetting where the ladder is", "where the ladder is"),
        ("ich kann mir nie merken, wo die Leiter steht", "wo die Leiter steht"),
        ("我老是记不住梯子放哪儿", "梯子放哪儿"),
        ("where is the ladder", "where is the ladder"),
        ("I've forgotten to feed the cat", "I've forgotten to feed the cat"),
    ],
)
def test_what_was_forgotten_is_asked_for(said, asked):
    assert without_forgetting(said) == asked


@pytest.mark.parametrize(
    ("language", "note", "to", "now"),
    [
        ("zh", "宝宝晚上睡前喝一百八十毫升", "两百毫升", "宝宝晚上睡前喝两百毫升"),
        ("en", "the baby drinks 180 ml at bedtime", "200 ml", "the baby drinks 200 ml at bedtime"),
        ("de", "Emil wiegt 31 Kilo", "33 Kilo", "Emil wiegt 33 Kilo"),
        ("en", "Lily's shoe size is 33", "34", "Lily's shoe size is 34"),
        ("en", "180 ml at noon and 200 ml at night, that is it", "220 ml", "220 ml"),
    ],
)
def test_an_amount_is_exchanged_where_it_stands(language, note, to, now):
    assert now in changed(note, to, language)
