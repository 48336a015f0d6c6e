"""What travels over the wire: OpenAI's requests and replies, with our ``timings``.

Shared by server and client; imports msgspec alone. Fields that a request leaves out or sets to null
mean the default; unknown fields are ignored, since clients send many.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

Role = Literal["system", "developer", "user", "assistant", "tool"]
FinishReason = Literal["stop", "length", "cancelled"]
EncodingFormat = Literal["float", "base64"]
Priority = Literal["interactive", "webhook", "background"]
PRIORITIES: tuple[Priority, ...] = ("interactive", "webhook", "background")
"""Who goes first: a person who waits, a message from another program, work nobody waits for."""


class TextPart(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    """A part of a message's content; text is the only kind this engine takes."""

    text: str


class FunctionCall(msgspec.Struct, frozen=True):
    name: str
    arguments: str = "{}"
    """A JSON object."""


class ToolCallPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call that the model asks for; ``index`` only where it is streamed."""

    function: FunctionCall
    id: str
    type: Literal["function"] | UnsetType = UNSET
    index: int | UnsetType = UNSET


class ChatMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a conversation."""

    role: Role
    content: str | list[TextPart] | None = None
    tool_calls: list[ToolCallPart] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    reasoning_content: str | None = None

    def text(self) -> str:
        """The content as one string."""
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool = False


