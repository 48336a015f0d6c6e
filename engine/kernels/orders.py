"""What the threads of a pool are told, and how they wait for it: a few int64 that all of them see.

The leader writes an order and wakes those who sleep. A worker that has followed an order looks out
for the next one for a while, then sleeps in read(2), where it costs nothing and a closed pipe ends
its life.
"""

import numpy as np
from numba import njit, types

from engine.kernels.intrinsics import (
    atomic_add,
    atomic_load,
    atomic_store,
    atomic_swap_if,
    pause,
)
from engine.kernels.program import begin, run

GENERATION = 0  # number of the step under way; 0: none; -1: there will be no more
TABLE = 1  # address of the program's table
OPERATIONS = 2  # its length
STEP = 3  # address of the step
SINGLE = 4  # whether the step has one row
UNSEEN = 5  # after a step: 1 if no worker looks at its table any more, else 0
BUSY = 8  # workers that may be looking at a table
WORKERS = 16  # from here on 8 slots a worker: whether it sleeps, its pipe's ends, room for a byte
ASLEEP, READ_END, WRITE_END, BYTE = range(4)

_SPINS = 5000  # about 100 µs: as long as it takes to choose the next token

_IO = types.intp(types.int32, types.intp, types.uintp)
_read, _write = types.ExternalFunction("read", _IO), types.ExternalFunction("write", _IO)


def order_slots(threads: int) -> int:
    """How many int64 the order of so many threads takes."""
    return WORKERS + 8 * (threads - 1)


def announce(
    order: int, threads: int, table: int, operations: int, step: int, single: int, generation: int
) -> None:
    """Give an order: who sleeps wakes and begins, who spins begins."""
    begin(table, operations, generation)
    atomic_store(order + 8 * TABLE, table)
    atomic_store(order + 8 * OPERATIONS, operations)
    atomic_store(order + 8 * STEP, step)
    atomic_store(order + 8 * SINGLE, single)
    atomic_store(order + 8 * GENERATION, generation)
    for worker in range(threads - 1):
        slots = order + 8 * (WORKERS + 8 * worker)
        if atomic_swap_if(slots + 8 * ASLEEP, 1, 0):
            _write(np.int32(atomic_load(slots + 8 * WRITE_END)), slots + 8 * BYTE, np.uint64(1))


def lead(order: int, threads: int) -> None:
    """Take part in the order that was announced, return when all is done."""
    table, operations = atomic_load(order + 8 * TABLE), atomic_load(order + 8 * OPERATIONS)
    step, single = atomic_load(order + 8 * STEP), atomic_load(order + 8 * SINGLE)
    run(table, operations, step, single, atomic_load(order + 8 * GENERATION), threads)
    atomic_store(order + 8 * GENERATION, 0)
    atomic_store(order + 8 * UNSEEN, 1 if atomic_load(order + 8 * BUSY) == 0 else 0)


@njit
def _is_news(order: int, last: int) -> bool:
    """Whether there is an order after the one of generation `last`."""
    generation = atomic_load(order + 8 * GENERATION)
    return generation not in (0, last)


@njit
def _sleep(order: int, slots: int, last: int) -> bool:
    """Sleep until there is news or a signal; False if the pipe is closed."""
    pipe = np.int32(atomic_load(slots + 8 * READ_END))
    received: int
    atomic_store(slots + 8 * ASLEEP, 1)
    if not _is_news(order, last):
        received = _read(pipe, slots + 8 * BYTE, np.uint64(1))
        if received >= 0:
            return received > 0
    # Not woken by the leader. If it has seen the flag meanwhile, its byte must be taken out.
    while not atomic_swap_if(slots + 8 * ASLEEP, 1, 0):
        received = _read(pipe, slots + 8 * BYTE, np.uint64(1))
        if received >= 0:
            return received > 0
    return True


@njit
def _follow(order: int, threads: int) -> int:
    """Take part in the step that the order names; gives its generation."""
    atomic_add(order + 8 * BUSY, 1)  # before reading: from now on the leader keeps the table
    generation: int = atomic_load(order + 8 * GENERATION)
    table = atomic_load(order + 8 * TABLE)
    operations = atomic_load(order + 8 * OPERATIONS)
    step = atomic_load(order + 8 * STEP)
    single = atomic_load(order + 8 * SINGLE)
    if generation > 0 and atomic_load(order + 8 * GENERATION) == generation:
        run(table, operations, step, single, generation, threads)
    atomic_add(order + 8 * BUSY, -1)
    return generation


def serve(order: int, worker: int, threads: int) -> None:
    """A worker's life: it takes part in every step that it hears of in time."""
    slots = order + 8 * (WORKERS + 8 * worker)
    last, spins = 0, 0
    while atomic_load(order + 8 * GENERATION) >= 0:
        if _is_news(order, last):
            last = _follow(order, threads)
            spins = 0
        elif spins < _SPINS:
            pause()
            spins += 1
        elif _sleep(order, slots, last):
            spins = 0
        else:
            return
