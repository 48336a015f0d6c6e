"""OpenAI's protocol: the household, the bare language model, and embeddings.

``household`` is the assistant's turn in OpenAI's form: its text ends with its sources, and
``citations`` holds them as data. ``raw:NAME`` passes requests to the engine as they are.
"""

import asyncio
import base64
import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from aiohttp import web
from msgspec import Meta

from engine.client import ProxiedResponse
from engine.errors import EngineError
from engine.protocol import ChatMessage, FunctionTool, ModelCard
from hubd.assistant.tool_loop import request_tools
from hubd.assistant.turn import Utterance
from hubd.errors import BadRequestError, NotFoundError
from hubd.http import replies
from hubd.http.ask import events, finished
from hubd.http.body import error_body, read_body, reply
from hubd.http.callers import caller_of
from hubd.http.described import SERVER_SENT_EVENTS, describe
from hubd.http.foreign import moved_header, static_first
from hubd.http.services import SERVICES, Services
from hubd.http.sse import stream
from hubd.policy import Person
from hubd.supervisor import EngineDown
from hubd.turn_events import Citation, Done, Failed, Token
from rag.errors import EmbedderError

HOUSEHOLD = "household"
RAW = "raw:"
END_OF_STREAM = b"data: [DONE]\n\n"
INPUTS_LIMIT = 256


class StreamOptions(msgspec.Struct):
    include_usage: bool = False


class ChatBody(msgspec.Struct, kw_only=True):
    """What the household reads of a chat request; the other fields are for language models."""

    messages: list[ChatMessage]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    tools: list[FunctionTool] | None = None
    user: Annotated[str, Meta(max_length=64)] | None = None
    """Home Assistant sends the conversation's id."""


class CompletionBody(msgspec.Struct, kw_only=True):
    prompt: str | list[str]
    stream: bool | None = None
    stream_options: StreamOptions | None = None


class EmbeddingBody(msgspec.Struct, kw_only=True):
    input: str | list[str]
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: int | None = None


class _Model(msgspec.Struct):
    model: str | None = None


@describe(reply=replies.Models)
async def models(request: web.Request) -> web.StreamResponse:
    """What can be asked."""
    services = request.app[SERVICES]
    names = [HOUSEHOLD, *await raw_names(services), services.embedder.model]
    return reply({"object": "list", "data": [_card(name) for name in names]})


@describe(reply=ModelCard)
async def model(request: web.Request) -> web.StreamResponse:
    """One of them."""
    services = request.app[SERVICES]
    name = request.match_info["name"]
    names = [HOUSEHOLD, *await raw_names(services), services.embedder.model]
    if name not in names:
        raise _unknown_model(name, names)
    return reply(_card(name))


@describe(body=ChatBody, reply=replies.ChatCompletion, streamed=SERVER_SENT_EVENTS)
async def chat(request: web.Request) -> web.StreamResponse:
    """``POST /v1/chat/completions``."""
    services = request.app[SERVICES]
    if raw := await raw_name(request):
        return await _forward(request, services, raw)
    body = await read_body(request, ChatBody)
    form = _Form(request, services, body.stream_options, "chat")
    person = caller_of(request).person
    if (handed := request_tools.reply(body.messages, body.tools or [], person)) is not None:
        return await form.hand(handed, bool(body.stream))
    utterance = utterance_of(body.messages, person)
    utterance = msgspec.structs.replace(utterance, conversation=body.user or None)
    return await form.answer(utterance, bool(body.stream))


@describe(body=CompletionBody, reply=replies.Completion, streamed=SERVER_SENT_EVENTS)
async def completions(request: web.Request) -> web.StreamResponse:
    """``POST /v1/completions``."""
    services = request.app[SERVICES]
    if raw := await raw_name(request):
        return await _forward(request, services, raw)
    body = await read_body(request, CompletionBody)
    prompts = [body.prompt] if isinstance(body.prompt, str) else body.prompt
    if len(prompts) != 1 or not prompts[0].strip():
        raise BadRequestError("prompt: the household answers one text, which is not empty")
    form = _Form(request, services, body.stream_options, "text")
    utterance = Utterance(text=prompts[0].strip(), person=caller_of(request).person)
    return await form.answer(utterance, bool(body.stream))


