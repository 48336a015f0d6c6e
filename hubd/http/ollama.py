"""Ollama's protocol, as Home Assistant's integration and the official client speak it.

``household`` is the assistant; ``raw:NAME`` is the bare language model. Embeddings come from the
library's own encoder. Models are fetched with ``hubd model pull``, never over this protocol.
"""

import hashlib
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import msgspec
from aiohttp import web

import hubd
from engine.client import Answered
from engine.errors import EngineError, EngineRefused
from engine.protocol import ChatDelta, ChatRequest, FunctionTool, Usage
from hubd.assistant.tool_loop import request_tools
from hubd.assistant.turn import Utterance
from hubd.errors import BadRequestError, HubError, NotFoundError
from hubd.http import ollama_protocol as protocol
from hubd.http import replies
from hubd.http.ask import events
from hubd.http.body import error_body, read_body, reply
from hubd.http.callers import caller_of
from hubd.http.described import LINES, describe
from hubd.http.foreign import moved_header, static_first_of
from hubd.http.openai import (
    HOUSEHOLD,
    INPUTS_LIMIT,
    RAW,
    raw_names,
    sources,
    utterance_of,
)
from hubd.http.services import SERVICES, Services
from hubd.http.sse import stream
from hubd.policy import Person
from hubd.supervisor import EngineDown
from hubd.turn_events import Done, Failed, Token
from rag.errors import EmbedderError

API_VERSION = "0.12.6"
"""The version of Ollama whose API this follows; clients choose what they send by it."""
HEADERS = {"Content-Type": "application/x-ndjson", "Cache-Control": "no-store"}
FOREVER = "9999-12-31T23:59:59Z"

Part = dict[str, Any]
"""Fields of an answer's message (``content``, ``thinking``, ``tool_calls``), or, with ``done``, the
fields that end it, or an ``error``."""


class Embed(msgspec.Struct, kw_only=True):
    model: str
    input: str | list[str] = ""
    dimensions: int | None = None


class OldEmbed(msgspec.Struct, kw_only=True):
    model: str
    prompt: str = ""


class Named(msgspec.Struct, kw_only=True):
    """Which model; older clients call it ``name``."""

    model: str = ""
    name: str = ""
    stream: bool | None = None


@describe(reply=replies.OllamaModels)
async def tags(request: web.Request) -> web.StreamResponse:
    """The models."""
    services = request.app[SERVICES]
    names = [HOUSEHOLD, *await raw_names(services), services.embedder.model]
    return reply({"models": [_card(services, name) for name in names]})


@describe(body=Named, reply=replies.OllamaShown)
async def show(request: web.Request) -> web.StreamResponse:
    """One model."""
    services = request.app[SERVICES]
    body = await read_body(request, Named)
    name = await _known(services, body.model or body.name)
    is_encoder = name == services.embedder.model
    info: dict[str, Any] = {"general.architecture": "hubd", "general.basename": name}
    if not is_encoder and name in (HOUSEHOLD, RAW + services.engine.local.name):
        info["hubd.context_length"] = services.config.engine.context_length
    shown = {
        "license": "",
        "modelfile": "",
        "parameters": "",
        "template": "",
        "model_info": info,
        "capabilities": ["embedding"] if is_encoder else ["completion", "tools"],
    }
    card = _card(services, name)
    return reply(shown | {"details": card["details"], "modified_at": card["modified_at"]})


@describe(reply=replies.OllamaModels)
async def running(request: web.Request) -> web.StreamResponse:
    """The models in memory."""
    services = request.app[SERVICES]
    loaded = [RAW + services.engine.local.name] if services.engine.pid is not None else []
    more = {"size_vram": 0, "expires_at": FOREVER}
    return reply({"models": [_card(services, name) | more for name in loaded]})


@describe(reply=replies.OllamaVersion)
async def version(request: web.Request) -> web.StreamResponse:
    """Which API this is, and whose."""
    return reply({"version": API_VERSION, "server": f"hubd {hubd.__version__}"})


