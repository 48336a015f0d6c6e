"""An utterance is a tool call only when a sentence covers all of it."""

import pytest

from hubd.assistant.route import Router, SentenceFileError
from plugins.api import ToolCall

SENTENCES = """
language: en
intents:
  coffee.brew:
    data:
      - sentences: ["(brew|make) [{cups} cup[s] of] coffee"]
lists:
  cups: {range: {from: 1, to: 6}}
"""


@pytest.fixture
def router(tmp_path):
    file = tmp_path / "coffee.en.yaml"
    file.write_text(SENTENCES)
    return Router([file])


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("make coffee", {}),
        ("Brew two cups of coffee.", {"cups": 2}),
        ("  brew 3 cups of COFFEE! ", {"cups": 3}),
    ],
)
def test_a_sentence_is_a_call(router, said, arguments):
    assert router.route(said) == ToolCall(tool="coffee.brew", arguments=arguments)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "coffee",
        "how does grandma make coffee",
        "make coffee or tea",
        "brew 9 cups of coffee",
        "make coffee " * 200,
        "\x00{cups}",
    ],
)
def test_anything_else_is_a_question(router, said):
    assert router.route(said) is None


@pytest.mark.parametrize("content", ["[", "language: en\nintents: 7", "- a\n- b"])
def test_a_bad_sentence_file_is_named(tmp_path, content):
    file = tmp_path / "bad.en.yaml"
    file.write_text(content)
    with pytest.raises(SentenceFileError, match=r"bad\.en\.yaml"):
        Router([file])
