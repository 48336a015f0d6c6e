"""Attention of some queries to one part of the positions, where numbers are bytes.

The scale of a part is a power of two, so that parts are put together without rounding: the same
parts in the same order give the same bits, together or one after the other.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.formats.packed import BLOCK, LANES
from engine.kernels.arithmetic import ROUND
from engine.kernels.attention_part import PART, Keys, block_of
from engine.kernels.byte_weights import weigh_block
from engine.kernels.columns import COLUMNS
from engine.kernels.intrinsics import bits_to_float, floats, prefetch
from engine.kernels.kv_layout import BLOCK_TOKENS, BYTE
from engine.kernels.powers import added, all_lanes, higher, of_each, power_of_two
from engine.kernels.rotation import values_offset
from engine.kernels.simd import zeros
from engine.kernels.softmax import LOWEST
from engine.kernels.vectors import (
    FLOAT,
    FLOATS,
    HALVES,
    I32,
    I64,
    INTEGERS,
    broadcast,
    fma,
    load,
    store,
)

_MANY = COLUMNS
"""Of so many columns, products do not ask for what is read next."""


class ByteQueries(NamedTuple):
    """What attends to a part; addresses are integers."""

    columns: int
    group: int  # columns of a row: query heads that share a kv head
    dim: int  # of a head
    position: int  # of the first row
    rows: int
    window: int  # positions that a row sees, itself included
    factor: int  # bits of the float32 that makes exponents of two of products
    cap: int  # bits of the float32 cap of scores (0: none)
    quantized: int  # see byte_attention.Scratch
    weights: int
    exponents: int
    scores: int
    bases: int
    sums: int
    highest: int
    totals: int


def padded(columns: int) -> int:
    """Columns with room for whole vectors, and for those that products compute besides."""
    return (columns + 2 * LANES - 1) // LANES * LANES


padded_columns = njit(padded)


@intrinsic
def widen_exponents(typing_context: Any, halves: Any, written: Any, exponents: Any) -> Any:
    """Exponents of the scales of a block's values, and 1 / scales; 0 from position `written` on.

    Addresses of float16 (BLOCK_TOKENS,) and of float32 (2, PART), from the block's first position.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, written, target = arguments
        written = broadcast(builder, builder.trunc(written, I32))
        for first in range(0, BLOCK_TOKENS, LANES):
            value = builder.fpext(load(builder, source, 2 * first, HALVES, 2), FLOATS)
            lanes = ir.Constant(INTEGERS, list(range(first, first + LANES)))
            seen = builder.icmp_signed("<", lanes, written)
            inverse = power_of_two(builder, builder.fneg(value))
            for row, number in enumerate((value, inverse)):
                number = builder.select(seen, number, all_lanes(0.0))
                store(builder, builder.add(target, I64(4 * (PART * row + first))), number)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), emit


def emit_factors(builder: Any, arguments: list[Any]) -> None:
    """Write the code of `weigh_blocks`."""
    bases, stride, blocks, columns, highest = arguments
    vectors = builder.udiv(builder.add(columns, I64(LANES - 1)), I64(LANES))
    most, shift = cgutils.alloca_once(builder, FLOATS), all_lanes(ROUND)
    with cgutils.for_range(builder, vectors) as loop:
        first = builder.mul(loop.index, I64(4 * LANES))
        builder.store(all_lanes(LOWEST), most)
        with cgutils.for_range(builder, blocks) as block:
            at = builder.add(builder.add(bases, first), builder.mul(stride, block.index))
            before = builder.load(most, typ=FLOATS)
            builder.store(higher(builder, load(builder, at, 0, FLOATS, 4), before), most)
        top = builder.fsub(builder.fadd(builder.load(most, typ=FLOATS), shift), shift)
        with cgutils.for_range(builder, blocks) as block:
            at = builder.add(builder.add(bases, first), builder.mul(stride, block.index))
            peak = load(builder, at, 0, FLOATS, 4)
            store(builder, at, power_of_two(builder, builder.fsub(peak, top)))
        store(builder, builder.add(highest, first), top)


