"""Request bodies into structs, and errors into replies: the two forms that clients know."""

import re
from typing import Any, TypeVar

import msgspec
from aiohttp import web

from hubd.errors import BadRequestError, HubError

T = TypeVar("T")

JSON_LIMIT = 1024 * 1024
BUSY_RETRY_S = 5

_encoder = msgspec.json.Encoder()


async def read_body(request: web.Request, kind: type[T]) -> T:
    """The JSON body as ``kind``.

    Raises:
        BadRequestError: not JSON, or a field is missing or wrong; the message names the field.
    """
    data = await request.read()
    try:
        return msgspec.json.decode(data or b"{}", type=kind)
    except msgspec.ValidationError as error:
        raise BadRequestError(explain(error)) from error
    except msgspec.DecodeError as error:
        raise BadRequestError(f"the body is not JSON: {error}") from error


def query(request: web.Request, kind: type[T]) -> T:
    """The query string as ``kind``.

    Raises:
        BadRequestError: a parameter is missing or wrong; the message names it.
    """
    try:
        return msgspec.convert(dict(request.query), kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadRequestError(explain(error)) from error


def explain(error: msgspec.ValidationError) -> str:
    """msgspec's words with the field first: ``text: expected `str`, got `int```."""
    what, _, where = str(error).partition(" - at `$")
    field = re.sub(r"^\.", "", where.rstrip("`"))
    return f"{field}: {what[0].lower()}{what[1:]}" if field else what


def reply(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """``value`` as JSON."""
    return web.Response(
        body=_encoder.encode(value),
        status=status,
        headers=headers,
        content_type="application/json",
    )


def error_body(path: str, code: str, message: str, hint: str, status: int) -> dict[str, Any]:
    """An error as the household's clients know it, as OpenAI's under ``/v1``, as Ollama's."""
    if path.startswith("/api/") and not path.startswith(("/api/webhook", "/api/home-assistant")):
        return {"error": f"{message} {hint}".strip()}
    if not path.startswith("/v1/"):
        return {"error": {"code": code, "message": message, "hint": hint}}
    kind = "server_error" if status >= 500 else "invalid_request_error"
    kind = "rate_limit_error" if status == 429 else kind
    text = f"{message} {hint}".strip()
    return {"error": {"message": text, "type": kind, "param": None, "code": code}}


def error_reply(path: str, error: HubError) -> web.Response:
    """An error as a response; one that passes says when to come back."""
    headers = {"Retry-After": str(BUSY_RETRY_S)} if error.status in (429, 503) else None
    body = error_body(path, error.code, error.message, error.hint, error.status)
    return reply(body, error.status, headers)
