"""What a webhook does once its sender is known: ask, notify, event, ingest, or one tool."""

import asyncio
import base64
import binascii
import logging
import secrets
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import aiohttp
import msgspec
from msgspec import Meta

from hubd.assistant.turn import Utterance
from hubd.errors import BadRequestError, HubError
from hubd.http.ask import fields, finished
from hubd.http.body import explain
from hubd.http.services import Services
from hubd.http.signatures import sign
from hubd.policy import Person
from hubd.store.webhooks import Webhook
from hubd.tool_context import Speaker
from hubd.tools import ArgumentsError, UnknownToolError
from plugins.api import ToolCall, ToolError
from rag.errors import RagError

log = logging.getLogger(__name__)

TOOL = "tool:"
CALLBACK_TRIES_S = (0.0, 1.0, 5.0, 25.0)
CALLBACK_LIMIT_S = 10.0

T = TypeVar("T")


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the sender is told, and what is to be done after that."""

    status: int
    body: Any
    after: Callable[[], Coroutine[Any, Any, None]] | None = None


class AskBody(msgspec.Struct, kw_only=True):
    text: Annotated[str, Meta(min_length=1, max_length=8_000)]
    conversation: Annotated[str, Meta(max_length=64)] | None = None
    callback: bool = False
    """Answer later, at the address that the webhook was made with."""


class NotifyBody(msgspec.Struct, kw_only=True):
    message: Annotated[str, Meta(min_length=1, max_length=2_000)]
    title: Annotated[str, Meta(max_length=200)] = ""


class IngestBody(msgspec.Struct, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=200)]
    text: str | None = None
    content: str | None = None
    """Base64, for files that are no text."""


class ToolRefusedError(HubError):
    """The tool could not do it."""

    code = "tool_failed"
    status = 409


async def carry_out(
    services: Services, webhook: Webhook, payload: dict[str, Any], person: Person
) -> Answer:
    """Do what the webhook is for; ``person`` is whose token was sent, else its owner.

    Raises:
        HubError: it cannot be done; status and words are for the sender.
    """
    if webhook.action.startswith(TOOL):
        return await _tool(services, webhook.action.removeprefix(TOOL), payload, person)
    if webhook.action == "ask":
        return await _ask(services, webhook, _converted(payload, AskBody), person)
    if webhook.action == "notify":
        told = _converted(payload, NotifyBody)
        services.board.publish(
            "notification", {"title": told.title, "message": told.message, "source": webhook.name}
        )
        return Answer(status=200, body={"ok": True, "shown_on": services.board.listeners})
    if webhook.action == "event":
        services.board.publish("webhook", {"name": webhook.name, "data": payload})
        return Answer(status=200, body={"ok": True})
    return await _ingest(services, _converted(payload, IngestBody))


def check_action(action: str, known_tools: dict[str, str]) -> str:
    """An action as it is kept; ``known_tools`` maps tools' names to their risks.

    Raises:
        BadRequestError: there is no such action or tool, or nobody could confirm it.
    """
    if action in ("ask", "notify", "event", "ingest"):
        return action
    tool = action.removeprefix(TOOL)
    if not action.startswith(TOOL) or tool not in known_tools:
        tools = ", ".join(sorted(known_tools))
        raise BadRequestError(
            f"action: {action!r} is not ask, notify, event, ingest or tool:NAME",
            f"The tools are: {tools}." if action.startswith(TOOL) else "",
        )
    if known_tools[tool] == "dangerous":
        raise BadRequestError(
            f"action: {tool} needs somebody's confirmation, which a webhook cannot give"
        )
    return action


async def _tool(services: Services, name: str, arguments: dict[str, Any], person: Person) -> Answer:
    try:
        # Whoever made the webhook wanted this tool called; nobody is there to confirm danger.
        preset = Speaker(provenance="schedule", person=person)
        result = await services.tools.call(ToolCall(tool=name, arguments=arguments), preset)
    except ArgumentsError as error:
        raise BadRequestError(str(error)) from error
    except (UnknownToolError, ToolError) as error:
        raise ToolRefusedError(str(error)) from error
    return Answer(status=200, body={"ok": True, "text": result.text, "data": result.data})


async def _ask(services: Services, webhook: Webhook, asked: AskBody, person: Person) -> Answer:
    utterance = Utterance(
        text=asked.text.strip(),
        conversation=asked.conversation or None,
        person=person,
        provenance="webhook",
    )
    if not utterance.text:
        raise BadRequestError("text: must not be empty")
    if not asked.callback:
        async with services.turns.one():
            return Answer(status=200, body=fields(await finished(services, utterance)))
    if not webhook.callback:
        raise BadRequestError(
            "callback: this webhook was made without an address to call back",
            "Make it with `hubd webhook add NAME --action ask --callback URL`.",
        )
    delivery = secrets.token_urlsafe(12)

    async def call_back() -> None:
        try:
            async with services.turns.one():
                body: dict[str, Any] = fields(await finished(services, utterance))
        except HubError as error:
            body = {"error": {"code": error.code, "message": error.message}}
        await _send(webhook, delivery, msgspec.json.encode(body | {"delivery": delivery}))

    return Answer(status=202, body={"accepted": True, "delivery": delivery}, after=call_back)


async def _send(webhook: Webhook, delivery: str, body: bytes) -> None:
    """The answer to the webhook's own address, signed; tried again a few times."""
    timeout = aiohttp.ClientTimeout(total=CALLBACK_LIMIT_S)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        for pause in CALLBACK_TRIES_S:
            await asyncio.sleep(pause)
            now = int(time.time())
            headers = {
                "Content-Type": "application/json",
                "webhook-id": delivery,
                "webhook-timestamp": str(now),
                "webhook-signature": sign(webhook.secret, delivery, now, body),
            }
            try:
                async with session.post(
                    webhook.callback, data=body, headers=headers, allow_redirects=False
                ) as response:
                    if response.status < 300:
                        return
                    reason = f"status {response.status}"
            except (TimeoutError, OSError, aiohttp.ClientError) as error:
                reason = type(error).__name__
            log.info("callback of webhook %s not taken: %s", webhook.name, reason)
    log.warning("the answer for webhook %s could not be delivered", webhook.name)


async def _ingest(services: Services, given: IngestBody) -> Answer:
    if (given.text is None) == (given.content is None):
        raise BadRequestError("text: send either text or content (base64)")
    try:
        data = (
            given.text.encode()
            if given.text is not None
            else base64.b64decode(given.content or "", validate=True)
        )
    except binascii.Error as error:
        raise BadRequestError("content: not base64") from error
    name = given.name if Path(given.name).suffix else f"{given.name}.md"
    incoming = services.paths.cache / "incoming"
    incoming.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=incoming) as folder:
        path = Path(folder) / "document"
        await asyncio.to_thread(path.write_bytes, data)
        try:
            reports = await services.library.add_upload(
                name, path, wait_until_idle=services.turns.wait_until_idle
            )
        except RagError as error:
            raise HubError(str(error)) from error
    services.board.publish("documents", {"files": msgspec.to_builtins(reports)})
    return Answer(status=200, body={"ok": True, "files": reports})


def _converted(payload: dict[str, Any], kind: type[T]) -> T:
    try:
        return msgspec.convert(payload, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadRequestError(explain(error)) from error
