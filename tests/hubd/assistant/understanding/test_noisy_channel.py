"""The likeliest sentence that sounds like what was heard."""

import itertools
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubd.assistant.understanding import noisy_channel
from hubd.assistant.understanding.noisy_channel import (
    END,
    FREE,
    SPELLED,
    START,
    channel_of,
    likeliest,
)

NAMES = {
    "en": ["Main Bedroom", "Reading Lamp", "Vanity Lights", "Bedtime", "Lorraine's Room"],
    "de": ["Flurlicht", "Garagentor", "Küchenradio", "Wohnzimmer"],
    "zh": ["遮阳篷", "睡觉模式", "客厅", "风扇"],
}


@pytest.fixture(scope="module")
def channels():
    return {language: channel_of(language, names, ()) for language, names in NAMES.items()}


@pytest.mark.parametrize(
    ("heard", "said", "language"),
    [
        ("counsel my alarm for two morrow", "cancel my alarm for tomorrow", "en"),
        ("activate the bad time seen", "activate the bedtime scene", "en"),
        ("turn the fan up a bit bright her", "turn the fan up a bit brighter", "en"),
        ("schalte das flur licht aus", "schalte das flurlicht aus", "de"),
        ("lösche den eimer für die kartoffeln", "lösche den timer für die kartoffeln", "de"),
        ("启动睡叫莫式", "启动睡觉模式", "zh"),
        ("让客厅丰扇转慢一典", "让客厅风扇转慢一点", "zh"),
    ],
)
def test_what_was_misheard_is_found(channels, heard, said, language):
    assert likeliest(heard, channels[language])[0].text == said


@pytest.mark.parametrize(
    ("heard", "language"),
    [
        ("turn on the reading lamp", "en"),
        ("play some jazz", "en"),
        ("what's the weather like tomorrow", "en"),
        ("mach das flurlicht aus", "de"),
        ("打开客厅的风扇", "zh"),
        ("", "en"),
    ],
)
def test_what_is_likely_stays(channels, heard, language):
    assert likeliest(heard, channels[language]) == []


def test_a_word_that_nobody_knows_is_told(channels):
    (first, *_) = likeliest("counsel my zyzzyvaqx alarm for two morrow", channels["en"])
    assert first.strange
    assert not likeliest("activate the bad time seen", channels["en"])[0].strange


def test_what_stands_behind_a_word_or_the_beginning_is_worked_out_once(channels):
    channel = channels["en"]
    likeliest("turn on the zyzzyvaqx lam", channel)
    rows = channel.model.rows
    assert noisy_channel.START in rows
    before = dict(rows)
    channel.found.clear()
    likeliest("turn on the zyzzyvaqx lam", channel)
    assert rows.keys() == before.keys()
    assert all(rows[word] is row for word, row in before.items())


def test_a_long_text_is_left_alone(channels):
    assert likeliest("counsel my alarm " * 20, channels["en"]) == []
    assert likeliest("启动睡叫莫式" * 20, channels["zh"]) == []


def _every_sentence(heard, channel):
    """All that may have been said, with its score: without a beam, and without leaving out what is
    usual."""
    single = channel.model.single
    for cuts in itertools.product([False, True], repeat=len(heard) - 1):
        ends = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), len(heard)]
        parts = list(itertools.pairwise(ends))
        if any(end - at > noisy_channel.LONGEST for at, end in parts):
            continue
        choices = []
        for at, end in parts:
            found = dict(noisy_channel._sounding_like(heard[at:end], channel))
            if end == at + 1:
                found[heard[at]] = 0.0
            choices.append(found)
        for words in itertools.product(*choices):
            score, last = 0.0, START
            for word, costs in zip(words, choices, strict=True):
                kind = noisy_channel._class(word, "en")
                score -= costs[word]
                if kind not in single:
                    kind, score = FREE, score + SPELLED
                score, last = score + channel.model.score(last, kind), kind
            yield score + channel.model.score(last, END), words


@cache
def _small() -> noisy_channel.Channel:
    return channel_of("en", NAMES["en"], ())


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.sampled_from(["counsel", "my", "alarm", "two", "morrow", "lamp", "of", "mane"]),
        min_size=1,
        max_size=4,
    )
)
def test_the_search_finds_the_best_of_all(heard):
    every = list(_every_sentence(heard, _small()))
    best, words = max(every)
    as_heard = max(score for score, said in every if list(said) == heard)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noisy_channel, "USUAL", 2.0)  # nothing is left out
        patch.setattr(noisy_channel, "TOGETHER", 2.0)
        found = likeliest(" ".join(heard), _small())
    if best < as_heard + noisy_channel.GAIN:
        assert found == []
    else:
        scores = {" ".join(said): score for score, said in every}
        assert scores[found[0].text] == pytest.approx(best)
        assert words
