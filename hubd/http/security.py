"""Who may talk to the hub over TCP: the names it is known by, its own pages, holders of the token.

A browser on the same machine runs pages of strangers, and a stranger's domain can be made to point
at 127.0.0.1 (DNS rebinding). So the Host must be one of ours, and a request that changes something
must come from our own page or from something that is no browser. The Unix socket is guarded by its
file mode instead.
"""

import hashlib
import hmac
import socket
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

from hubd.errors import HubError
from hubd.http.body import error_reply
from hubd.http.services import SERVICES

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types dompurify hubd-worker",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
COOKIE = "hubd_token"
COOKIE_AGE_S = 400 * 24 * 3600
OPEN_PATHS = frozenset({"/healthz"})
OWN_SECRETS = ("/api/webhook/", "/api/home-assistant/notify")
"""Each has a secret of its own."""


class _RefusedError(HubError):
    def __init__(self, status: int, code: str, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.status = status
        self.code = code


@web.middleware
async def security(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what must not come in; everything that goes out gets the headers."""
    if over_unix_socket(request):
        return await handler(request)
    try:
        _check_host(request)
        _check_origin(request)
        _check_token(request)
    except _RefusedError as error:
        return error_reply(request.path, error)
    if request.query.get("token") and request.method == "GET":
        return _log_in(request)
    return await handler(request)


async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
    """Signal handler ``on_response_prepare``: streamed responses get the headers too."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.pop("Server", None)


def over_unix_socket(request: web.Request) -> bool:
    """Whether the request came over the Unix socket, which only the owner can open."""
    transport = request.transport
    sock = transport.get_extra_info("socket") if transport else None
    return sock is not None and sock.family == socket.AF_UNIX


def _check_host(request: web.Request) -> None:
    settings = request.app[SERVICES].config.http
    name = host_name(request.headers.get("Host", ""))
    known = {settings.host.casefold(), *map(str.casefold, settings.names), _own_address(request)}
    if name not in LOCAL_NAMES | known:
        raise _RefusedError(
            421,
            "wrong_host",
            f"This hub is not known as {name!r}.",
            "Open it as http://localhost, or add the name to [http] names in hubd.toml.",
        )


def _own_address(request: web.Request) -> str:
    """The address that this connection came to: a number cannot be rebound to another machine."""
    transport = request.transport
    name = transport.get_extra_info("sockname") if transport else None
    return str(name[0]) if name else ""


def host_name(host: str) -> str:
    """The name of a Host header without its port; brackets of an IPv6 address removed."""
    try:
        return (urlsplit(f"//{host}").hostname or "").casefold()
    except ValueError:
        return ""


def _check_origin(request: web.Request) -> None:
    """A browser says where a request comes from; what says nothing is no browser."""
    if request.method in SAFE_METHODS:
        return
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    if site in ("same-origin", "none") or (site is None and origin is None):
        return
    if site is None and origin and urlsplit(origin).netloc == request.headers.get("Host"):
        return
    raise _RefusedError(
        403,
        "cross_origin",
        "A page of another site tried to use this hub.",
        "Use the hub's own page.",
    )


def _check_token(request: web.Request) -> None:
    token = request.app[SERVICES].config.http.token
    if not token or request.path in OPEN_PATHS or request.path.startswith(OWN_SECRETS):
        return
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    cookie = request.cookies.get(COOKIE, "")
    if (
        (scheme.casefold() == "bearer" and _equal(given.strip(), token))
        or _equal(request.query.get("token", ""), token)
        or _equal(cookie, _fingerprint(token))
    ):
        return
    raise _RefusedError(
        401,
        "unauthorized",
        "This hub asks for its token.",
        "Open /?token=… once in a browser, or send the header Authorization: Bearer …",
    )


def _log_in(request: web.Request) -> web.StreamResponse:
    """The token out of the address bar and into a cookie that scripts cannot read."""
    response = web.Response(status=303, headers={"Location": "/"})
    token = request.app[SERVICES].config.http.token
    if token:
        response.set_cookie(
            COOKIE, _fingerprint(token), max_age=COOKIE_AGE_S, httponly=True, samesite="Strict"
        )
    return response


def _fingerprint(token: str) -> str:
    return hmac.new(token.encode(), b"hubd page", hashlib.sha256).hexdigest()


def _equal(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(), right.encode())
