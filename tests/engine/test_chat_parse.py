"""Tool calls and reasoning out of answers: whole, and however they are cut."""

import itertools
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.chat_parse import (
    CONVENTIONS,
    ChatParser,
    Content,
    Reasoning,
    ToolCall,
    convention_of,
)

TOOLS = ["set_timer", "weather"]
CALL = '{"name": "set_timer", "arguments": {"minutes": 5}}'
PARAMETERS = '{"name": "set_timer", "parameters": {"minutes": 5}}'
TIMER = ("set_timer", {"minutes": 5})
WEATHER = ("weather", {"place": "Łódź"})


def read(pieces, convention, *, thinking=False):
    """Content, reasoning and calls of an answer that comes in these pieces."""
    parser = ChatParser(convention, TOOLS, thinks=True, thinking=thinking)
    events = [event for piece in pieces for event in parser.push(piece)] + parser.finish()
    content = "".join(event.text for event in events if isinstance(event, Content))
    reasoning = "".join(event.text for event in events if isinstance(event, Reasoning))
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert all(call.id for call in calls)
    return content, reasoning, [(call.name, json.loads(call.arguments)) for call in calls]


ANSWERS = [
    # convention, answer, content, reasoning, calls
    ("hermes", "Just words.\n", "Just words.\n", "", []),
    ("hermes", f"<tool_call>\n{CALL}\n</tool_call>", "", "", [TIMER]),
    ("hermes", f"<tool_call>[{CALL}, {CALL}]</tool_call>", "", "", [TIMER, TIMER]),
    ("hermes", f"Sure.\n<tool_call>{CALL}</tool_call>\n", "Sure.", "", [TIMER]),
    (
        "hermes",
        f"<think>\nFive?\n Yes.\n</think>\n\nOn it. <tool_call>{CALL}</tool_call>"
        '<tool_call>{"name": "weather", "arguments": "{\\"place\\": \\"Łódź\\"}"}</tool_call>',
        "On it.",
        "Five?\n Yes.",
        [TIMER, WEATHER],
    ),
    ("hermes", f"<tool_call>{CALL}", "", "", [TIMER]),
    ("hermes", "<tool_call>oops</tool_call> x", "<tool_call>oops</tool_call> x", "", []),
    ("hermes", "x <tool_call>", "x <tool_call>", "", []),
    ("hermes", "a < b <tool and <thin", "a < b <tool and <thin", "", []),
    ("hermes", "<think>no end", "", "no end", []),
    ("llama3", PARAMETERS, "", "", [TIMER]),
    ("llama3", f"<|python_tag|>{PARAMETERS}; {PARAMETERS}", "", "", [TIMER, TIMER]),
    (
        "llama3",
        '{"name": "unknown", "parameters": {}}',
        '{"name": "unknown", "parameters": {}}',
        "",
        [],
    ),
    ("llama3", '{"temperature": 5}', '{"temperature": 5}', "", []),
    ("llama3", "Hello {", "Hello {", "", []),
    ("mistral", f"[TOOL_CALLS][{CALL}]", "", "", [TIMER]),
    ("mistral", f"[TOOL_CALLS] [{CALL}, {CALL}]", "", "", [TIMER, TIMER]),
    (
        "mistral",
        '[TOOL_CALLS]set_timer[ARGS]{"minutes": 5}[TOOL_CALLS]weather{"place": "Łódź"}',
        "",
        "",
        [TIMER, WEATHER],
    ),
    ("phi", f"<|tool_call|>[{CALL}]<|/tool_call|>", "", "", [TIMER]),
    ("phi", f"functools[{CALL}]", "", "", [TIMER]),
    ("gemma", "Well:\n```tool_code\nset_timer(minutes=5)\n```", "Well:", "", [TIMER]),
    ("gemma", '```tool_code\nprint(weather(place="Łódź"))\n```', "", "", [WEATHER]),
    ("gemma", "```tool_code\nimport os\n```", "```tool_code\nimport os\n```", "", []),
    ("gemma", "```python\nx = 1\n```", "```python\nx = 1\n```", "", []),
]


@pytest.mark.parametrize(("convention", "answer", "content", "reasoning", "calls"), ANSWERS)
def test_whole_answers(convention, answer, content, reasoning, calls):
    assert read([answer], convention) == (content, reasoning, calls)


markup = st.sampled_from(
    [marker for kind in CONVENTIONS.values() for marker in (*kind.opening, kind.closing or "")]
    + ["<think>", "</think>", CALL, PARAMETERS, "\n", " ", "{", "}", "<", "`", "text"]
)


@given(
    convention=st.sampled_from([None, *CONVENTIONS]),
    answer=st.one_of(
        st.sampled_from([answer for _, answer, *_ in ANSWERS]),
        st.lists(st.one_of(markup, st.text(max_size=3)), max_size=10).map("".join),
    ),
    cuts=st.lists(st.integers(0, 200), max_size=12),
    thinking=st.booleans(),
)
@example("llama3", " " + PARAMETERS, [1, 2, 9], False)
def test_however_an_answer_is_cut_it_reads_the_same(convention, answer, cuts, thinking):
    edges = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    pieces = [answer[a:b] for a, b in itertools.pairwise(edges)]
    whole = read([answer], convention, thinking=thinking)
    assert read(pieces, convention, thinking=thinking) == whole
    assert read(list(answer), convention, thinking=thinking) == whole


def test_text_is_shown_as_soon_as_it_is_certain():
    parser = ChatParser("hermes", TOOLS, thinks=True)
    assert parser.push("Hello") == [Content("Hello")]
    assert parser.push(" <to") == []
    assert parser.push("day") == [Content(" <today")]
    assert parser.push("<think>a b") == [Reasoning("a b")]


def test_a_prompt_that_opens_the_reasoning():
    assert read(["why\n</think>\n\nso"], None, thinking=True) == ("so", "why", [])


def test_without_tools_calls_are_text():
    answer = f"<tool_call>{CALL}</tool_call>"
    assert read([answer], None) == (answer, "", [])


@pytest.mark.parametrize("depth", [10, 100_000])
def test_deep_nesting_is_no_call_and_no_crash(depth):
    answer = '<tool_call>{"name": "x", "arguments": ' + "[" * depth + "</tool_call>"
    assert read([answer], "hermes") == (answer, "", [])


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("{{ '<|im_start|>' }}", "hermes"),
        ("… <tool_call> …", "hermes"),
        ("<|start_header_id|> <|python_tag|>", "llama3"),
        ("[INST] [TOOL_CALLS]", "mistral"),
        ("<|tool_call|>", "phi"),
        ("<start_of_turn>model", "gemma"),
    ],
)
def test_the_convention_is_told_from_the_template(template, name):
    assert convention_of(template) == name
