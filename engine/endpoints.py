"""The HTTP side of an engine: OpenAI's endpoints on an aiohttp application.

Knows requests and replies; how the process starts, listens and ends is ``engine.server``'s.
"""

import asyncio
import base64
import logging
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import msgspec
from aiohttp import web

from engine.chat import Message
from engine.engine import Engine, Stream
from engine.errors import (
    ChatTemplateError,
    EngineClosedError,
    EngineError,
    InvalidRequestError,
    QueueFullError,
)
from engine.generate import Finished, Piece
from engine.protocol import (
    END_OF_STREAM,
    ChatChoice,
    ChatChunk,
    ChatChunkChoice,
    ChatDelta,
    ChatReply,
    ChatReplyMessage,
    ChatRequest,
    CompletionRequest,
    Embedding,
    EmbeddingReply,
    EmbeddingRequest,
    ErrorDetail,
    ErrorReply,
    Health,
    ModelCard,
    ModelList,
    PromptTokensDetails,
    SamplingFields,
    TextChoice,
    TextReply,
    Usage,
    event,
)
from engine.sampling import SamplingParams

log = logging.getLogger(__name__)

Body = TypeVar("Body")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_EMBEDDING_INPUTS = 256


class UnknownModelError(EngineError):
    """The request names a model that this engine does not serve."""


class NotReadyError(EngineError):
    """The model is loading, could not be loaded, or is going away."""