@describe(body=EmbeddingBody, reply=replies.Embeddings)
async def embeddings(request: web.Request) -> web.StreamResponse:
    """``POST /v1/embeddings`` with the library's own encoder."""
    services = request.app[SERVICES]
    body = await read_body(request, EmbeddingBody)
    texts = [body.input] if isinstance(body.input, str) else body.input
    if not 1 <= len(texts) <= INPUTS_LIMIT:
        raise BadRequestError(f"input: 1 to {INPUTS_LIMIT} texts at once")
    if body.dimensions not in (None, services.embedder.dimension):
        raise BadRequestError(f"dimensions: this model has {services.embedder.dimension}")
    try:
        vectors = await services.embedder.embed(texts)
    except EmbedderError as error:
        raise EngineDown(str(error)) from error
    as_text = body.encoding_format == "base64"
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": _base64(vector) if as_text else vector.tolist(),
        }
        for index, vector in enumerate(vectors)
    ]
    words = sum(len(text.split()) for text in texts)
    usage = {"prompt_tokens": words, "total_tokens": words}
    return reply({"object": "list", "data": data, "model": services.embedder.model, "usage": usage})


def utterance_of(messages: Sequence[ChatMessage], person: Person) -> Utterance:
    """The last message as what ``person`` says now, those before it as the conversation.

    Raises:
        BadRequestError: the last message is not from the user, or is empty.
    """
    if not messages or messages[-1].role != "user" or not messages[-1].text().strip():
        raise BadRequestError("messages: the last one must be from the user and must have text")
    history = [m for m in messages[:-1] if m.role in ("user", "assistant") and m.text()]
    return Utterance(text=messages[-1].text().strip(), history=history, person=person)


def sources(citations: Sequence[Citation]) -> str:
    """The last paragraph of an answer in OpenAI's form; empty when nothing is cited."""
    named = [c.document if c.page is None else f"{c.document}, page {c.page}" for c in citations]
    return f"\n\nSources: {'; '.join(dict.fromkeys(named))}" if named else ""


class _Form:
    """One reply in OpenAI's form: ``chat`` or ``text`` completion, streamed or whole."""

    def __init__(
        self,
        request: web.Request,
        services: Services,
        options: StreamOptions | None,
        kind: Literal["chat", "text"],
    ) -> None:
        self._request = request
        self._services = services
        self._with_usage = options is not None and options.include_usage
        self._is_chat = kind == "chat"
        self._id = f"{'chatcmpl' if self._is_chat else 'cmpl'}-{uuid.uuid4().hex}"
        self._created = int(time.time())

    async def answer(self, utterance: Utterance, streamed: bool) -> web.StreamResponse:
        async with self._services.turns.one():
            if streamed:
                return await stream(self._request, self._chunks(utterance))
            done = await finished(self._services, utterance)
            text = done.answer + sources(done.citations)
            part = {"message": {"role": "assistant", "content": text}}
            choice = self._choice(part if self._is_chat else {"text": text}, "stop")
            extra = {"usage": _usage(done), "citations": done.citations}
            return reply(self._envelope([choice], "chat.completion") | extra)

    async def hand(self, handed: request_tools.Handed, streamed: bool) -> web.StreamResponse:
        """What the caller's own tools are to do, or what they did, in words."""
        call = handed.call
        part: dict[str, Any] = {"role": "assistant", "content": handed.text or None}
        if call is not None:
            identity = f"call_{uuid.uuid4().hex[:12]}"
            function = {"name": call.name, "arguments": call.arguments}
            part["tool_calls"] = [{"id": identity, "type": "function", "function": function}]
        finish = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        if not streamed:
            choice = self._choice({"message": part}, finish)
            return reply(self._envelope([choice], "chat.completion") | {"usage": usage})
        if call is not None:
            part["tool_calls"][0]["index"] = 0
        chunks = [
            self._chunk([self._choice({"delta": part})]),
            self._chunk([self._choice({"delta": {}}, finish)]),
            *([self._chunk([], usage=usage)] if self._with_usage else []),
            END_OF_STREAM,
        ]
        return await stream(self._request, _each(chunks))

    async def _chunks(self, utterance: Utterance) -> AsyncGenerator[bytes, None]:
        if self._is_chat:
            yield self._chunk([self._choice({"delta": {"role": "assistant", "content": ""}})])
        async with aclosing(events(self._services, utterance)) as turn:
            async for event in turn:
                if isinstance(event, Token):
                    yield self._chunk([self._choice(self._piece(event.text))])
                elif isinstance(event, Done):
                    for chunk in self._ending(event):
                        yield chunk
                elif isinstance(event, Failed):
                    body = error_body("/v1/", event.code, event.message, event.hint, 500)
                    yield b"data: %s\n\n" % msgspec.json.encode(body)
        yield END_OF_STREAM

    def _ending(self, done: Done) -> list[bytes]:
        """The sources, the reason for the end, and the usage if it was asked for."""
        chunks = []
        if text := sources(done.citations):
            chunks.append(self._chunk([self._choice(self._piece(text))]))
        last: dict[str, Any] = {"delta": {}} if self._is_chat else {"text": ""}
        chunks.append(self._chunk([self._choice(last, "stop")], citations=done.citations))
        if self._with_usage:
            chunks.append(self._chunk([], usage=_usage(done)))
        return chunks

    def _piece(self, text: str) -> dict[str, Any]:
        return {"delta": {"content": text}} if self._is_chat else {"text": text}

    def _choice(self, part: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {"index": 0, "finish_reason": finish, "logprobs": None} | part

    def _chunk(self, choices: list[dict[str, Any]], **extra: Any) -> bytes:
        envelope = self._envelope(choices, "chat.completion.chunk") | extra
        return b"data: %s\n\n" % msgspec.json.encode(envelope)

    def _envelope(self, choices: list[dict[str, Any]], kind: str) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": kind if self._is_chat else "text_completion",
            "created": self._created,
            "model": HOUSEHOLD,
            "choices": choices,
        }


