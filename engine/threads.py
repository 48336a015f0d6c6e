"""The threads that compute: they sleep in read(2) between steps and never need the GIL.

A worker enters compiled code once and stays there until the pool is closed, so a busy
event loop in the same process cannot hold up a step. Waking costs one write to a pipe.
"""

import os
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.kernels.dispatch import compile_function
from engine.kernels.orders import COUNTER, ORDER_SLOTS, lead, serve


class ThreadPool:
    """`threads` threads that walk through programs together; the caller of `run` is the first."""

    def __init__(self, threads: int) -> None:
        """Start the workers; `threads` counts the caller's."""
        self.threads = threads
        self._lead = compile_function(lead)
        self._order = np.zeros(ORDER_SLOTS, np.int64)
        self._bytes = np.zeros(64 * threads, np.uint8)
        self._pipes: list[int] = []
        self.workers: list[threading.Thread] = []
        """The threads but the caller's."""
        work = compile_function(serve) if threads > 1 else None
        for thread in range(1, threads):
            reading, writing = os.pipe()
            self._pipes.append(writing)
            arguments = (work, reading, thread)
            name = f"engine-{thread}"
            worker = threading.Thread(target=self._work, args=arguments, name=name, daemon=True)
            worker.start()
            self.workers.append(worker)

    def _work(self, work: Any, pipe: int, thread: int) -> None:
        byte = self._bytes.ctypes.data + 64 * thread
        work(self._order.ctypes.data, pipe, byte, thread, self.threads)
        os.close(pipe)

    def run(self, table: NDArray[np.int64], step: NDArray[np.int64]) -> None:
        """Walk through a program's table with all threads; returns when the last has finished.

        table: int64, as `Program.table` makes it, its last operation followed by a barrier;
        step: int64 (STEP_SLOTS,).
        """
        if len(self.workers) != self.threads - 1:
            raise EngineError("the engine's threads have ended: the model is closed")
        table[:, -1] = 0  # pieces claimed
        order = self._order
        order[:4] = table.ctypes.data, len(table), step.ctypes.data, order[COUNTER]
        for pipe in self._pipes:
            os.write(pipe, b"\0")
        self._lead(order.ctypes.data, self.threads)

    def close(self) -> None:
        """End the workers."""
        for pipe in self._pipes:
            os.close(pipe)
        for worker in self.workers:
            worker.join()
        self._pipes.clear()
        self.workers.clear()
