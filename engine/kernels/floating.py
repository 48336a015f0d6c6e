"""Matrix products in float32, for files whose weights are float32: exact, not fast."""

from typing import Any

import numpy as np
from numba import njit

from engine.formats.packed import LANES
from engine.kernels.intrinsics import floats
from engine.kernels.program import LOGITS, ROWS
from engine.kernels.tiles import add_bias, share_tiles


@njit
def multiply_float(tile: int, inputs: int, x: int, y: int, add: int) -> None:
    """y[0:16] (+)= one tile of 16 rows of weights times one row of activations.

    Addresses of the tile float32 (inputs, 16), of x float32 (inputs,) and of y; whether to add.
    """
    weights, values, out = floats(tile, (inputs, LANES)), floats(x, inputs), floats(y, LANES)
    if add == 0:
        out[:] = np.float32(0.0)
    for i in range(inputs):
        for lane in range(LANES):
            out[lane] += weights[i, lane] * values[i]


@njit
def float_panel(
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
) -> None:
    """As `kernels.portable.multiply_panel`, for vectors of float32."""
    width = LANES * vectors
    for column in range(columns):
        out = floats(c + column * c_stride, width)
        weights = floats(b + column * b_stride, depth)
        if add == 0:
            out[:] = np.float32(0.0)
        for i in range(depth):
            values = floats(a + i * a_stride, width)
            for lane in range(width):
                out[lane] += values[lane] * weights[i]


def matmul_float(operands: Any, step: Any, part: int, parts: int) -> None:
    """Operation: y (+)= x · Wᵀ + bias for the step's rows.

    operands: address of W (packed, 32 bits), of x float32, of y float32 (0: the step's logits);
    inputs; outputs (a multiple of 16); floats from a row of y to the next; whether to add to y;
    floats from a row of x to the next; whether each share has a row of x of its own if it is a
    single one; address of the bias float32 (outputs,), 0 if there is none.
    """
    inputs, stride, add, apart, rows = (
        operands[3],
        operands[5],
        operands[6],
        operands[7],
        step[ROWS],
    )
    x = operands[1] + (4 * apart * part if rows == 1 and operands[8] != 0 else 0)
    y = step[LOGITS] if operands[2] == 0 else operands[2]
    first, last = share_tiles(operands[4] // LANES, part, parts)
    for tile in range(first, last):
        weights = operands[0] + 4 * tile * LANES * inputs
        for row in range(rows):
            out = y + 4 * (row * stride + tile * LANES)
            multiply_float(weights, inputs, x + 4 * row * apart, out, add)
    add_bias(operands[9], y, stride, rows, first, last - first)
