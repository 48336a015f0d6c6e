"""What a turn emits: one stream of typed events for every adapter (chat page, CLI, OpenAI).

A turn ends with exactly one ``Done`` or one ``Failed``. On the wire each event is a server-sent
event whose ``event:`` is the tag below and whose ``data:`` is the JSON of the fields.
"""

from typing import Any, Literal

import msgspec

from plugins.api import ToolCall
from rag.types import Passage, Reranking


class Citation(Passage, frozen=True, kw_only=True):
    """A passage that supports a part of the answer."""

    answer_start: int = 0
    answer_end: int = 0
    """Character offsets into the answer of the sentence that this passage supports."""


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that was carried out (or refused), as told to the person."""

    tool: str
    arguments: dict[str, Any]
    text: str
    """What was done, in words read back from the result, never from the model's claim."""
    ok: bool = True
    data: dict[str, Any] = {}
    undo: ToolCall | None = None
    """The call that takes it back, where there is one."""
    language: str = ""
    """The language of ``text``."""


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds since the turn began, and token counts.

    ``None`` where a step did not run, or where the model was stopped before it counted.
    """

    route_ms: float | None = None
    retrieve_ms: float | None = None
    first_token_ms: float | None = None
    total_ms: float = 0.0
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None


class PromptPart(msgspec.Struct, frozen=True, kw_only=True):
    """One message of what the language model read."""

    role: str
    content: str


class Started(msgspec.Struct, frozen=True, kw_only=True, tag="start"):
    conversation: str
    """Send it back with the next utterance to go on in the same conversation."""


class Retrieved(msgspec.Struct, frozen=True, kw_only=True, tag="passages"):
    passages: list[Passage]
    quote: Passage | None = None
    """What answers best, where anything does: to be read while the answer is written."""
    reranking: Reranking | None = None
    """What a cross-encoder did with their order, where one is configured."""


class Token(msgspec.Struct, frozen=True, kw_only=True, tag="token"):
    text: str
    """A piece of the answer. All pieces joined are ``Done.answer``."""


class Cited(msgspec.Struct, frozen=True, kw_only=True, tag="citation"):
    index: int
    """Counts from 0 in the order of ``Done.citations``."""
    citation: Citation


class Acted(msgspec.Struct, frozen=True, kw_only=True, tag="action"):
    action: Action


class Done(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    answer: str
    citations: list[Citation]
    """Of an answer, what it rests on; of a refusal, what comes closest, where anything does."""
    refused: bool
    """True when the documents do not tell and the answer says so."""
    actions: list[Action]
    timings: Timings
    conversation: str = ""
    asks: Literal["which", "confirm", "missing"] | None = None
    """Set when the answer is a question back; what the person says next in this conversation
    completes it."""
    speech: str | None = None
    """The answer as it is read aloud, where the caller asked for that."""
    prompt: list[PromptPart] | None = None
    """What the language model read for an answer from the documents; empty: it was not asked."""
    left_out: int = 0
    """Earlier messages of the conversation for which that had no room."""


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="error"):
    code: str
    """``engine_down``, ``no_model``, ``busy``, ``timeout``, ``cancelled`` or ``internal``."""
    message: str
    """What is wrong, in words for a person."""
    hint: str = ""
    """What to do about it."""


Event = Started | Retrieved | Token | Cited | Acted | Done | Failed
