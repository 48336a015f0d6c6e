"""Which request takes part in the next step; owner of the one compute thread.

Requests wait in a bounded queue; up to ``max_active`` of them take turns, one slice of prefill or
one decoded token each, so that a long prompt does not hold up a running answer and a cancelled
request stops within one slice. Idle, the thread sleeps on a condition. Knows nothing of HTTP.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from engine.cache_pool import CachePool, CacheSlot
from engine.errors import EngineClosedError, EngineError, QueueFullError
from engine.generate import Finished, Generation, Piece

if TYPE_CHECKING:
    from engine.model import Model

log = logging.getLogger(__name__)

Result = TypeVar("Result")
Sink = Callable[[Piece | Finished | EngineError], None]
"""Takes what a request gives, on the compute thread. The last is Finished or an EngineError."""

MAX_ACTIVE = 4
MAX_WAITING = 16
MAX_SLICE_TOKENS = 256
MIN_SLICE_TOKENS = 16
SLICE_SECONDS = 0.25
"""Aim for a slice of prefill: what cancelling may take."""
SHARED_SLICE_SECONDS = 0.08
"""The same while others take turns: what a running answer waits between two tokens."""


class Load(msgspec.Struct, frozen=True):
    """How busy the scheduler is."""

    active: int
    waiting: int


class Ticket:
    """A submitted request, as its sender holds it."""

    def __init__(self, scheduler: "Scheduler", generation: Generation, sink: Sink) -> None:
        self._scheduler = scheduler
        self.generation = generation
        self.sink = sink
        self.cancelled = False
        self.slot: CacheSlot | None = None

    def cancel(self) -> None:
        """End the request within one slice, wherever it is. Safe from any thread, and twice."""
        self.cancelled = True
        self._scheduler.wake()


class Scheduler:
    """The compute thread and the queue before it."""

    def __init__(
        self,
        model: "Model",
        *,
        max_active: int = MAX_ACTIVE,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        self._model = model
        self._max_active = max_active
        self._max_waiting = max_waiting
        self._prefill_rate = MAX_SLICE_TOKENS / 1.0
        self._caches = CachePool(model.new_cache, max_active)
        self._wake = threading.Condition()
        self._waiting: deque[Ticket] = deque()
        self._active: list[Ticket] = []
        self._jobs: deque[tuple[Callable[[Model], Any], Future[Any]]] = deque()
        self._jobs_running = 0
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="engine-compute", daemon=True)
        self._thread.start()

    def submit(self, generation: Generation, sink: Sink) -> Ticket:
        """Queue a request. ``sink`` must return at once.

        Raises QueueFullError when too many wait, EngineClosedError after ``close``.
        """
        ticket = Ticket(self, generation, sink)
        with self._wake:
            self._check_open()
            self._waiting.append(ticket)
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
                active=len(self._active) + self._jobs_running,
                waiting=len(self._waiting) + len(self._jobs),
            )

    def wake(self) -> None:
        """Make the compute thread look at the state of its requests."""
        with self._wake:
            self._wake.notify()

    def close(self, timeout: float | None = None) -> bool:
        """Stop after the current slice; what is unfinished gets an EngineClosedError.

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
        free = self._max_active - len(self._active)
        if len(self._waiting) + len(self._jobs) >= self._max_waiting + free:
            raise QueueFullError(
                f"{self._max_waiting} requests are waiting already; try again in a moment"
            )

    def _run(self) -> None:
        while self._wait_for_work():
            for ticket in list(self._active):
                self._step(ticket)
                if self._closing:
                    break
            self._run_one_job()
        self._abandon_all()

    def _wait_for_work(self) -> bool:
        """Sleep until there is something to do; admit requests. False when closing."""
        with self._wake:
            self._wake.wait_for(
                lambda: self._closing or self._waiting or self._active or self._jobs
            )
            if self._closing:
                return False
            cancelled = [ticket for ticket in self._waiting if ticket.cancelled]
            self._waiting = deque(t for t in self._waiting if not t.cancelled)
            admitted: list[Ticket] = []
            while self._waiting and len(self._active) < self._max_active:
                admitted.append(self._waiting.popleft())
                self._active.append(admitted[-1])
        for ticket in cancelled:
            _deliver(ticket, ticket.generation.finished("cancelled"))
        for ticket in admitted:
            self._start(ticket)
        return True

    def _start(self, ticket: Ticket) -> None:
        try:
            ticket.slot = self._caches.take(ticket.generation.prompt)
        except Exception as error:  # for instance no memory for one more cache
            self._fail(ticket, error)
            return
        ticket.generation.start(ticket.slot.cache.length)

    def _step(self, ticket: Ticket) -> None:
        generation, slot = ticket.generation, ticket.slot
        assert slot is not None
        if ticket.cancelled:
            self._finish(ticket, generation.finished("cancelled"))
            return
        before, began = slot.cache.length, time.perf_counter()
        try:
            piece = generation.advance(self._model, slot.cache, self._slice_tokens())
        except Exception as error:
            self._fail(ticket, error)
            return
        tokens = slot.cache.length - before
        if tokens >= MIN_SLICE_TOKENS:
            self._prefill_rate = tokens / (time.perf_counter() - began)
        if piece is not None:
            _deliver(ticket, piece)
        if generation.finish_reason is not None:
            self._finish(ticket, generation.finished(generation.finish_reason))

    def _slice_tokens(self) -> int:
        """As much prefill as this box, at its present speed, does in the time for a slice.

        Results do not depend on it: a token's logits are the same bits however it is batched.
        """
        shared = len(self._active) > 1 or self._jobs
        seconds = SHARED_SLICE_SECONDS if shared else SLICE_SECONDS
        tokens = int(self._prefill_rate * seconds)
        return min(max(tokens, MIN_SLICE_TOKENS), MAX_SLICE_TOKENS)

    def _finish(self, ticket: Ticket, outcome: Finished | EngineError) -> None:
        if (slot := ticket.slot) is not None:
            slot.tokens = ticket.generation.tokens_in(slot.cache.length)
            self._caches.give_back(slot)
            ticket.slot = None
        with self._wake:
            self._active.remove(ticket)
        _deliver(ticket, outcome)

    def _fail(self, ticket: Ticket, error: Exception) -> None:
        log.error("a request failed in the model", exc_info=error)
        if ticket.slot is not None:
            ticket.slot.cache.truncate(0)
        self._finish(ticket, EngineError(f"the model failed: {error}"))

    def _run_one_job(self) -> None:
        with self._wake:
            if not self._jobs or self._closing:
                return
            function, future = self._jobs.popleft()
            self._jobs_running = 1
        try:
            if future.set_running_or_notify_cancel():
                _complete(future, function, self._model)
        finally:
            with self._wake:
                self._jobs_running = 0

    def _abandon_all(self) -> None:
        with self._wake:
            tickets = [*self._active, *self._waiting]
            jobs = list(self._jobs)
            self._active.clear()
            self._waiting.clear()
            self._jobs.clear()
        closed = EngineClosedError("the engine shut down before the answer was complete")
        for ticket in tickets:
            _deliver(ticket, closed)
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


def _deliver(ticket: Ticket, outcome: Piece | Finished | EngineError) -> None:
    """Hand over. A receiver that is gone (its event loop is closed) ends its request."""
    try:
        ticket.sink(outcome)
    except Exception as error:
        log.warning("nobody takes the answer any more: %s", error)
        ticket.cancelled = True
