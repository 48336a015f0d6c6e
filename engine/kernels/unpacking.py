"""Single rows of packed matrices as float32: embeddings."""

import numpy as np
from numba import njit

from engine.formats.packed import (
    BLOCK,
    FLOAT_BITS,
    LANES,
    NIBBLE_BYTES,
    Q8_PAIR_BYTES,
    SCALE_BYTES,
    SUPER,
)
from engine.kernels.arithmetic import half_to_float
from engine.kernels.intrinsics import floats, halves, unsigned_bytes
from engine.kernels.super_blocks import block_scale, quants_at
from engine.kernels.tiles import size_of_tile


@njit
def _unpack_bytes(tile: int, blocks: int, lane: int, out: np.ndarray) -> None:
    """A row of a tile of 8 bits."""
    for b in range(blocks):
        pair = tile + b // 2 * Q8_PAIR_BYTES
        scale = half_to_float(halves(pair, (2, LANES))[b % 2, lane])
        quants = unsigned_bytes(pair + 2 * SCALE_BYTES, (2, BLOCK // 4, LANES, 4))[b % 2]
        for i in range(BLOCK):
            quant = np.float32(quants[i // 4, lane, i % 4]) - np.float32(128.0)
            out[b * BLOCK + i] = scale * quant


@njit
def _unpack_records(layout: int, tile: int, blocks: int, lane: int, out: np.ndarray) -> None:
    """A row of a tile of 4, 5 or 6 bits."""
    bits = layout % SUPER
    size = size_of_tile(layout, blocks) // blocks
    for b in range(blocks):
        if layout >= SUPER:
            quants = quants_at(layout, tile, b)
            first = block_scale(layout, tile, b, 0, lane)
            second = block_scale(layout, tile, b, 1, lane)
        else:
            quants = tile + b * size + 2 * SCALE_BYTES
            scales = halves(tile + b * size, (2, LANES))
            first, second = half_to_float(scales[0, lane]), half_to_float(scales[1, lane])
        nibbles = unsigned_bytes(quants, (4, LANES, 4))
        rest = unsigned_bytes(quants + NIBBLE_BYTES, (2, LANES, 4))
        for i in range(BLOCK):
            group, half = i // 4, i // (BLOCK // 2)
            quant = np.int32(nibbles[group % 4, lane, i % 4]) >> 4 * half & 15
            if bits == 5:
                quant |= (np.int32(rest[0, lane, i % 4]) >> group & 1) << 4
            elif bits == 6:
                quant |= (np.int32(rest[half, lane, i % 4]) >> 2 * (group % 4) & 3) << 4
            if bits == 6:
                scale = second if half else first
                out[b * BLOCK + i] = scale * (np.float32(quant) - np.float32(32.0))
            else:
                out[b * BLOCK + i] = first * np.float32(quant) + second


@njit
def unpack_row(weights: int, bits: int, blocks: int, row: int, out: np.ndarray) -> None:
    """One row of a packed matrix as float32 (32 · blocks,) (see formats.packed)."""
    lane = row % LANES
    tile = weights + row // LANES * size_of_tile(bits, blocks)
    if bits == FLOAT_BITS:
        values = floats(tile, (blocks * BLOCK, LANES))
        for i in range(blocks * BLOCK):
            out[i] = values[i, lane]
    elif bits == 8:
        _unpack_bytes(tile, blocks, lane, out)
    else:
        _unpack_records(bits, tile, blocks, lane, out)
