"""The official Ollama client works against the hub unchanged, and so does the form HA parses."""

import json
from pathlib import Path

import httpx2
import ollama
import pytest

QUESTION = [{"role": "user", "content": "What does error code E04 on the oven mean?"}]
RECORDED = Path(__file__).resolve().parents[3] / "shared" / "ha" / "recorded"


@pytest.fixture(scope="module")
def client(hub):
    return ollama.Client(host=f"{hub.url}/token/{hub.token}")


@pytest.fixture(scope="module")
def raw(client):
    return next(m.model for m in client.list().models if m.model.startswith("raw:"))


def test_the_models_are_listed_and_shown(client, raw):
    assert client.list().models[0].model == "household"
    shown = client.show(raw)
    assert shown.details.format == "gguf"
    assert "tools" in shown.capabilities


def test_a_streamed_answer_carries_its_source(client):
    parts = list(client.chat("household", QUESTION, stream=True, keep_alive=-1, think=False))
    text = "".join(part.message.content for part in parts)
    assert "temperature sensor" in text
    assert "oven-manual.pdf, page 9" in text
    assert parts[-1].done
    assert parts[-1].done_reason == "stop"


def test_the_plain_model_answers_within_its_options(client, raw):
    options = {"num_ctx": 8192.0, "num_predict": 5, "temperature": 0}
    reply = client.chat(raw, [{"role": "user", "content": "Say hello."}], options=options)
    assert reply.message.content.strip()
    assert reply.done_reason == "length"
    assert reply.eval_count == 5
    assert reply.prompt_eval_count > 5


def test_the_plain_model_follows_a_schema(client, raw):
    schema = {
        "type": "object",
        "properties": {"room": {"enum": ["kitchen", "bedroom"]}},
        "required": ["room"],
        "additionalProperties": False,
    }
    asked = [{"role": "user", "content": "Switch on the light in the kitchen."}]
    reply = client.chat(raw, asked, format=schema, options={"num_predict": 40})
    assert json.loads(reply.message.content)["room"] in ("kitchen", "bedroom")


def test_generate_streams(client, raw):
    options = {"num_predict": 8, "temperature": 0}
    parts = list(client.generate(raw, "Say hello.", stream=True, options=options))
    assert "".join(part.response for part in parts).strip()
    assert parts[-1].done
    assert "Sources" in client.generate("household", QUESTION[0]["content"]).response


def test_embeddings(client):
    vectors = client.embed("all-MiniLM-L6-v2", ["oven", "stove"]).embeddings
    assert [len(vector) for vector in vectors] == [384, 384]
    assert client.embeddings("all-MiniLM-L6-v2", "oven").embedding == pytest.approx(
        vectors[0], abs=1e-3
    )


def test_what_is_not_there_is_an_honest_error(client):
    with pytest.raises(ollama.ResponseError, match="household") as caught:
        client.chat("llama3.2", QUESTION)
    assert caught.value.status_code == 404
    with pytest.raises(ollama.ResponseError, match="hubd model pull"):
        client.pull("llama3.2")
    assert client.pull("household").status == "success"


def test_the_loaded_model_is_named(client, raw):
    client.generate(raw, keep_alive="5m")
    assert [m.model for m in client.ps().models] == [raw]


def test_an_error_before_the_answer_has_a_status(client, raw):
    long = [{"role": "user", "content": "word " * 9000}]
    with pytest.raises(ollama.ResponseError, match="context") as caught:
        list(client.chat(raw, long, stream=True))
    assert caught.value.status_code == 400


# What Home Assistant sent, sent again


def recorded(version, backend="ollama"):
    file = RECORDED / f"ha-{version}-{backend}.jsonl"
    if not file.is_file():
        pytest.skip(f"no recorded requests at {file}")
    return [json.loads(line) for line in file.read_text().splitlines()]


def as_home_assistant_reads(response):
    """Content and calls of one reply, read as HA's integration does: line by line, strictly."""
    content, calls, done = "", [], False
    for line in response.iter_lines():
        assert not done, "nothing comes after the end"
        part = json.loads(line)
        assert part["message"]["role"] == "assistant"
        content += part["message"]["content"]
        for call in part["message"].get("tool_calls") or ():
            assert isinstance(call["function"]["arguments"], dict)
            calls.append((call["function"]["name"], call["function"]["arguments"]))
        done = part["done"]
    assert done
    return content, calls


@pytest.mark.parametrize("version", ["2025.4.4", "2026.11.0"])
def test_recorded_requests_of_home_assistant_are_answered(hub, version):
    rows = recorded(version)
    with hub.client() as http:
        assert rows[0]["path"] == "/api/tags"
        tags = http.get("/api/tags", headers=_headers(rows[0])).json()
        assert "household" in [model["model"] for model in tags["models"]]
        for row in rows[1:]:
            body = row["body"] | {"model": "household"}
            with http.stream("POST", row["path"], json=body, headers=_headers(row)) as response:
                assert response.status_code == 200
                content, calls = as_home_assistant_reads(response)
            _check(body, content, calls)


def _headers(row):
    """As recorded, but for the API key, which is this hub's."""
    return {"user-agent": row["headers"]["user-agent"]}


def _check(body, content, calls):
    last = body["messages"][-1]
    if last["role"] == "tool":
        assert (content, calls) == ("Turned on Bed Light.", [])
    elif last["content"] == "turn the bed lamp on please" and body.get("tools"):
        assert content == ""
        ((name, arguments),) = calls
        assert name in ("HassTurnOn", "intent__HassTurnOn")
        assert arguments == {"name": "Bed Light", "domain": ["light"]}
    else:
        assert content
        assert not calls


def test_recorded_requests_of_the_llama_cpp_integration_are_answered(hub):
    rows = recorded("2026.11.0", "llama_cpp")
    with hub.client() as http:
        names = [card["id"] for card in http.get(rows[0]["path"]).json()["data"]]
        raw = next(name for name in names if name.startswith("raw:"))
        for probe in rows[1:3]:
            for model in ("household", raw):
                reply = http.post(probe["path"], json=probe["body"] | {"model": model})
                assert reply.status_code == 200, reply.text
        for row in rows[3:]:
            _check_chunks(http, row["path"], row["body"] | {"model": "household"})


def _check_chunks(http: httpx2.Client, path, body):
    content, calls, finish = "", [], None
    with http.stream("POST", path, json=body) as response:
        for line in response.iter_lines():
            if not line.startswith("data: ") or line == "data: [DONE]":
                continue
            choice = json.loads(line.removeprefix("data: "))["choices"][0]
            content += choice["delta"].get("content") or ""
            part = choice["delta"].get("tool_calls") or []
            assert len(part) <= 1, "HA reads only the first call of a chunk"
            calls += [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in part]
            finish = choice["finish_reason"] or finish
    assert finish == ("tool_calls" if calls else "stop")
    _check(body, content, calls)


def test_the_time_in_a_recorded_prompt_does_not_cost_its_prefix(hub, raw):
    """HA 2025.4 begins each prompt with the time; with tools it has about 3 000 tokens."""
    plain = [row["body"] for row in recorded("2025.4.4")[1:3]]
    counts = []
    with hub.client() as http:
        for number, body in enumerate(plain):
            body = body | {"model": raw, "stream": False}
            body["options"] = {"num_predict": 1}
            reply = http.post("/api/chat", json=body)
            assert reply.status_code == 200, reply.text
            if number:
                assert int(reply.headers["X-Hubd-Moved-Lines"]) >= 1
            counts.append(reply.json()["prompt_eval_count"])
    assert counts[1] > counts[0]
