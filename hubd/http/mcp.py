"""``/mcp``: the hub's tools for MCP clients, over streamable HTTP.

The SDK's server speaks ASGI and the hub aiohttp; this is the bridge. A bearer token is required,
whoever asks: a browser's cookie does not do.
"""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from aiohttp import web

from hubd.errors import HubError, NotFoundError
from hubd.http.body import read_whole
from hubd.http.callers import bearer, caller_of
from hubd.http.described import SERVER_SENT_EVENTS, describe
from hubd.http.services import SERVICES
from hubd.mcp.offer import PERSON


class NoBearerError(HubError):
    """The request does not carry the token in its header."""

    code = "unauthorized"
    status = 401


@describe(body=dict[str, Any], reply=dict[str, Any], streamed=SERVER_SENT_EVENTS)
async def mcp(request: web.Request) -> web.StreamResponse:
    """Hand one request to the SDK's server."""
    services = request.app[SERVICES]
    if not services.config.mcp.serve:
        raise NotFoundError(
            "The hub's tools are not offered by MCP.", "Set [mcp] serve = true in hubd.toml."
        )
    if not bearer(request):
        raise NoBearerError(
            "MCP clients must send the hub's token.", "Send Authorization: Bearer …"
        )
    bridge = _Bridge(request, await read_whole(request))
    await services.offer.answer(bridge.scope, bridge.receive, bridge.send)
    if bridge.response is None:
        raise HubError("The MCP server gave no answer.", "Try again.")
    return bridge.response


class _Bridge:
    """One aiohttp request as ASGI (specification 3.0) sees it, and the answer on its way back."""

    def __init__(self, request: web.Request, body: bytes) -> None:
        self._request = request
        self._body: bytes | None = body
        self.response: web.StreamResponse | None = None
        self.scope: MutableMapping[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.scheme,
            "path": request.path,
            "raw_path": request.rel_url.raw_path.encode(),
            "root_path": "",
            "query_string": request.rel_url.raw_query_string.encode(),
            "headers": [(name.lower(), value) for name, value in request.raw_headers],
            "client": None,
            "server": None,
            PERSON: caller_of(request).person,
        }

    async def receive(self) -> MutableMapping[str, Any]:
        """The whole body, and then nothing until the handler is cancelled."""
        if self._body is None:
            await asyncio.Event().wait()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = [(name.decode(), value.decode()) for name, value in message["headers"]]
            self.response = web.StreamResponse(status=message["status"])
            for name, value in headers:
                if name.lower() != "content-length":
                    self.response.headers.add(name, value)
            await self.response.prepare(self._request)
        elif message["type"] == "http.response.body" and self.response is not None:
            await self.response.write(message.get("body", b""))
            if not message.get("more_body"):
                await self.response.write_eof()


ROUTES = [web.route(method, "/mcp", mcp) for method in ("GET", "POST", "DELETE")]
