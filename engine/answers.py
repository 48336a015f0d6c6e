"""Between OpenAI's chat protocol and the engine: what a request means, what an answer becomes.

Knows requests, replies and pieces; knows nothing of HTTP.
"""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from engine.chat import ChatTemplate, Message
from engine.chat_parse import (
    CONVENTIONS,
    END_THINK,
    THINK,
    ChatParser,
    Content,
    Event,
    Reasoning,
    ToolCall,
)
from engine.errors import InvalidRequestError
from engine.generate import Finished, Piece
from engine.protocol import (
    ChatChoice,
    ChatDelta,
    ChatLogprobs,
    ChatMessage,
    ChatReplyMessage,
    ChatRequest,
    CompletionRequest,
    FunctionCall,
    Likely,
    SamplingFields,
    TextLogprobs,
    TokenLikely,
    ToolCallPart,
)
from engine.sampling import TokenLogprobs
from engine.sampling_params import Grammar, SamplingParams
from engine.tokenizer import Tokenizer
from engine.tool_choice import call_grammar, chosen_tools

MAX_ANSWERS = 8
_LONGEST_OPENING_TOKENS = 8


def sampling_of(body: ChatRequest | CompletionRequest) -> SamplingParams:
    """The sampling parameters of a request; what it leaves out has the default."""
    if body.n is not None and not 1 <= body.n <= MAX_ANSWERS:
        raise InvalidRequestError(f"n is {body.n}; it must be 1 to {MAX_ANSWERS}", param="n")
    if (body.n or 1) > 1 and (body.beam_width or 1) > 1:
        raise InvalidRequestError("n does not go with beam_width", param="n")
    given = {
        name: value
        for name in SamplingParams.__struct_fields__
        if (value := getattr(body, name, None)) is not None
    }
    given["max_tokens"] = body.max_tokens
    if isinstance(body, ChatRequest):
        newer = body.max_completion_tokens  # OpenAI's name for it since 2024
        given["max_tokens"] = body.max_tokens if newer is None else newer
        given["logprobs"] = (body.top_logprobs or 0) if body.logprobs else None
    if body.stop is not None:
        given["stop"] = (body.stop,) if isinstance(body.stop, str) else tuple(body.stop)
    if body.banned_phrases is not None:
        given["banned_phrases"] = tuple(body.banned_phrases)
    return SamplingParams(**given, grammar=_grammar(body))


def seeded(params: SamplingParams, index: int) -> SamplingParams:
    """The parameters of the index-th of several answers: the same but for the seed."""
    if params.seed is None or not index:
        return params
    return msgspec.structs.replace(params, seed=(params.seed + index) % 2**63)


def _grammar(body: SamplingFields) -> Grammar | None:
    asked: list[Grammar] = []
    if body.guided_regex is not None:
        asked.append(Grammar("regex", body.guided_regex, "guided_regex"))
    if body.guided_grammar is not None:
        asked.append(Grammar("grammar", body.guided_grammar, "guided_grammar"))
    form = body.response_format
    if form is not None and form.type == "json_object":
        asked.append(Grammar("json_schema", '{"type": "object"}', "response_format"))
    if form is not None and form.type == "json_schema":
        if form.json_schema is None:
            raise InvalidRequestError(
                "response_format has no json_schema", param="response_format.json_schema"
            )
        schema = json.dumps(form.json_schema.schema)
        asked.append(Grammar("json_schema", schema, "response_format"))
    if len(asked) > 1:
        names = " and ".join(grammar.param for grammar in asked)
        raise InvalidRequestError(f"{names} exclude each other", param=asked[1].param)
    return asked[0] if asked else None


def messages_of(body: ChatRequest) -> list[Message]:
    """The conversation as templates take it. Raises InvalidRequestError if there is none."""
    if not body.messages:
        raise InvalidRequestError("messages is empty; send at least one", param="messages")
    return [
        Message(
            "system" if message.role == "developer" else message.role,
            message.text(),
            _extra(message),
        )
        for message in body.messages
    ]


def _extra(message: ChatMessage) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    for name in ("tool_call_id", "name", "reasoning_content"):
        if (value := getattr(message, name)) is not None:
            extra[name] = value
    if message.tool_calls:
        extra["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.function.name,
                    "arguments": _arguments(call.function.arguments),
                },
            }
            for call in message.tool_calls
        ]
    return extra