class Endpoints:
    """The routes of one engine, which may still be loading."""

    def __init__(self, model_name: str) -> None:
        self.model_name = model_name
        self.engine: Engine | None = None
        self.health = Health(status="loading", model=model_name)
        self._created = int(time.time())

    def application(self) -> web.Application:
        """An application with every route and OpenAI's form of errors."""
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_errors_as_json])
        app.add_routes(
            [
                web.get("/health", self.get_health),
                web.get("/v1/models", self.get_models),
                web.get("/v1/models/{name}", self.get_model),
                web.post("/v1/chat/completions", self.chat),
                web.post("/v1/completions", self.complete),
                web.post("/v1/embeddings", self.embed),
            ]
        )
        return app

    async def get_health(self, request: web.Request) -> web.Response:
        """200 when ready, else 503 with the stage of loading or the reason of the failure."""
        health = self.health
        if self.engine is not None:
            load = self.engine.scheduler.load()
            health = msgspec.structs.replace(health, active=load.active, waiting=load.waiting)
        return _json(health, status=200 if health.status == "ready" else 503)

    async def get_models(self, request: web.Request) -> web.Response:
        return _json(ModelList(data=[self._card()]))

    async def get_model(self, request: web.Request) -> web.Response:
        self._check_model(request.match_info["name"])
        return _json(self._card())

    async def chat(self, request: web.Request) -> web.StreamResponse:
        engine = self._ready()
        body = await _body(request, ChatRequest)
        self._check_model(body.model)
        newer = body.max_completion_tokens  # OpenAI's name for it since 2024
        params = _sampling(body, body.max_tokens if newer is None else newer)
        if not body.messages:
            raise InvalidRequestError("messages is empty; send at least one", param="messages")
        messages = [
            Message("system" if message.role == "developer" else message.role, message.text())
            for message in body.messages
        ]
        prompt = await asyncio.to_thread(engine.encode_chat, messages)
        identity = _identity("chatcmpl")
        async with _streaming(engine, prompt, params, "messages") as stream:
            if body.stream:
                chunks = self._chat_chunks(stream, identity, body)
                return await _send_events(request, chunks)
            text, finished = await _gather(stream)
        return _json(
            ChatReply(
                id=identity,
                created=int(time.time()),
                model=self.model_name,
                choices=[ChatChoice(message=ChatReplyMessage(text), finish_reason=finished.reason)],
                usage=_usage(finished),
                timings=finished.timings,
            )
        )

    async def complete(self, request: web.Request) -> web.StreamResponse:
        engine = self._ready()
        body = await _body(request, CompletionRequest)
        self._check_model(body.model)
        params = _sampling(body, body.max_tokens)
        inputs = await asyncio.to_thread(_encode_inputs, engine, body.prompt, "prompt")
        if len(inputs) != 1:
            raise InvalidRequestError(
                f"prompt has {len(inputs)} entries; send one request for each", param="prompt"
            )
        identity = _identity("cmpl")
        async with _streaming(engine, inputs[0], params, "prompt") as stream:
            if body.stream:
                return await _send_events(request, self._text_chunks(stream, identity, body))
            text, finished = await _gather(stream)
        choice = TextChoice(text=text, finish_reason=finished.reason)
        return _json(self._text_reply(identity, [choice], finished))

    async def embed(self, request: web.Request) -> web.Response:
        engine = self._ready()
        body = await _body(request, EmbeddingRequest)
        self._check_model(body.model)
        inputs = await asyncio.to_thread(_encode_inputs, engine, body.input, "input")
        if not 0 < len(inputs) <= MAX_EMBEDDING_INPUTS:
            raise InvalidRequestError(
                f"input has {len(inputs)} entries; send 1 to {MAX_EMBEDDING_INPUTS}",
                param="input",
            )
        with _naming("input"):
            for tokens in inputs:
                engine.check_input(tokens)
        data: list[Embedding] = []
        for index, tokens in enumerate(inputs):
            vector = (await engine.embed(tokens)).astype("<f4")
            numbers = (
                base64.b64encode(vector.tobytes()).decode()
                if body.encoding_format == "base64"
                else [float(number) for number in vector]
            )
            data.append(Embedding(index=index, embedding=numbers))
        count = sum(map(len, inputs))
        usage = Usage(prompt_tokens=count, total_tokens=count)
        return _json(EmbeddingReply(model=self.model_name, data=data, usage=usage))

    async def _chat_chunks(
        self, stream: Stream, identity: str, body: ChatRequest
    ) -> AsyncIterator[ChatChunk]:
        created = int(time.time())

        def chunk(choices: list[ChatChunkChoice]) -> ChatChunk:
            return ChatChunk(id=identity, created=created, model=self.model_name, choices=choices)

        yield chunk([ChatChunkChoice(delta=ChatDelta(role="assistant", content=""))])
        async for outcome in stream:
            if isinstance(outcome, Finished):
                last = ChatChunkChoice(delta=ChatDelta(), finish_reason=outcome.reason)
                yield msgspec.structs.replace(chunk([last]), timings=outcome.timings)
                if _wants_usage(body):
                    yield msgspec.structs.replace(
                        chunk([]), usage=_usage(outcome), timings=outcome.timings
                    )
            elif outcome.text:
                yield chunk([ChatChunkChoice(delta=ChatDelta(content=outcome.text))])

    async def _text_chunks(
        self, stream: Stream, identity: str, body: CompletionRequest
    ) -> AsyncIterator[TextReply]:
        async for outcome in stream:
            if isinstance(outcome, Finished):
                reply = self._text_reply(
                    identity, [TextChoice(text="", finish_reason=outcome.reason)], outcome
                )
                yield msgspec.structs.replace(reply, usage=msgspec.UNSET)
                if _wants_usage(body):
                    yield msgspec.structs.replace(reply, choices=[])
            elif outcome.text:
                yield self._text_reply(identity, [TextChoice(text=outcome.text)], None)

    def _text_reply(
        self, identity: str, choices: list[TextChoice], finished: Finished | None
    ) -> TextReply:
        return TextReply(
            id=identity,
            created=int(time.time()),
            model=self.model_name,
            choices=choices,
            usage=_usage(finished) if finished else msgspec.UNSET,
            timings=finished.timings if finished else msgspec.UNSET,
        )

    def _card(self) -> ModelCard:
        length = msgspec.UNSET if self.engine is None else self.engine.context_length
        return ModelCard(id=self.model_name, created=self._created, context_length=length)

    def _ready(self) -> Engine:
        if self.engine is None or self.health.status != "ready":
            health = self.health
            what = {
                "loading": f"the model is loading ({health.stage} {health.fraction:.0%})",
                "failed": f"the model could not be loaded: {health.message}",
            }.get(health.status, "the engine is shutting down")
            raise NotReadyError(what)
        return self.engine

    def _check_model(self, name: str | None) -> None:
        if name and name != self.model_name:
            raise UnknownModelError(
                f"there is no model {name!r} here; this engine serves {self.model_name!r}"
            )


async def _body(request: web.Request, kind: type[Body]) -> Body:
    """The request's JSON as ``kind``. Raises msgspec's errors, which name the field."""
    raw = await request.read()
    if len(raw) > 64 * 1024:  # decoding 1 MB of JSON takes 3 ms: long ones go to a thread
        return await asyncio.to_thread(msgspec.json.decode, raw, type=kind)
    return msgspec.json.decode(raw, type=kind)


def _sampling(body: SamplingFields, max_tokens: int | None) -> SamplingParams:
    """The sampling parameters of a request; what it leaves out has the default."""
    if body.n not in (None, 1):
        raise InvalidRequestError(f"n is {body.n}; this engine gives one answer", param="n")
    given = {
        name: value
        for name in SamplingParams.__struct_fields__
        if (value := getattr(body, name)) is not None
    }
    given["max_tokens"] = max_tokens
    if body.stop is not None:
        given["stop"] = (body.stop,) if isinstance(body.stop, str) else tuple(body.stop)
    return SamplingParams(**given)


