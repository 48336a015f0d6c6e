"""The threads that compute: they sleep between steps and never need the GIL.

A worker enters compiled code once and stays there until the pool is closed, so a busy
event loop in the same process cannot hold up a step.
"""

import os
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.kernels.dispatch import compile_function
from engine.kernels.orders import (
    GENERATION,
    READ_END,
    UNSEEN,
    WORKERS,
    WRITE_END,
    announce,
    lead,
    order_slots,
    serve,
)
from engine.kernels.program import GENERATIONS, ROWS

_CACHE_LINE = 8  # int64


class Walk(NamedTuple):
    """A program's table and a step, ready to be walked through many times: between two tokens, when
    NumPy's code has left the caches, asking it where arrays lie takes 50 µs."""

    table: NDArray[np.int64]
    step: NDArray[np.int64]
    words: "memoryview[int]"
    """The step."""
    addresses: tuple[int, int, int]
    """Of the table, how many operations it has, of the step."""

    @classmethod
    def through(cls, table: NDArray[np.int64], step: NDArray[np.int64]) -> Self:
        """See `ThreadPool.run`."""
        return cls(table, step, step.data, (table.ctypes.data, len(table), step.ctypes.data))


class ThreadPool:
    """`threads` threads that walk through programs together; the caller of `run` is one of them."""

    def __init__(self, threads: int) -> None:
        """Start the workers; `threads` counts the caller's."""
        self.threads = threads
        self._announce, self._lead = compile_function(announce), compile_function(lead)
        slots = np.zeros(order_slots(threads) + _CACHE_LINE, np.int64)
        self._order = slots[-slots.ctypes.data // 8 % _CACHE_LINE :]
        self._order_address = self._order.ctypes.data
        self._words = self._order.data
        self._generation = 0
        self._watched: list[Walk] = []
        """Tables and steps that a worker may still be looking at."""
        self._pipes: list[tuple[int, int]] = []
        self.workers: list[threading.Thread] = []
        """The threads but the caller's."""
        work = compile_function(serve) if threads > 1 else None
        for worker in range(threads - 1):
            slots = self._order[WORKERS + 8 * worker :]
            ends = os.pipe()
            slots[READ_END], slots[WRITE_END] = ends
            self._pipes.append(ends)
            name = f"engine-{worker + 1}"
            thread = threading.Thread(
                target=self._work, args=(work, worker), name=name, daemon=True
            )
            thread.start()
            self.workers.append(thread)

    def _work(self, work: Any, worker: int) -> None:
        work(self._order.ctypes.data, worker, self.threads)

    def run(
        self,
        table: NDArray[np.int64],
        step: NDArray[np.int64],
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Walk through a program's table with all threads; returns when all of it is done.

        table: int64, as `Program.table` makes it, its last operation followed by a barrier;
        step: int64 (STEP_SLOTS,); meanwhile: done by the caller first, while the others have begun.
        """
        self.walk(Walk.through(table, step), meanwhile)

    def walk(self, walk: "Walk", meanwhile: Callable[[], None] | None = None) -> None:
        """As `run`."""
        if len(self.workers) != self.threads - 1:
            raise EngineError("the engine's threads have ended: the model is closed")
        self._generation = self._generation % (GENERATIONS - 1) + 1
        self._watched.append(walk)
        order, single = self._order_address, int(walk.words[ROWS] == 1)
        self._announce(order, self.threads, *walk.addresses, single, self._generation)
        try:
            if meanwhile is not None:
                meanwhile()
        finally:  # the others write where the step says
            self._lead(order, self.threads)
        if self._words[UNSEEN]:
            self._watched.clear()

    def close(self) -> None:
        """End the workers."""
        self._order[GENERATION] = -1
        for _, writing in self._pipes:
            os.close(writing)
        for worker in self.workers:
            worker.join()
        for reading, _ in self._pipes:
            os.close(reading)
        self._pipes.clear()
        self.workers.clear()
