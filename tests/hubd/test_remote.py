"""A language model elsewhere: real servers that are killed and come back, and ours in between.

One is our own engine over TCP; the other, llama-cpp-python's server, nobody here wrote.
"""

import asyncio
import contextlib
import importlib.util
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import aclosing

import pytest

from engine.client import TextDelta
from engine.errors import EngineUnavailable
from engine.protocol import ChatMessage, ChatRequest, JsonSchema, ResponseFormat
from hubd import remote
from hubd.events import NoticeBoard
from hubd.household_engine import HouseholdEngine
from hubd.remote import FORMS, forms_for, mapped
from hubd.settings import Config, Engine
from hubd.supervisor import EngineDown

START_LIMIT_S = 120.0
SCHEMA = {
    "type": "object",
    "properties": {"tool": {"enum": ["timers.start", "none"]}},
    "required": ["tool"],
    "additionalProperties": False,
}
HAS_LLAMA_CPP = all(importlib.util.find_spec(name) for name in ("llama_cpp", "fastapi"))
OURS = ("engine.server", "--port")
LLAMA_CPP = ("llama_cpp.server", "--n_ctx", "2048", "--api_key", "s3cret", "--port")
SERVERS = [
    pytest.param(OURS, id="hubd"),
    pytest.param(
        LLAMA_CPP,
        id="llama-cpp-python",
        marks=[
            pytest.mark.llama_cpp,
            pytest.mark.skipif(not HAS_LLAMA_CPP, reason="llama-cpp-python[server] is not there"),
        ],
    ),
]


class Elsewhere:
    """A server in a process of its own, killed and started again on the same port."""

    def __init__(self, arguments, model, log):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._command = [sys.executable, "-m", *arguments, str(self.port), "--model", str(model)]
        self._log = log
        self.process = None

    def start(self):
        with self._log.open("ab") as out:
            self.process = subprocess.Popen(self._command, stdout=out, stderr=out)
        deadline = time.monotonic() + START_LIMIT_S
        said = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
        head = {"Authorization": "Bearer s3cret", "Content-Type": "application/json"}
        url = f"{self.url}/chat/completions"
        ask = urllib.request.Request(url, json.dumps(said).encode(), head)
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self._log.read_text()
            with contextlib.suppress(OSError), urllib.request.urlopen(ask, timeout=60):
                return
            time.sleep(0.1)
        pytest.fail(self._log.read_text())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture(params=SERVERS)
def elsewhere(request, model_path, tmp_path):
    named = tmp_path / "elsewhere.gguf"
    named.symlink_to(model_path)
    server = Elsewhere(request.param, named, tmp_path / "server.log")
    server.start()
    yield server
    if server.process.poll() is None:
        server.kill()


def settings(elsewhere, model_path, **more):
    return Engine(model=str(model_path), url=elsewhere.url, **({"api_key": "s3cret"} | more))


def story(max_tokens=8, **more):
    said = [ChatMessage("user", "Tell a story about a lighthouse.")]
    return ChatRequest(messages=said, max_tokens=max_tokens, temperature=0.0, **more)


async def answer(engine, request):
    text = ""
    async with aclosing((await engine.client()).chat(request)) as pieces:
        async for piece in pieces:
            text += piece.text if isinstance(piece, TextDelta) else ""
    return text


