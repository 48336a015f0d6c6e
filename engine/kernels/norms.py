"""Norms besides Llama's: in place, after the mean is taken away, with a bias.

Each is an operation of `kernels.program`; rows are shared among threads.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels.elementwise import mean_square, quantize_row, rms_norm_row
from engine.kernels.intrinsics import bits_to_float, floats
from engine.kernels.program import LOGITS, ROWS, share


def rms_norm(operands: Any, step: Any, thread: int, threads: int) -> None:
    """RMSNorm of vectors in place.

    operands: address of the first float32, floats from a row to the next, vectors in a row, width
    of a vector, address of the weight float32 (width,), bits of the float32 epsilon.
    """
    stride, count, width = operands[1], operands[2], operands[3]
    weight = floats(operands[4], width)
    epsilon = bits_to_float(np.int32(operands[5]))
    first, last = share(step[ROWS] * count, thread, threads)
    for item in range(first, last):
        row, index = item // count, item % count
        x = floats(operands[0] + 4 * (row * stride + index * width), width)
        rms_norm_row(x, weight, epsilon, x)


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


def layer_norm_quantize(operands: Any, step: Any, thread: int, threads: int) -> None:
    """Columns = quantized LayerNorm of x.

    operands: address of x float32 (rows, dim), of the weight and of the bias float32 (dim,), of y
    float32 (rows, dim) for the norm, of the columns, dim, bits of the float32 epsilon.
    """
    rows, dim = step[ROWS], operands[5]
    x, y = floats(operands[0], (rows, dim)), floats(operands[3], (rows, dim))
    weight, bias = floats(operands[1], dim), floats(operands[2], dim)
    epsilon = bits_to_float(np.int32(operands[6]))
    first, last = share(rows, thread, threads)
    for row in range(first, last):
        layer_norm_row(x[row], weight, bias, epsilon, y[row])
        quantize_row(y[row], operands[4], row)


def layer_norm_output(operands: Any, step: Any, thread: int, threads: int) -> None:
    """The step's result = LayerNorm of x, for embeddings.

    operands: address of x float32 (rows, dim), of the weight and of the bias float32 (dim,), dim,
    bits of the float32 epsilon.
    """
    rows, dim = step[ROWS], operands[3]
    x, y = floats(operands[0], (rows, dim)), floats(step[LOGITS], (rows, dim))
    weight, bias = floats(operands[1], dim), floats(operands[2], dim)
    epsilon = bits_to_float(np.int32(operands[4]))
    first, last = share(rows, thread, threads)
    for row in range(first, last):
        layer_norm_row(x[row], weight, bias, epsilon, y[row])
