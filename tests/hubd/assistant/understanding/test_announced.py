"""What everyone is told, and when it shall be told."""

import pytest

from hubd.assistant.understanding.announced import announced, tells_when


@pytest.mark.parametrize(
    ("language", "said", "message", "told"),
    [
        ("en", "Tell everyone supper is in ten minutes", "supper is in ten minutes", True),
        ("en", "please let the kids know bedtime is at eight", "bedtime is at eight", True),
        ("en", "tell everyone in ten minutes that it's on", "in ten minutes that it's on", False),
        ("en", "in ten minutes tell everyone it's on", "", False),
        ("en", "tell me when it's on", "", False),
        ("de", "sag allen, in zehn Minuten gibt's Essen", "in zehn minuten gibt's essen", True),
        ("de", "sag allen um sechs, dass wir gehen", "um sechs dass wir gehen", False),
        ("de", "sag allen in zehn Minuten", "in zehn minuten", False),
        ("zh", "告诉大家十分钟以后开饭", "十分钟以后开饭", True),
        ("zh", "十分钟以后告诉大家开饭", "", False),
        ("fr", "dis à tous que c'est prêt", "", False),
    ],
)
def test_the_time_belongs_to_what_is_told(language, said, message, told):
    assert announced(said, language) == message
    assert tells_when(said, language) is told
