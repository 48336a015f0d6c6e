"""Request bodies into structs, and errors into replies: the two forms that clients know."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
import numpy as np
from aiohttp import web

from hubd.errors import BadRequestError, HubError

T = TypeVar("T")

JSON_LIMIT = 1024 * 1024
DEPTH_LIMIT = 64
LARGEST = 2**53 - 1
"""The largest whole number that JSON's readers agree on (RFC 8259, section 6)."""
PIECE = 64 * 1024
BODY_LIMIT_S = 30.0
BUSY_RETRY_S = 5

QUOTE, BACKSLASH = ord('"'), ord("\\")
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")] = 1
_STEPS[list(b"]}")] = -1
_encoder = msgspec.json.Encoder()


class TooSlowError(HubError):
    """A client that does not send what it said it would."""

    code = "timeout"
    status = 408


async def read_body(request: web.Request, kind: type[T]) -> T:
    """The JSON body as ``kind``.

    Raises:
        BadRequestError: not JSON, or a field is missing or wrong; the message names the field.
    """
    data = await read_whole(request)
    try:
        return msgspec.json.decode(data or b"{}", type=kind)
    except msgspec.ValidationError as error:
        raise BadRequestError(explain(error)) from error
    except msgspec.DecodeError as error:
        raise BadRequestError(f"the body is not JSON: {error}") from error


async def read_whole(request: web.Request) -> bytes:
    """The body, of at most `JSON_LIMIT` bytes and `DEPTH_LIMIT` brackets one in another.

    Raises:
        BadRequestError: nested too deeply.
        TooSlowError: it did not come in time.
    """
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            data = await request.read()
    except TimeoutError as error:
        raise TooSlowError(f"the body did not come within {BODY_LIMIT_S:.0f} seconds") from error
    if data.count(b"[") + data.count(b"{") > DEPTH_LIMIT:
        await _check_depth(data)
    return data


async def _check_depth(data: bytes) -> None:
    """Raises BadRequestError: nested too deeply. Others get a turn between the pieces of a body."""
    for depth in depths(data):
        if depth > DEPTH_LIMIT:
            raise BadRequestError(f"the body is nested more than {DEPTH_LIMIT} levels deep")
        await asyncio.sleep(0)


def depths(data: bytes, piece: int = PIECE) -> Iterator[int]:
    """How deep the brackets of a JSON text stand at most, for each piece of it, at memory's speed.

    A loop over the bytes of a megabyte, or a regular expression that skips its strings, would hold
    up the event loop for 50 to 100 ms; a piece takes one or two. What comes after a mistake in the
    text is of no matter: decoding stops there.
    """
    in_string, depth, begin = 0, 0, 0
    while begin < len(data):
        end = min(begin + piece, len(data))
        if data[end - 1] == BACKSLASH:  # its escape stays whole
            rest = data[end:]
            end += len(rest) - len(rest.lstrip(b"\\")) + 1
        # Without escaped ones each quote begins or ends a string.
        plain = data[begin:end].replace(rb"\\", b"").replace(rb"\"", b"")
        codes = np.frombuffer(plain, np.uint8)
        inside = (np.cumsum(codes == QUOTE, dtype=np.uint8) + in_string) & 1
        steps = np.cumsum(np.where(inside, 0, _STEPS[codes]), dtype=np.int32)
        if steps.size:
            yield depth + int(steps.max())
            in_string, depth = int(inside[-1]), depth + int(steps[-1])
        begin = end


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
