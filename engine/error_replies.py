"""Errors as OpenAI's clients expect them: an honest status and a description."""

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import msgspec
from aiohttp import web

from engine.errors import (
    ChatTemplateError,
    EngineClosedError,
    EngineError,
    InvalidRequestError,
    NotReadyError,
    QueueFullError,
)
from engine.protocol import ErrorDetail, ErrorReply

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

MAX_BODY_BYTES = 8 * 1024 * 1024


class UnknownModelError(EngineError):
    """The request names a model that this engine does not serve."""


def json_reply(data: object, *, status: int = 200) -> web.Response:
    """A struct as a reply."""
    return web.Response(
        body=msgspec.json.encode(data), status=status, content_type="application/json"
    )


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        detail = _http_error(error, request)
        return json_reply(ErrorReply(detail), status=error.status)
    except (EngineError, MemoryError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        status, detail = described(error)
        response = json_reply(ErrorReply(detail), status=status)
        if status in (429, 503):
            response.headers["Retry-After"] = "1"
        return response
    except Exception:
        log.exception("%s %s failed", request.method, request.path)
        detail = ErrorDetail(message="the engine failed on this request", type="server_error")
        return json_reply(ErrorReply(detail), status=500)


@contextmanager
def naming(param: str) -> Iterator[None]:
    """Errors within are about that field: the engine knows a prompt, which the request may call
    otherwise."""
    try:
        yield
    except InvalidRequestError as error:
        if error.param == "prompt":
            error.param = param
        raise


def described(error: Exception) -> tuple[int, ErrorDetail]:
    """The honest status and OpenAI's description of an error."""
    text = str(error)
    match error:
        case InvalidRequestError(param=param, code=code):
            return 400, ErrorDetail(message=text, param=param, code=code)
        case ChatTemplateError():
            return 422, ErrorDetail(message=text, param="messages", code="chat_template_error")
        case QueueFullError():
            return 429, ErrorDetail(message=text, type="rate_limit_error", code="queue_full")
        case UnknownModelError():
            return 404, ErrorDetail(message=text, param="model", code="model_not_found")
        case NotReadyError():
            return 503, ErrorDetail(message=text, type="server_error", code="not_ready")
        case MemoryError():
            said = "there is not enough memory for this request; send a shorter one, or ask again"
            return 503, ErrorDetail(message=said, type="server_error", code="out_of_memory")
        case EngineClosedError():
            return 503, ErrorDetail(message=text, type="server_error", code="shutting_down")
        case msgspec.ValidationError():
            param = text.rpartition("`$.")[2].rstrip("`") if "`$." in text else None
            return 400, ErrorDetail(message=text, param=param, code="invalid_type")
        case msgspec.MsgspecError() | UnicodeDecodeError():
            return 400, ErrorDetail(message=f"the body is not JSON: {text}", code="invalid_json")
    return 500, ErrorDetail(message=text, type="server_error")


def _http_error(error: web.HTTPException, request: web.Request) -> ErrorDetail:
    message = f"{error.reason}: {request.method} {request.path}"
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        message = f"the body is over {MAX_BODY_BYTES} bytes"
    return ErrorDetail(message=message, code=error.reason.lower().replace(" ", "_"))
