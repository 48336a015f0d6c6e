"""The engine as a process, over HTTP, with the real model and the official client."""

import asyncio
import base64
import json
import signal
import socket
import stat
import subprocess
import sys
import time

import aiohttp
import msgspec
import numpy as np
import openai
import pytest

from engine.protocol import ChatReply, EmbeddingReply, Health, TextReply
from engine.server import _end_without_memory

MODEL = "SmolLM2-135M-Instruct.Q4_1"
HELLO = [{"role": "user", "content": "Tell me about the sea."}]
TOO_LARGE = "request_entity_too_large"
LONG_PROMPT = "The boiler manual, page by page. " * 220  # about 1 800 tokens


@pytest.fixture(scope="module")
def url(start_engine):
    process = start_engine("--port", "0", "--context-length", "2048")
    asyncio.run(until_ready(process.address))
    return process.address


@pytest.fixture
async def http(url):
    async with aiohttp.ClientSession(url) as session:
        yield session


@pytest.fixture
async def client(url):
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
        yield client


async def health(session):
    async with session.get("/health") as response:
        return msgspec.json.decode(await response.read(), type=Health)


async def until_ready(url, seconds=60.0):
    async with aiohttp.ClientSession(url) as session, asyncio.timeout(seconds):
        while (now := await health(session)).status == "loading":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        assert now.status == "ready", now


async def until(condition, session, seconds=5.0):
    """Seconds until the state of the engine fulfils the condition."""
    began = time.monotonic()
    async with asyncio.timeout(seconds):
        while not condition(await health(session)):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.005)
    return time.monotonic() - began


def is_idle(state):
    return state.active == state.waiting == 0


async def post(session, path, body, status=200):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with session.post(path, data=data) as response:
        raw = await response.read()
        assert response.status == status, raw[:300]
        return raw


async def test_openai_streams_a_chat(client):
    request = {"model": MODEL, "messages": HELLO, "max_tokens": 24, "temperature": 0}
    whole = await client.chat.completions.create(**request)
    stream = await client.chat.completions.create(
        **request, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    assert len(chunks) > 10
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == whole.choices[0].finish_reason == "length"
    usage = chunks[-1].usage
    assert usage.completion_tokens == whole.usage.completion_tokens == 24
    assert usage.prompt_tokens == whole.usage.prompt_tokens
    assert usage.prompt_tokens_details.cached_tokens == usage.prompt_tokens - 1


async def test_openai_streams_a_completion(client):
    request = {"model": MODEL, "prompt": "One, two, three,", "max_tokens": 8, "temperature": 0}
    whole = await client.completions.create(**request)
    stream = await client.completions.create(**request, stream=True)
    text = "".join([chunk.choices[0].text async for chunk in stream])
    assert text == whole.choices[0].text
    assert " four" in text


async def test_openai_embeds_in_both_encodings(client):
    texts = ["The boiler lost pressure.", "A recipe for soup."]
    packed = await client.embeddings.create(model=MODEL, input=texts)  # asks for base64
    plain = await client.embeddings.create(model=MODEL, input=texts, encoding_format="float")
    for one, other in zip(packed.data, plain.data, strict=True):
        np.testing.assert_allclose(one.embedding, other.embedding, atol=1e-6)
        assert np.linalg.norm(one.embedding) == pytest.approx(1.0, abs=1e-5)
    assert not np.allclose(packed.data[0].embedding, packed.data[1].embedding, atol=1e-2)
    assert packed.usage.prompt_tokens == packed.usage.total_tokens > 8


async def test_openai_lists_models_and_names_errors(client):
    listed = [model async for model in client.models.list()]
    assert [model.id for model in listed] == [MODEL]
    assert (await client.models.retrieve(MODEL)).id == MODEL
    with pytest.raises(openai.NotFoundError, match="serves"):
        await client.chat.completions.create(model="gpt-4", messages=HELLO)
    with pytest.raises(openai.BadRequestError, match="temperature") as caught:
        await client.chat.completions.create(model=MODEL, messages=HELLO, temperature=-1)
    assert caught.value.param == "temperature"


async def test_stop_strings_never_leak(client):
    request = {"model": MODEL, "messages": HELLO, "max_tokens": 40, "temperature": 0}
    whole = (await client.chat.completions.create(**request)).choices[0].message.content
    stop = whole[12:20]
    stream = await client.chat.completions.create(**request, stop=[stop, "never"], stream=True)
    chunks = [chunk async for chunk in stream]
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == whole[: whole.index(stop)]
    assert chunks[-1].choices[0].finish_reason == "stop"


async def test_concurrent_streams_give_what_each_gives_alone(client):
    async def answer(number):
        stream = await client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": f"Write about the number {number}."}],
            max_tokens=16,
            temperature=0,
            stream=True,
        )
        return "".join([c.choices[0].delta.content or "" async for c in stream])

    together = await asyncio.gather(*(answer(number) for number in range(6)))
    assert together == [await answer(number) for number in range(6)]


