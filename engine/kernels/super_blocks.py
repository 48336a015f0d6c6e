"""Scales of the blocks in a super-block (see `formats.packed`), one by one, in plain numba."""

import numpy as np
from numba import njit

from engine.formats.packed import (
    LANES,
    SCALE_BYTES,
    SUPER,
    SUPER_BLOCKS,
    SUPER_BYTES,
    SUPER_HEADS,
)
from engine.kernels.arithmetic import half_to_float
from engine.kernels.intrinsics import halves, signed_bytes, unsigned_bytes

_HEADS = tuple(SUPER_HEADS.values())
_SIZES = tuple(SUPER_BYTES.values())


@njit
def super_block_at(bits: int, tile: int, block: int) -> int:
    """Address of the super-block that block `block` of a tile lies in."""
    address: int = tile + block // SUPER_BLOCKS * _SIZES[bits - SUPER - 4]
    return address


@njit
def quants_at(bits: int, tile: int, block: int) -> int:
    """Address of the quants of block `block` of a tile with super-blocks."""
    head, size = _HEADS[bits - SUPER - 4], _SIZES[bits - SUPER - 4]
    inside = block % SUPER_BLOCKS * ((size - head) // SUPER_BLOCKS)
    address: int = super_block_at(bits, tile, block) + head + inside
    return address


@njit
def block_scale(bits: int, tile: int, block: int, index: int, lane: int) -> np.float32:
    """A row's scale (index 0) or minimum (1) of a block; for 6 bits the scale of a half of it."""
    head = super_block_at(bits, tile, block)
    inside = block % SUPER_BLOCKS
    scale: np.float32
    if bits == SUPER + 6:
        by_half = signed_bytes(head + 2 * SCALE_BYTES, (2 * SUPER_BLOCKS, LANES))
        scale = half_to_float(halves(head, LANES)[lane])
        scale *= np.float32(by_half[2 * inside + index, lane])
        return scale
    packed = unsigned_bytes(head + 2 * SCALE_BYTES, (3, LANES, 4))
    low = np.int32(packed[index, lane, inside % 4])
    if inside < 4:
        factor = low & 63
    else:
        nibbles = np.int32(packed[2, lane, inside % 4])
        factor = (nibbles >> 4 * index & 15) | (low >> 2 & 48)
    scale = half_to_float(halves(head, (2, LANES))[index, lane]) * np.float32(factor)
    return scale