@describe(body=Named, reply=replies.OllamaPulled, streamed=LINES)
async def pull(request: web.Request) -> web.StreamResponse:
    """Nothing is fetched: a model that is there is a success, any other one an error."""
    services = request.app[SERVICES]
    body = await read_body(request, Named)
    name = body.model or body.name
    try:
        await _known(services, name)
    except NotFoundError as error:
        error.hint = "hubd fetches none over this API: use `hubd model pull` on its machine."
        raise
    if body.stream is False:
        return reply({"status": "success"})
    return web.Response(
        body=msgspec.json.encode({"status": "success"}) + b"\n", headers=HEADERS.copy()
    )


@describe(body=protocol.Chat, reply=replies.OllamaChat, streamed=LINES)
async def chat(request: web.Request) -> web.StreamResponse:
    """``POST /api/chat``."""
    services = request.app[SERVICES]
    body = await read_body(request, protocol.Chat)
    name = await _known(services, body.model)
    wanted = protocol.chat_request(body)
    if not body.messages:
        return await _loaded(services, name, body)
    if name != HOUSEHOLD:
        wanted, moved = static_first_of(request, msgspec.structs.replace(wanted, model=name))
        parts = _raw(services, name, wanted, body.think)
        return await _answer(request, parts, body, moved_header(moved))
    person = caller_of(request).person
    parts = _household_with_tools(services, wanted, body.tools or [], person)
    return await _answer(request, parts, body)


@describe(body=protocol.Generate, reply=replies.OllamaGenerated, streamed=LINES)
async def generate(request: web.Request) -> web.StreamResponse:
    """``POST /api/generate``."""
    services = request.app[SERVICES]
    body = await read_body(request, protocol.Generate)
    name = await _known(services, body.model)
    wanted = protocol.generate_request(body)
    if not body.prompt:
        return await _loaded(services, name, body)
    if name == HOUSEHOLD:
        person = caller_of(request).person
        utterance = Utterance(text=body.prompt.strip(), history=[], person=person)
        parts = _household(services, utterance)
    elif body.raw:
        raise BadRequestError("raw: use /v1/completions for text without the chat template")
    else:
        parts = _raw(services, name, wanted, body.think)
    return await _answer(request, parts, body)


@describe(body=Embed, reply=replies.OllamaEmbedded)
async def embed(request: web.Request) -> web.StreamResponse:
    """``POST /api/embed``."""
    services = request.app[SERVICES]
    body = await read_body(request, Embed)
    texts = [body.input] if isinstance(body.input, str) else body.input
    if len(texts) > INPUTS_LIMIT:
        raise BadRequestError(f"input: at most {INPUTS_LIMIT} texts at once")
    if body.dimensions not in (None, services.embedder.dimension):
        raise BadRequestError(f"dimensions: this model has {services.embedder.dimension}")
    began = time.perf_counter()
    vectors = await _vectors(services, body.model, texts)
    return reply(
        {
            "model": body.model,
            "embeddings": vectors,
            "total_duration": round((time.perf_counter() - began) * protocol.NANOSECONDS),
            "load_duration": 0,
            "prompt_eval_count": sum(len(text.split()) for text in texts),
        }
    )


@describe(body=OldEmbed, reply=replies.OllamaEmbedding)
async def old_embed(request: web.Request) -> web.StreamResponse:
    """``POST /api/embeddings``, the older form: one text."""
    body = await read_body(request, OldEmbed)
    vectors = await _vectors(request.app[SERVICES], body.model, [body.prompt])
    return reply({"embedding": vectors[0]})


async def _vectors(services: Services, name: str, texts: list[str]) -> list[list[float]]:
    if await _known(services, name) != services.embedder.model:
        raise BadRequestError(f"model: {name} makes no embeddings; {services.embedder.model} does")
    if not texts:
        return []
    try:
        return [vector.tolist() for vector in await services.embedder.embed(texts)]
    except EmbedderError as error:
        raise EngineDown(str(error)) from error


