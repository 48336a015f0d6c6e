"""Tools that come with a request; requests that Home Assistant sent are in ../shared."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.protocol import ChatMessage, FunctionTool
from hubd.assistant.tool_loop import request_tools

HOME = """You are a voice assistant.
Static Context: An overview of the areas and the devices in this smart home:
- names: Bed Light, Night Light
  domain: light
  areas: Bedroom
- names: Garage Door
  domain: cover
- names: Front Door
  domain: lock
- names: Ecobee
  domain: climate

When controlling Home Assistant always call the intent tools.
"""


def tool(name, *properties):
    schema = {"type": "object", "properties": {p: {} for p in properties}}
    return FunctionTool(type="function", function={"name": name, "parameters": schema})


TOOLS = [
    tool("intent__HassTurnOn", "name", "area", "domain"),
    tool("intent__HassTurnOff", "name", "area", "domain"),
    tool("light__HassLightSet", "name", "brightness", "color", "domain"),
    tool("climate__HassClimateSetTemperature", "name", "temperature"),
    tool("homeassistant__GetLiveContext", "name", "domain"),
]


def conversation(*texts):
    roles = ["user", "assistant"] * len(texts)
    said = [ChatMessage(role, text) for role, text in zip(roles, texts, strict=False)]
    return [ChatMessage("system", HOME), *said]


def call(*texts, tools=TOOLS):
    handed = request_tools.reply(conversation(*texts), tools)
    assert handed is not None, texts
    assert handed.call is not None, handed.text
    return handed.call.name, json.loads(handed.call.arguments)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("Turn on the bed light.", "intent__HassTurnOn", {"name": "Bed Light"}),
        ("turn the bed lamp off please", "intent__HassTurnOff", {"name": "Bed Light"}),
        ("could you switch on the night light", "intent__HassTurnOn", {"name": "Night Light"}),
        (
            "dim the bed light to 40%",
            "light__HassLightSet",
            {"name": "Bed Light", "brightness": 40},
        ),
        ("turn off the lights in the bedroom", "intent__HassTurnOff", {"area": "Bedroom"}),
        ("close the garage door", "intent__HassTurnOff", {"name": "Garage Door"}),
        ("lock the front door", "intent__HassTurnOn", {"name": "Front Door"}),
    ],
)
def test_a_command_becomes_a_call(text, name, arguments):
    called, given_arguments = call(text)
    domain = given_arguments.pop("domain")
    assert (called, given_arguments) == (name, arguments)
    assert domain in (["light"], ["cover"], ["lock"])


def test_an_argument_that_the_tool_does_not_know_is_left_out():
    called, arguments = call("set the ecobee to 21.5 degrees")
    assert called == "climate__HassClimateSetTemperature"
    assert arguments == {"name": "Ecobee", "temperature": 21.5}


def test_only_listed_entities_and_offered_tools_are_called():
    assert request_tools.reply(conversation("turn on the sauna"), TOOLS) is None
    assert request_tools.reply(conversation("is the bed light on?"), TOOLS[:2]) is None
    assert request_tools.reply(conversation("turn on the bed light"), []) is None


@pytest.mark.parametrize("text", ["open the garage door", "unlock the front door"])
def test_what_lets_people_in_is_asked_about_first(text):
    asked = request_tools.reply(conversation(text), TOOLS)
    assert asked.call is None
    assert asked.text.startswith("Shall I really")
    name, _ = call(text, asked.text, "yes, please")
    assert name.startswith("intent__HassTurn")
    left = request_tools.reply(conversation(text, asked.text, "no"), TOOLS)
    assert left.call is None
    assert "stays as it is" in left.text


def test_a_yes_without_the_question_opens_nothing():
    assert request_tools.reply(conversation("open the garage door", "Sure?", "yes"), TOOLS) is None
    assert request_tools.reply(conversation("yes"), TOOLS) is None


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"data": {"success": [{"name": "Bed Light"}], "failed": []}}, "Turned on Bed Light."),
        (
            {"data": {"data": {"success": [{"name": "Bed Light"}], "failed": []}}, "error": False},
            "Turned on Bed Light.",
        ),
        ({"data": {"success": [], "failed": [{"name": "Bed Light"}]}}, "did not do it"),
        ({"error": "MatchFailedError", "error_text": "no such device"}, "no such device"),
        ({"data": "it is broken", "error": True}, "it is broken"),
    ],
)
def test_what_came_back_is_told(result, words):
    messages = [
        *conversation("turn on the bed light"),
        ChatMessage("tool", json.dumps(result)),
    ]
    assert words in request_tools.reply(messages, TOOLS).text


def test_a_state_is_read_from_the_overview():
    overview = "Live Context:\n- names: Bed Light, Night Light\n  domain: light\n  state: 'off'\n"
    messages = [
        *conversation("is the night light on?"),
        ChatMessage("tool", json.dumps({"success": True, "result": overview})),
    ]
    assert request_tools.reply(messages, TOOLS).text == "Night Light is off."


@given(st.text(max_size=200))
def test_any_prompt_and_any_result_end_in_words(text):
    home = ChatMessage("system", "Static Context: \n" + text)
    asked = ChatMessage("user", "turn on the bed light")
    handed = request_tools.reply([home, asked, ChatMessage("tool", text)], TOOLS)
    assert handed.text


def test_names_from_outside_are_no_sentence_templates():
    home = "Static Context:\n- names: '[x] {item} (a|b)'\n  domain: light\n"
    messages = [ChatMessage("system", home), ChatMessage("user", "turn on anything")]
    assert request_tools.reply(messages, TOOLS) is None


RECORDED = Path(__file__).resolve().parents[5] / "shared" / "ha" / "recorded"


@pytest.mark.parametrize("version", ["2025.4.4", "2026.11.0"])
def test_the_homes_that_home_assistant_described_are_read(version):
    file = RECORDED / f"ha-{version}-ollama.jsonl"
    if not file.is_file():
        pytest.skip(f"no recorded requests at {file}")
    rows = [json.loads(line)["body"] for line in file.read_text().splitlines()[1:]]
    prompts = [row["messages"][0]["content"] for row in rows if row.get("tools")]
    found = request_tools.entities(prompts[0])
    assert len(found) >= 40
    assert request_tools.Entity(names=("Kitchen Lights",), domain="light") in found
