"""What writes text: ``POST /v1/chat/completions`` and ``POST /v1/completions``."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial

import msgspec
from aiohttp import web

from engine.answers import (
    ChatAnswer,
    messages_of,
    sampling_of,
    shown_tokens,
    text_logprobs,
    tools_of,
    with_forced_call,
)
from engine.embeddings import token_lists
from engine.engine import Engine, Stream
from engine.error_replies import json_reply
from engine.errors import InvalidRequestError
from engine.generate import Finished, Piece
from engine.protocol import (
    ChatChoice,
    ChatChunk,
    ChatChunkChoice,
    ChatDelta,
    ChatReply,
    ChatRequest,
    CompletionRequest,
    SamplingFields,
    TextChoice,
    TextLogprobs,
    TextReply,
)
from engine.served import Served
from engine.several_answers import answers_to, gathered, merged, usage_of
from engine.wire import body_of, send_events


async def chat(served: Served, request: web.Request) -> web.StreamResponse:
    engine = served.ready()
    body = await body_of(request, ChatRequest)
    served.check_model(body.model)
    params, messages, (tools, forced) = sampling_of(body), messages_of(body), tools_of(body)
    prompt = await asyncio.to_thread(engine.encode_chat, messages, tools)
    if forced:
        params = with_forced_call(params, engine.chat_template, engine.tokenizer, prompt, tools)
    shown = shown_tokens(engine.chat_template, engine.tokenizer, bool(tools))
    identity = _identity("chatcmpl")
    most = 1 if body.parallel_tool_calls is False else None
    about = (engine.chat_template, engine.tokenizer, prompt, tools)
    new_answer = partial(ChatAnswer, *about, most_calls=most)
    async with answers_to(engine, prompt, params, body, "messages", shown) as streams:
        if body.stream:
            chunks = _chat_chunks(served, streams, new_answer, identity, body)
            return await send_events(request, chunks)
        choices: list[ChatChoice] = []
        accounts: list[Finished] = []
        for index, stream in enumerate(streams):
            answer = new_answer()
            pieces, finished = await gathered(stream)
            for piece in pieces:
                answer.push(piece)
            choices.append(answer.choice(index, finished))
            accounts.append(finished)
    return json_reply(
        ChatReply(
            id=identity,
            created=int(time.time()),
            model=served.model_name,
            choices=choices,
            usage=usage_of(accounts),
            timings=accounts[0].timings,
        )
    )


async def complete(served: Served, request: web.Request) -> web.StreamResponse:
    engine = served.ready()
    body = await body_of(request, CompletionRequest)
    served.check_model(body.model)
    params = sampling_of(body)
    inputs = await asyncio.to_thread(token_lists, engine.tokenizer, body.prompt, "prompt")
    if len(inputs) != 1:
        raise InvalidRequestError(
            f"prompt has {len(inputs)} entries; send one request for each", param="prompt"
        )
    identity = _identity("cmpl")
    async with answers_to(engine, inputs[0], params, body, "prompt") as streams:
        if body.stream:
            chunks = _text_chunks(served, engine, streams, identity, body)
            return await send_events(request, chunks)
        choices: list[TextChoice] = []
        accounts: list[Finished] = []
        for index, stream in enumerate(streams):
            pieces, finished = await gathered(stream)
            choices.append(
                TextChoice(
                    text="".join(piece.text for piece in pieces),
                    finish_reason=finished.reason,
                    index=index,
                    logprobs=_text_logprobs(engine, pieces),
                )
            )
            accounts.append(finished)
    return json_reply(_text_reply(served, identity, choices, accounts))


async def _chat_chunks(
    served: Served,
    streams: Sequence[Stream],
    new_answer: Callable[[], ChatAnswer],
    identity: str,
    body: ChatRequest,
) -> AsyncIterator[ChatChunk]:
    created = int(time.time())
    accounts: list[Finished] = []

    def chunk(*choices: ChatChunkChoice) -> ChatChunk:
        return ChatChunk(id=identity, created=created, model=served.model_name, choices=[*choices])

    answers = [new_answer() for _ in streams]
    for index in range(len(streams)):
        opening = ChatDelta(role="assistant", content="")
        yield chunk(ChatChunkChoice(delta=opening, index=index))
    async for index, outcome in merged(streams):
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
            chunk(), usage=usage_of(accounts), timings=accounts[0].timings
        )


async def _text_chunks(
    served: Served,
    engine: Engine,
    streams: Sequence[Stream],
    identity: str,
    body: CompletionRequest,
) -> AsyncIterator[TextReply]:
    accounts: list[Finished] = []
    async for index, outcome in merged(streams):
        if isinstance(outcome, Finished):
            accounts.append(outcome)
            choice = TextChoice(text="", finish_reason=outcome.reason, index=index)
            reply = _text_reply(served, identity, [choice], [outcome])
            yield msgspec.structs.replace(reply, usage=msgspec.UNSET)
        elif outcome.text or outcome.logprobs:
            logprobs = _text_logprobs(engine, [outcome])
            choice = TextChoice(text=outcome.text, index=index, logprobs=logprobs)
            yield _text_reply(served, identity, [choice], [])
    if _wants_usage(body):
        yield _text_reply(served, identity, [], accounts)


def _text_reply(
    served: Served, identity: str, choices: list[TextChoice], accounts: Sequence[Finished]
) -> TextReply:
    return TextReply(
        id=identity,
        created=int(time.time()),
        model=served.model_name,
        choices=choices,
        usage=usage_of(accounts) if accounts else msgspec.UNSET,
        timings=accounts[0].timings if accounts else msgspec.UNSET,
    )


def _text_logprobs(engine: Engine, pieces: Sequence[Piece]) -> TextLogprobs | None:
    found = [piece.logprobs for piece in pieces if piece.logprobs is not None]
    return text_logprobs(found, engine.tokenizer) if found else None


def _wants_usage(body: SamplingFields) -> bool:
    return body.stream_options is not None and body.stream_options.include_usage


def _identity(prefix: str) -> str:
    return f"{prefix}-{uuid.uuid4().hex}"
