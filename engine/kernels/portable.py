"""Matrix kernels in plain numba: for any CPU, and the fallback of every other path.

The same arguments and layouts as the kernels with intrinsics.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit

from engine.formats.packed import (
    BLOCK,
    LANES,
    NIBBLE_BYTES,
    Q8_BLOCK_BYTES,
    Q8_PAIR_BYTES,
    SCALE_BYTES,
    SUPER,
)
from engine.kernels.arithmetic import half_to_float
from engine.kernels.attention_part import number_attender
from engine.kernels.byte_part import byte_attender
from engine.kernels.byte_scores import block_scorer
from engine.kernels.byte_values import value_adder
from engine.kernels.columns import (
    COLUMNS,
    FIRST_SUM,
    OFFSET_SUM,
    RECORD_BYTES,
    SCALE,
    SCALED_SUM,
    SINGLE_BYTES,
)
from engine.kernels.intrinsics import (
    floats,
    halves,
    integers,
    local_bytes,
    signed_bytes,
    unsigned_bytes,
)
from engine.kernels.portable_columns import multiply_columns
from engine.kernels.portable_rows import multiply_rows
from engine.kernels.simd import Dot
from engine.kernels.super_blocks import block_scale, quants_at
from engine.kernels.tiles import size_of_tile
from engine.kernels.vectors import INTEGERS

_GROUPS = BLOCK // 4
_ROW_BYTES, _PAIR_BYTES, _TILE_BYTES = 4 * LANES, 8 * LANES, 4 * COLUMNS * LANES
_BLOCK_BYTES = BLOCK * LANES

__all__ = [
    "multiply_columns",
    "multiply_panel",
    "multiply_row",
    "multiply_rows",
    "multiply_tile",
]


@njit(inline="always")
def _finish(total: np.ndarray, y: int, stride: int, valid: int, add: int) -> None:
    """Store the first `valid` columns of a tile, or add them to what is there."""
    for column in range(valid):
        out = floats(y + 4 * column * stride, LANES)
        for lane in range(LANES):
            out[lane] = total[column, lane] + (out[lane] if add != 0 else np.float32(0.0))


@njit
def _read_block(
    bits: int, tile: int, blocks: int, b: int, weights: np.ndarray, scales: np.ndarray
) -> None:
    """A block of 16 rows: weights uint8 (8, 16, 4) as they are stored, scales float32 (2, 16)."""
    if bits == 8:
        pair = tile + b // 2 * Q8_PAIR_BYTES
        record = pair + b % 2 * SCALE_BYTES
        block = pair + 2 * SCALE_BYTES + b % 2 * Q8_BLOCK_BYTES
        stored_weights = unsigned_bytes(block, (_GROUPS, LANES, 4))
        for group in range(_GROUPS):
            for lane in range(LANES):
                for i in range(4):
                    weights[group, lane, i] = stored_weights[group, lane, i]
    else:
        record = tile + b * (size_of_tile(bits, blocks) // blocks)
        quants = quants_at(bits, tile, b) if bits >= SUPER else record + 2 * SCALE_BYTES
        both = unsigned_bytes(quants, (_GROUPS // 2, LANES, 4))
        rest = unsigned_bytes(quants + NIBBLE_BYTES, (2, LANES, 4))
        for group in range(_GROUPS):
            half = group // (_GROUPS // 2)
            shift = 4 * half
            for lane in range(LANES):
                for i in range(4):
                    quant = np.int32(both[group % 4, lane, i]) >> shift & 15
                    if bits % SUPER == 5:
                        quant |= (np.int32(rest[0, lane, i]) >> group & 1) << 4
                    elif bits % SUPER == 6:
                        quant |= (np.int32(rest[half, lane, i]) >> 2 * (group % 4) & 3) << 4
                    weights[group, lane, i] = quant
    stored = halves(record, (2, LANES))
    for index in range(1 if bits == 8 else 2):
        for lane in range(LANES):
            if bits >= SUPER:
                scales[index, lane] = block_scale(bits, tile, b, index, lane)
            else:
                scales[index, lane] = half_to_float(stored[index, lane])


@njit(inline="always")
def _add_products(
    sums: np.ndarray, weights: np.ndarray, x: np.ndarray, column: int, group: int
) -> None:
    """sums[lane] += Σ of four products of `weights` uint8 (16, 4) and x int8 (8, columns, 4)."""
    x0, x1 = np.int32(x[group, column, 0]), np.int32(x[group, column, 1])
    x2, x3 = np.int32(x[group, column, 2]), np.int32(x[group, column, 3])
    for lane in range(LANES):
        w0, w1 = np.int32(weights[lane, 0]), np.int32(weights[lane, 1])
        w2, w3 = np.int32(weights[lane, 2]), np.int32(weights[lane, 3])
        sums[lane] += w0 * x0 + w1 * x1 + w2 * x2 + w3 * x3


@njit
def _multiply(
    layout: int, tile: int, blocks: int, x: int, width: int, valid: int, total: np.ndarray
) -> None:
    """total float32 (columns, 16) += a tile times `valid` columns in records of `width`."""
    bits = layout % SUPER
    sums = integers(local_bytes(_PAIR_BYTES), (2, LANES))
    weights = unsigned_bytes(local_bytes(_BLOCK_BYTES), (_GROUPS, LANES, 4))
    scales = floats(local_bytes(_PAIR_BYTES), (2, LANES))
    x_bytes = SINGLE_BYTES if width == 1 else RECORD_BYTES
    for b in range(blocks):
        _read_block(layout, tile, blocks, b, weights, scales)
        record = x + b * x_bytes
        quants = signed_bytes(record, (_GROUPS, width, 4))
        for column in range(valid):
            whole = integers(record + OFFSET_SUM * width, width)[column]
            first = integers(record + FIRST_SUM * width, width)[column]
            sums[0] = whole if bits == 8 else first if bits == 6 else 0
            sums[1] = whole // 4 - first
            for group in range(_GROUPS):
                half = group // 4 if bits == 6 else 0
                _add_products(sums[half], weights[group], quants, column, group)
            x_scale = floats(record + SCALE * width, width)[column]
            x_sum = floats(record + SCALED_SUM * width, width)[column]
            for lane in range(LANES):
                value = np.float32(sums[0, lane]) * (scales[0, lane] * x_scale)
                if bits == 6:
                    value += np.float32(sums[1, lane]) * (scales[1, lane] * x_scale)
                elif bits != 8:
                    value += scales[1, lane] * x_sum
                total[column, lane] += value


@njit
def multiply_tile(
    bits: int, tile: int, blocks: int, x: int, y: int, stride: int, valid: int, add: int
) -> None:
    """One tile of weights times up to 8 columns.

    Bits of a weight (4, 5, 6, 8, SUPER more with super-blocks); addresses of the tile, of the
    activations (a group of 8 columns) and of y[0, first row of the tile]; floats from one column of
    y to the next; columns that count; whether to add to y.
    """
    total = floats(local_bytes(_TILE_BYTES), (COLUMNS, LANES))
    total[:] = np.float32(0.0)
    _multiply(bits, tile, blocks, x, COLUMNS, valid, total)
    _finish(total, y, stride, valid, add)


@njit
def multiply_row(
    bits: int, weights: int, tiles: int, blocks: int, x: int, y: int, add: int
) -> None:
    """`tiles` tiles that follow each other times a single row of activations.

    Bits of a weight; addresses of the first tile, of the activations (records of a single column)
    and of y[first row of the first tile]; whether to add to y. The sums are those of
    `multiply_tile`, bit by bit.
    """
    total = floats(local_bytes(_ROW_BYTES), (1, LANES))
    size = size_of_tile(bits, blocks)
    for index in range(tiles):
        total[:] = np.float32(0.0)
        _multiply(bits, weights + index * size, blocks, x, 1, 1, total)
        _finish(total, y + 4 * LANES * index, 0, 1, add)


@njit
def multiply_panel(
    a: int,
    a_stride: int,
    b: int,
    b_stride: int,
    c: int,
    c_stride: int,
    depth: int,
    columns: int,
    vectors: int,
    add: int,
    ahead: int,
) -> None:
    """c[column] (+)= Σ over i < depth of a[i] · b[column, i], for attention.

    a: address of float16 (depth, 16 · vectors), b of float32 (columns, depth), c of float32
    (columns, 16 · vectors); strides in bytes from one i of a, one column of b and c to the next;
    ahead: bytes from what is read to what is asked for meanwhile, to be read soon.
    """
    width = LANES * vectors
    for column in range(columns):
        out = floats(c + column * c_stride, width)
        weights = floats(b + column * b_stride, depth)
        if add == 0:
            out[:] = np.float32(0.0)
        for i in range(depth):
            values = halves(a + i * a_stride, width)
            for lane in range(width):
                out[lane] += half_to_float(values[lane]) * weights[i]


def _products(builder: Any, sums: Any, weights: Any, x: Any) -> Any:
    """64 products of bytes without an instruction for them: unsigned weights, signed x.

    A lane's four bytes are shifted to where they stand alone: attention to bytes compiles in 39 s
    of CPU time, where it took 102 with shuffles of products.
    """
    weights, x = builder.bitcast(weights, INTEGERS), builder.bitcast(x, INTEGERS)
    for i in range(4):
        above, below = _lanes(24 - 8 * i), _lanes(8 * i)
        weight = builder.and_(builder.lshr(weights, below), _lanes(255))
        value = builder.ashr(builder.shl(x, above), _lanes(24))
        sums = builder.add(sums, builder.mul(weight, value))
    return sums


def _lanes(number: int) -> Any:
    """A number in every lane."""
    return ir.Constant(INTEGERS, [number] * LANES)


DOT = Dot(_products)
attend_numbers = number_attender(multiply_panel)
attend_bytes = byte_attender(block_scorer(DOT), value_adder(DOT))
