"""Lengths that an utterance tells, for what is only like an example."""

import pytest

from hubd.assistant.understanding.fill import duration


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("en", "2 hours 30 minutes", {"hours": 2, "minutes": 30}),
        ("zh", "藕汤计时两个半钟头", {"hours": 2.5}),
        ("zh", "排骨莲藕计时1个半小时", {"hours": 1.5}),
        ("zh", "半个小时", {"hours": 0.5}),
        ("zh", "一个半小时的计时器", None),
        ("zh", "5分钟和10分钟", None),
        ("en", "a timer", {}),
    ],
)
def test_a_length_is_read_whole_or_not_at_all(language, text, found):
    assert duration(text, language) == found
