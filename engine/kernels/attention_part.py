"""Attention of some queries to one part of the positions, with the products of a path."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK, LANES
from engine.kernels.byte_panels import multiply_first
from engine.kernels.columns import COLUMNS, RECORD_BYTES, quantize_block, quantize_row
from engine.kernels.floating import float_panel
from engine.kernels.intrinsics import addresses, halves, prefetch
from engine.kernels.kv_layout import BLOCK_TOKENS, BYTE, HALF_BYTES, values_offset
from engine.kernels.softmax import softmax_part

PART = 256
"""Positions of a part; its boundaries are absolute."""

values_offset_of = njit(values_offset)
"""`kv_layout.values_offset` for compiled code."""


class Queries(NamedTuple):
    """What attends to a part; addresses are integers."""

    queries: int  # float32 (columns, dim), times the scale
    scores: int  # float32 (columns, PART), to work in
    columns: int
    group: int  # columns of a row: query heads that share a kv head
    dim: int  # of a head
    position: int  # of the first row
    rows: int
    window: int  # positions that a row sees, itself included
    cap: np.float32  # of scores (0: none)
    size: int  # bytes of a number in the cache
    quantized: int  # where numbers are bytes: the queries as columns (see kernels.columns)
    weights: int  # the weights of a part as columns
    ones: int  # float16 (16,), all 1


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
        count, half = min(PART, q.position + q.rows - base), size * BLOCK_TOKENS * dim
        near, anew = 4 * PART, np.int64(0)  # a literal would have the product compiled twice
        for p in range(0, count, BLOCK_TOKENS):
            a = block_of(keys, p // BLOCK_TOKENS)
            b, c, wide = q.queries, q.scores + 4 * p, BLOCK_TOKENS // LANES
            if size == HALF_BYTES:
                apart = 2 * BLOCK_TOKENS
                multiply_panel(a, apart, b, 4 * dim, c, near, dim, columns, wide, anew, half)
            else:
                float_panel(a, 4 * BLOCK_TOKENS, b, 4 * dim, c, near, dim, columns, wide, 0)
        weigh(q, base, count, result + 4 * columns * dim)
        for p in range(0, count, BLOCK_TOKENS):
            a = block_of(keys, p // BLOCK_TOKENS) + half
            b, depth, wide = q.scores + 4 * p, min(BLOCK_TOKENS, count - p), dim // LANES
            c, add, ahead = result, int(p > 0), block_of(later, p // BLOCK_TOKENS) - a
            if size == HALF_BYTES:
                multiply_panel(a, 2 * dim, b, near, c, 4 * dim, depth, columns, wide, add, ahead)
            else:
                float_panel(a, 4 * dim, b, near, c, 4 * dim, depth, columns, wide, add)

    result: Callable[..., None] = attend_numbers
    return result


def byte_attender(multiply_bytes: Callable[..., None]) -> Callable[..., None]:
    """A compiled function that attends to one part of bytes, with a path's product."""

    @njit
    def attend_bytes(q: Queries, keys: Keys, later: Keys, base: int, result: int) -> None:
        """As `attend_numbers`; queries and weights are quantized as well, by blocks of 32."""
        dim, columns, blocks = q.dim, q.columns, q.dim // BLOCK
        count, values = min(PART, q.position + q.rows - base), values_offset_of(q.dim, BYTE)
        key_bytes, near, anew = BLOCK_TOKENS * dim, 4 * PART, np.int64(0)
        for p in range(0, count, BLOCK_TOKENS):
            a = block_of(keys, p // BLOCK_TOKENS)
            scales, apart, x_stride = a + key_bytes, 2 * LANES, blocks * RECORD_BYTES
            tiles, x, c = BLOCK_TOKENS // LANES, q.quantized, q.scores + 4 * p
            prefetch(a + values + key_bytes, 4 * BLOCK_TOKENS)
            multiply_bytes(
                a, scales, apart, tiles, blocks, x, x_stride, c, near, columns, anew, values
            )
        weigh(q, base, count, result + 4 * columns * dim)
        for p in range(0, count, BLOCK_TOKENS):
            a = block_of(keys, p // BLOCK_TOKENS) + values
            quantize_weights(q, p, min(BLOCK_TOKENS, count - p), a + key_bytes)
            x, x_stride = q.weights + p // BLOCK * RECORD_BYTES, PART // BLOCK * RECORD_BYTES
            tiles, near, add = dim // LANES, 4 * dim, int(p > 0)
            following = block_of(later, p // BLOCK_TOKENS)
            prefetch(following + key_bytes, values - key_bytes)
            ahead = following - a
            multiply_bytes(a, q.ones, 0, tiles, 1, x, x_stride, result, near, columns, add, ahead)

    result: Callable[..., None] = attend_bytes
    return result


@njit
def quantize_queries(q: Queries) -> None:
    """Queries as columns of byte products, and 16 scales that are one."""
    blocks = q.dim // BLOCK
    for column in range(q.columns):
        quantize_row(q.queries + 4 * q.dim * column, q.quantized, COLUMNS, column, blocks)
    halves(q.ones, LANES)[:] = np.uint16(0x3C00)


@njit
def quantize_weights(q: Queries, p: int, count: int, scales: int) -> None:
    """Weights of `count` positions from `p` on, times the scales of their values, as columns.

    scales: address of float32 (BLOCK_TOKENS,); those from `count` on are arbitrary.
    """
    for column in range(q.columns):
        address = q.scores + 4 * (PART * column + p)
        multiply_first(address, scales, count)
        quantize_block(address, q.weights, COLUMNS, column, p // BLOCK, PART // BLOCK)


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
