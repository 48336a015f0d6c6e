"""Deliveries of webhooks that are being carried out, and how often anybody may call."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from hubd.errors import BusyError, HubError
from hubd.http.rate import Rate

log = logging.getLogger(__name__)

STOP_LIMIT_S = 5.0


class Deliveries:
    """Owns the tasks, so that a sender that hangs up does not cut its delivery off half way."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        self._known = Rate(per_minute=60, burst=20)
        self._strangers = Rate(per_minute=20, burst=20)

    def count(self, webhook: str) -> None:
        """A call of a webhook. Raises BusyError when it is called too often."""
        _check(self._known.wait_s(webhook))

    def count_stranger(self, address: str) -> None:
        """A call that proved nothing. Raises BusyError as ``count``."""
        _check(self._strangers.wait_s(address))

    def start(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Run ``work`` to its end, whoever waits for it."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._forget)
        return task

    async def close(self) -> None:
        """Give them a moment to finish."""
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=STOP_LIMIT_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, HubError):
            log.error("a webhook failed", exc_info=error)


def _check(wait_s: float) -> None:
    if wait_s:
        raise BusyError(f"called too often; again in {wait_s:.0f} seconds")
