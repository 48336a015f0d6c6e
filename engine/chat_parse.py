"""A model's answer as it grows → what it says, what it thinks, which tools it calls.

Each family of models marks tool calls in its own way; which one is told from the chat template.
The result is the same whether the answer comes whole or in pieces. Knows nothing of tokens.
"""

import ast
import json
import re
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec


class Content(msgspec.Struct, frozen=True):
    """Text for the reader."""

    text: str


class Reasoning(msgspec.Struct, frozen=True):
    """Text that the model wrote for itself."""

    text: str


class ToolCall(msgspec.Struct, frozen=True):
    """A call of a tool, complete."""

    name: str
    arguments: str
    """A JSON object."""
    id: str = ""


Event = Content | Reasoning | ToolCall


class Convention(msgspec.Struct, frozen=True, kw_only=True):
    """How a family writes tool calls."""

    opening: tuple[str, ...]
    closing: str | None
    """``None``: a call goes on until the next one or the end of the answer."""
    bare_json: bool = False
    """An answer that is a JSON object from its first character on is a call too."""


CONVENTIONS: dict[str, Convention] = {
    "hermes": Convention(opening=("<tool_call>",), closing="</tool_call>"),
    "llama3": Convention(opening=("<|python_tag|>",), closing=None, bare_json=True),
    "mistral": Convention(opening=("[TOOL_CALLS]",), closing=None),
    "phi": Convention(opening=("<|tool_call|>", "functools"), closing="<|/tool_call|>"),
    "gemma": Convention(opening=("```tool_code",), closing="```"),
}
"""ChatML and Hermes (Qwen, SmolLM), Llama 3, Mistral, Phi-4, and Gemma 3's Python calls."""

THINK, END_THINK = "<think>", "</think>"

# What a template must mention to be of a family, the first that fits.
_SIGNS = (
    ("mistral", "[TOOL_CALLS]"),
    ("phi", "<|tool_call|>"),
    ("phi", "functools"),
    ("llama3", "<|python_tag|>"),
    ("hermes", "<tool_call>"),
    ("llama3", "<|start_header_id|>"),
    ("gemma", "<start_of_turn>"),
)


def convention_of(template: str) -> str:
    """Name of the convention in CONVENTIONS that models with this chat template follow."""
    return next((name for name, sign in _SIGNS if sign in template), "hermes")


class ChatParser:
    """Reads one answer. Push its text as it comes, then ``finish`` once."""

    def __init__(
        self, convention: str | None, tools: Sequence[str], *, thinks: bool, thinking: bool = False
    ) -> None:
        """convention: of the tool calls, ``None`` where the request offers no tools.

        tools: names of those offered. thinks: reasoning is marked with <think>. thinking: the
        prompt has opened a reasoning block already.
        """
        self._calls = CONVENTIONS[convention] if convention is not None else None
        self._tools = frozenset(tools)
        self._openings = (THINK,) * thinks + (self._calls.opening if self._calls else ())
        self._block: str | None = THINK if thinking and thinks else None
        self._buffer = ""
        self._space = ""  # held back, to be dropped at the edges of blocks
        self._at_edge = self._block is not None
        self._started = False  # whether anything but white space has been seen

    def push(self, text: str) -> list[Event]:
        """What can be told for certain after this piece of the answer."""
        if not self._openings:
            return [Content(text)] if text else []
        self._buffer += text
        return list(self._read(final=False))

    def finish(self) -> list[Event]:
        """What is left when the answer is over."""
        events = list(self._read(final=True))
        if self._block is None and self._space and not self._at_edge:
            events.append(Content(self._space))
        return events

    def _read(self, *, final: bool) -> Iterator[Event]:
        while self._buffer:
            if self._block is None and not self._started and self._opens_with_json(final):
                return
            markers = self._markers()
            at, marker = _first_of(self._buffer, markers)
            if marker is None:
                if self._block in (None, THINK):
                    certain = len(self._buffer) - (0 if final else _held(self._buffer, markers))
                    text, self._buffer = self._buffer[:certain], self._buffer[certain:]
                    yield from self._show(text)
                elif final:
                    body, self._buffer = self._buffer, ""
                    yield from self._called(body, "")
                return
            body, self._buffer = self._buffer[:at], self._buffer[at + len(marker) :]
            yield from self._edge(body, marker)
        if final and self._block not in (None, THINK):
            yield from self._called("", "")

    def _markers(self) -> tuple[str, ...]:
        """What ends the present stretch."""
        if self._block is None:
            return self._openings
        if self._block == THINK:
            return (END_THINK,)
        assert self._calls is not None
        closing = self._calls.closing
        return self._calls.opening if closing is None else (closing,)

    def _edge(self, body: str, marker: str) -> Iterator[Event]:
        """``body``, then a marker where one kind of stretch ends and another begins."""
        self._started = True
        if self._block in (None, THINK):
            yield from self._show(body)
            self._block = None if self._block == THINK else marker
            self._at_edge = True
            if self._block in (None, THINK):
                self._space = ""
        else:
            closed = marker if self._calls and self._calls.closing else ""
            yield from self._called(body, closed)
            self._block = None if closed else marker

    def _show(self, text: str) -> Iterator[Event]:
        """Text without the white space at the edges of blocks."""
        if self._at_edge:
            text = text.lstrip()
        inner = text.rstrip()
        if inner:
            text, self._space = self._space + text, ""
            inner = text.rstrip()
            self._at_edge, self._started = False, True
            yield Reasoning(inner) if self._block == THINK else Content(inner)
            self._space = text[len(inner) :]
        else:
            self._space += text

    def _called(self, body: str, closing: str) -> Iterator[Event]:
        """The calls in a block; a block that holds none was meant for the reader."""
        calls = _parse_calls(body)
        if calls is None:
            text = self._space + (self._block or "") + body + closing
            self._at_edge = False
            yield Content(text)
        else:
            self._at_edge = True
            yield from calls
        self._block, self._space = None, ""

    def _opens_with_json(self, final: bool) -> bool:
        """Whether the answer is, so far, a bare JSON object, which only its end can tell."""
        if self._calls is None or not self._calls.bare_json:
            return False
        if not self._buffer.lstrip().startswith("{"):
            return False
        if not final:
            return True
        calls = _parse_calls(self._buffer)
        if calls is None or any(call.name not in self._tools for call in calls):
            return False
        self._block = ""
        return False


