"""Attention of some queries to one part of the positions, with the products of a path."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from engine.formats.packed import LANES
from engine.kernels.floating import float_panel
from engine.kernels.intrinsics import addresses
from engine.kernels.kv_layout import BLOCK_TOKENS, HALF_BYTES, RUN_BLOCKS
from engine.kernels.rotation import values_offset
from engine.kernels.softmax import softmax_part

PART = RUN_BLOCKS * BLOCK_TOKENS
"""Positions of a part; its boundaries are absolute."""


class Queries(NamedTuple):
    """What attends to a part; addresses are integers."""

    queries: int  # float32 (columns, dim), times the scale
    scores: int  # float32 (columns + 1, PART), to work in
    columns: int
    group: int  # columns of a row: query heads that share a kv head
    dim: int  # of a head
    position: int  # of the first row
    rows: int
    window: int  # positions that a row sees, itself included
    cap: np.float32  # of scores (0: none)
    size: int  # bytes of a number in the cache


class Keys(NamedTuple):
    """Where the keys of a head lie in the positions of a part; addresses are integers."""

    table: int  # of int64: addresses of its blocks
    blocks: int
    offset: int  # bytes from the beginning of a block to the head's keys


def number_attender(multiply_panel: Callable[..., None]) -> Callable[..., None]:
    """A compiled function that attends to one part of float16 or float32, with a path's product."""

    @njit
    def attend_numbers(q: Queries, keys: Keys, later: Keys, base: int, result: int) -> None:
        """What the positions from `base` on, a multiple of PART, give.

        later: what is read next; result: address of sums float32 (columns, dim), then of states
        float32 (columns, 2), see `kernels.softmax`. The values of a block are asked for while its
        keys are multiplied, and the keys that are read next while values are.
        """
        size, dim, columns = q.size, q.dim, q.columns
        count, values = min(PART, q.position + q.rows - base), values_offset(dim, size)
        near, anew = 4 * PART, np.int64(0)  # a literal would have the product compiled twice
        for p in range(0, count, BLOCK_TOKENS):
            a = block_of(keys, p // BLOCK_TOKENS)
            b, c, wide = q.queries, q.scores + 4 * p, BLOCK_TOKENS // LANES
            if size == HALF_BYTES:
                apart = 2 * BLOCK_TOKENS
                multiply_panel(a, apart, b, 4 * dim, c, near, dim, columns, wide, anew, values)
            else:
                float_panel(a, 4 * BLOCK_TOKENS, b, 4 * dim, c, near, dim, columns, wide, 0)
        weigh(q, base, count, result + 4 * columns * dim)
        for p in range(0, count, BLOCK_TOKENS):
            a = block_of(keys, p // BLOCK_TOKENS) + values
            b, depth, wide = q.scores + 4 * p, min(BLOCK_TOKENS, count - p), dim // LANES
            c, add, ahead = result, int(p > 0), block_of(later, p // BLOCK_TOKENS) - a
            if size == HALF_BYTES:
                multiply_panel(a, 2 * dim, b, near, c, 4 * dim, depth, columns, wide, add, ahead)
            else:
                float_panel(a, 4 * dim, b, near, c, 4 * dim, depth, columns, wide, add)

    result: Callable[..., None] = attend_numbers
    return result


def result_bytes(columns: int, dim: int) -> int:
    """Bytes of what a part gives: sums float32 (columns, dim), then states float32 (columns, 2).

    Whole cache lines, so that the next one begins with one: vectors that lie across two of them
    cost 2 % of attention of 30 rows behind 2 000.
    """
    return (4 * columns * (dim + 2) + 63) // 64 * 64


result_bytes_of = njit(result_bytes)
"""The same for compiled code."""


@njit(inline="always")
def block_of(keys: Keys, index: int) -> int:
    """Address of the keys in a block of a part; of the last one where there are not so many."""
    index = min(index, keys.blocks - 1)
    address: int = addresses(keys.table, index + 1)[index] + keys.offset
    return address


@njit
def weigh(q: Queries, base: int, count: int, states: int) -> None:
    """Scores of `count` positions from `base` on become weights."""
    vectors = (count + LANES - 1) // LANES
    for column in range(q.columns):
        visible = q.position + 1 - base + column // q.group
        scores, state = q.scores + 4 * PART * column, states + 8 * column
        softmax_part(scores, vectors, visible - q.window, visible, q.cap, state)