async def until(is_so, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


async def test_the_server_answers_and_nothing_is_started_here(elsewhere, model_path, paths):
    async with HouseholdEngine(settings(elsewhere, model_path), paths, NoticeBoard()) as engine:
        assert await answer(engine, story())
        assert engine.pid is None
        assert engine.state.state == "ready"
        assert engine.state.server == f"127.0.0.1:{elsewhere.port}"
        assert engine.name in engine.server.models
        form = ResponseFormat(
            type="json_schema", json_schema=JsonSchema(schema=SCHEMA, name="call", strict=True)
        )
        for _ in range(2):  # the second knows the server's form
            written = await answer(engine, story(40, response_format=form, priority="background"))
            assert json.loads(written)["tool"] in ("timers.start", "none")
        assert engine.pid is None


async def test_killed_in_mid_answer_the_next_is_from_here_until_it_is_back(
    elsewhere, model_path, paths
):
    board = NoticeBoard()
    async with (
        HouseholdEngine(settings(elsewhere, model_path), paths, board) as engine,
        board.listen() as news,
    ):
        client = await engine.client()
        async with aclosing(client.chat(story(1500))) as pieces:
            await anext(pieces)
            elsewhere.kill()
            with pytest.raises(EngineUnavailable):
                async for _ in pieces:
                    pass
        assert engine.state.away
        assert await answer(engine, story())
        assert engine.pid is not None
        assert engine.failovers == 1
        with pytest.raises(EngineDown, match="is away"):
            await engine.named(engine.server.models[0])
        elsewhere.start()
        await until(lambda: not engine.state.away, 90)
        assert await answer(engine, story())
        assert engine.failovers == 1
        assert engine.server.failures == 0
        told = [news.get_nowait().data["away"] for _ in range(news.qsize())]
        assert any(told)
        assert told[-1] == ""


async def test_killed_while_nobody_asks_the_next_question_does_not_notice(
    elsewhere, model_path, paths
):
    async with HouseholdEngine(settings(elsewhere, model_path), paths, NoticeBoard()) as engine:
        await engine.client()
        elsewhere.kill()
        assert not engine.state.away
        assert await answer(engine, story())
        assert engine.state.away
        assert engine.failovers == 1


async def test_a_household_goes_on_and_everything_says_so(
    elsewhere, model_path, open_hub, tmp_path, monkeypatch
):
    """Over HTTP: what answers, in /readyz, /metrics, /hub/status; raw models by their names."""
    config = Config(engine=settings(elsewhere, model_path))

    async def told(hub):
        ready = await (await hub.get("/readyz")).json()
        status = await (await hub.get("/hub/status")).json()
        return ready["ready"], ready["checks"]["engine_server"], status["engine"]

    async with open_hub(tmp_path / "home", config) as hub:
        names = [one["id"] for one in (await (await hub.get("/v1/models")).json())["data"]]
        theirs, ours = [name for name in names if name.startswith("raw:")][:2]
        assert ours == f"raw:{model_path.stem}"
        body = {
            "model": theirs, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4,
            "priority": "background", "pin": True, "temperature": 0,
            "tools": [{"type": "function", "function": {"name": "a", "parameters": SCHEMA}}],
        }  # fmt: skip
        whole = await hub.post("/v1/chat/completions", json=body)
        assert whole.status == 200, await whole.text()
        streamed = await hub.post("/v1/chat/completions", json=body | {"stream": True})
        assert (await streamed.text()).rstrip().endswith("[DONE]")
        ready, server, engine = await told(hub)
        assert (ready, server, engine["away"]) == (True, "up", "")
        elsewhere.kill()
        away = await hub.post("/v1/chat/completions", json=body)
        assert away.status == 503, await away.text()
        here = await hub.post("/v1/chat/completions", json=body | {"model": ours})
        assert here.status == 200, await here.text()
        ready, server, engine = await told(hub)
        assert (ready, server, engine["state"]) == (True, "away", "ready")
        assert engine["away"]
        assert engine["server"] == f"127.0.0.1:{elsewhere.port}"


async def test_a_wrong_key_is_a_server_that_is_away(model_path, paths, tmp_path):
    if not HAS_LLAMA_CPP:
        pytest.skip("llama-cpp-python[server] is not there")
    server = Elsewhere(LLAMA_CPP, model_path, tmp_path / "log")
    server.start()
    try:
        wrong = settings(server, model_path, api_key="guess")
        async with HouseholdEngine(wrong, paths, NoticeBoard()) as engine:
            assert await answer(engine, story())
            assert "guess" not in engine.state.away
            assert engine.pid is not None
    finally:
        server.kill()


async def test_a_server_that_fails_is_left_alone_for_longer_each_time(paths, monkeypatch):
    monkeypatch.setattr(remote, "AGAIN_AFTER_S", (0.01, 0.05, 0.2))
    elsewhere = Engine(model="none.gguf", url="http://127.0.0.1:9")
    async with HouseholdEngine(elsewhere, paths, NoticeBoard()) as engine:
        with pytest.raises(EngineDown, match=r"away.*There is no language model"):
            await engine.client()
        await asyncio.sleep(0.5)
        assert 3 <= engine.server.failures <= 6


# The dialects


def chat_body(**more):
    return {"messages": [{"role": "user", "content": "Say it."}], **more}


def asks_for_schema():
    wanted = {"type": "json_schema", "json_schema": {"schema": SCHEMA, "name": "call"}}
    return chat_body(response_format=wanted)


def test_our_own_fields_do_not_reach_others_and_the_rest_does():
    said = mapped(chat_body(pin=True, priority="background", top_k=3), "theirs", "json_schema")
    assert said == chat_body(top_k=3, model="theirs")


def test_a_schema_is_said_in_each_way():
    assert mapped(asks_for_schema(), "m", "json_schema") == asks_for_schema() | {"model": "m"}
    schema = mapped(asks_for_schema(), "m", "schema")
    assert schema["response_format"] == {"type": "json_object", "schema": SCHEMA}
    assert schema["messages"] == chat_body()["messages"]
    some = mapped(asks_for_schema(), "m", "json_object")
    assert some["response_format"] == {"type": "json_object"}
    words = mapped(asks_for_schema(), "m", "words")
    assert "response_format" not in words
    for said in (some, words):
        assert json.dumps(SCHEMA, separators=(",", ":")) in said["messages"][-1]["content"]


def test_parts_of_a_message_get_another_part():
    parts = [{"type": "text", "text": "Say it."}]
    body = asks_for_schema() | {"messages": [{"role": "user", "content": parts}]}
    content = mapped(body, "m", "words")["messages"][-1]["content"]
    assert content[0] == parts[0]
    assert "schema" in content[1]["text"]


def test_only_where_json_is_wanted_another_way_is_tried():
    assert forms_for(chat_body(), "json_schema") == ("json_schema",)
    assert forms_for(asks_for_schema(), "json_schema") == FORMS
    assert forms_for(asks_for_schema(), "schema") == FORMS[1:]
