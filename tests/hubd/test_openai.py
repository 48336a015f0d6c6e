"""OpenAI's form of the household's answers; the official client itself is in tests/e2e."""

import base64
import json

import numpy as np
import pytest

from engine.protocol import ChatMessage
from hubd.errors import BadRequestError
from hubd.http.openai import sources, utterance_of
from hubd.policy import OWNER
from hubd.turn_events import Citation

CHAT = {"messages": [{"role": "user", "content": "list timers"}]}


@pytest.fixture
async def hub(open_hub, tmp_path):
    async with open_hub(tmp_path) as client:
        yield client


def citation(document, page):
    return Citation(document=document, page=page, start=0, end=1, text="x", score=1.0)


def test_sources_are_named_once_in_the_order_of_the_answer():
    cited = [citation("b.pdf", 7), citation("a.md", None), citation("b.pdf", 7)]
    assert sources(cited) == "\n\nSources: b.pdf, page 7; a.md"
    assert sources([]) == ""


def test_the_last_message_is_asked_and_the_others_are_the_conversation():
    messages = [
        ChatMessage("system", "Be brief."),
        ChatMessage("user", "one"),
        ChatMessage("assistant", "1"),
        ChatMessage("user", " two "),
    ]
    utterance = utterance_of(messages, OWNER)
    assert utterance.text == "two"
    assert [message.text() for message in utterance.history] == ["one", "1"]


@pytest.mark.parametrize(
    "messages", [[], [ChatMessage("assistant", "x")], [ChatMessage("user", " ")]]
)
def test_messages_that_ask_nothing_are_refused(messages):
    with pytest.raises(BadRequestError, match="messages"):
        utterance_of(messages, OWNER)


async def test_the_models_are_listed_and_shown(hub):
    reply = await (await hub.get("/v1/models")).json()
    names = [card["id"] for card in reply["data"]]
    assert names[0] == "household"
    assert names[1].startswith("raw:")
    assert "all-MiniLM-L6-v2" in names
    assert (await (await hub.get(f"/v1/models/{names[1]}")).json())["id"] == names[1]


@pytest.mark.parametrize("model", ["household", "gpt-4o-mini", None])
async def test_every_other_name_is_answered_by_the_household(hub, model):
    reply = await (await hub.post("/v1/chat/completions", json=CHAT | {"model": model})).json()
    assert reply["model"] == "household"
    assert reply["choices"][0]["message"] == {
        "role": "assistant",
        "content": "No timer is running.",
    }
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert reply["citations"] == []


async def test_an_answer_is_streamed_in_chunks(hub):
    options = {"stream": True, "stream_options": {"include_usage": True}}
    text = await (await hub.post("/v1/chat/completions", json=CHAT | options)).text()
    lines = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    assert deltas[0]["role"] == "assistant"
    assert "".join(delta.get("content") or "" for delta in deltas) == "No timer is running."
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"]["total_tokens"] == 0
    assert len({chunk["id"] for chunk in chunks}) == 1


async def test_a_plain_completion(hub):
    reply = await (await hub.post("/v1/completions", json={"prompt": "list timers"})).json()
    assert (reply["object"], reply["choices"][0]["text"]) == (
        "text_completion",
        "No timer is running.",
    )


async def test_an_unknown_raw_model_is_refused_with_the_list(hub):
    response = await hub.post("/v1/chat/completions", json=CHAT | {"model": "raw:other"})
    error = (await response.json())["error"]
    assert response.status == 404
    assert error["code"] == "model_not_found"
    assert "raw:SmolLM2" in error["message"]
    assert error["type"] == "invalid_request_error"


async def test_a_raw_model_without_its_file_says_what_to_do(hub):
    (name,) = [
        card["id"]
        for card in (await (await hub.get("/v1/models")).json())["data"]
        if card["id"].startswith("raw:")
    ]
    response = await hub.post("/v1/chat/completions", json=CHAT | {"model": name})
    error = (await response.json())["error"]
    assert (response.status, error["code"]) == (503, "no_model")
    assert "hubd model pull" in error["message"]


@pytest.mark.parametrize(
    ("body", "field"),
    [({"messages": "x"}, "messages"), ({}, "messages"), ({"messages": [{"role": "u"}]}, "role")],
)
async def test_a_wrong_request_is_refused_in_openais_form(hub, body, field):
    response = await hub.post("/v1/chat/completions", json=body)
    error = (await response.json())["error"]
    assert response.status == 400
    assert set(error) == {"message", "type", "param", "code"}
    assert field in error["message"]


async def test_embeddings_as_numbers_and_as_base64_are_the_same(hub):
    body = {"model": "all-MiniLM-L6-v2", "input": ["the oven", "the boiler"]}
    numbers = await (await hub.post("/v1/embeddings", json=body)).json()
    coded = await (
        await hub.post("/v1/embeddings", json=body | {"encoding_format": "base64"})
    ).json()
    for plain, text in zip(numbers["data"], coded["data"], strict=True):
        vector = np.frombuffer(base64.b64decode(text["embedding"]), "<f4")
        np.testing.assert_allclose(vector, plain["embedding"], atol=1e-6)
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-3
    assert (await hub.post("/v1/embeddings", json=body | {"input": []})).status == 400
    assert (await hub.post("/v1/embeddings", json=body | {"dimensions": 3})).status == 400
