"""Home Assistant's WebSocket: authentication, commands and their results, subscriptions.

One connection from its beginning to its end; who opens the next one is ``home_assistant``'s. The
protocol: https://developers.home-assistant.io/docs/api/websocket
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import msgspec

from hubd.home.link import Link
from plugins.api import HomeError

log = logging.getLogger(__name__)

HEARTBEAT_S = 8.0
"""A ping this often; without its pong within half of that the connection counts as broken."""
CONNECT_LIMIT_S = 5.0
COMMAND_LIMIT_S = 10.0
MESSAGE_LIMIT = 64 * 1024 * 1024

Handler = Callable[[dict[str, Any]], None]


class HomeAwayError(HomeError):
    """Home Assistant cannot be reached, or went away."""


class TokenRefusedError(HomeError):
    """Home Assistant does not take the token."""


class CommandError(HomeError):
    """Home Assistant refused a command; ``code`` is its own word for why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Connection:
    """Commands over one WebSocket. Open it with ``connected``."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, version: str) -> None:
        self.version = version
        """Home Assistant's."""
        self._socket = socket
        self._last_id = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._handlers: dict[int, Handler] = {}
        self._reader = asyncio.create_task(self._read(), name="home assistant reader")

    async def command(self, kind: str, **fields: Any) -> Any:
        """The result of a command.

        Raises:
            CommandError: Home Assistant refused it.
            HomeAwayError: the connection broke, or nothing came back in time.
        """
        return await self._send(kind, fields, None)

    async def subscribe(self, handler: Handler, kind: str, **fields: Any) -> None:
        """Call ``handler`` with each event of a subscription from now on. Raises as ``command``."""
        await self._send(kind, fields, handler)

    async def ping(self) -> None:
        """Return once Home Assistant answered. Raises as ``command``."""
        await self._send("ping", {}, None)

    async def until_closed(self) -> None:
        """Until the connection is over, whatever ended it."""
        await asyncio.wait({self._reader})

    async def close(self) -> None:
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CONNECT_LIMIT_S):
                await self._socket.close()

    async def _send(self, kind: str, fields: dict[str, Any], handler: Handler | None) -> Any:
        if self._reader.done():
            raise HomeAwayError("the connection to Home Assistant is closed")
        self._last_id += 1
        number = self._last_id
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        if handler is not None:
            self._handlers[number] = handler
        message = msgspec.json.encode({"id": number, "type": kind} | fields)
        try:
            async with asyncio.timeout(COMMAND_LIMIT_S):
                await self._socket.send_str(message.decode())
                return await future
        except (TimeoutError, OSError, aiohttp.ClientError) as error:
            self._handlers.pop(number, None)
            raise HomeAwayError(f"Home Assistant does not answer to {kind}") from error
        except CommandError:
            self._handlers.pop(number, None)
            raise
        finally:
            self._waiting.pop(number, None)

    async def _read(self) -> None:
        try:
            async for message in self._socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    decoded = msgspec.json.decode(message.data)
                    for one in decoded if isinstance(decoded, list) else [decoded]:
                        self._take(one)
        except (msgspec.DecodeError, OSError, aiohttp.ClientError) as error:
            log.info("the connection to Home Assistant broke off: %s", error)
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(HomeAwayError("the connection broke off"))

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id", 0)
        if message.get("type") == "event" and (handler := self._handlers.get(number)):
            try:
                handler(message.get("event") or {})
            except Exception:  # one event that is not understood must not end the connection
                log.exception("an event of Home Assistant was not understood")
        elif message.get("type") in ("result", "pong") and (future := self._waiting.get(number)):
            if future.done():
                return
            if message.get("success") or message["type"] == "pong":
                future.set_result(message.get("result"))
            else:
                error = message.get("error") or {}
                future.set_exception(
                    CommandError(str(error.get("code")), str(error.get("message")))
                )


@contextlib.asynccontextmanager
async def connected(session: aiohttp.ClientSession, link: Link) -> AsyncIterator[Connection]:
    """An authenticated connection for the time of the block.

    Raises:
        HomeAwayError: nothing answers, or what answers is not Home Assistant.
        TokenRefusedError: the token is wrong or was revoked.
    """
    url = f"{link.url}/api/websocket"
    async with contextlib.AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                socket = await session.ws_connect(
                    url, heartbeat=HEARTBEAT_S, max_msg_size=MESSAGE_LIMIT
                )
                stack.push_async_callback(socket.close)
                version = await _authenticate(socket, link.token)
        except (TimeoutError, OSError, aiohttp.ClientError, ValueError, TypeError) as error:
            raise HomeAwayError(f"{link.url}: {describe(error)}") from error
        connection = Connection(socket, version)
        stack.push_async_callback(connection.close)
        yield connection


async def _authenticate(socket: aiohttp.ClientWebSocketResponse, token: str) -> str:
    """Home Assistant's version, once it has let us in."""
    hello = await socket.receive_json()
    if hello.get("type") != "auth_required":
        raise ValueError("what answers is not Home Assistant")
    await socket.send_json({"type": "auth", "access_token": token})
    answer = await socket.receive_json()
    if answer.get("type") == "auth_invalid":
        raise TokenRefusedError("Home Assistant does not take the token")
    return str(answer.get("ha_version") or hello.get("ha_version") or "")


def describe(error: BaseException) -> str:
    """Why a connection did not come about, in words; nothing of the request is in them."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return "its TLS certificate is not valid for this address"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "there is no machine of that name"
    if isinstance(error, aiohttp.ClientConnectorError):
        return error.os_error.strerror or str(error.os_error)
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return f"what answers there is not Home Assistant (status {error.status})"
    return str(error) or type(error).__name__
