"""An utterance is a tool call only when everything in it is understood."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubd.assistant.route import Router
from plugins.api import Plugin, ToolCall, ToolContext, ToolResult

SENTENCES = """
language: en
intents:
  coffee.brew:
    data:
      - sentences: ["(brew|make) [{cups} cup[s] of] coffee"]
lists:
  cups: {range: {from: 1, to: 6}}
"""

coffee = Plugin("coffee")


@coffee.tool(risk="act")
async def brew(context: ToolContext, cups: int = 1) -> ToolResult:
    """Brew coffee."""
    return ToolResult(text=f"{cups}")


@pytest.fixture
def router(tmp_path):
    file = tmp_path / "coffee.en.yaml"
    file.write_text(SENTENCES)
    return Router(list(coffee.tools.values()), [file])


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("make coffee", {}),
        ("Brew two cups of coffee.", {"cups": 2}),
        ("  brew 3 cups of COFFEE! ", {"cups": 3}),
        ("Could you please make coffee", {}),
        ("um, just brew two cups of coffee then", {"cups": 2}),
    ],
)
def test_a_sentence_is_a_call(router, said, arguments):
    decision = router.route(said, language="en")
    assert decision.call == ToolCall(tool="coffee.brew", arguments=arguments)
    assert (decision.route, decision.score) == ("grammar", 1.0)


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
    decision = router.route(said, language="en")
    assert (decision.route, decision.tool, decision.call) == ("documents", None, None)


@pytest.mark.parametrize("content", ["[", "language: en\nintents: 7", "- a\n- b"])
def test_a_bad_sentence_file_is_left_out_and_named(tmp_path, content, caplog):
    bad, good = tmp_path / "bad.en.yaml", tmp_path / "coffee.en.yaml"
    bad.write_text(content)
    good.write_text(SENTENCES)
    router = Router(list(coffee.tools.values()), [bad, good])
    assert router.route("make coffee", language="en").tool == "coffee.brew"
    assert "bad.en.yaml" in caplog.text


@pytest.fixture(scope="module")
def whole_house(real_router):
    return real_router("home.en.yaml")


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("open the garage door", "confirm"),
        ("unlock the front door", "confirm"),
        ("set the thermostat to 29 degrees", "confirm"),
        ("close the garage door", None),
        ("lock the front door", None),
        ("set a timer", "missing"),
        ("remind me", "missing"),
    ],
)
def test_what_is_asked_back(whole_house, said, asks):
    assert whole_house.route(said, language="en", area="Living Room").asks == asks


def test_two_heaters_without_a_room_ask_which(whole_house):
    decision = whole_house.route("set the temperature to 21 degrees", language="en")
    assert decision.asks == "which"
    assert set(decision.entities) == {"climate.thermostat", "climate.office_heater"}
    assert "Thermostat" in decision.reason


@pytest.mark.parametrize(
    "said",
    [
        "don't open the garage door",
        "never unlock the front door",
        "please do not turn on the kitchen lights",
        "turn the kitchen lights on and off",
        "lock and unlock the front door",
        "what happens when I turn off the thermostat",
        "if it rains close the living room blinds",
    ],
)
def test_what_is_negated_or_contradicts_itself_does_not_act(whole_house, said):
    decision = whole_house.route(said, language="en", area="Living Room")
    assert decision.call is None


@pytest.mark.parametrize("verb", ["disengage the lock on", "unbolt", "unlock"])
def test_unlocking_never_locks(whole_house, verb):
    decision = whole_house.route(f"{verb} the front door", language="en")
    assert (decision.tool, decision.asks) == ("home.unlock", "confirm")


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=60))
def test_no_text_breaks_the_router(whole_house, text):
    decision = whole_house.route(text, language="en", area="Living Room")
    assert 0 <= decision.score <= 1


@pytest.mark.parametrize(
    ("said", "language"),
    [("turn on the light", "en"), ("schalte das Licht ein", "de"), ("打开客厅的灯", "zh"),
     ("allume la lumière du salon", "fr"), ("enciende la luz de la cocina", "es")],
)  # fmt: skip
def test_the_words_tell_the_language(whole_house, said, language):
    assert whole_house.route(said).language == language
