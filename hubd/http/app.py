"""The application: every family of endpoints, one way of telling errors."""

import logging
from collections.abc import Awaitable, Callable

from aiohttp import web

from hubd.errors import HubError
from hubd.http import (
    ask,
    documents,
    events,
    health,
    home_assistant,
    household,
    mcp,
    ollama,
    openai,
    responses,
    static,
    tools,
    webhooks,
)
from hubd.http.body import JSON_LIMIT, error_body, error_reply, reply
from hubd.http.security import add_headers, security
from hubd.http.services import SERVICES, Services
from rag.errors import RagError

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
FAMILIES = (
    health,
    ask,
    documents,
    tools,
    home_assistant,
    household,
    events,
    openai,
    responses,
    mcp,
    ollama,
    webhooks,
    static,
)


def make_app(services: Services) -> web.Application:
    """The application over running services; it owns none of them."""
    app = web.Application(client_max_size=JSON_LIMIT, middlewares=[errors, security])
    app[SERVICES] = services
    app.on_response_prepare.append(add_headers)
    for family in FAMILIES:
        app.add_routes(family.ROUTES)
    return app


def make_runner(app: web.Application) -> web.AppRunner:
    """A runner whose handlers end when their client goes away."""
    return web.AppRunner(
        app, handler_cancellation=True, access_log=None, shutdown_timeout=8.0, max_line_size=16_384
    )


@web.middleware
async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every error in the form that the path's clients know."""
    try:
        return await handler(request)
    except HubError as error:
        return error_reply(request.path, error)
    except RagError as error:
        return error_reply(request.path, HubError(str(error)))
    except web.HTTPException as error:
        if error.status < 400:
            raise
        code = error.reason.lower().replace(" ", "_")
        message = _words(request, error)
        return reply(error_body(request.path, code, message, "", error.status), error.status)
    except Exception:
        log.exception("request failed method=%s path=%s", request.method, request.path)
        failed = ask.INTERNAL
        return error_reply(request.path, HubError(failed.message, failed.hint))


def _words(request: web.Request, error: web.HTTPException) -> str:
    if error.status == 404:
        return f"there is nothing at {request.path}"
    if error.status == 405:
        return f"{request.path} does not know {request.method}"
    if error.status == 413:
        return f"the body is larger than {JSON_LIMIT // 1024} KB"
    return error.reason
