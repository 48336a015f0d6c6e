"""The client against a real engine on a Unix socket, and against servers that misbehave."""

import asyncio
import json
import signal
import subprocess
import sys
import time

import pytest
from aiohttp import web

from engine.client import Answered, EngineClient, TextDelta
from engine.errors import EngineRefused, EngineUnavailable
from engine.protocol import ChatMessage, ChatRequest

MODEL = "SmolLM2-135M-Instruct.Q4_1"
SHORT = ChatRequest(
    messages=[ChatMessage("user", "Tell me about the sea.")], max_tokens=16, temperature=0.0
)
ENDLESS = ChatRequest(
    messages=[ChatMessage("user", "Count.")], max_tokens=1500, temperature=0.0, ignore_eos=True
)


@pytest.fixture(scope="module")
def engine(start_engine, tmp_path_factory):
    path = tmp_path_factory.mktemp("engine") / "engine.sock"
    return start_engine("--socket", path, "--context-length", "2048")


@pytest.fixture
async def client(engine):
    async with EngineClient(socket=engine.address) as client:
        await until_ready(client)
        yield client


async def until_ready(client):
    async with asyncio.timeout(60):
        while (await client.health()).status == "loading":  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)


async def until_idle(client):
    async with asyncio.timeout(5):
        while (await client.health()).active:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.005)


async def test_a_chat_streams_deltas_and_ends_with_the_account(client):
    *deltas, end = [outcome async for outcome in client.chat(SHORT)]
    assert all(isinstance(delta, TextDelta) and delta.text for delta in deltas)
    assert len(deltas) > 8
    assert isinstance(end, Answered)
    assert end.finish_reason == "length"
    assert end.usage.completion_tokens == 16
    assert end.timings.first_token_ms > 0


async def test_the_second_time_the_prompt_is_cached(client):
    for _ in range(2):
        *_, end = [outcome async for outcome in client.chat(SHORT)]
    assert end.usage.prompt_tokens_details.cached_tokens == end.usage.prompt_tokens - 1


async def test_models_health_and_embeddings(client):
    assert [card.id for card in await client.models()] == [MODEL]
    assert (await client.health()).status == "ready"
    vectors = await client.embed(["boiler", "soup"])
    assert [len(vector) for vector in vectors] == [576, 576]
    assert sum(number**2 for number in vectors[0]) == pytest.approx(1.0, abs=1e-5)


async def test_a_refusal_has_status_message_and_code(client):
    with pytest.raises(EngineRefused, match="serves") as caught:
        await anext(client.chat(ChatRequest(messages=SHORT.messages, model="gpt-4")))
    assert (caught.value.status, caught.value.code) == (404, "model_not_found")
    with pytest.raises(EngineRefused, match="temperature"):
        await anext(client.chat(ChatRequest(messages=SHORT.messages, temperature=-1.0)))


async def test_closing_the_iterator_early_cancels_the_work(client):
    stream = client.chat(ENDLESS)
    assert isinstance(await anext(stream), TextDelta)
    assert (await client.health()).active == 1
    await stream.aclose()
    began = time.monotonic()
    await until_idle(client)
    assert time.monotonic() - began < 1.0


async def test_cancelling_the_task_cancels_the_work(client):
    async def consume():
        async for _ in client.chat(ENDLESS):
            pass

    task = asyncio.create_task(consume())
    while not (await client.health()).active:  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.005)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await until_idle(client)


async def test_the_proxy_hands_bytes_and_status_on_unchanged(client):
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4, "stream": True}
    async with client.proxy("POST", "/v1/chat/completions", json.dumps(body).encode()) as response:
        assert response.status == 200
        assert response.headers["Content-Type"].startswith("text/event-stream")
        raw = b"".join([chunk async for chunk in response.chunks()])
    assert raw.startswith(b'data: {"id":"chatcmpl-')
    assert raw.endswith(b"data: [DONE]\n\n")
    async with client.proxy("POST", "/v1/chat/completions", b"{}") as response:
        assert response.status == 400
        raw = b"".join([chunk async for chunk in response.chunks()])
    assert json.loads(raw)["error"]["param"] is None
    async with client.proxy("GET", "/v1/models") as response:
        assert response.status == 200


async def test_errors_of_the_proxying_code_keep_their_name(client):
    with pytest.raises(ConnectionResetError):
        async with client.proxy("GET", "/v1/models"):
            raise ConnectionResetError("the browser went away")


