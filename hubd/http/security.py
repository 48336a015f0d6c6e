"""What may talk to the hub over TCP: requests to names it is known by, its own pages, programs.

A browser on the same machine runs pages of strangers, and a stranger's domain can be made to point
at 127.0.0.1 (DNS rebinding). So the Host must be one of ours, and a request that changes something
must come from our own page or from something that is no browser. The Unix socket is guarded by its
file mode instead. Who is asking, and whether they may, is decided in ``hubd.http.callers``.
"""

import socket
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

from hubd import logs
from hubd.http.body import error_reply
from hubd.http.callers import CALLER, RefusedError, admit, plain_path
from hubd.http.proxies import forwarded
from hubd.http.services import SERVICES
from hubd.policy import LOCAL_OWNER, OWNER

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types dompurify default",
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


@web.middleware
async def security(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what must not come in; everything that goes out gets the headers."""
    if over_unix_socket(request):
        request[CALLER] = LOCAL_OWNER
        return await handler(request)
    request = forwarded(request)
    try:
        _check_host(request)
        _check_origin(request)
        await admit(request)
    except RefusedError as error:
        if error.status == 401 and request.method == "GET" and request.path == "/":
            return web.Response(status=303, headers={"Location": "/pair"})
        return error_reply(plain_path(request), error)
    client, is_known = _client(request)
    logs.add_field("client", client if is_known else "stranger")
    with request.app[SERVICES].traffic.one(client, known=is_known):
        return await handler(request)


def _client(request: web.Request) -> tuple[str, bool]:
    """Whose share of the hub's time this takes, and whether the hub knows them."""
    if CALLER in request:
        return request[CALLER].token or OWNER.name, True
    return request.remote or "", False


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
        raise RefusedError(
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
    raise RefusedError(
        403,
        "cross_origin",
        "A page of another site tried to use this hub.",
        "Use the hub's own page.",
    )
