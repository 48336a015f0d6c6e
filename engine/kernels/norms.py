"""Norms besides Llama's: in place, after the mean is taken away, with a bias.

Each is an operation of `kernels.program`; rows are shared among threads.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK
from engine.kernels.columns import own_columns, quantize_row
from engine.kernels.elementwise import mean_square, rms_norm_row
from engine.kernels.intrinsics import bits_to_float, floats
from engine.kernels.program import LOGITS, ROWS, share


def rms_norm(operands: Any, step: Any, part: int, parts: int) -> None:
    """RMSNorm of vectors in place.

    operands: address of the first float32, floats from a row to the next, vectors in a row, width
    of a vector, address of the weight float32 (width,), bits of the float32 epsilon.
    """
    stride, count, width = operands[1], operands[2], operands[3]
    weight = floats(operands[4], width)
    epsilon = bits_to_float(np.int32(operands[5]))
    first, last = share(step[ROWS] * count, part, parts)
    for item in range(first, last):
        row, index = item // count, item % count
        x = floats(operands[0] + 4 * (row * stride + index * width), width)
        rms_norm_row(x, weight, epsilon, x)


def add_normed(operands: Any, step: Any, part: int, parts: int) -> None:
    """x += factor · RMSNorm(y).

    operands: address of x and of y float32 (rows, dim), dim, address of the weight float32 (dim,),
    bits of the float32 epsilon and of the factor.
    """
    rows, dim = step[ROWS], operands[2]
    weight, epsilon = floats(operands[3], dim), bits_to_float(np.int32(operands[4]))
    factor = bits_to_float(np.int32(operands[5]))
    x, y = floats(operands[0], (rows, dim)), floats(operands[1], (rows, dim))
    first, last = share(rows, part, parts)
    for row in range(first, last):
        rms_norm_row(y[row], weight, epsilon, y[row])
        for i in range(dim):
            x[row, i] += factor * y[row, i]


@njit(fastmath={"reassoc", "nsz"})
def mean(x: np.ndarray) -> np.float32:
    """The mean of float32 (dim,)."""
    total = np.float32(0.0)
    for i in range(x.size):
        total += x[i]
    return total / np.float32(x.size)


@njit
def layer_norm_row(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, epsilon: np.float32, y: np.ndarray
) -> None:
    """y = weight · (x - mean) / √(variance + ε) + bias (Ba et al. 2016); all float32 (dim,)."""
    middle = mean(x)
    for i in range(x.size):
        y[i] = x[i] - middle
    factor = np.float32(1.0) / np.sqrt(mean_square(y) + epsilon)
    for i in range(x.size):
        y[i] = y[i] * factor * weight[i] + bias[i]


def layer_norm_quantize(operands: Any, step: Any, part: int, parts: int) -> None:
    """Columns = quantized LayerNorm of x.

    operands: address of x float32 (rows, dim), of the weight and of the bias float32 (dim,), of y
    float32 (rows, dim) for the norm, of the columns, dim, bits of the float32 epsilon. Of a single
    row every share makes its own, as in `elementwise.rms_norm_quantize`, unless x is y.
    """
    rows, dim = step[ROWS], operands[5]
    blocks = dim // BLOCK
    weight, bias = floats(operands[1], dim), floats(operands[2], dim)
    epsilon = bits_to_float(np.int32(operands[6]))
    if rows == 1 and operands[0] != operands[3]:
        address = operands[3] + 4 * dim * part
        layer_norm_row(floats(operands[0], dim), weight, bias, epsilon, floats(address, dim))
        quantize_row(address, own_columns(operands[4], part, blocks), 1, 0, blocks)
        return
    x, y = floats(operands[0], (rows, dim)), floats(operands[3], (rows, dim))
    first, last = share(rows, part, parts)
    for row in range(first, last):
        layer_norm_row(x[row], weight, bias, epsilon, y[row])
        quantize_row(operands[3] + 4 * dim * row, operands[4], rows, row, blocks)


def layer_norm_output(operands: Any, step: Any, part: int, parts: int) -> None:
    """The step's result = LayerNorm of x, for embeddings.

    operands: address of x float32 (rows, dim), of the weight and of the bias float32 (dim,), dim,
    bits of the float32 epsilon.
    """
    rows, dim = step[ROWS], operands[3]
    x, y = floats(operands[0], (rows, dim)), floats(step[LOGITS], (rows, dim))
    weight, bias = floats(operands[1], dim), floats(operands[2], dim)
    epsilon = bits_to_float(np.int32(operands[4]))
    first, last = share(rows, part, parts)
    for row in range(first, last):
        layer_norm_row(x[row], weight, bias, epsilon, y[row])