async def _each(chunks: Sequence[bytes]) -> AsyncGenerator[bytes, None]:
    for chunk in chunks:
        yield chunk


async def raw_name(request: web.Request) -> str | None:
    """The engine's own name for the model asked for, or ``None`` when the household answers.

    Raises:
        NotFoundError: a ``raw:`` name that the engine does not have.
    """
    name = (await read_body(request, _Model)).model or HOUSEHOLD
    if not name.startswith(RAW):
        return None
    names = await raw_names(request.app[SERVICES])
    if name not in names:
        raise _unknown_model(name, [HOUSEHOLD, *names])
    return name.removeprefix(RAW)


async def _forward(request: web.Request, services: Services, name: str) -> web.StreamResponse:
    """The request to the engine, what is static in its prompt first; the reply as it comes."""
    body, moved = static_first(request, await read_body(request, dict[str, Any]))
    body["model"] = name
    body.pop("pin", None)  # what stays cached is the hub's to say
    async with services.turns.one():
        client = await services.engine.named(name)
        try:
            async with client.proxy("POST", request.path, msgspec.json.encode(body)) as upstream:
                return await _pass_on(request, upstream, moved_header(moved))
        except EngineError as error:
            raise EngineDown(f"The language model went away: {error}", "Ask again.") from error


async def _pass_on(
    request: web.Request, upstream: ProxiedResponse, extra: dict[str, str]
) -> web.StreamResponse:
    """A reply whose beginning is out cannot become another: a break in it is said in its stream."""
    kind = upstream.headers.get("Content-Type", "application/json")
    headers = {"Content-Type": kind, "Cache-Control": "no-store"} | extra
    response = web.StreamResponse(status=upstream.status, headers=headers)
    await response.prepare(request)
    try:
        async for chunk in upstream.chunks():
            await response.write(chunk)
    except EngineError as error:
        message = f"The language model went away: {error}"
        body = error_body(request.path, "engine_down", message, "Ask again.", 503)
        await response.write(b"data: %s\n\n" % msgspec.json.encode(body))
    await response.write_eof()
    return response


async def raw_names(services: Services) -> list[str]:
    """The language models that can be asked directly."""
    return [RAW + name for name in await asyncio.to_thread(lambda: services.engine.names)]


def _unknown_model(name: str, names: Sequence[str]) -> NotFoundError:
    error = NotFoundError(f"there is no model {name!r}; there are: {', '.join(names)}")
    error.code = "model_not_found"
    return error


def _card(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "hubd"}


def _usage(done: Done) -> dict[str, int]:
    """Tokens of the language model; none where the answer needed no model."""
    read, written = done.timings.prompt_tokens or 0, done.timings.completion_tokens or 0
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
    }


def _base64(vector: "np.ndarray[Any, np.dtype[np.float32]]") -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


ROUTES = [
    web.get("/v1/models", models),
    web.get("/v1/models/{name:.+}", model),
    web.post("/v1/chat/completions", chat),
    web.post("/v1/completions", completions),
    web.post("/v1/embeddings", embeddings),
]
