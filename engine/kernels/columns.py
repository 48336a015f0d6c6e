"""Activations quantized for the matrix kernels: 8 columns (token positions) side by side.

A record holds one block of 32 inputs of 8 columns, so that a kernel reaches everything from one
address: `int8 (8 groups, 8 columns, 4)`, then for each column float32 scale, float32 scale · Σ q
(what a block minimum is multiplied with), int32 -128 · Σ q (the start of a sum over weights + 128).
"""

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK
from engine.kernels.intrinsics import floats, integers, signed_bytes

COLUMNS = 8
SCALE = BLOCK * COLUMNS
SCALED_SUM = SCALE + 4 * COLUMNS
OFFSET_SUM = SCALED_SUM + 4 * COLUMNS
RECORD_BYTES = 384
"""Bytes from a record to the next: 352 rounded up to whole cache lines."""

_TO_INTEGER = np.float32(
    12582912.0
)  # 1.5 · 2²³: adding it rounds to the nearest integer, ties to even


def column_buffer_bytes(rows: int, inputs: int) -> int:
    """Bytes that `rows` rows of `inputs` activations take, whole groups of 8 columns."""
    return (rows + COLUMNS - 1) // COLUMNS * (inputs // BLOCK) * RECORD_BYTES


@njit(inline="always")
def record_address(buffer: int, row: int, block: int, blocks: int) -> int:
    """Address of the record that holds block `block` of row `row`."""
    return buffer + ((row // COLUMNS) * blocks + block) * RECORD_BYTES


@njit
def quantize_block(values: np.ndarray, record: int, column: int) -> None:
    """Quantize float32 (32,) to int8, rounding to nearest, into a column of the record."""
    largest = np.float32(0.0)
    for i in range(BLOCK):
        largest = max(largest, abs(values[i]))
    inverse = np.float32(127.0) / largest if largest > np.float32(0.0) else np.float32(0.0)
    scale = largest * np.float32(1.0 / 127.0)
    quants = signed_bytes(record, (BLOCK // 4, COLUMNS, 4))
    total = np.int32(0)
    for group in range(BLOCK // 4):
        for i in range(4):
            shifted = values[4 * group + i] * inverse + _TO_INTEGER
            quant = np.int32(shifted - _TO_INTEGER)
            quants[group, column, i] = np.int8(quant)
            total += quant
    floats(record + SCALE, COLUMNS)[column] = scale
    floats(record + SCALED_SUM, COLUMNS)[column] = scale * np.float32(total)
    integers(record + OFFSET_SUM, COLUMNS)[column] = np.int32(-128) * total
