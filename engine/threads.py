"""The threads that compute: they sleep in read(2) between steps and never need the GIL.

A worker enters compiled code once and stays there until the pool is closed, so a busy
event loop in the same process cannot hold up a step. Waking costs one write to a pipe.
"""

import os
import threading
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from engine.kernels.dispatch import compile_function
from engine.kernels.intrinsics import atomic_load
from engine.kernels.program import run

# What a worker is told to do, int64 slots: the arguments of `kernels.program.run`.
_TABLE, _OPERATIONS, _STEP, _ARRIVALS, _COUNTER = range(5)
_ORDER_SLOTS = 64  # the counter gets a cache line of its own
_COUNTER_SLOT = 32

_read = types.ExternalFunction("read", types.intp(types.int32, types.intp, types.uintp))


def _obey(order: int, thread: int, threads: int) -> None:
    """Do one thread's share of the program that the order names."""
    run(
        atomic_load(order + 8 * _TABLE),
        atomic_load(order + 8 * _OPERATIONS),
        atomic_load(order + 8 * _STEP),
        thread,
        threads,
        order + 8 * _COUNTER_SLOT,
        atomic_load(order + 8 * _ARRIVALS),
    )


def _serve(order: int, pipe: int, byte: int, thread: int, threads: int) -> None:
    """A worker's life: one program for every byte that comes through the pipe, until it is closed."""
    while _read(np.int32(pipe), byte, np.uint64(1)) == 1:
        run(
            atomic_load(order + 8 * _TABLE),
            atomic_load(order + 8 * _OPERATIONS),
            atomic_load(order + 8 * _STEP),
            thread,
            threads,
            order + 8 * _COUNTER_SLOT,
            atomic_load(order + 8 * _ARRIVALS),
        )


class ThreadPool:
    """`threads` threads that walk through programs together; the caller of `run` is the first."""

    def __init__(self, threads: int) -> None:
        """Start the workers; `threads` counts the caller's."""
        self.threads = threads
        self._obey = compile_function(_obey)
        self._order = np.zeros(_ORDER_SLOTS, np.int64)
        self._bytes = np.zeros(64 * threads, np.uint8)
        self._pipes: list[int] = []
        self._workers: list[threading.Thread] = []
        serve = compile_function(_serve) if threads > 1 else None
        for thread in range(1, threads):
            reading, writing = os.pipe()
            self._pipes.append(writing)
            arguments = (serve, reading, thread)
            name = f"engine-{thread}"
            worker = threading.Thread(target=self._work, args=arguments, name=name, daemon=True)
            worker.start()
            self._workers.append(worker)

    def _work(self, serve: Any, pipe: int, thread: int) -> None:
        byte = self._bytes.ctypes.data + 64 * thread
        serve(self._order.ctypes.data, pipe, byte, thread, self.threads)
        os.close(pipe)

    def run(self, table: NDArray[np.int64], step: NDArray[np.int64]) -> None:
        """Walk through a program's table with all threads; returns when the last has finished.

        table: int64 (operations, 2 + OPERANDS), its last operation followed by a barrier;
        step: int64 (STEP_SLOTS,).
        """
        order = self._order
        order[:_COUNTER] = table.ctypes.data, len(table), step.ctypes.data, order[_COUNTER_SLOT]
        for pipe in self._pipes:
            os.write(pipe, b"\0")
        self._obey(order.ctypes.data, 0, self.threads)

    def close(self) -> None:
        """End the workers."""
        for pipe in self._pipes:
            os.close(pipe)
        for worker in self._workers:
            worker.join()
        self._pipes.clear()
        self._workers.clear()
