"""A forward pass as data: a table of operations that all threads walk through in step.

An operation is a compiled function `void(operands, step, thread, threads)`: it does one thread's
share of one large piece of work (a matrix product, a norm). Its operands, addresses and sizes, are
fixed when the model is loaded; what changes from step to step (rows, position, cache) is in `step`.
All threads run the table from top to bottom with a barrier after each operation, in one call that
holds no GIL.

Calling by address keeps kernels apart: each is compiled and cached for itself, only the ones in use
are compiled, and a new one enters without touching this file.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from engine.kernels.intrinsics import address_of, atomic_add, atomic_load, call_operation, pause

# Slots of the step: what an operation may ask about the tokens at hand.
ROWS = 0  # tokens in this step
TOKENS = 1  # address of int32 (rows,)
POSITIONS = 2  # address of int32 (rows,): each row's position in its sequence
TABLES = 3  # address of int64 (rows,): of the block table of each row's sequence (see kv)
SPANS = 4  # address of int32 (spans, 2): first row and rows of neighbours in one sequence
SPAN_COUNT = 5
KEPT_ROWS = 6  # address of int32 (outputs,): the rows wanted at the end, rising
OUTPUTS = 7  # how many those are; the others are dropped by `keep_rows`
LOGITS = 8  # address of the float32 result, rows a multiple of 16 floats apart
STEP_SLOTS = 16

OPERANDS = 13
"""Most operands of an operation."""
CLAIMED = OPERANDS  # after the operands: pieces of work that threads have claimed in this step
_WIDTH = 2 + OPERANDS + 1

_SPINS = 2000  # about 40 µs: longer than an operation's imbalance, shorter than a lost time slice

_sched_yield = types.ExternalFunction("sched_yield", types.int32())


class Program:
    """Operations in the order in which they run, and the compiled table of them."""

    def __init__(self) -> None:
        self._operations: list[tuple[Callable[..., None], list[int]]] = []
        self._barriers: list[bool] = []

    def add(self, operation: Callable[..., None], *operands: int, barrier: bool = True) -> None:
        """Append an operation; without `barrier`, the next one may run beside it."""
        assert len(operands) <= OPERANDS, f"{operation.__name__}: more than {OPERANDS} operands"
        self._operations.append((operation, [int(value) for value in operands]))
        self._barriers.append(barrier)

    def steps(self) -> list[tuple[Callable[..., None], list[int], bool]]:
        """Every operation with its operands and what `add` was told of the barrier behind it."""
        pairs = zip(self._operations, self._barriers, strict=True)
        return [(operation, operands, barrier) for (operation, operands), barrier in pairs]

    def functions(self) -> list[Callable[..., None]]:
        """The different operations in use, in order of first use."""
        return list(dict.fromkeys(operation for operation, _ in self._operations))

    def table(self, compile_operation: Callable[[Callable[..., None]], int]) -> NDArray[np.int64]:
        """int64 (operations, 16): address, whether a barrier follows, operands, pieces claimed."""
        table = np.zeros((len(self._operations), _WIDTH), np.int64)
        for row, (operation, operands), barrier in zip(
            table, self._operations, self._barriers, strict=True
        ):
            row[0], row[1] = compile_operation(operation), barrier
            row[2 : 2 + len(operands)] = operands
        return table


@njit(inline="always")
def share(items: int, thread: int, threads: int) -> tuple[int, int]:
    """The [first, last) of `items` that a thread does: contiguous, as even as can be."""
    return items * thread // threads, items * (thread + 1) // threads


@njit(inline="always")
def claim(operands: Any) -> int:
    """The next piece of this operation that nobody has taken yet: 0, 1, 2, …

    Threads that claim their work finish together even when another program slows one of them down:
    prefill at 925 tokens/s instead of 830 with a busy loop on one of two cores.
    """
    taken: int = atomic_add(address_of(operands) + 8 * CLAIMED, 1)
    return taken


@njit
def wait_for_all(counter: int, arrivals: int) -> None:
    """Arrive at the barrier and wait until there have been `arrivals` since the pool was made."""
    atomic_add(counter, 1)
    spins = 0
    while atomic_load(counter) < arrivals:
        pause()
        spins += 1
        if spins > _SPINS:  # the other thread has lost its core: give it ours
            _sched_yield()


@njit
def run(
    table: int, operations: int, step: int, thread: int, threads: int, counter: int, arrivals: int
) -> None:
    """Do one thread's share of every operation of the table at address `table`.

    counter: address of the barrier's count, which only ever grows (a thread that is late in leaving
    a barrier cannot be caught by the next); arrivals: the count when the step began.
    """
    row = table
    for _ in range(operations):
        call_operation(atomic_load(row), row + 16, step, thread, threads)
        if threads > 1 and atomic_load(row + 8) != 0:
            arrivals += threads
            wait_for_all(counter, arrivals)
        row += 8 * _WIDTH
