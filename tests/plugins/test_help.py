"""Small talk is answered as such, and only when it is nothing else."""

import pytest

from hubd.assistant.route import Router
from hubd.tools import sentence_files
from plugins.help import plugin

ROUTER = Router(list(plugin.tools.values()), sentence_files(plugin))


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("Hello!", "help.hello"),
        ("hi there", "help.hello"),
        ("What can you do?", "help.show"),
        ("help", "help.show"),
        ("Thank you very much.", "help.welcome"),
    ],
)
def test_small_talk(said, tool):
    assert ROUTER.route(said, language="en").tool == tool


@pytest.mark.parametrize(
    "said",
    [
        "hello, what does E04 mean?",
        "who are the tenants",
        "help, there is water everywhere",
        "what can you do about lime scale",
    ],
)
def test_questions_are_left_alone(said):
    assert ROUTER.route(said, language="en").tool is None


async def test_the_hub_says_what_it_is_for(workshop):
    result = await workshop("help.show")
    assert "documents" in result.text
    assert "timer" in result.text
    assert "计时器" in (await workshop("help.show", "zh")).text
