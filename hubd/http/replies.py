"""The replies that handlers put together by hand, as their clients may rely on them.

The tests hold every JSON reply that they see against these; what is a struct elsewhere already is
named where its handler is.
"""

from typing import Any, Literal

import msgspec

from engine.protocol import Embedding, ModelCard, TextChoice, Timings, Usage
from hubd.home.home_assistant import HomeStatus
from hubd.policy import Role, Scope
from hubd.store.access import Token
from hubd.store.audit import Entry
from hubd.store.faults import State
from hubd.supervisor import EngineState
from hubd.turn_events import Citation, Done
from rag.rerank import RerankerStatus
from rag.types import FileReport


class Reply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of them; there is nothing in it that is not said here."""


# Errors, in the three forms that clients know


class ErrorDetail(Reply, frozen=True, kw_only=True):
    code: str
    message: str
    hint: str


class Error(Reply, frozen=True, kw_only=True):
    error: ErrorDetail


class OpenAiErrorDetail(Reply, frozen=True, kw_only=True):
    message: str
    type: str
    param: str | None
    code: str | None


class OpenAiError(Reply, frozen=True, kw_only=True):
    error: OpenAiErrorDetail


class OllamaError(Reply, frozen=True, kw_only=True):
    error: str


# The hub


class Health(Reply, frozen=True, kw_only=True):
    status: Literal["ok"]


class Checks(Reply, frozen=True, kw_only=True):
    database: State
    engine: str
    engine_server: Literal["none", "up", "away"]
    embedder: str
    home_assistant: str


class Readiness(Reply, frozen=True, kw_only=True):
    ready: bool
    checks: Checks
    hint: str = ""


class DocumentCounts(Reply, frozen=True, kw_only=True):
    ready: int
    skipped: int


class Memory(Reply, frozen=True, kw_only=True):
    hub_mb: int | None
    engine_mb: int | None


class Speed(Reply, frozen=True, kw_only=True):
    first_token_ms: float | None
    tokens_per_second: float | None


class Load(Reply, frozen=True, kw_only=True):
    answering: int
    active: int
    waiting: int
    prompt_tokens: int
    cached_tokens: int
    requests: int
    kv_blocks: int
    kv_blocks_in_use: int
    kv_blocks_cached: int


class Status(Reply, frozen=True, kw_only=True):
    version: str
    model: str
    engine: EngineState
    embedder: str
    reranker: RerankerStatus | None
    """None where no reranker is configured."""
    storage: State
    set_aside: str
    documents: DocumentCounts
    memory: Memory
    speed: Speed
    load: Load
    uptime_s: int


class AuditLine(Entry, frozen=True, kw_only=True, forbid_unknown_fields=True):
    number: int


class Forgotten(Reply, frozen=True, kw_only=True):
    turns: int
    devices: int
    documents: int


# Access


class Me(Reply, frozen=True, kw_only=True):
    """Only ``person``, and that null, for a stranger."""

    person: str | None
    role: Role | None = None
    scopes: list[Scope] = []
    areas: list[str] | None = None
    tools: list[str] | None = None


class Paired(Reply, frozen=True, kw_only=True):
    person: str
    role: Role
    scopes: list[Scope]


class Code(Reply, frozen=True, kw_only=True):
    code: str
    path: str
    person: str
    valid_s: float


class ShownPerson(Reply, frozen=True, kw_only=True):
    name: str
    role: Role
    areas: list[str] | None
    tools: list[str] | None


class MadeToken(Token, frozen=True, kw_only=True, forbid_unknown_fields=True):
    token: str
    """The secret, told once."""


class Revoked(Reply, frozen=True, kw_only=True):
    revoked: str


class Removed(Reply, frozen=True, kw_only=True):
    removed: Literal[True]


# Questions, conversations, documents


class Answer(Done, frozen=True, kw_only=True, tag=False, forbid_unknown_fields=True):
    """A turn's end without the tag that names the event of a streamed one."""


class AnswerInTheMaking(Reply, frozen=True, kw_only=True):
    answer: str
    conversation: str
    text: str


class Stopped(Reply, frozen=True, kw_only=True):
    stopped: Literal[True]


class Explained(Reply, frozen=True, kw_only=True):
    route: str
    tool: str | None
    entities: list[str]
    arguments: dict[str, Any]
    score: float
    asks: str | None
    reason: str


class Renamed(Reply, frozen=True, kw_only=True):
    renamed: Literal[True]