# What is answered


async def _household(services: Services, utterance: Utterance) -> AsyncGenerator[Part, None]:
    """The assistant's turn."""
    began = time.perf_counter()
    async with aclosing(events(services, utterance)) as turn:
        async for event in turn:
            if isinstance(event, Token):
                yield {"content": event.text}
            elif isinstance(event, Done):
                if text := sources(event.citations):
                    yield {"content": text}
                yield protocol.ending("stop", began, time.perf_counter(), _usage(event))
            elif isinstance(event, Failed):
                yield {"error": f"{event.message} {event.hint}".strip()}


async def _household_with_tools(
    services: Services, wanted: ChatRequest, tools: list[FunctionTool], person: Person
) -> AsyncGenerator[Part, None]:
    """What the caller's own tools can do is handed to them; the rest is the assistant's turn."""
    began = time.perf_counter()
    handed = request_tools.reply(wanted.messages, tools, person)
    if handed is None:
        utterance = utterance_of(wanted.messages, person)
        async with aclosing(_household(services, utterance)) as parts:
            async for part in parts:
                yield part
        return
    if handed.call is not None:
        yield {"tool_calls": [protocol.called(handed.call.name, handed.call.arguments)]}
    else:
        yield {"content": handed.text}
    yield protocol.ending("stop", began, time.perf_counter(), None)


async def _raw(
    services: Services, name: str, wanted: ChatRequest, think: bool | str | None
) -> AsyncGenerator[Part, None]:
    """The bare language model's answer, tool calls and reasoning included."""
    began = time.perf_counter()
    wanted = msgspec.structs.replace(wanted, model=name.removeprefix(RAW))
    client = await services.engine.named(name.removeprefix(RAW))
    try:
        async with aclosing(client.chat_deltas(wanted)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Answered):
                    ended = time.perf_counter()
                    yield protocol.ending(delta.finish_reason, began, ended, delta.usage)
                else:
                    for part in _parts(delta, think):
                        yield part
    except EngineRefused as error:
        refused = HubError(error.message)
        refused.status = error.status
        raise refused from error
    except EngineError as error:
        raise EngineDown(f"The language model went away: {error}", "Ask again.") from error


def _parts(delta: ChatDelta, think: bool | str | None) -> list[Part]:
    parts: list[Part] = []
    if delta.reasoning_content and think is not False:
        parts.append({"thinking": delta.reasoning_content})
    if delta.content:
        parts.append({"content": delta.content})
    for call in delta.tool_calls or ():
        made = protocol.called(call.function.name, call.function.arguments)
        parts.append({"tool_calls": [made]})
    return parts


def _usage(done: Done) -> Usage:
    read, written = done.timings.prompt_tokens or 0, done.timings.completion_tokens or 0
    return Usage(prompt_tokens=read, completion_tokens=written, total_tokens=read + written)


# How it is sent


async def _answer(
    request: web.Request,
    parts: AsyncGenerator[Part, None],
    body: protocol.Common,
    extra: Mapping[str, str] = {},
) -> web.StreamResponse:
    """Parts as lines, or as one object. An error before the first part has a status of its own."""
    plain = isinstance(body, protocol.Generate)
    async with request.app[SERVICES].turns.one(), aclosing(parts):
        if not body.streams():
            return reply(await _whole(parts, body.model, plain), headers=dict(extra))
        if body.model.startswith(RAW):
            parts = _after(await anext(parts), parts)
        lines = _lines(parts, body.model, plain)
        return await stream(request, lines, {**HEADERS, **extra}, heartbeat=b"")


async def _after(first: Part, rest: AsyncGenerator[Part, None]) -> AsyncGenerator[Part, None]:
    yield first
    async with aclosing(rest):
        async for part in rest:
            yield part


