"""What never changes comes first, byte for byte; what changes comes last."""

from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.chat import Message, chat_template_of
from engine.gguf import GGUFFile
from engine.protocol import ChatMessage
from engine.tokenizer import Tokenizer
from hubd.assistant.answers import prompt
from plugins import timers
from plugins.api import Area, Entity, Snapshot
from rag.types import Evidence, Passage

NOW = datetime(2026, 11, 21, 6, 59, 59, tzinfo=UTC)
TOOLS = list(timers.plugin.tools.values())
HOME = Snapshot(
    areas=(Area(id="kitchen", name="Kitchen"), Area(id="hall", name="Hall")),
    entities=(
        Entity(id="light.ceiling", name="Ceiling Light", area="kitchen", state="off"),
        Entity(id="lock.door", name="Front Door", area="hall", state="locked"),
        Entity(id="sun.sun", name="Sun", state="below_horizon"),
    ),
)


def evidence(*texts):
    quotes = [
        Passage(document="d.md", page=None, start=100 * n, end=100 * n + len(t), text=t, score=0.5)
        for n, t in enumerate(texts)
    ]
    return Evidence(quotes=quotes, answerable=0.9)


def switched(home):
    """The home with its first light switched on."""
    first, *others = home.entities
    return msgspec.structs.replace(
        home, entities=(msgspec.structs.replace(first, state="on"), *others)
    )


def rendered(home, time):
    """Everything that a prompt can hold, at one moment."""
    return prompt.build(
        "Is the light on?",
        evidence("The light is old."),
        [ChatMessage("user", "Hello."), ChatMessage("assistant", "Good morning.")],
        static=prompt.static_part(tools=TOOLS, home=home),
        present=prompt.Present(time=time, area="Kitchen", states=home.entities[:1]),
    )


@given(st.text(), st.text(), st.text(), st.text())
def test_two_questions_share_the_static_part(question, other_question, note, other_note):
    one = prompt.build(question, evidence(note))
    other = prompt.build(other_question, evidence(other_note))
    assert one[0] == other[0] == ChatMessage(role="system", content=prompt.SYSTEM)


def test_a_second_and_a_light_switch_later_only_the_final_message_differs():
    one = rendered(HOME, NOW)
    other = rendered(switched(HOME), NOW + timedelta(seconds=1))
    assert one[:-1] == other[:-1]
    assert one[-1] != other[-1]


def test_a_second_and_a_light_switch_later_the_tokens_before_are_the_same(model_path):
    """The contract as the engine sees it: tokens through the model's own template."""
    gguf = GGUFFile(model_path)
    tokenizer, template = Tokenizer(gguf.metadata), chat_template_of(gguf.metadata)

    def tokens(messages):
        return template.encode([Message(m.role, m.text()) for m in messages], tokenizer)

    one = tokens(rendered(HOME, NOW))
    other = tokens(rendered(switched(HOME), NOW + timedelta(seconds=1)))
    same = next(n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    static = rendered(HOME, NOW)[:-1]
    text = tokenizer.decode(one[:same])
    assert all(message.text() in text for message in static)
    gguf.close()


@given(st.randoms(use_true_random=False))
def test_the_order_in_which_things_are_found_does_not_matter(chosen):
    tools, entities = list(TOOLS), list(HOME.entities)
    chosen.shuffle(tools)
    chosen.shuffle(entities)
    home = msgspec.structs.replace(
        HOME, entities=tuple(entities), areas=HOME.areas[::-1], version=chosen.randrange(9)
    )
    assert prompt.static_part(tools=tools, home=home) == prompt.static_part(tools=TOOLS, home=HOME)


def test_the_order_of_keys_in_a_schema_does_not_matter():
    def backwards(value):
        if isinstance(value, dict):
            return {key: backwards(value[key]) for key in reversed(value)}
        return value

    turned = [
        msgspec.structs.replace(tool, parameters=backwards(tool.parameters)) for tool in TOOLS
    ]
    assert prompt.tool_list(turned) == prompt.tool_list(TOOLS)


def test_a_new_device_changes_nothing_before_the_map_of_the_home():
    lamp = Entity(id="light.lamp", name="Lamp", area="hall")
    more = msgspec.structs.replace(HOME, entities=(lamp, *HOME.entities))
    before = prompt.static_part(tools=TOOLS)
    for home in (HOME, more):
        assert prompt.static_part(tools=TOOLS, home=home).startswith(before)


def test_the_static_part_tells_no_state():
    text = prompt.static_part(tools=TOOLS, home=HOME)
    assert "Kitchen: Ceiling Light (light.ceiling)" in text
    assert "elsewhere: Sun (sun.sun)" in text
    devices = text.partition("Devices by area:")[2]
    assert not any(f" {entity.state}" in devices for entity in HOME.entities)


def test_what_changes_stands_last():
    assert rendered(HOME, NOW)[-1].text() == (
        "The light is old.\n\n"
        "It is Saturday, 2026-11-21 06:59.\nThis was said in: Kitchen.\n"
        "Ceiling Light (light.ceiling) is off.\n\n"
        "Question: Is the light on?"
    )


@given(st.permutations(range(4)))
def test_notes_stand_in_document_order_whatever_their_rank(order):
    found = evidence("One.", "Two.", "Three.", "Four.")
    ranked = Evidence(quotes=[found.quotes[n] for n in order], answerable=0.9)
    assert prompt.build("Why?", found) == prompt.build("Why?", ranked)


def test_the_conversation_stands_between_and_is_bounded():
    history = [ChatMessage(role="user", content=str(n)) for n in range(10)]
    messages = prompt.build("Why?", evidence("Because."), history)
    assert [message.content for message in messages[1:-1]] == ["6", "7", "8", "9"]
    assert messages[-1].content.endswith("Question: Why?")


@given(st.lists(st.integers(0, 3 * prompt.HISTORY_CHARACTERS // 2), max_size=12))
def test_of_the_conversation_whole_turns_are_left_out_the_oldest_first(lengths):
    roles = ("user", "assistant")
    history = [ChatMessage(role=roles[i % 2], content="x" * n) for i, n in enumerate(lengths)]
    kept = prompt.recent(history)
    assert list(kept) == history[len(history) - len(kept) :]
    assert not kept or kept[0].role == "user"
    assert len(kept) <= prompt.HISTORY_MESSAGES
    assert sum(len(message.text()) for message in kept) <= prompt.HISTORY_CHARACTERS
    longer = next((n for n in range(len(kept) + 1, 5) if n <= len(history)
                   and history[-n].role == "user"), None)  # fmt: skip
    if longer:
        assert sum(lengths[-longer:]) > prompt.HISTORY_CHARACTERS