class Shortened(Reply, frozen=True, kw_only=True):
    shortened: Literal[True]


class Deleted(Reply, frozen=True, kw_only=True):
    deleted: Literal[True]


class Restored(Reply, frozen=True, kw_only=True):
    restored: Literal[True]


class Ingested(Reply, frozen=True, kw_only=True):
    files: list[FileReport]


class RemovedDocuments(Reply, frozen=True, kw_only=True):
    removed: list[str]


class Marks(Reply, frozen=True, kw_only=True):
    marks: list[tuple[float, float, float, float]]
    """Left, top, width, height: shares of the picture."""


# Tools, the home, webhooks


class ToolCard(Reply, frozen=True, kw_only=True):
    name: str
    description: str
    parameters: dict[str, Any]
    risk: str


class HomeCounts(Reply, frozen=True, kw_only=True):
    floors: int
    areas: int
    entities: int


class HomeAssistant(Reply, frozen=True, kw_only=True):
    linked: bool
    status: HomeStatus | None = None
    push: str = ""
    problem: str = ""
    hint: str = ""


class Notified(Reply, frozen=True, kw_only=True):
    """How many pages showed it, or the reminder that was made."""

    shown_on: int | None = None
    reminder: str | None = None


class NotReminded(Reply, frozen=True, kw_only=True):
    message: str


class WebhookCard(Reply, frozen=True, kw_only=True):
    name: str
    id: str
    action: str
    callback: str
    created_at: str


class MadeWebhook(Reply, frozen=True, kw_only=True):
    name: str
    path: str
    secret: str
    """Told once."""


# OpenAI


class Models(Reply, frozen=True, kw_only=True):
    object: Literal["list"]
    data: list[ModelCard]


class Embeddings(Reply, frozen=True, kw_only=True):
    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: Usage


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """As OpenAI's clients know it; ``citations`` are the household's, ``timings`` the engine's."""

    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[TextChoice]
    usage: Usage | None = None
    citations: list[Citation] = []
    timings: Timings | None = None


class ChatMessageReply(msgspec.Struct, frozen=True, kw_only=True):
    role: Literal["assistant"]
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None


class ChatChoice(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    message: ChatMessageReply
    finish_reason: str | None
    logprobs: dict[str, Any] | None = None


class ChatCompletion(msgspec.Struct, frozen=True, kw_only=True):
    """As ``Completion``, with messages."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatChoice]
    usage: Usage | None = None
    citations: list[Citation] = []
    timings: Timings | None = None


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """OpenAI's ``response`` object; see there for the items of ``output``."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["in_progress", "completed"]
    model: str
    output: list[dict[str, Any]]
    usage: dict[str, Any] | None


# Ollama


class OllamaModel(Reply, frozen=True, kw_only=True):
    name: str
    model: str
    modified_at: str
    size: int
    digest: str
    details: dict[str, Any]
    size_vram: int | None = None
    expires_at: str | None = None


class OllamaModels(Reply, frozen=True, kw_only=True):
    models: list[OllamaModel]


class OllamaVersion(Reply, frozen=True, kw_only=True):
    version: str
    server: str


class OllamaShown(Reply, frozen=True, kw_only=True):
    license: str
    modelfile: str
    parameters: str
    template: str
    model_info: dict[str, Any]
    capabilities: list[str]
    details: dict[str, Any]
    modified_at: str


class OllamaPulled(Reply, frozen=True, kw_only=True):
    status: Literal["success"]


class OllamaLine(msgspec.Struct, frozen=True, kw_only=True):
    """A whole answer, or a line of a streamed one; the last has ``done`` and its counts."""

    model: str
    created_at: str
    done: bool
    done_reason: str | None = None
    total_duration: int | None = None
    load_duration: int | None = None
    prompt_eval_count: int | None = None
    prompt_eval_duration: int | None = None
    eval_count: int | None = None
    eval_duration: int | None = None


class OllamaChat(OllamaLine, frozen=True, kw_only=True, forbid_unknown_fields=True):
    message: dict[str, Any]


class OllamaGenerated(OllamaLine, frozen=True, kw_only=True, forbid_unknown_fields=True):
    response: str
    thinking: str | None = None


class OllamaEmbedded(Reply, frozen=True, kw_only=True):
    model: str
    embeddings: list[list[float]]
    total_duration: int
    load_duration: int
    prompt_eval_count: int


class OllamaEmbedding(Reply, frozen=True, kw_only=True):
    embedding: list[float]
