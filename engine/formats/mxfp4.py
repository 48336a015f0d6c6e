"""MXFP4: blocks of 32 weights in 17 bytes: `exponent (1,), nibbles (16,)`.

The low nibbles are the first 16 weights, 4-bit floats (E2M1); VALUES holds twice what they mean.
weight = 2^(exponent - 128) · VALUES[nibble]. Source: OCP Microscaling Formats 1.0, section 5.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import bit_planes
from engine.formats.packed import BLOCK, Blocks

VALUES = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12], np.int8)
_LAYOUT = np.dtype([("exponent", "u1"), ("nibbles", "u1", BLOCK // 2)])


def _scales(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """float32 (…): a power of two each."""
    return np.ldexp(np.float32(1), blocks["exponent"].astype(np.int32) - 128)


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    levels = VALUES[bit_planes(blocks["nibbles"], 16, 4)]
    return (_scales(blocks)[:, None] * levels).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 5-bit blocks of 32 with minimum -12 · scale, the same numbers for scales of
    2⁻²⁴ to 2¹²: half floats make of what is smaller zero, of what is larger an infinite minimum.
    """
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    scales = _scales(blocks).astype(np.float16)
    codes = (VALUES[bit_planes(blocks["nibbles"], 16, 4)] + np.int8(12)).view(np.uint8)
    return Blocks(5, codes, scales, scales * np.float16(-12))
