"""An OpenAI-compatible server elsewhere: its dialect, and a circuit breaker around it.

What a request wants is said in the way that the server is found to understand; what it does not
offer is asked for in words, since whoever asks for JSON checks what comes. A server that fails is
left alone until it answers again: longer each time, because a server whose list of models works
need not be one whose model does. Who is asked instead is not known here.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from engine.client import Answered, EngineClient, ProxiedResponse
from engine.errors import EngineError, EngineRefused, EngineUnavailable
from engine.protocol import ChatDelta, ChatRequest, StreamOptions
from hubd.errors import HubError

log = logging.getLogger(__name__)

LOOK_LIMIT_S = 5.0
SILENCE_LIMIT_S = 60.0
"""A server that says nothing for this long while it answers counts as away."""
AGAIN_AFTER_S = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""After so many failures in a row; the last goes for all further ones."""
AWAY = frozenset({401, 403, 404, 502, 503, 504})
"""Statuses of a server that does not work for us: its key, its address, or what is behind it."""
NOT_UNDERSTOOD = frozenset({400, 422, 500})
"""What servers say of a form that they do not know; 500 is llama-cpp-python's word for it."""
OURS = ("priority", "pin")
"""Fields that only our own engine knows, and others refuse."""
CHAT = "/v1/chat/completions"

Form = Literal["json_schema", "schema", "json_object", "words"]
FORMS: tuple[Form, ...] = ("json_schema", "schema", "json_object", "words")
"""How servers take a JSON schema, best first: OpenAI, vLLM, Ollama and llama.cpp; llama-cpp-python
and Together (``json_object`` with a ``schema``); those that only write some JSON; the others."""


def forms_for(body: Mapping[str, Any], known: Form) -> tuple[Form, ...]:
    """The ways to try, from the one that is known to work; one alone where no JSON is wanted."""
    wanted = body.get("response_format") or {}
    if wanted.get("type") not in ("json_schema", "json_object"):
        return (known,)
    return FORMS[FORMS.index(known) :]


def mapped(body: Mapping[str, Any], model: str, form: Form) -> dict[str, Any]:
    """A chat request as a server takes it: its model's name, none of our fields, JSON its way."""
    said = {name: value for name, value in body.items() if name not in OURS} | {"model": model}
    wanted = said.get("response_format") or {}
    kind, schema = wanted.get("type"), (wanted.get("json_schema") or {}).get("schema")
    if kind not in ("json_schema", "json_object") or form == "json_schema":
        return said
    if form == "words":
        del said["response_format"]
    elif form == "schema" and schema is not None:
        said["response_format"] = {"type": "json_object", "schema": schema}
        return said
    else:
        said["response_format"] = {"type": "json_object"}
    said["messages"] = _told_in_words(said["messages"], schema)
    return said


def _told_in_words(messages: list[Any], schema: Any) -> list[Any]:
    """The messages with what JSON is wanted at the end of the last one."""
    like = f" that follows this schema: {msgspec.json.encode(schema).decode()}" if schema else ""
    words = f"Answer with one JSON object{like}, and nothing else."
    last = dict(messages[-1]) if messages else {"role": "user", "content": ""}
    content = last.get("content") or ""
    if isinstance(content, list):
        last["content"] = [*content, {"type": "text", "text": words}]
    else:
        last["content"] = f"{content}\n\n{words}".strip()
    return [*messages[:-1], last]


class Server:
    """How it stands with the server: circuit breaker, its models, its dialect."""

    def __init__(self, url: str, model: str, changed: Callable[[], None]) -> None:
        """model: the name to ask for; empty: the first that the server lists."""
        self.place = urlsplit(url).netloc.rpartition("@")[2]
        self.form: Form = FORMS[0]
        self.models: list[str] = []
        self.away = "it was not asked yet"
        """Why it is not used; empty while it is."""
        self.failures = 0
        """In a row."""
        self._wanted = model
        self._changed = changed
        self._looked = asyncio.Event()
        self._broke = asyncio.Event()

    @property
    def model(self) -> str:
        """The name of the model that the household asks."""
        return self._wanted or next(iter(self.models), "")

    def failed(self, why: str) -> None:
        """It is left alone from now on, until it answers again."""
        self.failures += 1
        if not self.away:
            log.warning("the server of the language model is away: %s", why)
        self.away = why or "it does not answer"
        self._broke.set()
        self._changed()

    def worked(self) -> None:
        """It answered a question."""
        self.failures = 0

    async def first_look(self) -> None:
        """Returns when it was looked at once."""
        await self._looked.wait()

    async def watch(self, client: EngineClient) -> None:
        """Look at it at first and whenever it is away; while it works nothing is asked of it."""
        while True:
            await self._look(client)
            self._looked.set()
            if not self.away:
                self._broke.clear()
                await self._broke.wait()
            await asyncio.sleep(AGAIN_AFTER_S[min(self.failures, len(AGAIN_AFTER_S)) - 1])

    async def _look(self, client: EngineClient) -> None:
        try:
            async with asyncio.timeout(LOOK_LIMIT_S):
                self.models = [card.id for card in await client.models()]
        except (EngineError, TimeoutError) as error:
            self.failed(str(error) or f"it did not answer within {LOOK_LIMIT_S:.0f} s")
            return
        if not self.model:
            self.failed("it has no model")
        elif self.away:
            self.away = ""
            log.info("the server of the language model answers")
            self._changed()


