"""The official OpenAI client works against the hub unchanged."""

import json

import openai
import pytest


@pytest.fixture(scope="module")
def client(hub):
    with openai.OpenAI(base_url=f"{hub.url}/v1", api_key=hub.token) as client:
        yield client


def test_the_household_is_the_first_model(client):
    names = [model.id for model in client.models.list()]
    assert names[0] == "household"
    assert any(name.startswith("raw:") for name in names)


def test_a_streamed_answer_carries_its_source(client):
    stream = client.chat.completions.create(
        model="household",
        messages=[{"role": "user", "content": "What does error code E04 on the oven mean?"}],
        stream=True,
    )
    chunks = list(stream)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert len([c for c in chunks if c.choices and c.choices[0].delta.content]) > 1
    assert "temperature sensor" in text
    assert "oven-manual.pdf, page 9" in text
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_an_answer_in_one_piece(client):
    reply = client.chat.completions.create(
        model="household",
        messages=[{"role": "user", "content": "What does error code E04 on the oven mean?"}],
    )
    assert "oven-manual.pdf, page 9" in (reply.choices[0].message.content or "")
    assert reply.model_extra["citations"][0]["document"] == "oven-manual.pdf"


def test_the_plain_model_is_there_too(client):
    raw = next(model.id for model in client.models.list() if model.id.startswith("raw:"))
    reply = client.completions.create(
        model=raw, prompt="The capital of France is", max_tokens=4, temperature=0
    )
    assert "Paris" in reply.choices[0].text
    assert reply.usage.completion_tokens > 0


def test_embeddings(client):
    reply = client.embeddings.create(model="all-MiniLM-L6-v2", input=["oven", "stove", "lease"])
    oven, stove, lease = (item.embedding for item in reply.data)
    dot = lambda one, other: sum(a * b for a, b in zip(one, other, strict=True))  # noqa: E731
    assert dot(oven, oven) == pytest.approx(1, abs=1e-3)
    assert dot(oven, stove) > dot(oven, lease)


def test_a_chat_with_the_plain_model_streams(client):
    raw = next(model.id for model in client.models.list() if model.id.startswith("raw:"))
    stream = client.chat.completions.create(
        model=raw,
        messages=[{"role": "user", "content": "Say hello."}],
        max_tokens=12,
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices).strip()
    assert chunks[-1].usage.completion_tokens <= 12


def test_the_plain_model_follows_a_schema(client):
    raw = next(model.id for model in client.models.list() if model.id.startswith("raw:"))
    schema = {
        "type": "object",
        "properties": {"room": {"enum": ["kitchen", "bedroom"]}, "on": {"type": "boolean"}},
        "required": ["room", "on"],
        "additionalProperties": False,
    }
    reply = client.chat.completions.create(
        model=raw,
        messages=[{"role": "user", "content": "Switch on the light in the kitchen."}],
        response_format={"type": "json_schema", "json_schema": {"name": "call", "schema": schema}},
        max_tokens=60,
    )
    call = json.loads(reply.choices[0].message.content)
    assert call["room"] in ("kitchen", "bedroom")
    assert isinstance(call["on"], bool)


def test_a_prompt_with_a_clock_in_front_is_read_once(client):
    """As Home Assistant's: the time in the first line, then what never changes."""
    raw = next(model.id for model in client.models.list() if model.id.startswith("raw:"))
    rules = " ".join(f"Rule {n}: be kind to whoever asks for the {n}th time." for n in range(60))

    def ask(time):
        reply = client.chat.completions.with_raw_response.create(
            model=raw,
            messages=[
                {"role": "system", "content": f"Current time is {time}.\n{rules}"},
                {"role": "user", "content": "Say hello."},
            ],
            max_tokens=2,
        )
        usage = reply.parse().usage
        share = usage.prompt_tokens_details.cached_tokens / usage.prompt_tokens
        return reply.headers.get("X-Hubd-Moved-Lines"), share

    ask("06:47:17")
    assert ask("06:47:18")[0] == "1"
    moved, share = ask("06:48:03")
    assert moved == "1"
    assert share > 0.9


def test_an_unknown_plain_model_is_an_honest_error(client):
    with pytest.raises(openai.NotFoundError, match="household"):
        client.chat.completions.create(
            model="raw:nothing", messages=[{"role": "user", "content": "hello"}]
        )


def test_the_newer_protocol_answers(client):
    reply = client.responses.create(
        model="household", input="What does error code E04 on the oven mean?"
    )
    assert "oven-manual.pdf, page 9" in reply.output_text
    assert reply.status == "completed"


def test_the_newer_protocol_streams(client):
    raw = next(model.id for model in client.models.list() if model.id.startswith("raw:"))
    with client.responses.stream(
        model=raw, instructions="Be brief.", input="Say hello.", max_output_tokens=8
    ) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "response.output_text.delta" in kinds
    assert final.output_text.strip()
    assert final.usage.output_tokens <= 8


def test_the_newer_protocol_keeps_nothing_and_says_so(client):
    with pytest.raises(openai.BadRequestError, match="previous_response_id"):
        client.responses.create(model="household", input="hi", previous_response_id="resp_1")
