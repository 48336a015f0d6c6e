"""The engine's protocol from the other side: what the hub process uses.

Speaks to our own engine over a Unix socket, or to any OpenAI-compatible server by its URL. Light:
imports aiohttp and msgspec, nothing that computes.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import aiohttp
import msgspec
from aiohttp.http_exceptions import LineTooLong

from engine.errors import EngineRefused, EngineUnavailable
from engine.protocol import (
    ChatChunkChoice,
    ChatDelta,
    ChatRequest,
    Embedding,
    EmbeddingRequest,
    ErrorDetail,
    ErrorReply,
    Health,
    ModelCard,
    ModelList,
    Ranked,
    RerankRequest,
    StreamOptions,
    Timings,
    Usage,
)

CONNECT_SECONDS = 5.0
READ_SECONDS = 600.0
"""Longest silence of an engine, which may be prefilling a long prompt on a slow box."""
MAX_LINE_BYTES = 1024 * 1024

Reply = TypeVar("Reply")


class TextDelta(msgspec.Struct, frozen=True):
    """The next piece of the answer's text, never empty."""

    text: str


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """The end of an answer that is complete."""

    finish_reason: str | None
    usage: Usage | None
    timings: Timings | None
    """``None`` where the server is not our engine and sends none."""


class ProxiedResponse:
    """A reply on its way through: status and headers are here, the body comes as it arrives."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self._response = response

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body's bytes unchanged. Raises EngineUnavailable if it breaks off."""
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, OSError) as error:
            raise _unavailable(error) from error


