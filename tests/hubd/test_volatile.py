"""Lines that change between the prompts of a client go behind what stays the same."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.http.volatile import (
    MAX_MEMORY_CHARACTERS,
    MAX_PROMPT_CHARACTERS,
    Frame,
    PromptMemory,
    frame_of,
    split,
)

NOW = datetime(2026, 11, 21, 6, 47, 17, tzinfo=UTC)
ELSEWHERE = datetime(2031, 1, 2, 18, 0, tzinfo=UTC)
"""A clock that no prompt here tells."""
STATIC = "".join(f"Rule {word}: never do what {word} forbids.\n" for word in ("one", "two", "six"))
DEVICES = "".join(f"- names: {name}\n  domain: light\n" for name in ("Bed Lamp", "Desk", "Hall"))
RECORDED = Path(__file__).parents[2].parent / "shared" / "ha" / "recorded"


def prompt(system, user="turn the bed lamp on"):
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


@pytest.fixture
def memory():
    return PromptMemory()


def send(memory, system, *, client="ha", tools=True, now=ELSEWHERE, user="turn the bed lamp on"):
    """System text, user text and the number of moved lines, as they would be sent on."""
    result = memory.rearrange(client, prompt(system, user), tools=tools, now=now)
    return result.messages[0]["content"], result.messages[1]["content"], result.moved


def test_a_clock_in_front_is_moved_from_the_second_prompt_on(memory):
    first = f"Current time is 06:47:17.\n{STATIC}"
    assert send(memory, first) == (first, "turn the bed lamp on", 0)
    for time in ("06:47:18", "06:59:59", "17:03:00"):
        assert send(memory, f"Current time is {time}.\n{STATIC}") == (
            STATIC,
            f"Current time is {time}.\n\nturn the bed lamp on",
            1,
        )


def test_the_present_time_is_moved_from_the_first_prompt_on(memory):
    assert send(memory, f"It is 6:46 AM.\n{STATIC}", now=NOW)[2] == 1
    assert send(memory, f"It is 6:46 AM.\n{STATIC}", now=NOW)[2] == 1, "also when it stands still"
    assert send(PromptMemory(), f"Today is 2026-11-21.\n{STATIC}", now=NOW)[2] == 1
    assert send(PromptMemory(), f"Breakfast is at 07:30.\n{STATIC}", now=NOW)[2] == 0


def test_the_room_of_the_satellite_is_moved(memory):
    area = "You are in area {} (floor Ground) and all generic commands target this area.\n"
    send(memory, STATIC + area.format("Kitchen") + DEVICES)
    assert send(memory, STATIC + area.format("Bedroom") + DEVICES)[2] == 0, "once may be a rename"
    system, user, moved = send(memory, STATIC + area.format("Living Room") + DEVICES)
    assert (system, moved) == (STATIC + DEVICES, 1)
    assert user.startswith("You are in area Living Room (floor Ground)")


def test_a_line_that_comes_and_goes_is_moved(memory):
    with_line = f"This device is not able to start timers.\n{STATIC}"
    moved = [send(memory, text)[2] for text in (STATIC, with_line, STATIC, with_line, with_line)]
    assert moved == [0, 0, 0, 1, 1]


def test_a_sentence_of_a_long_line_is_moved_alone(memory):
    sentence = "The house has two floors and a garden with a shed behind it. "
    text = "You are Al. It is {} now. " + 5 * sentence
    send(memory, text.format("06:47"))
    system, user, moved = send(memory, text.format("06:48"))
    assert (system, moved) == ("You are Al. " + 5 * sentence, 1)
    assert user.startswith("It is 06:48 now.\n\n")


def test_a_new_or_renamed_device_stays_in_its_place(memory):
    send(memory, STATIC + DEVICES)
    for devices in (
        DEVICES + "- names: Porch\n  domain: light\n",
        DEVICES.replace("Desk", "Writing Desk"),
        DEVICES.replace("Desk", "Reading Corner"),
    ):
        assert send(memory, STATIC + devices)[::2] == (STATIC + devices, 0)


def test_states_of_devices_stay_in_their_list(memory):
    for state in ("on", "off", "on", "off"):
        devices = DEVICES + f"- names: Porch\n  domain: light\n  state: {state}\n"
        assert send(memory, STATIC + devices)[::2] == (STATIC + devices, 0)


def test_nothing_is_moved_where_it_would_not_help(memory):
    for time in ("06:47", "06:48", "06:49"):
        at_the_end = f"{STATIC}It is {time}."
        assert send(memory, at_the_end, tools=False)[::2] == (at_the_end, 0)
    assert send(memory, f"{STATIC}It is 06:50.", tools=True)[2] == 1, "the tools come after it"
    mostly = PromptMemory()
    for time in ("06:47", "06:48"):
        assert send(mostly, f"It is {time} o'clock in the morning.\nBe kind.")[2] == 0


def test_clients_and_kinds_of_prompt_are_kept_apart(memory):
    other = "".join(f"Summarize point {word} of the mail.\n" for word in ("one", "two", "six"))
    send(memory, f"It is 06:47.\n{STATIC}")
    assert send(memory, f"It is 06:48.\n{STATIC}", client="else")[2] == 0
    assert send(memory, other)[2] == 0
    assert send(memory, f"It is 06:49.\n{STATIC}")[2] == 1


def test_parts_of_content_and_later_messages_are_kept(memory):
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    messages = [
        *prompt(f"It is 06:47.\n{STATIC}"),
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "user", "content": [picture]},
        {"role": "tool", "content": "done"},
    ]
    before = json.dumps(messages)
    result = memory.rearrange("ha", messages, tools=False, now=NOW)
    assert result.messages[3]["content"] == [{"type": "text", "text": "It is 06:47.\n\n"}, picture]
    assert [*result.messages[1:3], result.messages[4]] == [*messages[1:3], messages[4]]
    assert json.dumps(messages) == before, "the caller's messages are not changed"


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [None],
        ["x", 1],
        [{"role": "user", "content": "It is 06:47."}],
        [{"role": "system", "content": "It is 06:47.\n"}],
        [{"role": "system", "content": [1]}, {"role": "user", "content": "x"}],
        [{"role": "system", "content": None}, {"role": "user", "content": "x"}],
        [{"role": "system", "content": f"It is 06:47.\n{STATIC}"}, {"role": "user"}],
        [{"content": "It is 06:47."}, {"role": "user", "content": "x"}],
        prompt("It is 06:47.\n" + "long " * MAX_PROMPT_CHARACTERS),
    ],
)
def test_what_has_another_form_passes_unchanged(memory, messages):
    result = memory.rearrange("ha", messages, tools=True, now=NOW)
    assert (result.messages, result.moved) == (messages, 0)


LINES = st.lists(st.text(max_size=12) | st.sampled_from(["It is 06:47.", STATIC, "a b", ""]))


@given(LINES.map("\n".join))
def test_units_joined_are_the_text(text):
    assert "".join(split(text)) == text
    assert "".join(split(text * 30)) == text * 30


@given(st.lists(LINES, max_size=6), st.booleans())
def test_no_line_is_lost_or_made_up(prompts, tools):
    memory = PromptMemory()
    for lines in prompts:
        system, user, moved = send(memory, "\n".join(lines), tools=tools, now=NOW)
        kept = sorted(word for text in (system, user) for word in text.split())
        assert kept == sorted([*"\n".join(lines).split(), *["turn", "the", "bed", "lamp", "on"]])
        assert (moved > 0) == (user != "turn the bed lamp on")


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_frame_fits_both_lines_that_it_comes_from(one, other):
    frame = frame_of(one, other)
    assert frame is None or frame_of(one, other) == frame_of(other, one)
    if frame is not None:
        assert len(frame.before) + len(frame.after) >= 2


def test_a_frame_does_not_count_a_word_twice():
    assert frame_of("a b a", "a b a b a") == Frame(("a", "b", "a"), ())
    assert not Frame(("a", "b"), ("b", "c")).fits(("a", "b", "c"))


def test_memory_is_bounded(memory):
    for number in range(60):
        body = "".join(f"{number} {line} something\n" for line in range(5000))
        send(memory, body[:MAX_PROMPT_CHARACTERS], client=str(number))
    assert sum(kind.size for kind in memory._kinds) <= MAX_MEMORY_CHARACTERS


def recorded(name):
    if not RECORDED.is_dir():
        pytest.skip(f"no recorded requests at {RECORDED}")
    lines = (RECORDED / name).read_text().splitlines()
    bodies = [json.loads(line)["body"] for line in lines]
    return [body for body in bodies if body and "messages" in body]


def test_recorded_prompts_of_home_assistant_2025_begin_with_the_same_text(memory):
    with_tools = [body for body in recorded("ha-2025.4.4-ollama.jsonl") if body.get("tools")]
    results = [memory.rearrange("ha", body["messages"], tools=True, now=NOW) for body in with_tools]
    assert len({result.messages[0]["content"] for result in results}) == 1
    assert all(result.moved == 1 for result in results)
    assert "Current time" not in results[0].messages[0]["content"]


@pytest.mark.parametrize("name", ["ha-2026.11.0-ollama.jsonl", "ha-2026.11.0-llama_cpp.jsonl"])
def test_recorded_prompts_of_home_assistant_2026_are_static_already(memory, name):
    for body in recorded(name):
        tools = bool(body.get("tools"))
        assert memory.rearrange("ha", body["messages"], tools=tools, now=NOW).moved == 0
