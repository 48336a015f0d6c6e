"""A forward pass as data: a table of operations that all threads walk through together.

An operation is a compiled function `void(operands, step, share, shares)`: it does one share of a
piece of work (a matrix product, a norm). Its operands, addresses and sizes, are fixed when the
model is loaded; what changes from step to step (rows, position, cache) is in `step`.

The operations between two barriers are a section. A section has as many shares as there are
threads; a thread takes a share, does it for every operation of the section in order, and takes the
next one until there are none. So what an operation leaves for the same share of the next one needs
no barrier; and a thread that is late, because it slept or another program has its core, holds up
nobody: its share is done by the others, and it skips what it missed.

Calling by address keeps kernels apart: each is compiled and cached for itself, only the ones in use
are compiled, and a new one enters without touching this file.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from engine.kernels.intrinsics import (
    address_of,
    addresses,
    atomic_add,
    atomic_load,
    atomic_swap_if,
    call_operation,
    pause,
)

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
CHOICES = 9  # address of int64 (outputs,): of each row's record of kernels.choice_layout, 0: none;
# itself 0 if no row has one
STEP_SLOTS = 16

# What follows an operation.
NO_BARRIER, BARRIER, BARRIER_IF_MANY = 0, 1, 2  # the last one: only if the step has several rows

# A row of the table. What threads write lies in a cache line of its own.
OPERANDS = 14
"""Most operands of an operation."""
CLAIMED = OPERANDS  # after the operands: pieces of work that threads have claimed in this step
_STATE = 2 + OPERANDS + 1  # of the section that begins here: generation, shares taken, under way
_WIDTH = 24
_TAKEN = 1 << 16  # one share in the state; below it shares under way, above it the generation
_GENERATION = 1 << 32
GENERATIONS = 1 << 31

_SPINS = 1000  # about 20 µs: longer than the imbalance of a section at 1000 positions

_sched_yield = types.ExternalFunction("sched_yield", types.int32())


class Program:
    """Operations in the order in which they run, and the compiled table of them."""

    def __init__(self) -> None:
        self._operations: list[tuple[Callable[..., None], list[int]]] = []
        self._barriers: list[int] = []

    def add(self, operation: Callable[..., None], *operands: int, barrier: int = BARRIER) -> None:
        """Append an operation; barrier: whether others wait for it before what comes next."""
        assert len(operands) <= OPERANDS, f"{operation.__name__}: more than {OPERANDS} operands"
        self._operations.append((operation, [int(value) for value in operands]))
        self._barriers.append(int(barrier))

    def steps(self) -> list[tuple[Callable[..., None], list[int], int]]:
        """Every operation with its operands and what `add` was told of the barrier behind it."""
        pairs = zip(self._operations, self._barriers, strict=True)
        return [(operation, operands, barrier) for (operation, operands), barrier in pairs]

    def functions(self) -> list[Callable[..., None]]:
        """The different operations in use, in order of first use."""
        return list(dict.fromkeys(operation for operation, _ in self._operations))

    def table(self, compile_operation: Callable[[Callable[..., None]], int]) -> NDArray[np.int64]:
        """int64 (operations, 24): address, what follows, operands, what threads write."""
        slots = np.zeros(len(self._operations) * _WIDTH + 8, np.int64)
        start = -slots.ctypes.data // 8 % 8  # on a cache line
        table = slots[start : start + slots.size - 8].reshape(-1, _WIDTH)
        for row, (operation, operands), barrier in zip(
            table, self._operations, self._barriers, strict=True
        ):
            row[0], row[1] = compile_operation(operation), barrier
            row[2 : 2 + len(operands)] = operands
        return table


@njit
def begin(table: int, operations: int, generation: int) -> None:
    """Make a table ready for a step, whose number (1 to GENERATIONS - 1) is new to it."""
    rows = addresses(table, (operations, _WIDTH))
    for row in range(operations):
        rows[row, 2 + CLAIMED] = 0
        rows[row, _STATE] = generation * _GENERATION


@njit(inline="always")
def share(items: int, part: int, parts: int) -> tuple[int, int]:
    """The [first, last) of `items` that are share `part`: contiguous, as even as can be."""
    return items * part // parts, items * (part + 1) // parts


@njit(inline="always")
def claim(operands: Any) -> int:
    """The next piece of this operation that nobody has taken yet: 0, 1, 2, …

    For work of some length: threads that claim pieces finish together even when another program
    slows one of them down.
    """
    taken: int = atomic_add(address_of(operands) + 8 * CLAIMED, 1)
    return taken


@njit
def _take_share(state: int, generation: int, shares: int) -> int:
    """The next share of a section that nobody has taken yet, -1 if there is none."""
    while True:
        seen = atomic_load(state)
        taken: int = seen // _TAKEN & (_TAKEN - 1)
        if seen // _GENERATION != generation or taken >= shares:
            return -1
        if atomic_swap_if(state, seen, seen + _TAKEN + 1):
            return taken


@njit
def _is_done(state: int, generation: int) -> bool:
    """Wait until no share of a section is under way; False if the step itself is over."""
    spins = 0
    while True:
        seen = atomic_load(state)
        if seen // _GENERATION != generation:
            return False
        if seen & (_TAKEN - 1) == 0:
            return True
        pause()
        spins += 1
        if spins > _SPINS:  # the other thread has lost its core: give it ours
            _sched_yield()


@njit
def run(table: int, operations: int, step: int, single: int, generation: int, shares: int) -> None:
    """Take shares in every section of the table at address `table`, from top to bottom.

    single: whether the step has one row; generation: of the step. Returns when all is done.
    """
    size = 8 * _WIDTH
    row, end = table, table + operations * size
    while row < end:
        after = row
        barrier = NO_BARRIER
        while barrier == NO_BARRIER or (barrier == BARRIER_IF_MANY and single != 0):
            barrier = atomic_load(after + 8)
            after += size
        state = row + 8 * _STATE
        taken = _take_share(state, generation, shares)
        while taken >= 0:
            for operation in range(row, after, size):
                call_operation(atomic_load(operation), operation + 16, step, taken, shares)
            atomic_add(state, -1)
            taken = _take_share(state, generation, shares)
        if not _is_done(state, generation):
            return
        row = after
