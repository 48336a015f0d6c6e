"""Q3_K: blocks of 256 weights in 110 bytes: `third bits (32,), quants (64,), scales (12,), scale
f16`.

Every 16 weights share a 6-bit factor of the block's scale: its low 4 bits are planes of 8 in the
first 8 bytes of `scales`, its high 2 bits planes of 4 in the others. Quants are 2 bits in planes of
32 weights; a third bit that is not set takes 4 away.
weight = scale · (factor - 32) · (quant - 4 · (1 - third bit)).
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import bit_planes, times
from engine.formats.packed import BLOCK, SUPER, Blocks

_LAYOUT = np.dtype(
    [("third", "u1", 32), ("quants", "u1", 64), ("scales", "u1", 12), ("scale", "<f2")]
)


def _factors(blocks: NDArray[np.void]) -> NDArray[np.int8]:
    """int8 (…, 16) of -32..31."""
    low = bit_planes(blocks["scales"][..., :8], 8, 4)
    high = bit_planes(blocks["scales"][..., 8:], 4, 2)
    return (low | high << 4).view(np.int8) - np.int8(32)


def _quants(blocks: NDArray[np.void]) -> NDArray[np.int8]:
    """int8 (…, 256) of -4..3."""
    third = bit_planes(blocks["third"], 32, 1)
    return (bit_planes(blocks["quants"], 32, 2) | third << 2).view(np.int8) - np.int8(4)


def _scaled(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Scales of every 16 weights: float32 (…, 16)."""
    scales: NDArray[np.float32] = blocks["scale"].astype(np.float32)[..., None] * _factors(blocks)
    return scales


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    return times(_scaled(blocks), _quants(blocks)).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 6-bit blocks of 32 in super-blocks of 256, the narrowest with two scales in a
    block."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // SUPER)
    codes = (_quants(blocks) + np.int8(32)).view(np.uint8).reshape(rows, -1, BLOCK)
    return Blocks(SUPER + 6, codes, blocks["scale"], factors=_factors(blocks))
