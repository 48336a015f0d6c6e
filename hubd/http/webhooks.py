"""Webhooks into the hub: ``/api/webhook/{id}``, and their list for the owner.

The sender proves that it knows the webhook's secret; then it gets an honest status. Each delivery
is carried out once, in a task of its own: a sender that hangs up does not cut it off half way.
"""

import asyncio
import hashlib
import secrets
import time
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import parse_qsl

import msgspec
from aiohttp import web
from msgspec import Meta

from hubd.errors import BadRequestError, HubError, NotFoundError
from hubd.home.link import checked_url
from hubd.http import replies, webhook_actions
from hubd.http.body import error_body, read_body, read_whole, reply
from hubd.http.callers import bearer
from hubd.http.described import describe
from hubd.http.services import SERVICES, Services
from hubd.http.signatures import Sender, SignatureError, idempotency_key, new_secret, verify
from hubd.http.webhook_actions import Answer
from hubd.policy import OWNER, Person
from hubd.store.webhooks import Call, Delivery, Webhook

FIELDS_LIMIT = 200

Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]


class UnauthorizedError(HubError):
    """The sender did not prove who it is."""

    code = "unauthorized"
    status = 401


class ConflictError(HubError):
    """The same key for something else, or while the first is not done."""

    code = "conflict"
    status = 409


class TypeRefusedError(HubError):
    """A body of another kind."""

    code = "unsupported_media_type"
    status = 415


class NewWebhook(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    action: Annotated[str, Meta(max_length=100)]
    callback: str = ""


@describe(body=dict[str, Any], form=True, reply=dict[str, Any], others={202: dict[str, Any]})
async def receive(request: web.Request) -> web.StreamResponse:
    """A call of a webhook."""
    services = request.app[SERVICES]
    webhook = await services.webhooks.find(request.match_info["id"])
    name = webhook.name if webhook else "(unknown)"
    scheme, size = "", 0
    try:
        if webhook is None:
            services.deliveries.count_stranger(request.remote or "")
            raise NotFoundError("there is no webhook at this address")
        services.deliveries.count(webhook.id)
        body = await read_whole(request)
        size = len(body)
        sender, person = _sender(webhook, request, body)
        scheme = sender.scheme
        response = await _deliver(services, webhook, sender, request, body, person)
    except HubError as error:
        await _log(services, request, name, size, scheme, error.status, error.message)
        raise
    except web.HTTPException as error:
        await _log(services, request, name, size, scheme, error.status, error.reason)
        raise
    outcome = response.headers.get("Idempotent-Replayed", "") and "answered as before"
    await _log(services, request, name, size, scheme, response.status, outcome or "done")
    return response


def _sender(webhook: Webhook, request: web.Request, body: bytes) -> tuple[Sender, Person]:
    """Who calls, by a device's token with the scope for it, or by the webhook's own secret."""
    device = request.app[SERVICES].access.find(bearer(request))
    if device is not None and "webhook" in device.scopes:
        person = msgspec.structs.replace(device.person, acts=True)
        return Sender(scheme="token", key=idempotency_key(request.headers)), person
    try:
        if not webhook.secret:
            raise SignatureError("this webhook's secret was lost: remove it and make it again")
        return verify(webhook.secret, request.headers, body, time.time()), OWNER
    except SignatureError as error:
        request.app[SERVICES].deliveries.count_stranger(request.remote or "")
        raise UnauthorizedError(str(error)) from error


async def _deliver(
    services: Services,
    webhook: Webhook,
    sender: Sender,
    request: web.Request,
    body: bytes,
    person: Person,
) -> web.Response:
    payload = parsed(request.content_type, request.charset, body)
    digest = hashlib.sha256(body).hexdigest()
    work = _once(services, webhook, sender, payload, digest, person)
    return await asyncio.shield(services.deliveries.start(work))


async def _once(
    services: Services,
    webhook: Webhook,
    sender: Sender,
    payload: dict[str, Any],
    digest: str,
    person: Person,
) -> web.Response:
    """The answer of this delivery, or the one that was given when it came before."""
    if sender.key:
        before = await services.webhooks.begin(webhook.name, sender.key, digest)
        if before is not None:
            return _again(before, digest)
    answer = await _carry_out(services, webhook, sender, payload, person)
    return reply(answer.body, answer.status)


def _again(before: Delivery, digest: str) -> web.Response:
    if before.digest != digest:
        raise ConflictError("this key was used for another body")
    if before.status == 0:
        raise ConflictError("this delivery is being carried out", "Ask again in a moment.")
    return web.Response(
        status=before.status,
        body=before.answer,
        content_type="application/json",
        headers={"Idempotent-Replayed": "true"},
    )


async def _carry_out(
    services: Services, webhook: Webhook, sender: Sender, payload: dict[str, Any], person: Person
) -> Answer:
    """The action and its answer kept; whatever it raises is an answer too."""
    status, answer = 500, Answer(status=500, body={})
    try:
        try:
            answer = await webhook_actions.carry_out(services, webhook, payload, person)
        except HubError as error:
            told = error_body("/hub", error.code, error.message, error.hint, error.status)
            answer = Answer(status=error.status, body=told)
        status = answer.status
    finally:
        if sender.key:
            kept = msgspec.json.encode(answer.body)
            await services.webhooks.finish(webhook.name, sender.key, status, kept)
    if answer.after is not None:
        services.deliveries.start(answer.after())
    return answer


def parsed(content_type: str, charset: str | None, body: bytes) -> dict[str, Any]:
    """A body as an object: JSON or a form; none at all is an empty one.

    Raises:
        BadRequestError: it is not what its type says.
        TypeRefusedError: another type.
    """
    if not body:
        return {}
    if content_type == "application/json" or content_type.endswith("+json"):
        try:
            return msgspec.json.decode(body, type=dict[str, Any])
        except msgspec.ValidationError as error:
            raise BadRequestError("the body must be a JSON object") from error
        except (msgspec.DecodeError, RecursionError) as error:
            raise BadRequestError(f"the body is not JSON: {error}") from error
    if content_type == "application/x-www-form-urlencoded":
        try:
            text = body.decode(charset or "utf-8")
            return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS_LIMIT))
        except (ValueError, LookupError) as error:
            raise BadRequestError(f"the body is not a form: {error}") from error
    raise TypeRefusedError("the body must be application/json or a form, and say so")