class RemoteClient(EngineClient):
    """An ``EngineClient`` of such a server."""

    def __init__(
        self,
        server: Server,
        *,
        url: str,
        api_key: str | None,
        otherwise: Callable[[], Awaitable[EngineClient]] | None = None,
    ) -> None:
        """otherwise: who answers a chat where the server goes away before its first word."""
        super().__init__(url=url, api_key=api_key, silence_s=SILENCE_LIMIT_S)
        self._server = server
        self._otherwise = otherwise

    async def chat_deltas(self, request: ChatRequest) -> AsyncGenerator[ChatDelta | Answered, None]:
        """As ``EngineClient.chat_deltas``."""
        begun = False
        try:
            async with aclosing(self._asked(request)) as deltas:
                async for delta in deltas:
                    begun = True
                    yield delta
            return
        except EngineUnavailable as error:
            self._server.failed(str(error))
            if begun or self._otherwise is None:
                raise
            instead = await self._instead(error)
        local = msgspec.structs.replace(request, model=None)
        async with aclosing(instead.chat_deltas(local)) as deltas:
            async for delta in deltas:
                yield delta

    async def _instead(self, why: EngineUnavailable) -> EngineClient:
        assert self._otherwise is not None
        try:
            return await self._otherwise()
        except HubError as error:
            raise EngineUnavailable(f"{why}; and on this machine: {error.message}") from error

    async def _asked(self, request: ChatRequest) -> AsyncGenerator[ChatDelta | Answered, None]:
        """The server's answer, in the first form that it takes."""
        streamed = msgspec.structs.replace(
            request, stream=True, stream_options=StreamOptions(include_usage=True)
        )
        body = msgspec.to_builtins(streamed)
        for form, is_last in self._forms(body):
            wanted = mapped(body, request.model or self._server.model, form)
            try:
                async with aclosing(self._chat_stream(msgspec.json.encode(wanted))) as deltas:
                    async for delta in deltas:
                        yield delta
            except EngineRefused as error:
                if error.status in AWAY:
                    raise EngineUnavailable(f"it says {error.status}: {error.message}") from error
                if error.status not in NOT_UNDERSTOOD or is_last:
                    raise
            else:
                self._took(body, form)
                return

    @asynccontextmanager
    async def proxy(
        self, method: str, path: str, body: bytes | None = None
    ) -> AsyncIterator[ProxiedResponse]:
        """As ``EngineClient.proxy``; a chat is said in the server's dialect."""
        said = msgspec.json.decode(body, type=dict[str, Any]) if body else {}
        chats = path == CHAT
        for form, is_last in self._forms(said if chats else {}):
            sent = msgspec.json.encode(mapped(said, said["model"], form)) if chats else body
            try:
                async with super().proxy(method, path, sent) as response:
                    if response.status in NOT_UNDERSTOOD and not is_last:
                        continue
                    if response.status == 200 and chats:
                        self._took(said, form)
                    yield response
                    return
            except EngineUnavailable as error:
                self._server.failed(str(error))
                raise

    def _forms(self, body: Mapping[str, Any]) -> Iterator[tuple[Form, bool]]:
        forms = forms_for(body, self._server.form)
        return ((form, form == forms[-1]) for form in forms)

    def _took(self, body: Mapping[str, Any], form: Form) -> None:
        self._server.worked()
        if (body.get("response_format") or {}).get("type") == "json_schema":
            self._server.form = form


@contextlib.asynccontextmanager
async def watched(server: Server, client: EngineClient) -> AsyncIterator[None]:
    """The server looked after for the time of the block."""
    task = asyncio.create_task(server.watch(client), name="engine server")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
