"""The queue before the model, and the one thread that computes.

Requests wait in order of priority and arrival in a bounded queue; those being computed share every
step (see ``engine.batch``), so a cancelled request stops within one. Idle, the thread sleeps on a
condition. Knows nothing of HTTP.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from engine.batch import Batch, Spent
from engine.chunk_reuse import Chunks
from engine.errors import EngineClosedError, QueueFullError
from engine.generate import Request
from engine.kept_prefixes import KeptPrefixes
from engine.prefix_cache import PrefixCache
from engine.protocol import PRIORITIES, Priority, SchedulerCounts
from engine.ticket import Sink, Ticket, deliver

if TYPE_CHECKING:
    from engine.model import Model

Result = TypeVar("Result")

MAX_ACTIVE = 16
MAX_WAITING = 64
COUNT_SECONDS = 1.0
"""Between two counts while there is work."""
REPLY_SECONDS = 0.005
"""Without work, before anything is copied for the disk: a reply is on its way then, and needs
Python's lock."""


class Load(msgspec.Struct, frozen=True):
    """How busy the scheduler is."""

    active: int
    waiting: int


class Scheduler:
    """The compute thread and the queue before it."""

    def __init__(
        self,
        model: "Model",
        cache: PrefixCache,
        *,
        max_active: int = MAX_ACTIVE,
        max_waiting: int = MAX_WAITING,
        kept: KeptPrefixes | None = None,
        chunks: Chunks | None = None,
    ) -> None:
        """cache, kept, chunks: from now on the compute thread's alone."""
        self._model = model
        self.cache = cache
        self._batch = Batch(model, cache, max_active, kept, chunks)
        self._max_active = max_active
        self._max_waiting = max_waiting
        self._wake = threading.Condition()
        self._inbox: deque[Ticket] = deque()
        self._arrivals = 0
        self._jobs: deque[tuple[Callable[[Model], Any], Future[Any]]] = deque()
        self._jobs_running = 0
        self._counts, self._counted_at = SchedulerCounts(kv_blocks=cache.pool.blocks), 0.0
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="engine-compute", daemon=True)
        self._thread.start()

    def submit(
        self,
        request: Request,
        sink: Sink,
        *,
        priority: Priority = "interactive",
        leader: Ticket | None = None,
        pin: bool = False,
    ) -> Ticket:
        """Queue a request. ``sink`` must return at once.

        leader: an earlier request with the same prompt, which is then computed once for both.
        pin: whether what it computed stays cached while others can be given up.
        Raises QueueFullError when too many wait, EngineClosedError after ``close``.
        """
        with self._wake:
            self._check_open()
            self._arrivals += 1
            order = (PRIORITIES.index(priority), self._arrivals)
            ticket = Ticket(request, sink, order, self.wake, leader, pin=pin)
            self._inbox.append(ticket)
            self._wake.notify()
        return ticket

    def run(self, function: "Callable[[Model], Result]") -> "Future[Result]":
        """Call ``function(model)`` on the compute thread, between the steps of the requests.

        The future can be cancelled until the call begins. Raises as ``submit``.
        """
        future: Future[Result] = Future()
        with self._wake:
            self._check_open()
            self._jobs.append((function, future))
            self._wake.notify()
        return future

    def load(self) -> Load:
        """Requests and jobs being computed and waiting, now."""
        with self._wake:
            return Load(
                active=len(self._batch.active) + self._jobs_running,
                waiting=self._waiting(),
            )

    def counts(self) -> SchedulerCounts:
        """As of the last second, or as of the end of the last work."""
        return self._counts

    def spent(self) -> Spent:
        """What the time of the steps went to so far. For the compute thread: in a sink."""
        return self._batch.spent()

    def wake(self) -> None:
        """Make the compute thread look at the state of its requests."""
        with self._wake:
            self._wake.notify()

    def close(self, timeout: float | None = None) -> bool:
        """Stop after the current step; what is unfinished gets an EngineClosedError.

        Returns whether the compute thread has ended within ``timeout`` seconds.
        """
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _check_open(self) -> None:
        if self._closing:
            raise EngineClosedError("the engine is shutting down")
        free = self._max_active - len(self._batch.active)
        if self._waiting() >= self._max_waiting + free:
            raise QueueFullError(
                f"{self._max_waiting} requests are waiting already; try again in a moment"
            )

    def _waiting(self) -> int:
        return len(self._inbox) + len(self._batch.waiting) + len(self._jobs)

    def _has_work(self) -> bool:
        return bool(self._inbox or self._batch.waiting or self._batch.active or self._jobs)

    def _run(self) -> None:
        while self._wait_for_work():
            self._batch.step(busy=bool(self._jobs))
            self._run_one_job()
        self._abandon_all()

    def _wait_for_work(self) -> bool:
        """Sleep until there is something to do. False when closing."""
        now = time.monotonic()
        goes_on = self._batch.active and not self._inbox and not self._closing
        if goes_on and now - self._counted_at <= COUNT_SECONDS:
            return True
        if now - self._counted_at > COUNT_SECONDS or not self._has_work():
            self._counts, self._counted_at = self._batch.counts(), now
        with self._wake:
            pause = REPLY_SECONDS if self._batch.copies_wait else None
            self._wake.wait_for(lambda: self._closing or self._has_work(), pause)
            while self._inbox:
                self._batch.add(self._inbox.popleft())
            return not self._closing

    def _run_one_job(self) -> None:
        if not self._jobs:
            return
        with self._wake:
            if not self._jobs or self._closing:
                return
            function, future = self._jobs.popleft()
            self._jobs_running = 1
        try:
            self._batch.settle()
            if future.set_running_or_notify_cancel():
                _complete(future, function, self._model)
        finally:
            with self._wake:
                self._jobs_running = 0

    def _abandon_all(self) -> None:
        self._batch.settle()
        with self._wake:
            tickets = [*self._batch.active, *self._batch.waiting, *self._inbox]
            jobs = list(self._jobs)
            for queue in (self._batch.active, self._batch.waiting, self._inbox, self._jobs):
                queue.clear()
        closed = EngineClosedError("the engine shut down before the answer was complete")
        for ticket in tickets:
            deliver(ticket, closed)
        for _, future in jobs:
            if future.set_running_or_notify_cancel():
                future.set_exception(closed)


def _complete(future: "Future[Any]", function: "Callable[[Model], Any]", model: "Model") -> None:
    try:
        result = function(model)
    except Exception as error:
        future.set_exception(error)
    else:
        future.set_result(result)
