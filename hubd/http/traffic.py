"""How much one client may ask for: how often, how much at once, none once its token is revoked."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Iterator

from hubd.errors import BusyError
from hubd.http.rate import Rate

AT_ONCE = 40
"""Requests of one client that run: pages keep one open each, and a person has a few pages."""
PER_MINUTE = 6000
BURST = 400
STRANGERS_PER_MINUTE = 600
STRANGERS_BURST = 120
"""Of an address that shows no token: the pairing page and its files, health, webhooks."""


class Traffic:
    """The requests that run, by client: the id of a token, or an address."""

    def __init__(self) -> None:
        self._running: dict[str, set[asyncio.Task[object]]] = defaultdict(set)
        self._rate = Rate(per_minute=PER_MINUTE, burst=BURST)
        self._strangers = Rate(per_minute=STRANGERS_PER_MINUTE, burst=STRANGERS_BURST)

    @contextlib.contextmanager
    def one(self, client: str, *, known: bool) -> Iterator[None]:
        """The time of one request of that client.

        Raises:
            BusyError: it asks too often, or for too much at once.
        """
        wait_s = (self._rate if known else self._strangers).wait_s(client)
        if wait_s:
            raise BusyError(f"called too often; again in {wait_s:.1f} seconds")
        if len(self._running[client]) >= AT_ONCE:
            raise BusyError(f"{AT_ONCE} requests of this device are being answered already.")
        task = asyncio.current_task()
        assert task is not None
        self._running[client].add(task)
        try:
            yield
        finally:
            self._running[client].discard(task)
            if not self._running[client]:
                del self._running[client]

    def end(self, client: str) -> None:
        """Cut off what runs for a client: its token was revoked."""
        for task in self._running.get(client, ()):
            if task is not asyncio.current_task():
                task.cancel()

    @property
    def running(self) -> int:
        """Requests being answered now."""
        return sum(map(len, self._running.values()))
