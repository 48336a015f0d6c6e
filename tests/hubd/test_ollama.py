"""Ollama's protocol over the application itself; the official client is in tests/e2e."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.protocol import Usage
from hubd.errors import BadRequestError
from hubd.http import ollama_protocol as protocol

ASK = {"model": "household", "messages": [{"role": "user", "content": "list timers"}]}


@pytest.fixture
async def hub(open_hub, tmp_path):
    async with open_hub(tmp_path) as client:
        yield client


async def lines(response):
    return [json.loads(line) for line in (await response.text()).splitlines()]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (-1, -1),
        (-1.0, -1),
        ("-1", -1),
        ("-1s", -1),
        ("-1.0s", -1),
        ("5m", 300),
        ("1h30m", 5400),
        ("300ms", 0.3),
        ("0", 0),
        (None, None),
    ],
)
def test_keep_alive_in_all_its_spellings(written, seconds):
    assert protocol.keep_alive_seconds(written) == pytest.approx(seconds)


@given(st.text(max_size=12))
def test_keep_alive_is_a_number_of_seconds_or_refused(text):
    try:
        seconds = protocol.keep_alive_seconds(text)
    except BadRequestError:
        return
    assert isinstance(seconds, float)
    assert text.strip().lstrip("+-")[0].isdigit()


def test_results_without_a_name_belong_to_the_calls_in_order():
    messages = [
        protocol.Message(
            role="assistant",
            tool_calls=[
                protocol.CalledTool(function=protocol.CalledFunction(name="one")),
                protocol.CalledTool(function=protocol.CalledFunction(name="two")),
            ],
        ),
        protocol.Message(role="tool", content="1"),
        protocol.Message(role="tool", content="2"),
    ]
    asked, first, second = protocol.chat_messages(messages)
    assert [call.id for call in asked.tool_calls] == [first.tool_call_id, second.tool_call_id]


def test_options_become_sampling_parameters():
    body = protocol.Chat(
        model="raw:x",
        options={
            "num_ctx": 8192.0,
            "num_predict": 7.0,
            "temperature": 0,
            "top_k": 40.0,
            "repeat_penalty": 1.1,
            "stop": ["END"],
            "low_vram": True,
        },
        format={"type": "object"},
    )
    wanted = protocol.chat_request(body)
    assert (wanted.max_tokens, wanted.temperature, wanted.top_k) == (7, 0.0, 40)
    assert (wanted.repetition_penalty, wanted.stop) == (1.1, ["END"])
    assert wanted.response_format.json_schema.schema == {"type": "object"}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"options": {"top_k": "many"}}, "options.top_k"),
        ({"options": {"stop": [1]}}, "options.stop"),
        ({"format": "yaml"}, "format"),
        ({"keep_alive": "for ever"}, "keep_alive"),
    ],
)
def test_a_wrong_field_is_named(change, named):
    with pytest.raises(BadRequestError, match=named):
        protocol.chat_request(protocol.Chat(model="household", **change))


def test_the_end_of_an_answer_counts_its_tokens():
    usage = Usage(prompt_tokens=3, completion_tokens=5, total_tokens=8)
    end = protocol.ending("length", 1.0, 3.0, usage)
    assert (end["done"], end["done_reason"], end["total_duration"]) == (True, "length", 2 * 10**9)
    assert (end["prompt_eval_count"], end["eval_count"]) == (3, 5)


async def test_both_models_are_offered(hub):
    models = (await (await hub.get("/api/tags")).json())["models"]
    assert models[0]["model"] == "household"
    assert models[1]["model"].startswith("raw:")


async def test_a_turn_is_streamed_line_by_line(hub):
    response = await hub.post("/api/chat", json=ASK)
    assert response.headers["Content-Type"].startswith("application/x-ndjson")
    *pieces, last = await lines(response)
    assert "".join(piece["message"]["content"] for piece in pieces) == "No timer is running."
    assert not any(piece["done"] for piece in pieces)
    assert (last["done"], last["done_reason"]) == (True, "stop")


async def test_a_turn_in_one_object(hub):
    reply = await (await hub.post("/api/chat", json=ASK | {"stream": False})).json()
    assert reply["message"] == {"role": "assistant", "content": "No timer is running."}
    assert reply["done"] is True


async def test_generate_answers_a_prompt(hub):
    body = {"model": "household:latest", "prompt": "list timers"}
    pieces = await lines(await hub.post("/api/generate", json=body))
    assert "".join(piece["response"] for piece in pieces) == "No timer is running."
    assert pieces[-1]["done"] is True


async def test_a_request_that_asks_nothing_loads(hub):
    reply = await (await hub.post("/api/chat", json={"model": "household"})).json()
    assert (reply["done"], reply["done_reason"]) == (True, "load")
    body = {"model": "household", "keep_alive": "0s"}
    reply = await (await hub.post("/api/generate", json=body)).json()
    assert reply["done_reason"] == "unload"


async def test_a_model_that_is_not_there_is_told_in_ollamas_form(hub):
    response = await hub.post("/api/chat", json=ASK | {"model": "llama3:8b"})
    assert response.status == 404
    assert "household" in (await response.json())["error"]
    response = await hub.post("/api/pull", json={"model": "llama3:8b"})
    assert response.status == 404
    assert "hubd model pull" in (await response.json())["error"]


async def test_what_is_there_needs_no_pull(hub):
    assert await lines(await hub.post("/api/pull", json={"model": "household"})) == [
        {"status": "success"}
    ]


async def test_a_model_shows_what_it_can(hub):
    shown = await (await hub.post("/api/show", json={"name": "household"})).json()
    assert shown["capabilities"] == ["completion", "tools"]
    assert shown["model_info"]["hubd.context_length"] == 4096
    shown = await (await hub.post("/api/show", json={"model": "all-MiniLM-L6-v2"})).json()
    assert shown["capabilities"] == ["embedding"]


async def test_nothing_is_loaded_before_somebody_asks(hub):
    assert await (await hub.get("/api/ps")).json() == {"models": []}
    assert "hubd" in (await (await hub.get("/api/version")).json())["server"]


async def test_pictures_are_refused(hub):
    message = {"role": "user", "content": "what is this?", "images": ["aGk="]}
    response = await hub.post("/api/chat", json={"model": "household", "messages": [message]})
    assert response.status == 400
    assert "pictures" in (await response.json())["error"]
