"""OpenAI's newer protocol, ``POST /v1/responses``, in its basic form: text and function calls.

Nothing is kept between requests: a client sends the conversation with each. ``household`` is the
assistant's turn, ``raw:NAME`` the bare language model.
"""

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec
from aiohttp import web

from engine.client import Answered
from engine.errors import EngineError, EngineRefused
from engine.protocol import (
    ChatMessage,
    ChatRequest,
    FunctionCall,
    FunctionTool,
    JsonSchema,
    ResponseFormat,
    ToolCallPart,
    Usage,
)
from hubd.assistant.tool_loop import request_tools
from hubd.assistant.turn import Utterance
from hubd.errors import BadRequestError, HubError
from hubd.http import replies
from hubd.http.ask import events, failure
from hubd.http.body import error_body, read_body, reply
from hubd.http.callers import caller_of
from hubd.http.described import SERVER_SENT_EVENTS, describe
from hubd.http.foreign import static_first_of
from hubd.http.openai import HOUSEHOLD, raw_name, sources, utterance_of
from hubd.http.services import SERVICES, Services
from hubd.http.sse import frame, stream
from hubd.supervisor import EngineDown
from hubd.turn_events import Done, Failed, Token

ROLES = ("system", "developer", "user", "assistant")
TEXT_PARTS = ("input_text", "output_text", "text")

Piece = str | ToolCallPart | Usage
"""What an answer is made of: text as it comes, calls, and the token counts at its end."""


class Body(msgspec.Struct, kw_only=True):
    """What is read of a request; the other fields do not apply to this hub."""

    input: str | list[dict[str, Any]]
    model: str | None = None
    instructions: str | None = None
    stream: bool | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    tools: list[dict[str, Any]] | None = None
    text: dict[str, Any] | None = None
    user: str | None = None
    previous_response_id: str | None = None


@describe(body=Body, reply=replies.Response, streamed=SERVER_SENT_EVENTS)
async def responses(request: web.Request) -> web.StreamResponse:
    """``POST /v1/responses``."""
    services = request.app[SERVICES]
    raw = await raw_name(request)
    body = await read_body(request, Body)
    if body.previous_response_id:
        raise BadRequestError(
            "previous_response_id: this hub keeps no responses; send the conversation in input"
        )
    wanted = _chat_request(body, raw)
    if raw:
        wanted, _ = static_first_of(request, wanted)
        pieces = _of_model(services, wanted)
    else:
        person = caller_of(request).person
        handed = request_tools.reply(wanted.messages, wanted.tools or [], person)
        if handed:
            pieces = _of_tools(handed)
        else:
            pieces = _of_house(services, utterance_of(wanted.messages, person))
    form = _Form(body.model or HOUSEHOLD)
    async with services.turns.one():
        if body.stream:
            return await stream(request, form.frames(pieces))
        async with aclosing(pieces):
            async for piece in pieces:
                form.take(piece)
        return reply(form.response("completed"))


# What is asked


def _chat_request(body: Body, model: str | None) -> ChatRequest:
    messages = [ChatMessage("system", body.instructions)] if body.instructions else []
    if isinstance(body.input, str):
        messages.append(ChatMessage("user", body.input))
    else:
        messages += [_message(index, item) for index, item in enumerate(body.input)]
    return ChatRequest(
        model=model,
        messages=messages,
        max_tokens=body.max_output_tokens,
        temperature=body.temperature,
        top_p=body.top_p,
        tools=[_tool(index, tool) for index, tool in enumerate(body.tools or ())] or None,
        response_format=_format((body.text or {}).get("format")),
    )


def _message(index: int, item: dict[str, Any]) -> ChatMessage:
    """An item of the conversation: a message, a call, or what a call returned."""
    where = f"input[{index}]"
    kind = item.get("type", "message")
    if kind == "function_call":
        function = FunctionCall(_text(item, "name", where), _text(item, "arguments", where))
        call = ToolCallPart(id=_text(item, "call_id", where), type="function", function=function)
        return ChatMessage("assistant", "", tool_calls=[call])
    if kind == "function_call_output":
        output = _text(item, "output", where)
        return ChatMessage("tool", output, tool_call_id=_text(item, "call_id", where))
    role = item.get("role")
    if kind != "message" or role not in ROLES:
        raise BadRequestError(f"{where}: must be a message, a function_call or its output")
    content = item.get("content")
    if isinstance(content, str):
        return ChatMessage(role, content)
    parts = content if isinstance(content, list) else []
    if not all(isinstance(p, dict) and p.get("type") in TEXT_PARTS for p in parts):
        raise BadRequestError(f"{where}.content: this hub reads text only")
    return ChatMessage(role, "".join(_text(part, "text", f"{where}.content") for part in parts))


def _text(item: dict[str, Any], key: str, where: str) -> str:
    value = item.get(key)
    if not isinstance(value, str):
        raise BadRequestError(f"{where}.{key}: must be a text")
    return value


def _tool(index: int, tool: dict[str, Any]) -> FunctionTool:
    if tool.get("type") != "function" or not isinstance(tool.get("name"), str):
        raise BadRequestError(f"tools[{index}]: this hub knows functions with a name only")
    function = {k: v for k, v in tool.items() if k in ("name", "description", "parameters")}
    return FunctionTool(type="function", function=function)


def _format(value: Any) -> ResponseFormat | None:
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "json_schema" and isinstance(value.get("schema"), dict):
        schema = JsonSchema(schema=value["schema"], name=value.get("name"))
        return ResponseFormat(type="json_schema", json_schema=schema)
    if kind == "json_object":
        return ResponseFormat(type="json_object")
    return None


