"""What is read aloud has nothing in it that only the eye understands."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.spoken import LONGEST, spoken


@pytest.mark.parametrize(
    ("written", "language", "said"),
    [
        ("The **Kitchen** is at 19.5°C.", "en", "The Kitchen is at 19 point 5 degrees."),
        ("Volume 40% · see [the manual](https://x.example/a).", "en",
         "Volume 40 percent · see the manual."),
        ("Die Küche hat 19,5 °C um 20:30.", "de", "Die Küche hat 19 Komma 5 Grad um 20 Uhr 30."),
        ("Wind 30 km/h", "de", "Wind 30 Kilometer pro Stunde"),
        ("客厅20.5°C，湿度48%。", "zh-CN", "客厅20点5度，湿度百分之48。"),
        ("Press the valve [1]. Then wait [2].", "en", "Press the valve. Then wait."),
        ("# Oven\n- clean it\n- dry it", "en", "Oven. clean it. dry it."),
        ("Look at https://example.org/a?b=c now.", "en", "Look at now."),
        ("```\nrm -rf\n```\nDone.", "en", "Done."),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "en", "a , b. 1 , 2."),
        ("Model 3.2.1 is fine.", "en", "Model 3.2.1 is fine."),
    ],
)  # fmt: skip
def test_what_is_written_is_said(written, language, said):
    assert spoken(written, language).replace(" , ", ", ") == said.replace(" , ", ", ")


def test_of_a_long_answer_the_beginning_is_said_and_that_there_is_more():
    said = spoken("One sentence here. " * 9, "en")
    assert said == "One sentence here. " * 3 + "There is more in the chat."


@given(st.text(alphabet=st.sampled_from(list("ab*_`[]()#->|. \n1%°C:/.,。")), max_size=400))
def test_no_markup_survives_and_it_is_short(text):
    said = spoken(text, "en")
    assert "```" not in said
    assert not re.search(r"\[[^\]]*\]\([^)\s]*\)", said)
    assert "\n" not in said
    assert "https://" not in said
    assert len(spoken("Word. " * 200, "en")) < LONGEST


@given(st.text(max_size=300), st.sampled_from(["en", "de", "zh", "fr", "xx"]))
def test_any_text_can_be_said(text, language):
    assert isinstance(spoken(text, language), str)
