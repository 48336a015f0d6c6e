"""The HTTP side of an engine: OpenAI's endpoints on an aiohttp application.

Knows requests and replies; how the process starts, listens and ends is ``engine.server``'s.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import (
    AsyncIterator,
    Callable,
    Iterator,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import NoReturn, TypeVar

import msgspec
import numpy as np
from aiohttp import web

from engine.answers import (
    ChatAnswer,
    messages_of,
    sampling_of,
    seeded,
    shown_tokens,
    text_logprobs,
    tools_of,
    with_forced_call,
)
from engine.embed_service import EmbedService
from engine.embeddings import check_count, embedding_reply, listed
from engine.engine import Engine, Stream
from engine.error_replies import (
    MAX_BODY_BYTES,
    UnknownModelError,
    described,
    errors_as_json,
    json_reply,
)
from engine.errors import EngineError, InvalidRequestError, NotReadyError
from engine.generate import Finished, Piece
from engine.protocol import (
    END_OF_STREAM,
    ChatChoice,
    ChatChunk,
    ChatChunkChoice,
    ChatDelta,
    ChatReply,
    ChatRequest,
    CompletionRequest,
    EmbeddingRequest,
    ErrorReply,
    Health,
    ModelCard,
    ModelList,
    PromptTokensDetails,
    Ranked,
    RerankReply,
    RerankRequest,
    SamplingFields,
    TextChoice,
    TextLogprobs,
    TextReply,
    Usage,
    event,
)
from engine.rerank_service import RerankService
from engine.sampling_params import SamplingParams

log = logging.getLogger(__name__)

Body = TypeVar("Body")


class Endpoints:
    """The routes of one engine, which may still be loading."""

    def __init__(
        self,
        model_name: str,
        encoder: EmbedService | None = None,
        rerankers: Sequence[RerankService] = (),
    ) -> None:
        """model_name: of the language model, empty where the encoder is alone."""
        self.model_name = model_name
        self.engine: Engine | None = None
        self.encoder = encoder
        self.rerankers = {service.name: service for service in rerankers}
        self.health = Health(status="loading", model=model_name)
        self._created = int(time.time())

    def application(self) -> web.Application:
        """An application with every route and OpenAI's form of errors."""
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[errors_as_json])
        app.add_routes(
            [
                web.get("/health", self.get_health),
                web.get("/v1/models", self.get_models),
                web.get("/v1/models/{name}", self.get_model),
                web.post("/v1/chat/completions", self.chat),
                web.post("/v1/completions", self.complete),
                web.post("/v1/embeddings", self.embed),
                web.post("/v1/rerank", self.rerank),
            ]
        )
        return app

    async def get_health(self, request: web.Request) -> web.Response:
        """200 when ready, else 503 with the stage of loading or the reason of the failure."""
        health = self.health
        if self.engine is not None:
            load = self.engine.scheduler.load()
            counts = self.engine.scheduler.counts()
            neurons = self.engine.model.neurons
            health = msgspec.structs.replace(
                health,
                active=load.active,
                waiting=load.waiting,
                counts=counts,
                neurons=neurons.activity() if neurons is not None else [],
            )
        if self.encoder is not None:
            busy = health.active + self.encoder.active
            health = msgspec.structs.replace(health, active=busy, encoder=self.encoder.state)
        reading = sum(service.active for service in self.rerankers.values())
        health = msgspec.structs.replace(health, active=health.active + reading)
        return json_reply(health, status=200 if health.status == "ready" else 503)

    async def get_models(self, request: web.Request) -> web.Response:
        return json_reply(ModelList(data=self._cards()))

    async def get_model(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        card = next((card for card in self._cards() if card.id == name), None)
        if card is None:
            self._check_model(name)
        return json_reply(card)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        engine = self._ready()
        body = await _body(request, ChatRequest)
        self._check_model(body.model)
        params, messages, (tools, forced) = sampling_of(body), messages_of(body), tools_of(body)
        prompt = await asyncio.to_thread(engine.encode_chat, messages, tools)
        if forced:
            params = with_forced_call(params, engine.chat_template, engine.tokenizer, prompt, tools)
        shown = shown_tokens(engine.chat_template, engine.tokenizer, bool(tools))
        identity = _identity("chatcmpl")
        most = 1 if body.parallel_tool_calls is False else None
        about = (engine.chat_template, engine.tokenizer, prompt, tools)
        new_answer = partial(ChatAnswer, *about, most_calls=most)
        async with _answers(engine, prompt, params, body, "messages", shown) as streams:
            if body.stream:
                chunks = self._chat_chunks(streams, new_answer, identity, body)
                return await _send_events(request, chunks)
            choices: list[ChatChoice] = []
            accounts: list[Finished] = []
            for index, stream in enumerate(streams):
                answer = new_answer()
                pieces, finished = await _gather(stream)
                for piece in pieces:
                    answer.push(piece)
                choices.append(answer.choice(index, finished))
                accounts.append(finished)
        return json_reply(
            ChatReply(
                id=identity,
                created=int(time.time()),
                model=self.model_name,
                choices=choices,
                usage=_usage(accounts),
                timings=accounts[0].timings,
            )
        )

    async def complete(self, request: web.Request) -> web.StreamResponse:
        engine = self._ready()
        body = await _body(request, CompletionRequest)
        self._check_model(body.model)
        params = sampling_of(body)
        inputs = await asyncio.to_thread(_encode_inputs, engine, body.prompt, "prompt")
        if len(inputs) != 1:
            raise InvalidRequestError(
                f"prompt has {len(inputs)} entries; send one request for each", param="prompt"
            )
        identity = _identity("cmpl")
        async with _answers(engine, inputs[0], params, body, "prompt") as streams:
            if body.stream:
                return await _send_events(request, self._text_chunks(streams, identity, body))
            choices: list[TextChoice] = []
            accounts: list[Finished] = []
            for index, stream in enumerate(streams):
                pieces, finished = await _gather(stream)
                choices.append(
                    TextChoice(
                        text="".join(piece.text for piece in pieces),
                        finish_reason=finished.reason,
                        index=index,
                        logprobs=self._text_logprobs(pieces),
                    )
                )
                accounts.append(finished)
        return json_reply(self._text_reply(identity, choices, accounts))

    async def embed(self, request: web.Request) -> web.Response:
        body = await _body(request, EmbeddingRequest)
        if self.encoder is not None and body.model in (None, "", self.encoder.name):
            inputs = check_count(listed(body.input, "input"))
            vectors, count = await self.encoder.embed(inputs, body.input_type)
            return json_reply(embedding_reply(self.encoder.name, vectors, count, body))
        engine = self._ready()
        self._check_model(body.model)
        encoded = await asyncio.to_thread(_encode_inputs, engine, body.input, "input")
        with _naming("input"):
            for tokens in check_count(encoded):
                engine.check_input(tokens)
        vectors = np.stack([await engine.embed(tokens) for tokens in encoded])
        count = sum(map(len, encoded))
        return json_reply(embedding_reply(self.model_name, vectors, count, body))

    async def rerank(self, request: web.Request) -> web.Response:
        body = await _body(request, RerankRequest)
        if not self.rerankers:
            raise NotReadyError("there is no cross-encoder here")
        service = self.rerankers.get(body.model or next(iter(self.rerankers)))
        if service is None:
            self._unknown(body.model)
        documents = check_count(body.documents, "documents")
        scores, count = await service.rerank(body.query, documents)
        best = np.argsort(-scores, kind="stable")[: body.top_n]
        results = [Ranked(index=int(at), relevance_score=float(scores[at])) for at in best]
        usage = Usage(prompt_tokens=count, total_tokens=count)
        return json_reply(RerankReply(model=service.name, results=results, usage=usage))

    async def _chat_chunks(
        self,
        streams: Sequence[Stream],
        new_answer: Callable[[], ChatAnswer],
        identity: str,
        body: ChatRequest,
    ) -> AsyncIterator[ChatChunk]:
        created = int(time.time())
        accounts: list[Finished] = []

        def chunk(*choices: ChatChunkChoice) -> ChatChunk:
            return ChatChunk(
                id=identity, created=created, model=self.model_name, choices=[*choices]
            )

        answers = [new_answer() for _ in streams]
        for index in range(len(streams)):
            opening = ChatDelta(role="assistant", content="")
            yield chunk(ChatChunkChoice(delta=opening, index=index))
        async for index, outcome in _merged(streams):
            answer, choice = answers[index], partial(ChatChunkChoice, index=index)
            reason = None
            if isinstance(outcome, Finished):
                deltas, reason = answer.finish(outcome)
            else:
                deltas = answer.push(outcome)
            logprobs = answer.take_logprobs()
            if logprobs is not None and not deltas:
                deltas = [ChatDelta()]
            for number, delta in enumerate(deltas):
                yield chunk(choice(delta=delta, logprobs=None if number else logprobs))
            if isinstance(outcome, Finished):
                last = chunk(choice(delta=ChatDelta(), finish_reason=reason))
                yield msgspec.structs.replace(last, timings=outcome.timings)
                accounts.append(outcome)
        if _wants_usage(body):
            yield msgspec.structs.replace(
                chunk(), usage=_usage(accounts), timings=accounts[0].timings
            )

    async def _text_chunks(
        self, streams: Sequence[Stream], identity: str, body: CompletionRequest
    ) -> AsyncIterator[TextReply]:
        accounts: list[Finished] = []
        async for index, outcome in _merged(streams):
            if isinstance(outcome, Finished):
                accounts.append(outcome)
                choice = TextChoice(text="", finish_reason=outcome.reason, index=index)
                reply = self._text_reply(identity, [choice], [outcome])
                yield msgspec.structs.replace(reply, usage=msgspec.UNSET)
            elif outcome.text or outcome.logprobs:
                logprobs = self._text_logprobs([outcome])
                choice = TextChoice(text=outcome.text, index=index, logprobs=logprobs)
                yield self._text_reply(identity, [choice], [])
        if _wants_usage(body):
            yield self._text_reply(identity, [], accounts)

    def _text_reply(
        self, identity: str, choices: list[TextChoice], accounts: Sequence[Finished]
    ) -> TextReply:
        return TextReply(
            id=identity,
            created=int(time.time()),
            model=self.model_name,
            choices=choices,
            usage=_usage(accounts) if accounts else msgspec.UNSET,
            timings=accounts[0].timings if accounts else msgspec.UNSET,
        )

    def _text_logprobs(self, pieces: Sequence[Piece]) -> TextLogprobs | None:
        assert self.engine is not None
        found = [piece.logprobs for piece in pieces if piece.logprobs is not None]
        return text_logprobs(found, self.engine.tokenizer) if found else None

    def _cards(self) -> list[ModelCard]:
        cards = []
        if self.model_name:
            length = msgspec.UNSET if self.engine is None else self.engine.context_length
            cards = [ModelCard(id=self.model_name, created=self._created, context_length=length)]
        if self.encoder is not None:
            cards.append(ModelCard(id=self.encoder.name, created=self._created))
        cards += [ModelCard(id=name, created=self._created) for name in self.rerankers]
        return cards

    def _ready(self) -> Engine:
        if not self.model_name:
            raise NotReadyError("there is no language model here: this engine makes embeddings")
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
            self._unknown(name)

    def _unknown(self, name: str | None) -> NoReturn:
        served = ", ".join(repr(card.id) for card in self._cards())
        raise UnknownModelError(f"there is no model {name!r} here; this engine serves {served}")


async def _body(request: web.Request, kind: type[Body]) -> Body:
    """The request's JSON as ``kind``. Raises msgspec's errors, which name the field."""
    raw = await request.read()
    if len(raw) > 64 * 1024:  # decoding 1 MB of JSON takes 3 ms: long ones go to a thread
        return await asyncio.to_thread(msgspec.json.decode, raw, type=kind)
    return msgspec.json.decode(raw, type=kind)


def _encode_inputs(
    engine: Engine, inputs: str | list[str | int | list[int]], param: str
) -> list[list[int]]:
    """Token lists of one text, several texts, one token list or several."""
    return [
        engine.tokenizer.encode(entry) if isinstance(entry, str) else entry
        for entry in listed(inputs, param)
    ]


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
async def _answers(
    engine: Engine,
    prompt: Sequence[int],
    params: SamplingParams,
    body: SamplingFields,
    param: str,
    shown: Sequence[int] = (),
) -> AsyncIterator[list[Stream]]:
    """As many answers to a prompt as the request asks for, side by side: the prompt is computed
    once.

    They are under way when the block begins, so that what is wrong with the request is raised
    there. Leaving the block, however it is left, ends the work.
    """
    opened: list[Stream] = []
    try:
        for index in range(body.n or 1):
            prepare = partial(engine.prepare, prompt, seeded(params, index), shown)
            with _naming(param):
                request = await asyncio.to_thread(prepare) if params.grammar else prepare()
            leader = opened[0] if opened else None
            priority = body.priority or "interactive"
            opened.append(engine.stream(request, priority, leader, pin=bool(body.pin)))
        yield opened
    finally:
        for stream in opened:
            stream.close()


async def _merged(streams: Sequence[Stream]) -> AsyncIterator[tuple[int, Piece | Finished]]:
    """What several answers give, as it comes, each with the number of its answer."""
    iterators = [aiter(stream) for stream in streams]
    if len(iterators) == 1:
        async for outcome in iterators[0]:
            yield 0, outcome
        return
    waiting = {asyncio.ensure_future(anext(it)): index for index, it in enumerate(iterators)}
    try:
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(done, key=lambda task: waiting[task]):
                index, outcome = waiting.pop(task), task.result()
                yield index, outcome
                if not isinstance(outcome, Finished):
                    waiting[asyncio.ensure_future(anext(iterators[index]))] = index
    finally:
        for task in waiting:
            task.cancel()


async def _gather(stream: Stream) -> tuple[list[Piece], Finished]:
    pieces: list[Piece] = []
    async for outcome in stream:
        if not isinstance(outcome, Piece):
            return pieces, outcome
        pieces.append(outcome)
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
            status, detail = described(error)
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


def _usage(accounts: Sequence[Finished]) -> Usage:
    """Of several answers to one prompt."""
    prompt = accounts[0].prompt_tokens
    completion = sum(finished.completion_tokens for finished in accounts)
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=prompt + completion,
        prompt_tokens_details=PromptTokensDetails(accounts[0].cached_tokens),
    )


def _identity(prefix: str) -> str:
    return f"{prefix}-{uuid.uuid4().hex}"
