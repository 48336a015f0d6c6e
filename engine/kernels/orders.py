"""What the threads of a pool are told: the arguments of `kernels.program.run`, int64 by int64."""

import numpy as np
from numba import njit, types

from engine.kernels.intrinsics import atomic_load
from engine.kernels.program import run

TABLE = 0  # address of the program's table
OPERATIONS = 1  # its length
STEP = 2  # address of the step
ARRIVALS = 3  # the barrier's count when the step began
COUNTER = 32  # the barrier's count itself, on a cache line of its own
ORDER_SLOTS = 64

_read = types.ExternalFunction("read", types.intp(types.int32, types.intp, types.uintp))


@njit
def _follow(order: int, thread: int, threads: int) -> None:
    """Do one thread's share of the program that the order names."""
    run(
        atomic_load(order + 8 * TABLE),
        atomic_load(order + 8 * OPERATIONS),
        atomic_load(order + 8 * STEP),
        thread,
        threads,
        order + 8 * COUNTER,
        atomic_load(order + 8 * ARRIVALS),
    )


def lead(order: int, threads: int) -> None:
    """The share of the thread that gives the order."""
    _follow(order, 0, threads)


def serve(order: int, pipe: int, byte: int, thread: int, threads: int) -> None:
    """A worker's life: one program for every byte from the pipe, until that is closed.

    order: address of the order; pipe: file descriptor to read from; byte: address of one byte.
    """
    while True:
        received = _read(np.int32(pipe), byte, np.uint64(1))
        if received == 0:
            return
        if received > 0:  # otherwise a signal has interrupted the sleep
            _follow(order, thread, threads)
