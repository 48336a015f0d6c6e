"""What frames a sentence politely, and what only looks so."""

import pytest

from hubd.assistant.understanding.frames import unframed
from hubd.assistant.understanding.lexicon import lexicon
from hubd.assistant.understanding.titles import is_played


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I'm so sorry to be a nuisance, but is the Back Door shut?", "is the Back Door shut?"),
        ("When you've got a free minute, play Nina Simone", "play Nina Simone"),
        ("Would you mind if we closed the blind", "close the blind"),
        ("Pause the telly, would you love?", "Pause the telly?"),
        ("Could I ask how warm it is", "ask how warm it is"),
        ("if you turn off the lamp I'll scream", "if you turn off the lamp I'll scream"),
        ("when Tom is home, turn on the lamp", "when Tom is home, turn on the lamp"),
        ("is there a light on", "is there a light on"),
    ],
)
def test_a_frame_is_left_out(text, left):
    assert unframed(text, lexicon("en").frames) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("记一下，梯子在车库里，谢谢啦", "记一下，梯子在车库里"),
        ("明天八点提醒我还书，好吗？", "明天八点提醒我还书"),
        ("谢谢啦", "谢谢啦"),
        ("把谢谢卡加到清单", "把谢谢卡加到清单"),
    ],
)
def test_a_frame_is_left_out_without_spaces(text, left):
    assert unframed(text, lexicon("zh").framing) == left


@pytest.mark.parametrize(
    ("query", "said", "played"),
    [
        ("Nina Simone", "can i have some nina simone", True),
        ("Nutella", "can i have some nutella", False),
        ("Adele", "put on adele", True),
        ("your shoes", "put on your shoes", False),
        ("pasta", "put some pasta on", False),
        ("radio four", "put on radio four", True),
        ("anything", "play anything", True),
    ],
)
def test_music_is_told_from_what_else_is_put_on(query, said, played):
    assert is_played(query, said) is played