async def test_sigkill_in_mid_stream_raises_promptly(start_engine, tmp_path):
    process = start_engine("--socket", tmp_path / "engine.sock", "--context-length", "2048")
    async with EngineClient(socket=process.address) as client:
        await until_ready(client)
        killed = None
        with pytest.raises(EngineUnavailable):  # noqa: PT012 - the stream as its user writes it
            async for _ in client.chat(ENDLESS):
                if killed is None:
                    process.process.send_signal(signal.SIGKILL)
                    killed = time.monotonic()
        assert time.monotonic() - killed < 1.0
        with pytest.raises(EngineUnavailable, match="cannot be reached"):
            await client.health()


async def test_sigkill_breaks_the_proxy_too(start_engine, tmp_path):
    process = start_engine("--socket", tmp_path / "engine.sock", "--context-length", "2048")
    body = b'{"prompt": "One", "stream": true, "ignore_eos": true, "max_tokens": 1500}'
    async with EngineClient(socket=process.address) as client:
        await until_ready(client)
        async with client.proxy("POST", "/v1/completions", body) as response:
            with pytest.raises(EngineUnavailable, match="broke off"):  # noqa: PT012
                async for _ in response.chunks():
                    process.process.send_signal(signal.SIGKILL)


async def test_no_engine_at_all_is_unavailable(tmp_path, unused_port):
    async with EngineClient(socket=tmp_path / "none.sock") as client:
        with pytest.raises(EngineUnavailable, match="cannot be reached"):
            await client.models()
    async with EngineClient(url=f"http://127.0.0.1:{unused_port}/v1") as client:
        with pytest.raises(EngineUnavailable, match="cannot be reached"):
            await anext(client.chat(SHORT))


@pytest.fixture
def unused_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
async def serve():
    """``await serve(handler)`` answers every request with the handler; gives the base URL."""
    runners = []

    async def start(handler):
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handler)
        runners.append(web.AppRunner(app))
        await runners[-1].setup()
        await web.TCPSite(runners[-1], "127.0.0.1", 0).start()
        host, port = runners[-1].addresses[0]
        return f"http://{host}:{port}"

    yield start
    for runner in runners:
        await runner.cleanup()


CHUNK = b'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n'


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (CHUNK, EngineUnavailable),
        (b"", EngineUnavailable),
        (CHUNK + b"data: {broken\n\n", EngineUnavailable),
        (CHUNK + b"data: " + b"x" * 3_000_000, EngineUnavailable),
        (CHUNK + b'data: {"error":{"message":"oh","code":"c"}}\n\n', EngineRefused),
        (CHUNK + b'data: {"error":{"message":"", "code":"shutting_down"}}\n\n', EngineUnavailable),
    ],
)
async def test_a_stream_without_its_end_is_an_error(serve, body, error):
    async def handler(request):
        return web.Response(body=body, content_type="text/event-stream")

    async with EngineClient(url=await serve(handler)) as client:
        with pytest.raises(error):
            [outcome async for outcome in client.chat(SHORT)]


async def test_other_servers_are_understood(serve):
    """Comments, carriage returns, nulls, no timings, foreign fields; the key is sent."""
    seen = {}

    async def handler(request):
        seen.update(path=request.path, key=request.headers["Authorization"])
        seen.update(await request.json())
        return web.Response(
            body=b": keep-alive\r\n\r\n"
            b'data: {"choices":[{"delta":{"role":"assistant","content":null}}],"x":1}\r\n\r\n'
            b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]}\r\n\r\n'
            b'data:{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}\r\n\r\n'
            b'data: {"choices":[],"usage":{"prompt_tokens":3,"total_tokens":4}}\r\n\r\n'
            b"data: [DONE]\r\n\r\n",
            content_type="text/event-stream",
        )

    async with EngineClient(url=await serve(handler) + "/v1/", api_key="secret") as client:
        outcomes = [outcome async for outcome in client.chat(SHORT)]
    assert outcomes[0] == TextDelta("Hi")
    assert (outcomes[1].finish_reason, outcomes[1].usage.prompt_tokens) == ("stop", 3)
    assert outcomes[1].timings is None
    assert (seen["path"], seen["key"]) == ("/v1/chat/completions", "Bearer secret")
    assert seen["stream_options"] == {"include_usage": True}
    assert "top_k" not in seen  # fields that are not set are not sent


async def test_an_error_that_is_not_json_is_shown(serve):
    async def handler(request):
        return web.Response(status=502, text="Bad gateway")

    async with EngineClient(url=await serve(handler)) as client:
        with pytest.raises(EngineRefused, match="Bad gateway") as caught:
            await client.models()
    assert caught.value.status == 502


def test_importing_the_client_brings_nothing_heavy():
    code = (
        "import sys, engine.client;"
        "print({'numpy', 'numba', 'tokenizers', 'jinja2', 'torch'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


def test_exactly_one_address_is_needed():
    with pytest.raises(ValueError, match="either"):
        EngineClient()
    with pytest.raises(ValueError, match="either"):
        EngineClient(socket="a", url="b")
