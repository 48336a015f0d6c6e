"""IQ4_XS: blocks of 256 weights in 136 bytes: `scale f16, high (2,), low (4,), nibbles (128,)`.

Every 32 weights share a 6-bit factor of the block's scale: 4 bits of `low` and 2 of `high`, in
order. Quants are 4 bits, in planes of 16 weights, and mean the levels of IQ4_NL.
weight = scale · (factor - 32) · VALUES[nibble].
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import bit_planes, times
from engine.formats.iq4_nl import VALUES
from engine.formats.packed import BLOCK, Blocks

_LAYOUT = np.dtype([("scale", "<f2"), ("high", "u1", 2), ("low", "u1", 4), ("nibbles", "u1", 128)])


def _scales(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Scales of every 32 weights: float32 (…, 8)."""
    factors = bit_planes(blocks["low"], 1, 4) | bit_planes(blocks["high"], 1, 2) << 4
    return blocks["scale"].astype(np.float32)[..., None] * (factors.view(np.int8) - np.int8(32))


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    levels = VALUES[bit_planes(blocks["nibbles"], 16, 4)]
    return times(_scales(blocks), levels).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 8-bit blocks of 32; scales are rounded to half floats: 0.02% (RMS)."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // 256)
    levels = VALUES[bit_planes(blocks["nibbles"], 16, 4)]
    scales = _scales(blocks).reshape(rows, -1).astype(np.float16)
    return Blocks(8, levels.reshape(rows, -1, BLOCK), scales)