@intrinsic
def weigh_blocks(
    typing_context: Any,
    bases: Any,
    stride: Any,
    blocks: Any,
    columns: Any,
    highest: Any,
) -> Any:
    """Exponents of blocks become factors, relative to an exponent of the part, an integer.

    bases: address of float32 (blocks, stride / 4), see kernels.byte_weights; highest: of float32
    (columns, rounded up to 16), those exponents.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_factors(builder, list(arguments))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), emit


@njit(inline="always")
def integer_power(exponent: np.float32) -> np.float32:
    """2 to an integer ≤ 0; 0 where that is no normal float32."""
    if exponent < np.float32(-126.0):
        return np.float32(0.0)
    power: np.float32 = bits_to_float((np.int32(exponent) + np.int32(127)) << np.int32(23))
    return power


@intrinsic
def total_weights(
    typing_context: Any, lanes: Any, factors: Any, stride: Any, blocks: Any, totals: Any
) -> Any:
    """Sums of weights of 8 columns: Σ of lanes · factor over the blocks of a part.

    Addresses of float32 (8, 16) in the first block, 16 · stride bytes to those of the next one, of
    their factors there, stride bytes to the next ones, and of the result, float32 (8,).
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes, factors, stride, blocks, totals = arguments
        sums = zeros(builder, _MANY)
        with cgutils.for_range(builder, blocks) as block:
            at = builder.mul(stride, block.index)
            here, factor = (
                builder.add(lanes, builder.mul(at, I64(LANES))),
                builder.add(factors, at),
            )
            for column, total in enumerate(sums):
                weight = load(builder, here, 4 * LANES * column, FLOATS, 4)
                scale = broadcast(builder, load(builder, factor, 4 * column, FLOAT, 4))
                before = builder.load(total, typ=FLOATS)
                builder.store(fma(builder, weight, scale, before), total)
        found = [builder.load(total, typ=FLOATS) for total in sums]
        store(builder, totals, of_each(builder, found, added))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), emit


@njit
def keep_states(q: ByteQueries, blocks: int, stride: int, states: int) -> None:
    """Put exponents and sums of a part where its result has them: float32 (columns, 2)."""
    for column in range(0, q.columns, _MANY):
        lanes, factors = q.sums + 4 * LANES * column, q.bases + 4 * column
        total_weights(lanes, factors, stride, blocks, q.totals + 4 * column)
    highest, totals = floats(q.highest, q.columns), floats(q.totals, q.columns)
    kept = floats(states, (q.columns, 2))
    for column in range(q.columns):
        kept[column, 0], kept[column, 1] = highest[column], totals[column]


def byte_attender(
    score_block: Callable[..., None], add_values: Callable[..., None]
) -> Callable[..., None]:
    """A compiled function that attends to one part of bytes, with a path's products."""

    @njit(inline="always")
    def attend_bytes(q: ByteQueries, keys: Keys, later: Keys, base: int, result: int) -> None:
        """What the positions from `base` on, a multiple of PART, give.

        later: what is read next; result: address of sums float32 (columns, dim), then of states
        float32 (columns, 2): an exponent of two and the sum of weights. The values of a block are
        asked for while its keys are multiplied, and the keys that are read next while values are.
        """
        dim, columns, blocks = q.dim, q.columns, q.dim // BLOCK
        count, wide = (
            min(PART, q.position + q.rows - base),
            4 * padded_columns(q.columns),
        )
        key_bytes, values = BLOCK_TOKENS * dim, values_offset(dim, BYTE)
        taken = (count + BLOCK_TOKENS - 1) // BLOCK_TOKENS
        for i in range(taken):
            a, p, at = block_of(keys, i), BLOCK_TOKENS * i, wide * i
            exponents, weights = q.exponents + 4 * p, q.weights + p
            widen_exponents(a + values + key_bytes, count - p, exponents)
            if columns >= _MANY:
                prefetch(a + values, key_bytes)
            score_block(
                a,
                values,
                blocks,
                q.quantized,
                q.factor,
                exponents,
                q.scores,
                q.bases + at,
                columns,
                q.position + 1 - base - p,
                q.window,
                q.group,
                q.cap,
            )
            inverses, sums = exponents + 4 * PART, q.sums + LANES * at
            weigh_block(q.scores, q.bases + at, inverses, weights, sums, columns)
        weigh_blocks(q.bases, wide, taken, columns, q.highest)
        keep_states(q, taken, wide, result + 4 * columns * dim)
        for i in range(taken):
            a, following = block_of(keys, i) + values, block_of(later, i)
            prefetch(following + key_bytes, 2 * BLOCK_TOKENS * blocks)
            prefetch(following + values + key_bytes, 2 * BLOCK_TOKENS)
            if columns >= _MANY:
                prefetch(following, key_bytes)
            weights, factors, add = (
                q.weights + BLOCK_TOKENS * i,
                q.bases + wide * i,
                int(i > 0),
            )
            add_values(a, following - a, blocks, weights, factors, result, columns, add)

    result: Callable[..., None] = attend_bytes
    return result