async def _lines(
    parts: AsyncGenerator[Part, None], model: str, plain: bool
) -> AsyncGenerator[bytes, None]:
    try:
        async with aclosing(parts):
            async for part in parts:
                yield msgspec.json.encode(_object(part, model, plain)) + b"\n"
    except HubError as error:
        body = error_body("/api/", error.code, error.message, error.hint, error.status)
        yield msgspec.json.encode(body) + b"\n"


async def _whole(parts: AsyncGenerator[Part, None], model: str, plain: bool) -> dict[str, Any]:
    """All parts as one message.

    Raises:
        HubError: the answer failed.
    """
    message: dict[str, Any] = {"content": ""}
    end: Part = {}
    async for part in parts:
        if "error" in part:
            raise HubError(part["error"])
        if "done" in part:
            end = part
        for name, value in part.items():
            if name in ("content", "thinking", "tool_calls"):
                message[name] = message[name] + value if name in message else value
    return _object(message | end, model, plain)


def _object(part: Part, model: str, plain: bool) -> dict[str, Any]:
    """A reply's line: ``plain`` for generate, a message for chat."""
    if "error" in part:
        return {"error": part["error"]}
    end = {name: part[name] for name in part if name not in ("content", "thinking", "tool_calls")}
    said = {name: part[name] for name in part if name not in end}
    head = {"model": model, "created_at": protocol.now()}
    if plain:
        text = {"response": said.get("content", "")}
        thinking = {"thinking": said["thinking"]} if "thinking" in said else {}
        return head | text | thinking | ({"done": False} | end)
    message = {"role": "assistant", "content": ""} | said
    return head | {"message": message} | ({"done": False} | end)


async def _loaded(services: Services, name: str, body: protocol.Common) -> web.StreamResponse:
    """A request that asks nothing: clients send it to load a model, or to unload it.

    When to unload is the hub's own decision (``[engine] idle_unload``), since others use it too.
    """
    unload = protocol.keep_alive_seconds(body.keep_alive) == 0
    if name.startswith(RAW) and not unload:
        await services.engine.named(name.removeprefix(RAW))
    end = {"content": "", "done": True, "done_reason": "unload" if unload else "load"}
    return reply(_object(end, body.model, isinstance(body, protocol.Generate)))


async def _known(services: Services, name: str) -> str:
    """The model's own name; Ollama's clients may add ``:latest``.

    Raises:
        NotFoundError: there is no such model.
    """
    names = [HOUSEHOLD, *await raw_names(services), services.embedder.model]
    for wanted in (name, name.removesuffix(":latest")):
        if wanted in names:
            return wanted
    raise NotFoundError(f"model {name!r} not found; there are: {', '.join(names)}")


def _card(services: Services, name: str) -> dict[str, Any]:
    """A model in a list. Its digest tells apart what may be another model of the same name."""
    file = services.engine.model
    of_file = name == RAW + services.engine.local.name and file.is_file()
    size = file.stat().st_size if of_file else 0
    modified = file.stat().st_mtime if of_file else 0.0
    return {
        "name": name,
        "model": name,
        "modified_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(modified)),
        "size": size,
        "digest": hashlib.sha256(f"{name} {size} {modified}".encode()).hexdigest(),
        "details": {
            "parent_model": "",
            "format": "gguf" if of_file else "",
            "family": "hubd",
            "families": ["hubd"],
            "parameter_size": "",
            "quantization_level": file.stem.rpartition(".")[2] if of_file else "",
        },
    }


ROUTES = [
    web.get("/api/tags", tags),
    web.get("/api/ps", running),
    web.get("/api/version", version),
    web.post("/api/show", show),
    web.post("/api/pull", pull),
    web.post("/api/chat", chat),
    web.post("/api/generate", generate),
    web.post("/api/embed", embed),
    web.post("/api/embeddings", old_embed),
]