async def test_replies_carry_usage_and_timings(http):
    body = {"messages": HELLO, "max_tokens": 8, "temperature": 0, "unknown": {"field": 1}}
    reply = msgspec.json.decode(await post(http, "/v1/chat/completions", body), type=ChatReply)
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + 8
    assert reply.timings.prefill_ms > 0
    assert reply.timings.decode_ms > 0
    assert reply.timings.decode_tokens_per_s > 0


async def test_content_may_be_a_list_of_text_parts(http):
    parts = [{"type": "text", "text": "Tell me about"}, {"type": "text", "text": " the sea."}]
    bodies = [
        {"messages": [{"role": "user", "content": content}], "max_tokens": 8, "temperature": 0}
        for content in (parts, "Tell me about the sea.")
    ]
    replies = [
        msgspec.json.decode(await post(http, "/v1/chat/completions", body), type=ChatReply)
        for body in bodies
    ]
    assert replies[0].choices == replies[1].choices


async def test_a_completion_takes_token_ids(http):
    texts = [
        msgspec.json.decode(
            await post(http, "/v1/completions", {"prompt": p, "max_tokens": 5, "temperature": 0}),
            type=TextReply,
        ).choices
        for p in (
            "The capital of France is",
            [504, 3575, 282, 4649, 314],
            [[504, 3575, 282, 4649, 314]],
        )
    ]
    assert texts[0] == texts[1] == texts[2]


async def test_base64_embeddings_are_little_endian_floats(http):
    raw = await post(http, "/v1/embeddings", {"input": [5, 6], "encoding_format": "base64"})
    (embedding,) = msgspec.json.decode(raw, type=EmbeddingReply).data
    vector = np.frombuffer(base64.b64decode(embedding.embedding), "<f4")
    assert vector.shape == (576,)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def chat(**fields):
    return "/v1/chat/completions", {"messages": HELLO, **fields}


@pytest.mark.parametrize(
    ("path", "body", "status", "param", "code", "words"),
    [
        (*chat(max_tokens="x"), 400, "max_tokens", "invalid_type", "Expected `int"),
        (*chat(max_tokens=0), 400, "max_tokens", None, "at least 1"),
        (*chat(max_completion_tokens=0), 400, "max_tokens", None, "at least 1"),
        (*chat(seed=2**70), 400, "seed", None, "seed"),
        (*chat(messages=[]), 400, "messages", None, "empty"),
        (*chat(messages="hi"), 400, "messages", "invalid_type", "array"),
        (*chat(messages=[{"role": "king"}]), 400, "messages[0].role", "invalid_type", "king"),
        (
            *chat(messages=[{"role": "user", "content": [{"type": "image_url"}]}]),
            *(400, "messages[0].content[0].type", "invalid_type", "image_url"),
        ),
        (*chat(stop=[""]), 400, "stop", None, "stop string"),
        (*chat(n=9), 400, "n", None, "1 to 8"),
        (*chat(n=2, beam_width=2), 400, "n", None, "does not go with beam_width"),
        (*chat(beam_width=99), 400, "beam_width", None, "beam_width"),
        (*chat(priority="now"), 400, "priority", "invalid_type", "now"),
        (*chat(logit_bias={"99999": 1}), 400, "logit_bias", None, "99999"),
        (*chat(logit_bias={"x": 1}), 400, "logit_bias", "invalid_type", "int"),
        (*chat(model="other"), 404, "model", "model_not_found", "'other'"),
        ("/v1/chat/completions", b"{", 400, None, "invalid_json", "not JSON"),
        ("/v1/chat/completions", b"\xff", 400, None, "invalid_json", "not JSON"),
        ("/v1/chat/completions", b"[]", 400, None, "invalid_type", "object"),
        ("/v1/completions", {"prompt": ["a", "b"]}, 400, "prompt", None, "2 entries"),
        ("/v1/completions", {"prompt": ["a", 5]}, 400, "prompt", None, "mixes"),
        ("/v1/completions", {"prompt": ""}, 400, "prompt", None, "empty"),
        ("/v1/completions", {"prompt": [49152]}, 400, "prompt", "invalid_token", "49151"),
        ("/v1/embeddings", {"input": []}, 400, "input", None, "0 entries"),
        ("/v1/embeddings", {"input": ["x"] * 257}, 400, "input", None, "257"),
        ("/v1/nothing", {}, 404, None, "not_found", "/v1/nothing"),
        ("/v1/models", {}, 405, None, "method_not_allowed", "POST"),
        ("/v1/completions", b" " * (9 * 1024 * 1024), 413, None, TOO_LARGE, "bytes"),
    ],
)
async def test_bad_requests_get_one_clear_error(http, path, body, status, param, code, words):
    error = json.loads(await post(http, path, body, status))["error"]
    assert (error["param"], error["code"]) == (param, code)
    assert words in error["message"]


