"""A few columns of a matrix times their activations, in plain numba: for any CPU."""

import numpy as np
from numba import njit

from engine.kernels.arithmetic import half_to_float
from engine.kernels.columns import SCALE, SCALED_SUM
from engine.kernels.intrinsics import (
    addresses,
    floats,
    halves,
    integers,
    local_bytes,
    signed_bytes,
    unsigned_bytes,
)
from engine.kernels.sparse_vectors import BESIDE, CHUNK

_SUMS_BYTES = 4 * CHUNK


@njit(inline="always")
def _weight(bits: int, column: np.ndarray, output: int) -> np.int32:
    """The weight of an output of a chunk as it is stored (see engine.sparsity.layout)."""
    at = 16 * (output % 16 // 4) + 4 * (output // 16) + output % 4
    if bits != 4:
        return np.int32(column[at])
    both = np.int32(column[at % (CHUNK // 2)])
    return both & 15 if at < CHUNK // 2 else both >> 4


@njit
def multiply_columns(
    bits: int,
    columns: int,
    groups: int,
    quants: int,
    scales: int,
    kind_bytes: int,
    record: int,
    start: int,
    y: int,
    chunks: int,
    following: int,
    asked: int,
    later_scales: int,
) -> None:
    """y += a few columns of one block, each times its activation.

    Bits of a weight (6: half a block); addresses of int64 (groups, 4), where the columns' first
    outputs are, and of int8 (groups, 4), their activations, 0 where there are fewer columns; of
    float16 scales of the outputs; bytes from those to the minimums; address of the record of the
    block (see kernels.columns); what the sums start at; address of float32 y; chunks of 64 outputs;
    then what may be asked for meanwhile: address of int64 (asked,), where the columns of the next
    block are; how many; address of its scales.
    """
    size = CHUNK // 2 if bits == 4 else CHUNK
    places, x = addresses(columns, (groups * BESIDE,)), signed_bytes(quants, (groups * BESIDE,))
    x_scale, x_sum = floats(record + SCALE, 1)[0], floats(record + SCALED_SUM, 1)[0]
    out = floats(y, chunks * CHUNK)
    scale, minimum = halves(scales, chunks * CHUNK), halves(scales + kind_bytes, chunks * CHUNK)
    sums = integers(local_bytes(_SUMS_BYTES), CHUNK)
    for chunk in range(chunks):
        sums[:] = np.int32(start)
        for i in range(places.size):
            column = unsigned_bytes(places[i] + chunk * size, size)
            for output in range(CHUNK):
                sums[output] += _weight(bits, column, output) * np.int32(x[i])
        for output in range(CHUNK):
            at = chunk * CHUNK + output
            value = np.float32(sums[output]) * (half_to_float(scale[at]) * x_scale)
            if bits in (4, 5):
                value += half_to_float(minimum[at]) * x_sum
            out[at] += value
