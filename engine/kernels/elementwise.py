"""Operations around the matrix products: embedding, RMSNorm, quantizing, choosing rows.

Each is an operation of `kernels.program`; rows (token positions) or blocks are shared among
threads.
"""

from typing import Any

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
from engine.kernels.columns import COLUMNS, quantize_block, record_address
from engine.kernels.intrinsics import bits_to_float, floats, halves, integers, unsigned_bytes
from engine.kernels.program import KEPT_ROWS, LOGITS, OUTPUTS, ROWS, TOKENS, share


@njit
def unpack_row(weights: int, bits: int, blocks: int, row: int, out: np.ndarray) -> None:
    """One row of a packed matrix as float32 (32 · blocks,) (see formats.packed)."""
    lane = row % LANES
    if bits == 4:
        tile = weights + row // LANES * blocks * Q4_RECORD_BYTES
        for b in range(blocks):
            scales = halves(tile + b * Q4_RECORD_BYTES, (2, LANES))
            scale, minimum = half_to_float(scales[0, lane]), half_to_float(scales[1, lane])
            record = tile + b * Q4_RECORD_BYTES + 2 * SCALE_BYTES
            nibbles = unsigned_bytes(record, (4, LANES, 4))
            for i in range(BLOCK // 2):
                both = nibbles[i // 4, lane, i % 4]
                out[b * BLOCK + i] = scale * np.float32(both & 15) + minimum
                out[b * BLOCK + BLOCK // 2 + i] = scale * np.float32(both >> 4) + minimum
    elif bits == 32:
        inputs = blocks * BLOCK
        values = floats(weights + 4 * (row // LANES) * LANES * inputs, (inputs, LANES))
        for i in range(inputs):
            out[i] = values[i, lane]
    else:
        head = (blocks * SCALE_BYTES + 63) // 64 * 64
        tile = weights + row // LANES * (head + blocks * Q8_BLOCK_BYTES)
        scales = halves(tile, (blocks, LANES))
        quants = unsigned_bytes(tile + head, (blocks, 8, LANES, 4))
        for b in range(blocks):
            scale = half_to_float(scales[b, lane])
            for i in range(BLOCK):
                quant = np.float32(quants[b, i // 4, lane, i % 4]) - np.float32(128.0)
                out[b * BLOCK + i] = scale * quant


def embed(operands: Any, step: Any, thread: int, threads: int) -> None:
    """x[row] = the embedding of token `row`.

    operands: address of the packed embedding, its bits, of x float32 (rows, dim), dim.
    """
    weights, bits, x_address, dim = operands[0], operands[1], operands[2], operands[3]
    rows = step[ROWS]
    tokens = integers(step[TOKENS], rows)
    x = floats(x_address, (rows, dim))
    first, last = share(rows, thread, threads)
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


@njit
def quantize_row(values: np.ndarray, buffer: int, row: int) -> None:
    """Quantize float32 (inputs,) into row `row` of a column buffer."""
    blocks = values.size // BLOCK
    for b in range(blocks):
        record = record_address(buffer, row, b, blocks)
        quantize_block(values[b * BLOCK : (b + 1) * BLOCK], record, row % COLUMNS)


def rms_norm_quantize(operands: Any, step: Any, thread: int, threads: int) -> None:
    """Columns = quantized RMSNorm of x.

    operands: address of x float32 (rows, dim), of the weight float32 (dim,), of y float32 (rows,
    dim) for the norm, of the columns, dim, bits of the float32 epsilon.
    """
    rows, dim = step[ROWS], operands[4]
    x, y = floats(operands[0], (rows, dim)), floats(operands[2], (rows, dim))
    weight = floats(operands[1], dim)
    epsilon = bits_to_float(np.int32(operands[5]))
    first, last = share(rows, thread, threads)
    for row in range(first, last):
        rms_norm_row(x[row], weight, epsilon, y[row])
        quantize_row(y[row], operands[3], row)


def rms_norm_output(operands: Any, step: Any, thread: int, threads: int) -> None:
    """The step's result = RMSNorm of x, for embeddings.

    operands: address of x float32 (rows, dim), of the weight float32 (dim,), dim, bits of the
    float32 epsilon.
    """
    rows, dim = step[ROWS], operands[2]
    x, y = floats(operands[0], (rows, dim)), floats(step[LOGITS], (rows, dim))
    weight = floats(operands[1], dim)
    epsilon = bits_to_float(np.int32(operands[3]))
    first, last = share(rows, thread, threads)
    for row in range(first, last):
        rms_norm_row(x[row], weight, epsilon, y[row])


def quantize(operands: Any, step: Any, thread: int, threads: int) -> None:
    """Columns = quantized x.

    operands: address of x float32, of the columns, inputs, floats from a row of x to the next.
    """
    rows, inputs, stride = step[ROWS], operands[2], operands[3]
    blocks = inputs // BLOCK
    first, last = share(rows * blocks, thread, threads)
    for item in range(first, last):
        row = item // blocks
        b = item - row * blocks
        x = floats(operands[0] + 4 * (row * stride + b * BLOCK), BLOCK)
        quantize_block(x, record_address(operands[1], row, b, blocks), row % COLUMNS)


def keep_rows(operands: Any, step: Any, thread: int, threads: int) -> None:
    """From here on only the rows that are wanted at the end: moved to the front of x, the rest
    dropped.

    operands: address of x float32 (rows, dim), dim.
    """
    if thread == 0:
        rows, dim = step[ROWS], operands[1]
        x = floats(operands[0], (rows, dim))
        kept = integers(step[KEPT_ROWS], step[OUTPUTS])
        for row in range(kept.size):  # kept[row] ≥ row: nothing is overwritten before it is read
            for i in range(dim):
                x[row, i] = x[kept[row], i]
        step[ROWS] = step[OUTPUTS]
