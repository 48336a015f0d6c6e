"""What somebody wishes of a thing becomes a command; what is none stays as it is."""

import pytest

from hubd.assistant.understanding.wished import wished


@pytest.mark.parametrize(
    ("language", "text", "command"),
    [
        ("en", "It'd be nice if the porch light came on every evening at seven",
         "turn on the porch light every evening at seven"),
        ("en", "I want the coffee maker to come on at 5:15 every weekday morning.",
         "turn on the coffee maker at 5:15 every weekday morning."),
        ("en", "I'd love it if the bedroom light would turn off by itself at midnight",
         "turn off the bedroom light at midnight"),
        ("en", "It would be great if the patio awning was open", "open the patio awning"),
        ("en", "I'd like the back door to be locked", "lock the back door"),
        ("en", "It'd be cool if Owen's light strip was green.", "make Owen's light strip green"),
        ("zh", "阳台灯每天晚上六点亮", "每天晚上六点打开阳台灯"),
        ("zh", "院子里的灯每天晚上六点亮", "每天晚上六点打开院子里的灯"),
        ("zh", "让热水器每天早上五点半自动打开就好了", "每天早上五点半打开热水器"),
        ("zh", "每天晚上十一点饮水机关", "每天晚上十一点关掉饮水机"),
    ],
)  # fmt: skip
def test_a_wish_is_a_command(language, text, command):
    assert wished(text, language) == command


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I wish the kids would come on time"),
        ("en", "I want the light that's on to stay on"),
        ("en", "turn on the porch light"),
        ("en", "the porch light came on at seven yesterday"),
        ("en", "I want the music"),
        ("en", "I like the way the lights come on at seven"),
        ("en", "It would be nice if the window was closed already"),
        ("zh", "每天晚上六点提醒我关灯"),
        ("zh", "把阳台灯打开"),
        ("zh", "阳台灯亮着"),
        ("zh", "每天晚上六点打开阳台灯"),
        ("de", "Ich will, dass das Licht an ist"),
    ],
)
def test_what_is_no_wish_of_a_thing_stays(language, text):
    assert wished(text, language) == text
