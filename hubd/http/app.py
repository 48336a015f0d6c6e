"""The application: every family of endpoints, one way of telling errors."""

import logging
import secrets
import time
from collections.abc import Awaitable, Callable

from aiohttp import web

from hubd import logs
from hubd.errors import BadRequestError, HubError
from hubd.http import (
    access,
    ask,
    conversations,
    documents,
    events,
    forget,
    health,
    home_assistant,
    household,
    insight,
    mcp,
    metrics,
    ollama,
    openai,
    openapi,
    reindex,
    responses,
    static,
    tools,
    webhooks,
)
from hubd.http.body import JSON_LIMIT, error_body, error_reply, reply
from hubd.http.callers import plain_path, with_token
from hubd.http.proxies import PROXIES
from hubd.http.security import add_headers, security
from hubd.http.services import SERVICES, Services
from hubd.store.faults import storage_error
from rag.errors import RagError

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
FAMILIES = (
    health,
    metrics,
    access,
    forget,
    ask,
    conversations,
    documents,
    reindex,
    tools,
    home_assistant,
    household,
    insight,
    events,
    openai,
    responses,
    mcp,
    ollama,
    webhooks,
    openapi,
    static,
)


CLIENT_LEFT = 499
"""The status that is counted where a client went away before there was one."""
SILENCE_LIMIT_S = 75.0
"""A connection on which no whole request head comes for this long is closed."""


def make_app(services: Services) -> web.Application:
    """The application over running services; it owns none of them."""
    app = web.Application(client_max_size=JSON_LIMIT, middlewares=[observe, errors, security])
    app[SERVICES] = services
    app[PROXIES] = services.config.http.proxies()
    app.on_response_prepare.append(add_headers)
    for family in FAMILIES:
        app.add_routes(family.ROUTES)
    app.add_routes(with_token(ollama.ROUTES))
    return app


def make_runner(app: web.Application) -> web.AppRunner:
    """A runner whose handlers end when their client goes away."""
    return web.AppRunner(
        app,
        handler_cancellation=True,
        access_log=None,
        shutdown_timeout=8.0,
        max_line_size=16_384,
        keepalive_timeout=SILENCE_LIMIT_S,
    )


@web.middleware
async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Each request counted, and logged by its route: a path may hold names, a query words."""
    began = time.perf_counter()
    status = CLIENT_LEFT
    with logs.fields(request=secrets.token_hex(4)):
        try:
            response = await handler(request)
            status = response.status
            return response
        except web.HTTPException as error:
            status = error.status
            raise
        finally:
            seconds = time.perf_counter() - began
            resource = request.match_info.route.resource
            route = resource.canonical if resource else "(none)"
            request.app[SERVICES].requests.count(route, status, seconds)
            quiet = request.method in ("GET", "HEAD") and status < 400
            log.log(
                logging.DEBUG if quiet else logging.INFO,
                "request method=%s route=%s status=%d ms=%d",
                request.method, route, status, round(seconds * 1000),
            )  # fmt: skip


@web.middleware
async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every error in the form that the path's clients know."""
    try:
        return await handler(request)
    except HubError as error:
        return error_reply(plain_path(request), error)
    except RagError as error:
        return error_reply(plain_path(request), HubError(str(error)))
    except web.HTTPException as error:
        if error.status < 400:
            raise
        code = error.reason.lower().replace(" ", "_")
        message = _words(request, error)
        body = error_body(plain_path(request), code, message, "", error.status)
        return reply(body, error.status)
    except RecursionError as error:
        log.warning("a request was nested too deeply")
        return error_reply(plain_path(request), BadRequestError(f"nested too deeply: {error}"))
    except Exception as error:
        if (storage := storage_error(error)) is not None:
            log.error("%s", storage.message)
            return error_reply(plain_path(request), storage)
        log.exception("a request failed")
        failed = ask.INTERNAL
        return error_reply(plain_path(request), HubError(failed.message, failed.hint))


def _words(request: web.Request, error: web.HTTPException) -> str:
    if error.status == 404:
        return f"there is nothing at {plain_path(request)}"
    if error.status == 405:
        return f"{plain_path(request)} does not know {request.method}"
    if error.status == 413:
        return f"the body is larger than {JSON_LIMIT // 1024} KB"
    return error.reason