def _arguments(text: str) -> Any:
    """Templates expect an object where OpenAI's protocol has JSON in a string."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def tools_of(body: ChatRequest) -> tuple[list[dict[str, Any]], bool]:
    """The tools on offer, and whether one has to be called. Raises InvalidRequestError."""
    for tool in body.tools or ():
        if not isinstance(tool.function.get("name"), str):
            raise InvalidRequestError("a tool's function has no name", param="tools")
    tools = [{"type": tool.type, "function": tool.function} for tool in body.tools or ()]
    return chosen_tools(tools, body.tool_choice)


def with_forced_call(
    params: SamplingParams,
    template: ChatTemplate,
    tokenizer: Tokenizer,
    prompt: Sequence[int],
    tools: Sequence[dict[str, Any]],
) -> SamplingParams:
    """The parameters of an answer that has to be a call. Raises InvalidRequestError."""
    if params.grammar is not None:
        raise InvalidRequestError(
            f"tool_choice and {params.grammar.param} exclude each other", param=params.grammar.param
        )
    thinking = _opens_reasoning(template, tokenizer, prompt)
    grammar = call_grammar(template.convention, tokenizer.control, tools, thinking=thinking)
    return msgspec.structs.replace(params, grammar=grammar)


def _opens_reasoning(template: ChatTemplate, tokenizer: Tokenizer, prompt: Sequence[int]) -> bool:
    """Whether the prompt ends within a reasoning block."""
    if not template.thinks:
        return False
    controls = set(tokenizer.control.values())
    opening = "".join(
        tokenizer.token_text(token) if token in controls else tokenizer.decode([token])
        for token in prompt[-_LONGEST_OPENING_TOKENS:]
    )
    return opening.rstrip().endswith(THINK)


def shown_tokens(template: ChatTemplate, tokenizer: Tokenizer, tools: bool) -> list[int]:
    """Control tokens that mark tool calls and reasoning, to be read as text."""
    convention = CONVENTIONS[template.convention]
    calls = (*convention.opening, convention.closing or "") if tools else ()
    marks = (*calls, THINK, END_THINK) if template.thinks else calls
    return [tokenizer.control[mark] for mark in marks if mark in tokenizer.control]


class ChatAnswer:
    """One answer of a chat: pieces in, parts of a reply out."""

    def __init__(
        self,
        template: ChatTemplate,
        tokenizer: Tokenizer,
        prompt: Sequence[int],
        tools: Sequence[dict[str, Any]],
        *,
        most_calls: int | None = None,
    ) -> None:
        """most_calls: of tools that are told; None: all."""
        self._most_calls = most_calls
        self._parser = ChatParser(
            template.convention if tools else None,
            [tool["function"]["name"] for tool in tools],
            thinks=template.thinks,
            thinking=_opens_reasoning(template, tokenizer, prompt),
        )
        self._tokenizer = tokenizer
        self._calls = 0
        self._logprobs: list[TokenLikely] = []
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._parts: list[ToolCallPart] = []

    def push(self, piece: Piece) -> list[ChatDelta]:
        """What a piece of the answer adds to the reply."""
        if piece.logprobs is not None:
            self._logprobs.append(_likely(piece.logprobs, self._tokenizer))
        return self._deltas(self._parser.push(piece.text))

    def finish(self, finished: Finished) -> tuple[list[ChatDelta], str]:
        """What the end adds, and why the answer ended."""
        deltas = self._deltas(self._parser.finish())
        called = self._calls and finished.reason == "stop"
        return deltas, "tool_calls" if called else finished.reason

    def take_logprobs(self) -> ChatLogprobs | None:
        """Of the tokens since the last call."""
        taken, self._logprobs = self._logprobs, []
        return ChatLogprobs(taken) if taken else None

    def choice(self, index: int, finished: Finished) -> ChatChoice:
        """The whole answer, once all its pieces have been pushed."""
        _, reason = self.finish(finished)
        content, reasoning = "".join(self._content), "".join(self._reasoning)
        message = ChatReplyMessage(
            content=content if content or not self._parts else None,
            reasoning_content=reasoning or msgspec.UNSET,
            tool_calls=self._parts or msgspec.UNSET,
        )
        return ChatChoice(
            message=message, finish_reason=reason, index=index, logprobs=self.take_logprobs()
        )

    def _deltas(self, events: Sequence[Event]) -> list[ChatDelta]:
        return [
            self._delta(event)
            for event in events
            if not isinstance(event, ToolCall) or self._calls != self._most_calls
        ]

    def _delta(self, event: Event) -> ChatDelta:
        match event:
            case Content(text=text):
                self._content.append(text)
                return ChatDelta(content=text)
            case Reasoning(text=text):
                self._reasoning.append(text)
                return ChatDelta(reasoning_content=text)
            case ToolCall():
                call = FunctionCall(event.name, event.arguments)
                part = ToolCallPart(function=call, id=event.id, type="function")
                self._parts.append(part)
                self._calls += 1
                return ChatDelta(tool_calls=[msgspec.structs.replace(part, index=self._calls - 1)])


def text_logprobs(found: Sequence[TokenLogprobs], tokenizer: Tokenizer) -> TextLogprobs:
    """The form of plain completions."""
    return TextLogprobs(
        tokens=[_name(entry.token, tokenizer) for entry in found],
        token_logprobs=[entry.logprob for entry in found],
        top_logprobs=[
            {_name(token, tokenizer): logprob for token, logprob in entry.top} for entry in found
        ],
    )


def _likely(found: TokenLogprobs, tokenizer: Tokenizer) -> TokenLikely:
    def described(token: int) -> tuple[str, list[int]]:
        return _name(token, tokenizer), list(tokenizer.token_bytes(token))

    name, raw = described(found.token)
    top = [
        Likely(name, logprob, raw)
        for token, logprob in found.top
        for name, raw in [described(token)]
    ]
    return TokenLikely(name, found.logprob, raw, top)


def _name(token: int, tokenizer: Tokenizer) -> str:
    """A token's text, or its name if it has none."""
    raw = tokenizer.token_bytes(token)
    return raw.decode("utf-8", "replace") if raw else tokenizer.token_text(token)
