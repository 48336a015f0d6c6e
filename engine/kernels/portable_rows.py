"""Rows that lie anywhere times a single row of activations, in plain numba: for any CPU."""

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK
from engine.kernels.arithmetic import half_to_float
from engine.kernels.columns import FIRST_SUM, OFFSET_SUM, SCALE, SCALED_SUM, SINGLE_BYTES
from engine.kernels.intrinsics import (
    addresses,
    floats,
    halves,
    integers,
    signed_bytes,
    unsigned_bytes,
)

_UNIT = 2 * BLOCK


@njit(inline="always")
def _weight(bits: int, quants: int, block: int, i: int) -> np.int32:
    """The i-th weight of a block as it is stored (see engine.sparsity.layout)."""
    if bits != 4:
        return np.int32(unsigned_bytes(quants + BLOCK * block, BLOCK)[i])
    both = np.int32(unsigned_bytes(quants + BLOCK * (block // 2), BLOCK)[i])
    return both & 15 if block % 2 == 0 else both >> 4


@njit
def multiply_rows(bits: int, rows: int, count: int, blocks: int, x: int, room: int, y: int) -> None:
    """y[i] = rows[i] · x.

    Bits of a weight; address of int64 (count + ROWS_AHEAD,), where the rows lie, and behind them
    some that may be asked for; rows; blocks of each, an even number; addresses of the activations
    (records of a single column), of what `spread_activations` made of them, with room behind it,
    and of float32 y, rounded up to whole groups of ROWS.
    """
    places, out = addresses(rows, count), floats(y, count)
    size = (2 * blocks + _UNIT - 1) // _UNIT * _UNIT
    kinds = 1 if bits == 8 else 2
    for row in range(count):
        quants, total = places[row] + kinds * size, np.float32(0.0)
        first, second = halves(places[row], blocks), halves(places[row] + size, blocks)
        for block in range(blocks):
            record = x + SINGLE_BYTES * block
            values = signed_bytes(record, BLOCK)
            whole, front = integers(record + OFFSET_SUM, 1)[0], integers(record + FIRST_SUM, 1)[0]
            sums = whole if bits == 8 else front if bits == 6 else np.int32(0)
            others = whole // 4 - front
            for i in range(BLOCK):
                product = _weight(bits, quants, block, i) * np.int32(values[i])
                if bits == 6 and i >= BLOCK // 2:
                    others += product
                else:
                    sums += product
            x_scale = floats(record + SCALE, 1)[0]
            value = np.float32(sums) * (half_to_float(first[block]) * x_scale)
            if bits == 6:
                value += np.float32(others) * (half_to_float(second[block]) * x_scale)
            elif bits != 8:
                value += half_to_float(second[block]) * floats(record + SCALED_SUM, 1)[0]
            total += value
        out[row] = total
