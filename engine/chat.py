"""Messages → prompt tokens through the model's own Jinja template, in a sandbox.

A message can never forge a control token: contents are replaced by placeholders before rendering,
and control tokens are recognised only in what the template itself wrote. Knows nothing of requests
or models.
"""

import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import jinja2
import msgspec

from engine.chat_parse import END_THINK, convention_of
from engine.default_templates import default_template
from engine.errors import ChatTemplateError
from engine.template_sandbox import compile_template, run
from engine.tokenizer import Tokenizer

# Private-use characters around a number: no filter (trim, upper …) changes them.
_OPEN, _CLOSE = "\ue000", "\ue001"


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation: who speaks, and what."""

    role: str
    content: str
    extra: dict[str, Any] = {}
    """What templates know besides: "tool_calls", "tool_call_id", "name", "reasoning_content"."""


class ChatTemplate:
    """A model's chat template, compiled at its first use."""

    def __init__(self, source: str | None) -> None:
        self._source = source
        self.convention = convention_of(source or "")
        """How the model writes tool calls: a key of chat_parse.CONVENTIONS."""
        self.thinks = END_THINK in (source or "")

    def encode(
        self,
        messages: Sequence[Message],
        tokenizer: Tokenizer,
        tools: Sequence[dict[str, Any]] = (),
    ) -> list[int]:
        """Prompt tokens that make the model speak next.

        Raises ChatTemplateError when there is no usable template or it refuses the messages.
        """
        ids: list[int] = []
        for stretch in self.render(messages, tokenizer, tools):
            if isinstance(stretch, int):
                ids.append(stretch)
            else:
                ids.extend(tokenizer.encode(stretch, add_special=False))
        return ids

    def render(
        self,
        messages: Sequence[Message],
        tokenizer: Tokenizer,
        tools: Sequence[dict[str, Any]] = (),
    ) -> list[str | int]:
        """The prompt as plain stretches of text and the control tokens between them.

        Text around a message and the message are one stretch, so that they tokenize as a whole.
        tools: OpenAI's descriptions of functions.
        """
        for message in messages:
            if not message.role.isidentifier():
                raise ChatTemplateError(f"{message.role!r} is no role; use a plain word")
        if tools and "tools" not in (self._source or ""):
            messages, tools = with_tools_in_words(messages, tools, self.convention), ()
        placeholders = _Placeholders(tokenizer.control)
        shown = [
            {"role": message.role, "content": placeholders.hide(message.content)}
            | placeholders.disarm(message.extra)
            for message in messages
        ]
        offered = placeholders.disarm(list(tools)) or None
        stretches: list[str | int] = []
        for part in tokenizer.split_special(self._run(shown, offered, tokenizer)):
            stretches.append(part if isinstance(part, int) else placeholders.reveal(part))
        return stretches

    def _run(
        self, messages: list[dict[str, Any]], tools: list[Any] | None, tokenizer: Tokenizer
    ) -> str:
        return run(
            self._template,
            messages=messages,
            add_generation_prompt=True,
            bos_token=_spelled(tokenizer, tokenizer.bos_id),
            eos_token=_spelled(tokenizer, tokenizer.eos_id),
            tools=tools,
            documents=None,
        )

    @cached_property
    def _template(self) -> jinja2.Template:
        if not self._source:
            raise ChatTemplateError(
                "this model file has no chat template, and its vocabulary tells of none; use"
                " /v1/completions with a whole prompt"
            )
        return compile_template(self._source)


class _Placeholders:
    """Message contents hidden from the template, to be put back into what it wrote."""

    def __init__(self, control: Iterable[str]) -> None:
        self._nonce = secrets.randbits(64)
        self._contents: list[str] = []
        self._pattern = re.compile(f"{_OPEN}{self._nonce}_([0-9]+){_CLOSE}")
        self._control = frozenset(control)

    def hide(self, content: str) -> str:
        """A placeholder; white space at the edges stays, since templates trim or test for it."""
        inner = content.strip()
        if not inner:
            return content
        start = content.index(inner)
        self._contents.append(inner)
        number = len(self._contents) - 1
        hidden = f"{_OPEN}{self._nonce}_{number}{_CLOSE}"
        return content[:start] + hidden + content[start + len(inner) :]

    def disarm(self, value: Any) -> Any:
        """The same data with a placeholder for each string that could make a control token.

        Others stay, since templates look into tools. Templates write them as JSON, so what is
        hidden is spelled as within a JSON string.
        """
        if isinstance(value, str):
            escaped = json.dumps(value, ensure_ascii=False)[1:-1]
            return self.hide(escaped) if self._dangerous(value) else value
        if isinstance(value, Mapping):
            return {self.disarm(key): self.disarm(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [self.disarm(entry) for entry in value]
        return value

    def _dangerous(self, text: str) -> bool:
        """It holds a control token, or begins or ends with a part of one."""
        starts, ends = self._parts_of_control
        sizes = range(1, min(len(text), max(map(len, self._control), default=0)) + 1)
        return (
            _OPEN in text
            or _CLOSE in text
            or any(token in text for token in self._control)
            or any(text[-size:] in starts or text[:size] in ends for size in sizes)
        )

    @cached_property
    def _parts_of_control(self) -> tuple[set[str], set[str]]:
        cuts = [(token, size) for token in self._control for size in range(1, len(token))]
        return {token[:size] for token, size in cuts}, {token[size:] for token, size in cuts}

    def reveal(self, text: str) -> str:
        revealed = self._pattern.split(text)
        if any(_OPEN in part or _CLOSE in part for part in revealed[::2]):
            raise ChatTemplateError("the chat template cuts messages apart, which is not supported")
        revealed[1::2] = [self._contents[int(number)] for number in revealed[1::2]]
        return "".join(revealed)


_TOOLS_IN_WORDS = {
    "gemma": (
        "You can call these functions, described in JSON:\n{tools}\nTo call one, answer with"
        " nothing but\n```tool_code\nname(argument=value)\n```"
    ),
    "hermes": (
        "You can call these functions:\n<tools>\n{tools}\n</tools>\nTo call one, answer with"
        " nothing but\n<tool_call>\n"
        '{{"name": <function name>, "arguments": <arguments as a JSON object>}}\n</tool_call>'
    ),
}


def with_tools_in_words(
    messages: Sequence[Message], tools: Sequence[dict[str, Any]], convention: str
) -> list[Message]:
    """The conversation with the tools in its system message, for templates that know none."""
    described = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    form = _TOOLS_IN_WORDS.get(convention, _TOOLS_IN_WORDS["hermes"])
    words = form.format(tools=described)
    if messages and messages[0].role == "system":
        return [Message("system", f"{messages[0].content}\n\n{words}"), *messages[1:]]
    return [Message("system", words), *messages]


def _spelled(tokenizer: Tokenizer, token: int | None) -> str:
    return "" if token is None else tokenizer.token_text(token)


def chat_template_of(metadata: Mapping[str, Any]) -> ChatTemplate:
    """The template a GGUF file carries in ``tokenizer.chat_template``, else its family's own."""
    source = metadata.get("tokenizer.chat_template")
    return ChatTemplate(source if isinstance(source, str) else default_template(metadata))