def _encode_inputs(
    engine: Engine, inputs: str | list[str | int | list[int]], param: str
) -> list[list[int]]:
    """Token lists of one text, several texts, one token list or several."""
    if isinstance(inputs, str):
        inputs = [inputs]
    if inputs and all(isinstance(entry, int) for entry in inputs):
        return [[entry for entry in inputs if isinstance(entry, int)]]
    encoded: list[list[int]] = []
    for entry in inputs:
        if isinstance(entry, int):
            raise InvalidRequestError(f"{param} mixes token ids with texts", param=param)
        encoded.append(engine.tokenizer.encode(entry) if isinstance(entry, str) else entry)
    return encoded


@contextmanager
def _naming(param: str) -> Iterator[None]:
    """The engine knows a prompt; the request's field may have another name."""
    try:
        yield
    except InvalidRequestError as error:
        if error.param == "prompt":
            error.param = param
        raise


@asynccontextmanager
async def _streaming(
    engine: Engine, prompt: Sequence[int], params: SamplingParams, param: str
) -> AsyncIterator[Stream]:
    """The answer to a prompt; leaving the block, however it is left, ends the work."""
    with _naming(param):
        generation = engine.prepare(prompt, params)
    stream = engine.stream(generation)
    try:
        yield stream
    finally:
        stream.close()


async def _gather(stream: Stream) -> tuple[str, Finished]:
    pieces: list[str] = []
    async for outcome in stream:
        if isinstance(outcome, Piece):
            pieces.append(outcome.text)
        else:
            return "".join(pieces), outcome
    raise EngineError("the answer has no end")


async def _send_events(
    request: web.Request, chunks: AsyncIterator[msgspec.Struct]
) -> web.StreamResponse:
    """Send chunks as server-sent events. An error in mid-stream is an event, without [DONE]."""
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
    )
    await response.prepare(request)
    try:
        try:
            async for chunk in chunks:
                await response.write(event(chunk))
        except EngineError as error:
            status, detail = _described(error)
            log.warning("a stream ended early (%d): %s", status, detail.message)
            await response.write(event(ErrorReply(detail)))
        else:
            await response.write(END_OF_STREAM)
        await response.write_eof()
    except ConnectionError:
        log.info("a client went away in mid-stream")
    return response


def _wants_usage(body: SamplingFields) -> bool:
    return body.stream_options is not None and body.stream_options.include_usage


def _usage(finished: Finished) -> Usage:
    return Usage(
        prompt_tokens=finished.prompt_tokens,
        completion_tokens=finished.completion_tokens,
        total_tokens=finished.prompt_tokens + finished.completion_tokens,
        prompt_tokens_details=PromptTokensDetails(finished.cached_tokens),
    )


def _identity(prefix: str) -> str:
    return f"{prefix}-{uuid.uuid4().hex}"


def _json(data: object, *, status: int = 200) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(data), status=status, content_type="application/json"
    )


@web.middleware
async def _errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        detail = _http_error(error, request)
        return _json(ErrorReply(detail), status=error.status)
    except (EngineError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        status, detail = _described(error)
        response = _json(ErrorReply(detail), status=status)
        if status in (429, 503):
            response.headers["Retry-After"] = "1"
        return response
    except Exception:
        log.exception("%s %s failed", request.method, request.path)
        detail = ErrorDetail(message="the engine failed on this request", type="server_error")
        return _json(ErrorReply(detail), status=500)


def _described(error: Exception) -> tuple[int, ErrorDetail]:
    """The honest status and OpenAI's description of an error."""
    text = str(error)
    match error:
        case InvalidRequestError(param=param, code=code):
            return 400, ErrorDetail(message=text, param=param, code=code)
        case ChatTemplateError():
            return 422, ErrorDetail(message=text, param="messages", code="chat_template_error")
        case QueueFullError():
            return 429, ErrorDetail(message=text, type="rate_limit_error", code="queue_full")
        case UnknownModelError():
            return 404, ErrorDetail(message=text, param="model", code="model_not_found")
        case NotReadyError():
            return 503, ErrorDetail(message=text, type="server_error", code="not_ready")
        case EngineClosedError():
            return 503, ErrorDetail(message=text, type="server_error", code="shutting_down")
        case msgspec.ValidationError():
            param = text.rpartition("`$.")[2].rstrip("`") if "`$." in text else None
            return 400, ErrorDetail(message=text, param=param, code="invalid_type")
        case msgspec.MsgspecError() | UnicodeDecodeError():
            return 400, ErrorDetail(message=f"the body is not JSON: {text}", code="invalid_json")
    return 500, ErrorDetail(message=text, type="server_error")


def _http_error(error: web.HTTPException, request: web.Request) -> ErrorDetail:
    message = f"{error.reason}: {request.method} {request.path}"
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        message = f"the body is over {MAX_BODY_BYTES} bytes"
    return ErrorDetail(message=message, code=error.reason.lower().replace(" ", "_"))
