"""The house's notice board: what every open chat page hears (``timer``, ``documents``, ``engine``).

Publishing never waits. A listener that does not keep up is dropped; its page connects again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

QUEUE_LIMIT = 64


class Notice(msgspec.Struct, frozen=True):
    """One event for every page: its name and its data, JSON types only."""

    event: str
    data: dict[str, Any]


class NoticeBoard:
    """Hands each notice to every listener."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[Notice | None]] = set()
        self.observers: list[Callable[[Notice], None]] = []
        """Parts of the hub that take notice too; called at once, they must not wait."""

    @property
    def listeners(self) -> int:
        """How many listen now."""
        return len(self._listeners)

    def publish(self, event: str, data: dict[str, Any]) -> None:
        """Tell everyone who listens now; nobody else will hear it."""
        for observer in self.observers:
            observer(Notice(event, data))
        for queue in list(self._listeners):
            if queue.full():
                self._drop(queue)
            else:
                queue.put_nowait(Notice(event, data))

    @asynccontextmanager
    async def listen(self) -> AsyncIterator["asyncio.Queue[Notice | None]"]:
        """A queue of notices from now on; ``None`` means that this listener was dropped."""
        queue: asyncio.Queue[Notice | None] = asyncio.Queue(QUEUE_LIMIT)
        self._listeners.add(queue)
        try:
            yield queue
        finally:
            self._listeners.discard(queue)

    def close(self) -> None:
        """Drop every listener, so that their connections end."""
        for queue in list(self._listeners):
            self._drop(queue)

    def _drop(self, queue: "asyncio.Queue[Notice | None]") -> None:
        self._listeners.discard(queue)
        while not queue.empty():
            queue.get_nowait()
        queue.put_nowait(None)
