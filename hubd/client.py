"""The running daemon from the command line's side, over its Unix socket."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec

from hubd.errors import HubError
from hubd.paths import Paths

SILENCE_LIMIT_S = 60.0
"""The daemon sends a heartbeat more often than this."""


class NotRunningError(HubError):
    """No daemon answers in this home."""

    def __init__(self) -> None:
        super().__init__("hubd is not running: start it with `hubd serve`")


class HubClient:
    """Requests to the daemon. Make it with ``connected``."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def request(self, method: str, path: str, **options: Any) -> Any:
        """The reply's JSON. ``options`` as in ``aiohttp.ClientSession.request``.

        Raises:
            NotRunningError: no daemon answers.
            HubError: the daemon's own words.
        """
        try:
            async with self._session.request(method, f"http://hub{path}", **options) as response:
                data = await response.read()
        except aiohttp.ClientConnectorError as error:
            raise NotRunningError from error
        except aiohttp.ClientError as error:
            raise HubError(f"the connection to hubd broke off: {error}") from error
        reply = msgspec.json.decode(data)
        if response.status >= 400 and "error" in reply:
            raise said(reply["error"])
        return reply

    async def events(self, path: str, body: Any) -> AsyncGenerator[tuple[str, Any], None]:
        """The events of a streamed reply: names and data.

        Raises:
            NotRunningError: no daemon answers.
            HubError: the daemon's own words, or the stream broke off.
        """
        headers = {"Accept": "text/event-stream"}
        try:
            async with self._session.post(
                f"http://hub{path}", json=body, headers=headers
            ) as response:
                if response.status >= 400:
                    raise said(msgspec.json.decode(await response.read())["error"])
                name = ""
                async for line in response.content:
                    field, _, value = line.decode().rstrip("\n").partition(": ")
                    if field == "event":
                        name = value
                    elif field == "data":
                        yield name, msgspec.json.decode(value)
                        if name in ("done", "error"):
                            return
        except aiohttp.ClientConnectorError as error:
            raise NotRunningError from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise HubError(f"the connection to hubd broke off: {error}") from error
        raise HubError("hubd stopped in the middle of the answer", "Ask again.")


@asynccontextmanager
async def connected(paths: Paths) -> AsyncIterator[HubClient]:
    """A client for the daemon of this home; whether one runs shows with the first request."""
    timeout = aiohttp.ClientTimeout(total=None, sock_read=SILENCE_LIMIT_S)
    connector = aiohttp.UnixConnector(str(paths.socket))
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, read_bufsize=2**22
    ) as session:
        yield HubClient(session)


def said(error: dict[str, str]) -> HubError:
    """The daemon's error as an exception."""
    made = HubError(error.get("message", "hubd refused"), error.get("hint", ""))
    made.code = error.get("code", "internal")
    return made
