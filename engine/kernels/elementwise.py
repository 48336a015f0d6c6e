"""Operations around the matrix products: embedding, RMSNorm, quantizing, choosing rows.

Each is an operation of `kernels.program`; rows (token positions) or blocks are shared among
threads.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK
from engine.kernels.columns import own_columns, quantize_block, quantize_row
from engine.kernels.intrinsics import bits_to_float, floats, integers
from engine.kernels.program import KEPT_ROWS, LOGITS, OUTPUTS, ROWS, TOKENS, share
from engine.kernels.unpacking import unpack_row


def embed(operands: Any, step: Any, part: int, parts: int) -> None:
    """x[row] = the embedding of token `row`.

    operands: address of the packed embedding, its bits, of x float32 (rows, dim), dim.
    """
    weights, bits, x_address, dim = operands[0], operands[1], operands[2], operands[3]
    rows = step[ROWS]
    tokens = integers(step[TOKENS], rows)
    x = floats(x_address, (rows, dim))
    first, last = share(rows, part, parts)
    for row in range(first, last):
        unpack_row(weights, bits, dim // BLOCK, tokens[row], x[row])


@njit(fastmath={"reassoc", "contract", "nsz"})
def mean_square(x: np.ndarray) -> np.float32:
    """The mean of the squares of float32 (dim,)."""
    total = np.float32(0.0)
    for i in range(x.size):
        total += x[i] * x[i]
    return total / np.float32(x.size)


@njit
def rms_norm_row(x: np.ndarray, weight: np.ndarray, epsilon: np.float32, y: np.ndarray) -> None:
    """y = weight · x / √(mean(x²) + ε) (Zhang & Sennrich 2019); all float32 (dim,)."""
    factor = np.float32(1.0) / np.sqrt(mean_square(x) + epsilon)
    for i in range(x.size):
        y[i] = x[i] * factor * weight[i]


def rms_norm_quantize(operands: Any, step: Any, part: int, parts: int) -> None:
    """Columns = quantized RMSNorm of x.

    operands: address of x float32 (rows, dim), of the weight float32 (dim,), of y float32 (rows,
    dim) for the norm, of the columns, dim, bits of the float32 epsilon. Of a single row every share
    makes columns of its own, and leaves the norm in the row of y that has its number.
    """
    rows, dim = step[ROWS], operands[4]
    blocks = dim // BLOCK
    weight, epsilon = floats(operands[1], dim), bits_to_float(np.int32(operands[5]))
    if rows == 1:
        address = operands[2] + 4 * dim * part
        rms_norm_row(floats(operands[0], dim), weight, epsilon, floats(address, dim))
        quantize_row(address, own_columns(operands[3], part, blocks), 1, 0, blocks)
        return
    x, y = floats(operands[0], (rows, dim)), floats(operands[2], (rows, dim))
    first, last = share(rows, part, parts)
    for row in range(first, last):
        rms_norm_row(x[row], weight, epsilon, y[row])
        quantize_row(operands[2] + 4 * dim * row, operands[3], rows, row, blocks)


def rms_norm_output(operands: Any, step: Any, part: int, parts: int) -> None:
    """The step's result = RMSNorm of x, for embeddings.

    operands: address of x float32 (rows, dim), of the weight float32 (dim,), dim, bits of the
    float32 epsilon.
    """
    rows, dim = step[ROWS], operands[2]
    x, y = floats(operands[0], (rows, dim)), floats(step[LOGITS], (rows, dim))
    weight = floats(operands[1], dim)
    epsilon = bits_to_float(np.int32(operands[3]))
    first, last = share(rows, part, parts)
    for row in range(first, last):
        rms_norm_row(x[row], weight, epsilon, y[row])


def quantize(operands: Any, step: Any, part: int, parts: int) -> None:
    """Columns = quantized x; of a single row every share makes its own.

    operands: address of x float32, of the columns, inputs, floats from a row of x to the next.
    """
    rows, inputs, stride = step[ROWS], operands[2], operands[3]
    blocks = inputs // BLOCK
    if rows == 1:
        quantize_row(operands[0], own_columns(operands[1], part, blocks), 1, 0, blocks)
        return
    first, last = share(rows * blocks, part, parts)
    for item in range(first, last):
        row = item // blocks
        b = item - row * blocks
        x = operands[0] + 4 * (row * stride + b * BLOCK)
        quantize_block(x, operands[1], rows, row, b, blocks)


def keep_rows(operands: Any, step: Any, part: int, parts: int) -> None:
    """From here on only the rows that are wanted at the end: moved to the front, the rest dropped.

    operands: address of x float32 (rows, dim), dim, address of what attention gave, float32 (rows,
    width), width.
    """
    if part == 0:
        rows = step[ROWS]
        kept = integers(step[KEPT_ROWS], step[OUTPUTS])
        if kept.size < rows:
            move_rows(floats(operands[0], (rows, operands[1])), kept)
            move_rows(floats(operands[2], (rows, operands[3])), kept)
        step[ROWS] = kept.size


@njit
def move_rows(x: Any, kept: Any) -> None:
    """Move the rows `kept`, rising, to the front of x."""
    for row in range(kept.size):  # kept[row] ≥ row: nothing is overwritten before it is read
        for i in range(x.shape[1]):
            x[row, i] = x[kept[row], i]
