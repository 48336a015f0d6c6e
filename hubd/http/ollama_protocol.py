"""Ollama's requests as they come, in the engine's terms; its replies in Ollama's form.

Clients differ in how they write the same thing: ``num_ctx`` as a float, ``keep_alive`` as a number
of seconds or as Go writes durations, results of tools without a name. All of that ends here.
"""

import re
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

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
from hubd.errors import BadRequestError

NANOSECONDS = 1_000_000_000

_UNIT_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"[+-]?(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+|[+-]?\d+(?:\.\d*)?")
_PART = re.compile(r"(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)?")

_RENAMED = {"repeat_penalty": "repetition_penalty"}
_NUMBERS = (
    "temperature",
    "top_p",
    "min_p",
    "typical_p",
    "mirostat_tau",
    "mirostat_eta",
    "repeat_penalty",
    "presence_penalty",
    "frequency_penalty",
)
_WHOLE = ("top_k", "seed", "mirostat")


class CalledFunction(msgspec.Struct, kw_only=True):
    name: str
    arguments: dict[str, Any] = {}


class CalledTool(msgspec.Struct, kw_only=True):
    function: CalledFunction


class Message(msgspec.Struct, kw_only=True):
    """One message. A tool's result may come without saying whose it is."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    thinking: str | None = None
    images: list[str] | None = None
    tool_calls: list[CalledTool] | None = None
    tool_name: str | None = None


class Common(msgspec.Struct, kw_only=True):
    """What chat and generate have in common."""

    model: str
    stream: bool | None = None
    """Ollama streams unless told not to."""
    format: str | dict[str, Any] | None = None
    options: dict[str, Any] | None = None
    keep_alive: float | str | None = None
    think: bool | str | None = None

    def streams(self) -> bool:
        return self.stream is not False


class Chat(Common, kw_only=True):
    """Body of ``POST /api/chat``."""

    messages: list[Message] = []
    tools: list[FunctionTool] | None = None


class Generate(Common, kw_only=True):
    """Body of ``POST /api/generate``."""

    prompt: str = ""
    system: str | None = None
    raw: bool | None = None
    suffix: str | None = None
    images: list[str] | None = None


def keep_alive_seconds(value: float | str | None) -> float | None:
    """How long a model is to stay loaded: ``None`` if not said, below 0 for ever.

    Numbers are seconds; texts are numbers too, or durations as Go writes them (``1h30m``).

    Raises:
        BadRequestError: a text that is neither.
    """
    if value is None or isinstance(value, int | float):
        return value
    text = value.strip()
    if not _DURATION.fullmatch(text):
        raise BadRequestError(f"keep_alive: not a duration: {value!r}; write 5m, 30s or -1")
    parts = _PART.findall(text)
    seconds = sum(float(number) * _UNIT_S[unit or "s"] for number, unit in parts)
    return -seconds if text.startswith("-") else seconds


def chat_request(body: Chat) -> ChatRequest:
    """A chat in the engine's terms.

    Raises:
        BadRequestError: pictures, or an option that is no number.
    """
    return _request(body, chat_messages(body.messages), body.tools)


def generate_request(body: Generate) -> ChatRequest:
    """One prompt as a chat of one message, or two with a ``system`` text.

    Raises:
        BadRequestError: as ``chat_request``, or text to be filled in between two others.
    """
    if body.suffix:
        raise BadRequestError("suffix: filling in between two texts is not supported")
    if body.images:
        raise _no_pictures()
    system = [ChatMessage("system", body.system)] if body.system else []
    return _request(body, [*system, ChatMessage("user", body.prompt)], None)


def chat_messages(messages: list[Message]) -> list[ChatMessage]:
    """The conversation. Results without a name belong to the calls before them, in order.

    Raises:
        BadRequestError: a message holds pictures.
    """
    made: list[ChatMessage] = []
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message.images:
            raise _no_pictures()
        calls = [
            ToolCallPart(
                id=f"call_{index}_{number}",
                type="function",
                function=FunctionCall(
                    call.function.name, msgspec.json.encode(call.function.arguments).decode()
                ),
            )
            for number, call in enumerate(message.tool_calls or ())
        ]
        answered = waiting.pop(0) if message.role == "tool" and waiting else None
        waiting += [call.id for call in calls]
        made.append(
            ChatMessage(
                message.role,
                message.content or "",
                tool_calls=calls or None,
                tool_call_id=answered,
                name=message.tool_name if message.role == "tool" else None,
                reasoning_content=message.thinking or None,
            )
        )
    return made


def _request(
    body: Common, messages: list[ChatMessage], tools: list[FunctionTool] | None
) -> ChatRequest:
    keep_alive_seconds(body.keep_alive)
    options = _options(body.options or {})
    return ChatRequest(
        messages=messages, tools=tools or None, response_format=_form(body.format), **options
    )


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """Sampling parameters; what else Ollama's options hold is about how it runs, not what it says.

    ``num_ctx`` among them: the hub's context has one size, set in its configuration.
    """
    kinds = dict.fromkeys(_NUMBERS, float) | dict.fromkeys(_WHOLE, int)
    made: dict[str, Any] = {}
    for name, kind in kinds.items():
        if given.get(name) is not None:
            made[_RENAMED.get(name, name)] = _number(f"options.{name}", given[name], kind)
    if given.get("num_predict") is not None:
        limit = _number("options.num_predict", given["num_predict"], int)
        if limit > 0:  # -1 and -2 mean: until the model ends, or the context is full
            made["max_tokens"] = limit
    if (stop := given.get("stop")) is not None:
        if not isinstance(stop, str | list) or not all(isinstance(s, str) for s in stop):
            raise BadRequestError("options.stop: a text or a list of texts")
        made["stop"] = stop
    return made


def _number(name: str, value: Any, kind: type) -> Any:
    """``value`` as a number; a whole number may come as 40.0."""
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadRequestError(f"{name}: must be a number, not {value!r}") from error


def _form(value: str | dict[str, Any] | None) -> ResponseFormat | None:
    if value is None or value == "":
        return None
    if value == "json":
        return ResponseFormat(type="json_object")
    if isinstance(value, str):
        raise BadRequestError(f"format: must be 'json' or a JSON schema, not {value!r}")
    return ResponseFormat(type="json_schema", json_schema=JsonSchema(schema=value, name="answer"))


def _no_pictures() -> BadRequestError:
    return BadRequestError("images: this hub reads no pictures")


def now() -> str:
    """The time as Ollama writes it."""
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def ending(reason: str | None, began: float, ended: float, usage: Usage | None) -> dict[str, Any]:
    """The fields of a last reply; ``began`` and ``ended`` in seconds of one clock."""
    reasons = {"length": "length", "load": "load", "unload": "unload"}
    total = round((ended - began) * NANOSECONDS)
    return {
        "done": True,
        "done_reason": reasons.get(reason or "", "stop"),
        "total_duration": total,
        "load_duration": 0,
        "prompt_eval_count": usage.prompt_tokens if usage else 0,
        "prompt_eval_duration": 0,
        "eval_count": usage.completion_tokens if usage else 0,
        "eval_duration": total,
    }


def called(name: str, arguments: str) -> dict[str, Any]:
    """A call as Ollama writes it: arguments as an object. What is no object is shown as it is."""
    try:
        parsed = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        parsed = {"arguments": arguments}
    return {
        "function": {
            "name": name,
            "arguments": parsed if isinstance(parsed, dict) else {"arguments": parsed},
        }
    }