# What is answered


async def _of_house(services: Services, utterance: Utterance) -> AsyncGenerator[Piece, None]:
    async with aclosing(events(services, utterance)) as turn:
        async for event in turn:
            if isinstance(event, Token):
                yield event.text
            elif isinstance(event, Failed):
                raise failure(event)
            elif isinstance(event, Done):
                if text := sources(event.citations):
                    yield text
                read = event.timings.prompt_tokens or 0
                written = event.timings.completion_tokens or 0
                yield Usage(
                    prompt_tokens=read, completion_tokens=written, total_tokens=read + written
                )


async def _of_tools(handed: request_tools.Handed) -> AsyncGenerator[Piece, None]:
    if handed.call is None:
        yield handed.text
    else:
        yield ToolCallPart(id=f"call_{uuid.uuid4().hex[:12]}", function=handed.call)


async def _of_model(services: Services, wanted: ChatRequest) -> AsyncGenerator[Piece, None]:
    client = await services.engine.named(wanted.model or "")
    try:
        async with aclosing(client.chat_deltas(wanted)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Answered):
                    yield delta.usage or Usage(prompt_tokens=0, total_tokens=0)
                    return
                if delta.content:
                    yield delta.content
                for call in delta.tool_calls or ():
                    yield call
    except EngineRefused as error:
        refused = HubError(error.message)
        refused.status, refused.code = error.status, error.code or "bad_request"
        raise refused from error
    except EngineError as error:
        raise EngineDown(f"The language model went away: {error}", "Ask again.") from error


class _Form:
    """One response as it grows, and the events that tell of it."""

    def __init__(self, model: str) -> None:
        self._id = f"resp_{uuid.uuid4().hex}"
        self._created = int(time.time())
        self._model = model
        self._items: list[dict[str, Any]] = []
        self._usage: Usage | None = None
        self._number = -1

    def take(self, piece: Piece) -> list[bytes]:
        """Add a piece; the frames that tell of it."""
        if isinstance(piece, Usage):
            self._usage = piece
            return []
        if isinstance(piece, ToolCallPart):
            return self._call(piece)
        frames = []
        if not self._items or self._items[-1]["type"] != "message":
            part = {"type": "output_text", "text": "", "annotations": []}
            item = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant"}
            self._items.append(item | {"status": "in_progress", "content": [part]})
            frames.append(self._told("output_item.added", item=self._items[-1] | {"content": []}))
            frames.append(self._told("content_part.added", part=part | {}, content_index=0))
        self._items[-1]["content"][0]["text"] += piece
        return [*frames, self._told("output_text.delta", delta=piece, content_index=0, logprobs=[])]

    async def frames(self, pieces: AsyncGenerator[Piece, None]) -> AsyncGenerator[bytes, None]:
        """The stream of events, from ``response.created`` to ``response.completed`` or an error."""
        yield self._event("response.created", response=self.response("in_progress"))
        yield self._event("response.in_progress", response=self.response("in_progress"))
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    for made in self.take(piece):
                        yield made
        except HubError as error:
            told = error_body("/v1/", error.code, error.message, error.hint, error.status)["error"]
            yield self._event("error", code=told["code"], message=told["message"], param=None)
            return
        if self._items and self._items[-1]["type"] == "message":
            for made in self._message_done():
                yield made
        yield self._event("response.completed", response=self.response("completed"))

    def response(self, status: str) -> dict[str, Any]:
        """The response object as it stands."""
        usage = self._usage
        done = status == "completed"
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "model": self._model,
            "output": [i | {"status": "completed"} for i in self._items] if done else [],
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": usage.prompt_tokens if usage else 0,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": usage.completion_tokens if usage else 0,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.total_tokens if usage else 0,
            }
            if done
            else None,
        }

    def _call(self, call: ToolCallPart) -> list[bytes]:
        frames = []
        if self._items and self._items[-1]["type"] == "message":
            frames = self._message_done()
        item = {
            "id": f"fc_{uuid.uuid4().hex}",
            "type": "function_call",
            "call_id": call.id,
            "name": call.function.name,
            "arguments": call.function.arguments,
            "status": "completed",
        }
        self._items.append(item)
        named = {"item_id": item["id"], "name": item["name"]}
        text = call.function.arguments
        return [
            *frames,
            self._told("output_item.added", item=item | {"arguments": "", "status": "in_progress"}),
            self._told("function_call_arguments.delta", item_id=item["id"], delta=text),
            self._told("function_call_arguments.done", **named, arguments=text),
            self._told("output_item.done", item=item),
        ]

    def _message_done(self) -> list[bytes]:
        item = self._items[-1]
        if item["status"] == "completed":
            return []
        item["status"] = "completed"
        part = item["content"][0]
        return [
            self._told("output_text.done", text=part["text"], content_index=0, logprobs=[]),
            self._told("content_part.done", part=part, content_index=0),
            self._told("output_item.done", item=item),
        ]

    def _told(self, name: str, **fields: Any) -> bytes:
        """An event about the item at the end of the output."""
        item = self._items[-1]
        whole = "item" in fields or "item_id" in fields
        about = {} if whole else {"item_id": item["id"]}
        return self._event(f"response.{name}", output_index=len(self._items) - 1, **about, **fields)

    def _event(self, kind: str, **fields: Any) -> bytes:
        self._number += 1
        return frame(kind, {"type": kind, "sequence_number": self._number} | fields)


ROUTES = [web.post("/v1/responses", responses)]