@pytest.mark.parametrize("path", ["chat/completions", "completions", "embeddings"])
async def test_prompts_over_the_context_are_refused_with_numbers(http, path):
    text = LONG_PROMPT * 2
    body = {"messages": [{"role": "user", "content": text}], "prompt": text, "input": text}
    error = json.loads(await post(http, f"/v1/{path}", body, 400))["error"]
    assert error["code"] == "context_length_exceeded"
    assert "2048" in error["message"]
    assert error["param"] == {"chat/completions": "messages", "completions": "prompt"}.get(
        path, "input"
    )


@pytest.mark.parametrize("moment", ["prefill", "decode", "prefill, not streamed"])
async def test_a_client_that_goes_away_cancels_its_work(http, moment):
    prompt = f"{moment} {LONG_PROMPT if 'prefill' in moment else 'Hi'}"
    streamed = "not streamed" not in moment
    body = {"prompt": prompt, "stream": streamed, "max_tokens": 1500, "ignore_eos": True}
    request = asyncio.create_task(_read_all(http, body))
    await until(lambda state: state.active == 1, http)
    await asyncio.sleep(0.15 if moment == "decode" else 0.0)
    assert not request.done()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert await until(is_idle, http) < 2.0


async def _read_all(session, body):
    async with session.post("/v1/completions", json=body) as response:
        await response.read()


async def test_a_client_that_goes_away_cancels_its_embedding(http):
    body = {"input": [f"{number} {LONG_PROMPT}" for number in range(20)]}
    request = asyncio.create_task(post(http, "/v1/embeddings", body))
    await until(lambda state: state.active == 1, http)
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)
    assert await until(is_idle, http) < 2.0


async def test_answers_to_one_prompt_flow_side_by_side(http):
    body = {"prompt": LONG_PROMPT[:2000], "n": 4, "seed": 5, "max_tokens": 12, "ignore_eos": True}
    whole = json.loads(await post(http, "/v1/completions", body))
    assert len({choice["text"] for choice in whole["choices"]}) > 1
    order = []
    async with http.post("/v1/completions", json=body | {"stream": True}) as response:
        async for line in response.content:
            if line.startswith(b"data: {"):
                order += [choice["index"] for choice in json.loads(line[6:])["choices"]]
    assert sorted(set(order)) == [0, 1, 2, 3]
    assert order != sorted(order), "one after the other"


async def test_more_than_it_can_queue_is_refused_with_429(http):
    body = {"prompt": "Once", "max_tokens": 200, "ignore_eos": True}
    running = [asyncio.create_task(_read_all(http, body)) for _ in range(80)]
    await until(lambda state: state.active + state.waiting == 80, http)
    async with http.post("/v1/completions", json=body) as response:
        assert response.status == 429
        assert response.headers["Retry-After"] == "1"
        assert (await response.json())["error"]["code"] == "queue_full"
    for request in running:
        request.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    await until(is_idle, http)