class EngineClient:
    """A connection to an engine. ``async with EngineClient(socket=...) as client``."""

    def __init__(
        self,
        *,
        socket: str | Path | None = None,
        url: str | None = None,
        api_key: str | None = None,
        silence_s: float = READ_SECONDS,
    ) -> None:
        """Give either the path of a Unix socket or a base URL (with or without ``/v1``).

        silence_s: how long the engine may say nothing before it counts as unavailable.
        """
        if (socket is None) == (url is None):
            raise ValueError("give either socket= or url=")
        self._socket = None if socket is None else str(socket)
        self._base = (url or "http://engine").rstrip("/").removesuffix("/v1")
        self._silence_s = silence_s
        self._headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = (
            aiohttp.TCPConnector(limit=0)
            if self._socket is None
            else aiohttp.UnixConnector(self._socket, limit=0)
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=CONNECT_SECONDS, sock_read=self._silence_s
            ),
            read_bufsize=MAX_LINE_BYTES,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def health(self) -> Health:
        """State of our own engine, also while it loads. Raises EngineUnavailable."""
        async with self._request("GET", "/health") as response:
            return _decoded(await _read(response), Health)

    async def models(self) -> list[ModelCard]:
        """The models it serves. Raises EngineUnavailable, EngineRefused."""
        async with self._request("GET", "/v1/models") as response:
            await _check(response)
            return _decoded(await _read(response), ModelList).data

    async def chat(self, request: ChatRequest) -> AsyncGenerator[TextDelta | Answered, None]:
        """Stream an answer: its text as it comes, then one ``Answered``.

        Closing the iterator early cancels the work in the engine. Raises EngineRefused for an error
        status or an error in mid-stream, EngineUnavailable if the engine cannot be reached or goes
        away before the answer is complete; what was yielded until then stands.
        """
        async with aclosing(self.chat_deltas(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Answered):
                    yield delta
                elif delta.content:
                    yield TextDelta(delta.content)

    async def chat_deltas(self, request: ChatRequest) -> AsyncGenerator[ChatDelta | Answered, None]:
        """As ``chat``, with reasoning and tool calls too: each ``ChatDelta`` as it came."""
        streamed = msgspec.structs.replace(
            request, stream=True, stream_options=StreamOptions(include_usage=True)
        )
        async with aclosing(self._chat_stream(msgspec.json.encode(streamed))) as deltas:
            async for delta in deltas:
                yield delta

    async def _chat_stream(self, body: bytes) -> AsyncGenerator[ChatDelta | Answered, None]:
        """The answer to a streamed chat request that is encoded already."""
        async with self._request("POST", "/v1/chat/completions", body) as response:
            await _check(response)
            end = Answered(finish_reason=None, usage=None, timings=None)
            async for data in _events(response):
                chunk = _chunk(data)
                for choice in chunk.choices:
                    yield choice.delta
                end = _merged(end, chunk)
            yield end

    async def embed(self, texts: Sequence[str], *, model: str | None = None) -> list[list[float]]:
        """One vector of length 1 for each text. Raises EngineUnavailable, EngineRefused.

        model: which one makes them; without it the engine's own choice, its encoder if it has one.
        """
        request = EmbeddingRequest(input=list(texts), model=model, encoding_format="float")
        async with self._request(
            "POST", "/v1/embeddings", msgspec.json.encode(request)
        ) as response:
            await _check(response)
            data = _decoded(await _read(response), _Embeddings).data
        ordered = sorted(data, key=lambda embedding: embedding.index)
        return [e.embedding for e in ordered if not isinstance(e.embedding, str)]

    async def rerank(self, query: str, documents: Sequence[str], *, model: str) -> list[float]:
        """Log odds that each document answers the query, in the documents' order.

        model: which cross-encoder.

        Raises EngineUnavailable, EngineRefused.
        """
        request = RerankRequest(query=query, documents=list(documents), model=model)
        async with self._request("POST", "/v1/rerank", msgspec.json.encode(request)) as response:
            await _check(response)
            results = _decoded(await _read(response), _Reranked).results
        return [one.relevance_score for one in sorted(results, key=lambda one: one.index)]

    @asynccontextmanager
    async def proxy(
        self, method: str, path: str, body: bytes | None = None
    ) -> AsyncIterator[ProxiedResponse]:
        """Send a JSON body to any path and hand the reply on unchanged, whatever its status.

        Leaving the block before the end cancels the work in the engine. Raises EngineUnavailable.
        """
        async with self._request(method, path, body) as response:
            yield ProxiedResponse(response)

    @asynccontextmanager
    async def _request(
        self, method: str, path: str, body: bytes | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Only the engine's errors become EngineUnavailable, not those of the block's own code."""
        if self._session is None:
            raise RuntimeError("use EngineClient in an async with block")
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            response = await self._session.request(
                method, self._base + path, data=body, headers=headers, allow_redirects=False
            )
        except (aiohttp.ClientError, OSError) as error:
            raise _unavailable(error) from error
        try:
            yield response
        finally:
            # Unless read to its end the connection closes, and with it ends the engine's work.
            response.close()


class _Reranked(msgspec.Struct):
    results: list[Ranked]


class _Embeddings(msgspec.Struct):
    data: list[Embedding]


class _Chunk(msgspec.Struct):
    """What matters of a streamed chunk; other engines differ in the rest."""

    choices: list[ChatChunkChoice] = []
    usage: Usage | None = None
    timings: Timings | None = None
    error: ErrorDetail | None = None


async def _read(response: aiohttp.ClientResponse) -> bytes:
    try:
        return await response.read()
    except (aiohttp.ClientError, OSError) as error:
        raise _unavailable(error) from error


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Data of server-sent events up to [DONE]. Raises EngineUnavailable if that never comes."""
    while True:
        try:
            line = await response.content.readline()
        except LineTooLong as error:
            raise EngineUnavailable("the engine sent a line that is too long") from error
        except (aiohttp.ClientError, OSError) as error:
            raise _unavailable(error) from error
        if not line:
            raise EngineUnavailable("the engine went away before the answer was complete")
        if not line.startswith(b"data:"):
            continue  # blank lines and comments
        data = line[5:].strip()
        if data == b"[DONE]":
            return
        yield data


def _chunk(data: bytes) -> _Chunk:
    chunk = _decoded(data, _Chunk)
    if chunk.error is None:
        return chunk
    if chunk.error.code == "shutting_down":
        raise EngineUnavailable(chunk.error.message)
    raise EngineRefused(500, chunk.error.message, chunk.error.code)


def _merged(end: Answered, chunk: _Chunk) -> Answered:
    reason = next((c.finish_reason for c in chunk.choices if c.finish_reason), end.finish_reason)
    return Answered(
        finish_reason=reason,
        usage=chunk.usage or end.usage,
        timings=chunk.timings or end.timings,
    )


async def _check(response: aiohttp.ClientResponse) -> None:
    if response.status != 200:
        raise _refused(response.status, await _read(response))


def _refused(status: int, body: bytes) -> EngineRefused:
    try:
        detail = msgspec.json.decode(body, type=ErrorReply).error
    except msgspec.MsgspecError:
        return EngineRefused(status, body[:500].decode("utf-8", "replace") or f"status {status}")
    return EngineRefused(status, detail.message, detail.code)


def _decoded(data: bytes, kind: type[Reply]) -> Reply:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as error:
        raise EngineUnavailable(f"the engine's reply is not understood: {error}") from error


def _unavailable(error: Exception) -> EngineUnavailable:
    if isinstance(error, TimeoutError):
        return EngineUnavailable("the engine has not answered for too long")
    if isinstance(error, aiohttp.ClientConnectorError):
        return EngineUnavailable(f"the engine cannot be reached: {error.os_error}")
    return EngineUnavailable(f"the connection to the engine broke off: {error}")