async def _log(
    services: Services,
    request: web.Request,
    name: str,
    size: int,
    scheme: str,
    status: int,
    outcome: str,
) -> None:
    await services.webhooks.log(
        Call(
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            webhook=name,
            remote=request.remote or "",
            method=request.method,
            bytes=size,
            scheme=scheme,
            status=status,
            outcome=outcome[:200],
        )
    )


# The owner's list


@describe(reply=list[replies.WebhookCard])
async def webhooks(request: web.Request) -> web.StreamResponse:
    """All webhooks, without their secrets."""
    found = await request.app[SERVICES].webhooks.all()
    return reply(
        [
            {name: getattr(one, name) for name in one.__struct_fields__ if name != "secret"}
            for one in found
        ]
    )


@describe(body=NewWebhook, reply=replies.MadeWebhook)
async def add(request: web.Request) -> web.StreamResponse:
    """Make one; its secret is told now and never again."""
    services = request.app[SERVICES]
    body = await read_body(request, NewWebhook)
    risks = {tool.name: tool.risk for tool in services.tools.tools()}
    made = Webhook(
        name=body.name,
        id=secrets.token_hex(32),
        action=webhook_actions.check_action(body.action, dict(risks)),
        secret=new_secret(),
        callback=checked_url(body.callback) if body.callback else "",
    )
    if not await services.webhooks.add(made):
        raise ConflictError(f"name: there is a webhook {body.name!r} already")
    return reply({"name": made.name, "path": f"/api/webhook/{made.id}", "secret": made.secret})


@describe(reply=replies.Removed)
async def remove(request: web.Request) -> web.StreamResponse:
    """Forget one."""
    name = request.match_info["name"]
    if not await request.app[SERVICES].webhooks.remove(name):
        raise NotFoundError(f"there is no webhook {name!r}")
    return reply({"removed": True})


@describe(reply=list[Call])
async def calls(request: web.Request) -> web.StreamResponse:
    """The log of calls, newest first."""
    return reply(await request.app[SERVICES].webhooks.calls())


ROUTES = [
    web.post("/api/webhook/{id}", receive),
    web.put("/api/webhook/{id}", receive),
    web.get("/hub/webhooks", webhooks),
    web.post("/hub/webhooks", add),
    web.get("/hub/webhooks/calls", calls),
    web.delete("/hub/webhooks/{name}", remove),
]
