"""Matrix kernels in plain numba: for any CPU, and the fallback of every other path.

The same arguments and layouts as the kernels with intrinsics.
"""

import numpy as np
from numba import njit

from engine.formats.packed import (
    BLOCK,
    LANES,
    Q4_RECORD_BYTES,
    Q8_BLOCK_BYTES,
    SCALE_BYTES,
)
from engine.kernels.arithmetic import half_to_float
from engine.kernels.columns import COLUMNS, OFFSET_SUM, RECORD_BYTES, SCALE, SCALED_SUM
from engine.kernels.intrinsics import floats, halves, integers, signed_bytes, unsigned_bytes

NEEDS = ()
"""CPU features: none beyond what numba itself needs."""
_GROUPS = BLOCK // 4


@njit(inline="always")
def _finish(total: np.ndarray, y: int, stride: int, valid: int, add: int) -> None:
    """Store the first `valid` columns of a tile, or add them to what is there."""
    for column in range(valid):
        out = floats(y + 4 * column * stride, LANES)
        for lane in range(LANES):
            out[lane] = total[column, lane] + (out[lane] if add != 0 else np.float32(0.0))


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
def multiply_q8(tile: int, blocks: int, x: int, y: int, stride: int, valid: int, add: int) -> None:
    """One tile of 8-bit weights times up to 8 columns.

    Addresses of the tile, the activations and y[0, first row of the tile]; floats from one column
    of y to the next; columns that count; whether to add to y.
    """
    head = (blocks * SCALE_BYTES + 63) // 64 * 64
    total = np.zeros((COLUMNS, LANES), np.float32)
    sums = np.zeros(LANES, np.int32)
    scales = halves(tile, (blocks, LANES))
    for b in range(blocks):
        weights = unsigned_bytes(tile + head + b * Q8_BLOCK_BYTES, (_GROUPS, LANES, 4))
        record = x + b * RECORD_BYTES
        quants = signed_bytes(record, (_GROUPS, COLUMNS, 4))
        for column in range(valid):
            sums[:] = integers(record + OFFSET_SUM, COLUMNS)[column]
            for group in range(_GROUPS):
                _add_products(sums, weights[group], quants, column, group)
            x_scale = floats(record + SCALE, COLUMNS)[column]
            for lane in range(LANES):
                scale = half_to_float(scales[b, lane]) * x_scale
                total[column, lane] += np.float32(sums[lane]) * scale
    _finish(total, y, stride, valid, add)


@njit
def multiply_q4(tile: int, blocks: int, x: int, y: int, stride: int, valid: int, add: int) -> None:
    """One tile of 4-bit weights times up to 8 columns; arguments as `multiply_q8`."""
    total = np.zeros((COLUMNS, LANES), np.float32)
    sums = np.zeros(LANES, np.int32)
    nibbles = np.zeros((_GROUPS, LANES, 4), np.uint8)
    for b in range(blocks):
        record = tile + b * Q4_RECORD_BYTES
        scales = halves(record, (2, LANES))
        both = unsigned_bytes(record + 2 * SCALE_BYTES, (_GROUPS // 2, LANES, 4))
        for group in range(_GROUPS // 2):
            for lane in range(LANES):
                for i in range(4):
                    nibbles[group, lane, i] = both[group, lane, i] & 15
                    nibbles[group + _GROUPS // 2, lane, i] = both[group, lane, i] >> 4
        x_record = x + b * RECORD_BYTES
        quants = signed_bytes(x_record, (_GROUPS, COLUMNS, 4))
        for column in range(valid):
            sums[:] = 0
            for group in range(_GROUPS):
                _add_products(sums, nibbles[group], quants, column, group)
            x_scale = floats(x_record + SCALE, COLUMNS)[column]
            x_sum = floats(x_record + SCALED_SUM, COLUMNS)[column]
            for lane in range(LANES):
                product = np.float32(sums[lane]) * (half_to_float(scales[0, lane]) * x_scale)
                total[column, lane] += product + half_to_float(scales[1, lane]) * x_sum
    _finish(total, y, stride, valid, add)


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
    add: int,
) -> None:
    """c[column, 0:16] (+)= Σ over i < depth of a[i, 0:16] · b[column, i], for attention.

    a: address of float16 vectors of 16, b and c of float32; strides in bytes from one i of a, one
    column of b and c to the next; columns: a multiple of 4.
    """
    for column in range(columns):
        out = floats(c + column * c_stride, LANES)
        weights = floats(b + column * b_stride, depth)
        if add == 0:
            out[:] = np.float32(0.0)
        for i in range(depth):
            vector = halves(a + i * a_stride, LANES)
            for lane in range(LANES):
                out[lane] += half_to_float(vector[lane]) * weights[i]