def _first_of(text: str, markers: Sequence[str]) -> tuple[int, str | None]:
    found = [(at, marker) for marker in markers if (at := text.find(marker)) >= 0]
    return min(found) if found else (0, None)


def _held(text: str, markers: Sequence[str]) -> int:
    """Length of the longest end of the text with which a marker may begin."""
    longest = min(len(text), max(map(len, markers)) - 1)
    for length in range(longest, 0, -1):
        if any(marker.startswith(text[-length:]) for marker in markers):
            return length
    return 0


def _parse_calls(body: str) -> list[ToolCall] | None:
    """The calls in a block, ``None`` if it is anything but calls."""
    body = body.strip()
    named = re.match(r"([\w.-]+)(?:\[CALL_ID\][\w-]*)?(?:\[ARGS\])?\s*(?=\{)", body)
    try:
        if named:  # newer Mistral: name[ARGS]{…}
            return [_call({"name": named[1], "arguments": json.loads(body[named.end() :])})]
        if body[:1] in ("{", "["):
            return [_call(value) for value in _json_values(body)] or None
        return _python_calls(body)
    except (ValueError, TypeError, KeyError, SyntaxError, RecursionError, MemoryError):
        return None


def _json_values(body: str) -> Iterator[Any]:
    """JSON values one after the other, lists opened; Llama 3 puts semicolons between."""
    decoder = json.JSONDecoder()
    at = 0
    while at < len(body):
        value, at = decoder.raw_decode(body, at)
        yield from value if isinstance(value, list) else [value]
        while at < len(body) and body[at] in " \t\r\n;,":
            at += 1


def _call(value: Any) -> ToolCall:
    """One call from its JSON form: "arguments" or, in Llama's words, "parameters"."""
    value = value.get("function", value) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise ValueError("no call")
    arguments = value.get("arguments", value.get("parameters", {}))
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    if not isinstance(arguments, dict):
        raise ValueError("arguments are no object")
    return ToolCall(value["name"], json.dumps(arguments, ensure_ascii=False), new_call_id())


def _python_calls(body: str) -> list[ToolCall] | None:
    """Calls in Python's syntax with literal arguments: ``set_timer(minutes=5)``; never run."""
    calls: list[ToolCall] = []
    for statement in ast.parse(body).body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "print" and len(call.args) == 1:
            call = call.args[0]
        if not isinstance(call, ast.Call) or call.args:
            return None
        arguments = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
        calls.append(_call({"name": ast.unparse(call.func), "arguments": arguments}))
    return calls or None


def new_call_id() -> str:
    """Nine letters and digits: what Mistral's templates demand and others accept."""
    return secrets.token_hex(5)[:9]