class JsonSchema(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    schema: dict[str, Any]
    name: str | None = None
    strict: bool | None = None


class ResponseFormat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class FunctionTool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool on offer, as OpenAI describes functions."""

    function: dict[str, Any]
    type: Literal["function"]


class SamplingFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What chat and plain completions have in common."""

    model: str | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    typical_p: float | None = None
    dynamic_temperature: float | None = None
    dynamic_temperature_exponent: float | None = None
    mirostat: int | None = None
    mirostat_tau: float | None = None
    mirostat_eta: float | None = None
    no_repeat_ngram: int | None = None
    banned_phrases: list[str] | None = None
    prefix: str | None = None
    response_format: ResponseFormat | None = None
    guided_regex: str | None = None
    guided_grammar: str | None = None
    repetition_penalty: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    logit_bias: dict[int, float] | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    ignore_eos: bool | None = None
    n: int | None = None
    beam_width: int | None = None
    length_penalty: float | None = None
    early_stopping: bool | Literal["never"] | None = None
    priority: Priority | None = None
    pin: bool | None = None
    """Whether the prompt stays in the prefix cache while anything else can be given up."""


class ChatRequest(SamplingFields, frozen=True, kw_only=True, omit_defaults=True):
    """Body of ``POST /v1/chat/completions``."""

    messages: list[ChatMessage]
    max_completion_tokens: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    tools: list[FunctionTool] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None


class CompletionRequest(SamplingFields, frozen=True, kw_only=True, omit_defaults=True):
    """Body of ``POST /v1/completions``: text, token ids, or a list of exactly one of those."""

    prompt: str | list[str | int | list[int]]
    logprobs: int | None = None


class EmbeddingRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Body of ``POST /v1/embeddings``: one or several texts or token lists.

    ``input_type`` says what they are for, to models that were trained with a prefix for each.
    """

    input: str | list[str | int | list[int]]
    model: str | None = None
    encoding_format: EncodingFormat | None = None
    input_type: Literal["query", "passage"] | None = None


class RerankRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Body of ``POST /v1/rerank``, as Jina, Cohere and llama.cpp's server have it."""

    query: str
    documents: list[str]
    model: str | None = None
    top_n: Annotated[int, Meta(ge=1)] | None = None
    """Only so many results, the best; default all."""


class PromptTokensDetails(msgspec.Struct, frozen=True):
    cached_tokens: int = 0
    """Tokens at the start of the prompt whose keys and values were there already."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    prompt_tokens: int
    total_tokens: int
    completion_tokens: int = 0
    prompt_tokens_details: PromptTokensDetails | None = None


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """Wall-clock times of one request. Other engines send none, or fields of their own."""

    queue_ms: float = 0.0
    """From arrival at the scheduler to the first slice of work."""
    prefill_ms: float = 0.0
    """From the first slice of work to the first token."""
    first_token_ms: float = 0.0
    """From arrival at the scheduler to the first token."""
    decode_ms: float = 0.0
    """From the first token to the last."""
    prefill_tokens_per_s: float = 0.0
    """Without the tokens that were cached."""
    decode_tokens_per_s: float = 0.0


class Likely(msgspec.Struct, frozen=True):
    """A token and how likely the model held it to be."""

    token: str
    logprob: float
    bytes: list[int]


class TokenLikely(msgspec.Struct, frozen=True):
    token: str
    logprob: float
    bytes: list[int]
    top_logprobs: list[Likely]


class ChatLogprobs(msgspec.Struct, frozen=True):
    content: list[TokenLikely]


class TextLogprobs(msgspec.Struct, frozen=True):
    """The older form, of plain completions: lists of equal length."""

    tokens: list[str]
    token_logprobs: list[float]
    top_logprobs: list[dict[str, float]]


class ChatReplyMessage(msgspec.Struct, frozen=True):
    content: str | None
    role: Literal["assistant"] = "assistant"
    reasoning_content: str | UnsetType = UNSET
    tool_calls: list[ToolCallPart] | UnsetType = UNSET


class ChatChoice(msgspec.Struct, frozen=True, kw_only=True):
    message: ChatReplyMessage
    finish_reason: str | None
    index: int = 0
    logprobs: ChatLogprobs | None = None


class ChatReply(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of ``POST /v1/chat/completions`` without streaming."""

    id: str
    created: int
    model: str
    choices: list[ChatChoice]
    usage: Usage
    timings: Timings
    object: Literal["chat.completion"] = "chat.completion"


class ChatDelta(msgspec.Struct, frozen=True):
    role: str | UnsetType = UNSET
    content: str | UnsetType | None = UNSET
    reasoning_content: str | UnsetType | None = UNSET
    tool_calls: list[ToolCallPart] | UnsetType | None = UNSET


class ChatChunkChoice(msgspec.Struct, frozen=True, kw_only=True):
    delta: ChatDelta
    finish_reason: str | None = None
    index: int = 0
    logprobs: ChatLogprobs | None = None


class ChatChunk(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a streamed chat completion."""

    id: str
    created: int
    model: str
    choices: list[ChatChunkChoice]
    usage: Usage | UnsetType | None = UNSET
    timings: Timings | UnsetType = UNSET
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"


class TextChoice(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    finish_reason: str | None = None
    index: int = 0
    logprobs: TextLogprobs | None = None


class TextReply(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of ``POST /v1/completions``, and one event of it when streamed."""

    id: str
    created: int
    model: str
    choices: list[TextChoice]
    usage: Usage | UnsetType = UNSET
    timings: Timings | UnsetType = UNSET
    object: Literal["text_completion"] = "text_completion"


class Embedding(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    embedding: list[float] | str
    """Numbers, or base64 of little-endian float32."""
    object: Literal["embedding"] = "embedding"


class EmbeddingReply(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    data: list[Embedding]
    usage: Usage
    object: Literal["list"] = "list"


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    """Of the document in the request."""
    relevance_score: float
    """Log odds that the document answers the query."""


class RerankReply(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    results: list[Ranked]
    """Best first."""
    usage: Usage


class ModelCard(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    created: int = 0
    owned_by: str = "hubd"
    context_length: int | UnsetType = UNSET
    object: Literal["model"] = "model"


class ModelList(msgspec.Struct, frozen=True, kw_only=True):
    data: list[ModelCard]
    object: Literal["list"] = "list"


class SchedulerCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine has done since it started, and what its KV cache holds."""

    kv_blocks: int = 0
    """Blocks of KV that there are."""
    kv_blocks_in_use: int = 0
    """Held by requests that run."""
    kv_blocks_cached: int = 0
    """Held for later prompts, given up when a request needs them."""
    prompt_tokens: int = 0
    """Of all prompts."""
    cached_tokens: int = 0
    """Those of them that were found in the prefix cache."""
    evicted_blocks: int = 0
    requests: int = 0
    """Requests that were begun."""
    queue_wait_s: float = 0.0
    """Sum of their times in the queue."""
    preemptions: int = 0
    """Requests that gave their blocks back for others, to be computed again."""
    drafted_tokens: int = 0
    """Tokens guessed ahead."""
    accepted_tokens: int = 0
    """Those that were right."""
    restored_tokens: int = 0
    """That came back from disk."""
    restore_s: float = 0.0
    """What that took."""
    reused_tokens: int = 0
    """Of prompts, whose keys and values came from another place of another prompt."""
    reuse_s: float = 0.0
    """What that took."""


class LayerActivity(msgspec.Struct, frozen=True):
    """How much of a layer's feed-forward block tokens that were decoded alone have needed, as
    shares of its neurons."""

    rows: float
    """Whose gate was positive: their rows of the up projection were read. 1 if that is not known
    before."""
    columns: float
    """Whose activation was not 0: their columns of the down projection were read."""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of ``GET /health``: 200 when ready, 503 otherwise."""

    status: Literal["loading", "ready", "failed", "stopping"]
    model: str = ""
    stage: str = ""
    """What the loading is doing."""
    fraction: float = 0.0
    """How much of the stage is done, 0 to 1."""
    message: str = ""
    """Why it failed."""
    active: int = 0
    """Requests being computed."""
    waiting: int = 0
    """Requests in the queue."""
    counts: SchedulerCounts | None = None
    neurons: list[LayerActivity] = []
    """Of each layer of a model that skips what is zero; nothing before its first token."""
    encoder: str = ""
    """State of the embedding model: stopped, loading, ready, busy; empty where there is none."""


class ErrorDetail(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    type: str = "invalid_request_error"
    param: str | None = None
    code: str | None = None


class ErrorReply(msgspec.Struct, frozen=True):
    """Every error, as OpenAI's clients expect it."""

    error: ErrorDetail


def event(data: Any) -> bytes:
    """One server-sent event."""
    return b"data: " + msgspec.json.encode(data) + b"\n\n"


END_OF_STREAM = b"data: [DONE]\n\n"
