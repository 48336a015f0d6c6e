"""Who sends a request, and whether they may: tokens, sessions, scopes.

Over the Unix socket it is the owner, because nobody else can open it. Over TCP a device shows its
token: in the header ``Authorization``, in a cookie that scripts cannot read, or, for clients that
can send neither, in the address (``/token/TOKEN/api/…``). What each path asks for is one table;
what is not in it is for owners.
"""

import hmac
from datetime import UTC, datetime
from typing import Literal

import msgspec
from aiohttp import web

from hubd.errors import HubError
from hubd.http.services import SERVICES
from hubd.policy import LOCAL_OWNER, Caller, Role, Scope

COOKIE = "hubd_session"
COOKIE_AGE_S = 400 * 24 * 3600
"""What browsers allow at most."""
CALLER = web.RequestKey("caller", Caller)

FAMILY: frozenset[Role] = frozenset({"owner", "member"})


class Rule(msgspec.Struct, frozen=True):
    """What requests of these methods to paths that begin so ask for."""

    methods: str
    """``*``: all."""
    path: str
    """A prefix if it ends with a slash; else exactly this."""
    scope: Scope | Literal["open"]
    """``open``: nothing, or a secret of its own."""
    roles: frozenset[Role] | None = None
    """``None``: everybody."""


RULES = (
    Rule("GET", "/healthz", "open"),
    Rule("GET", "/readyz", "open"),
    Rule("GET", "/pair", "open"),
    Rule("POST", "/hub/pair", "open"),
    Rule("GET", "/static/", "open"),
    Rule("GET", "/worker.js", "open"),
    Rule("GET", "/hub/me", "open"),
    Rule("POST PUT", "/api/webhook/", "open"),
    Rule("POST", "/api/home-assistant/notify", "open"),
    Rule("GET", "/", "chat"),
    Rule("*", "/v1/", "chat"),
    Rule("*", "/api/", "chat"),
    Rule("POST", "/hub/ask", "chat"),
    Rule("POST", "/hub/explain", "chat"),
    Rule("POST", "/hub/retrieve", "chat"),
    Rule("POST", "/hub/logout", "chat"),
    Rule("*", "/hub/conversations", "chat"),
    Rule("*", "/hub/conversations/", "chat"),
    Rule("GET", "/hub/answers", "chat"),
    Rule("GET DELETE", "/hub/answers/", "chat"),
    Rule("GET", "/hub/documents", "chat"),
    Rule("GET", "/hub/documents/", "chat"),
    Rule("POST DELETE", "/hub/documents", "tools", FAMILY),
    Rule("GET", "/hub/tools", "chat"),
    Rule("POST", "/hub/tools/", "chat"),
    Rule("GET", "/hub/events", "chat"),
    Rule("GET", "/hub/status", "chat"),
    Rule("GET", "/hub/home", "chat"),
    Rule("GET", "/hub/home-assistant", "chat"),
    Rule("*", "/mcp", "tools"),
    Rule("GET", "/openapi.json", "chat"),
    Rule("GET", "/metrics", "metrics"),
)
OWNERS = Rule("*", "/", "admin")


class RefusedError(HubError):
    """A request that is not let in."""

    def __init__(self, status: int, code: str, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.status = status
        self.code = code


def rule_of(method: str, path: str) -> Rule:
    """What a request asks for; the first rule that fits it."""
    method = "GET" if method == "HEAD" else method
    for rule in RULES:
        fits = (
            path.startswith(rule.path)
            if len(rule.path) > 1 and rule.path.endswith("/")
            else (path == rule.path)
        )
        if fits and (rule.methods == "*" or method in rule.methods.split()):
            return rule
    return OWNERS


def caller_of(request: web.Request) -> Caller:
    """Who sends it; found by the middleware before any handler of a path that is not open."""
    return request[CALLER]


def plain_path(request: web.Request) -> str:
    """The path without a token that it may carry: what may be logged, and told by."""
    secret = request.match_info.get("secret")
    return request.path.removeprefix(f"/token/{secret}") if secret else request.path


def with_token(routes: list[web.RouteDef]) -> list[web.RouteDef]:
    """The same routes below ``/token/TOKEN``."""
    return [
        web.RouteDef(one.method, "/token/{secret}" + one.path, one.handler, one.kwargs)
        for one in routes
    ]


async def admit(request: web.Request) -> None:
    """Find out who sends the request and whether they may.

    Raises:
        RefusedError: nobody whom the hub knows (401), somebody who may not (403), or somebody who
            was wrong too often (429).
    """
    rule = rule_of(request.method, plain_path(request))
    if rule.scope == "open":
        # The page's files are a device's own traffic, and not a stranger's at its address.
        session = request.app[SERVICES].access.find(request.cookies.get(COOKIE, ""))
        if session is not None:
            request[CALLER] = session
        return
    caller = known(request)
    if caller is None:
        raise RefusedError(
            401, "unauthorized", "This hub does not know this device.",
            "Pair a browser with the code of `hubd pair`; give a program a token of "
            "`hubd token add NAME`, which it sends as Authorization: Bearer …",
        )  # fmt: skip
    if rule.scope not in caller.scopes:
        raise RefusedError(
            403, "forbidden", f"This device may not do that: it needs the scope {rule.scope}.",
            "`hubd token add` makes a token with it.",
        )  # fmt: skip
    if rule.roles is not None and caller.person.role not in rule.roles:
        raise RefusedError(403, "forbidden", f"A {caller.person.role} may not do that.", "")
    request[CALLER] = caller
    if caller.token:
        await request.app[SERVICES].access.used(caller.token, datetime.now(UTC).date())


def device_of(secret: str, request: web.Request) -> Caller | None:
    """Whose token this is; the one of the configuration is the owner's.

    Raises:
        RefusedError: wrong too often. A device's own token is too long to guess, and is let in
            even then, so that one that is wrong does not lock out another at the same address.
    """
    services = request.app[SERVICES]
    found = services.access.find(secret)
    if found is not None:
        return found
    address = request.remote or ""
    check_patience(request)
    configured = services.config.http.token
    if configured and hmac.compare_digest(secret.encode(), configured.encode()):
        services.backoff.succeeded(address)
        return LOCAL_OWNER
    services.backoff.failed(address)
    return None


def check_patience(request: web.Request) -> None:
    """Raises ``RefusedError`` for an address that was wrong too often."""
    wait_s = request.app[SERVICES].backoff.wait_s(request.remote or "")
    if wait_s:
        raise RefusedError(
            429, "busy", f"Wrong too often; again in {wait_s:.0f} seconds.", "Wait, then try again."
        )


def bearer(request: web.Request) -> str:
    """The token in the header, empty if there is none."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return given.strip() if scheme.casefold() == "bearer" else ""


def known(request: web.Request) -> Caller | None:
    """Who sends a request, by what it shows; ``None``: nobody whom the hub knows.

    Raises:
        RefusedError: as `device_of`.
    """
    if CALLER in request:
        return request[CALLER]
    if given := bearer(request) or request.match_info.get("secret", ""):
        return device_of(given, request)
    return request.app[SERVICES].access.find(request.cookies.get(COOKIE, ""))