async def test_long_prompts_leave_the_event_loop_free(http):
    """Tokenizing 1.6 MB takes a second or more; /health is answered all the while."""
    body = {"messages": [{"role": "user", "content": "An apple a day, 365 times. " * 60_000}]}
    data = json.dumps(body).encode()
    request = asyncio.create_task(post(http, "/v1/chat/completions", data, 400))
    worst = 0.0
    while not request.done():
        began = time.monotonic()
        await health(http)
        worst = max(worst, time.monotonic() - began)
        await asyncio.sleep(0.005)
    assert b"context_length_exceeded" in await request
    assert worst < 0.5, f"/health took {worst * 1000:.0f} ms"


async def test_it_listens_while_loading_and_ends_quickly(start_engine, tmp_path):
    path = tmp_path / "run" / "engine.sock"
    process = start_engine("--socket", path, "--cache-directory", tmp_path / "cache")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    connector = aiohttp.UnixConnector(str(path))
    async with aiohttp.ClientSession("http://engine", connector=connector) as session:
        async with session.get("/health") as response:
            assert response.status == 503
            state = msgspec.json.decode(await response.read(), type=Health)
        assert (state.status, state.model) == ("loading", MODEL)
        raw = await post(session, "/v1/completions", {"prompt": "Hi"}, 503)
        assert "loading" in json.loads(raw)["error"]["message"]
        await until(lambda state: state.status == "ready", session, 60)
        assert list((tmp_path / "cache").glob("*.packed"))
        answer = asyncio.create_task(
            post(session, "/v1/completions", {"prompt": "Hi", "ignore_eos": True}, 503)
        )
        await until(lambda state: state.active == 1, session)
        began = time.monotonic()
        process.process.send_signal(signal.SIGTERM)
        assert b"shutting_down" in await answer
    assert await asyncio.to_thread(process.process.wait, 5) == 0
    assert time.monotonic() - began < 2.0
    assert not path.exists()


async def test_it_ends_when_its_parent_goes_away(start_engine):
    """Also while it loads: the compiler cannot be interrupted, the process can."""
    process = start_engine("--port", "0", "--exit-with-parent")
    began = time.monotonic()
    process.process.stdin.close()
    assert await asyncio.to_thread(process.process.wait, 5) == 0
    assert time.monotonic() - began < 2.0


async def test_without_the_option_it_outlives_standard_input(start_engine):
    process = start_engine("--port", "0")
    process.process.stdin.close()
    await until_ready(process.address)
    assert process.process.poll() is None


async def test_a_model_that_cannot_be_loaded_is_reported(start_engine, tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\xff" * 100)
    process = start_engine("--port", "0", model=broken)
    async with aiohttp.ClientSession(process.address) as session:
        await until(lambda state: state.status == "failed", session, 30)
        state = await health(session)
        assert "broken.gguf" in state.message
        raw = await post(session, "/v1/completions", {"prompt": "Hi"}, 503)
        assert state.message in json.loads(raw)["error"]["message"]


def test_an_address_that_cannot_be_had_is_one_clear_line(model_path, tmp_path):
    path = tmp_path / ("long" * 40)
    command = [sys.executable, "-m", "engine.server", "--model", model_path, "--socket", path]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"cannot listen on {path}: ")
    assert len(ended.stderr.splitlines()) == 1


async def test_a_socket_in_use_is_left_alone_and_a_stale_one_replaced(start_engine, tmp_path):
    path = tmp_path / "engine.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    first = start_engine("--socket", path)
    with pytest.raises(AssertionError, match="startswith"):  # it says nothing and ends
        start_engine("--socket", path)
    assert first.process.poll() is None
    assert path.exists()


async def test_a_loop_without_memory_ends_the_process_and_other_faults_do_not(monkeypatch):
    class EndedError(Exception):
        pass

    def end(status):
        raise EndedError(status)

    monkeypatch.setattr("engine.server.os._exit", end)
    loop = asyncio.get_running_loop()
    _end_without_memory(loop, {"message": "Fatal read error", "exception": OSError("broken")})
    with pytest.raises(EndedError):
        _end_without_memory(loop, {"message": "Fatal read error", "exception": MemoryError()})
