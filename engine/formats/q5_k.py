"""Q5_K: blocks of 256 weights in 176 bytes: `scale f16, minimum f16, scales (12,), fifth bits
(32,), nibbles (128,)`.

Q4_K with a fifth bit: bit j of the fifth bits' byte i belongs to weight 32 · j + i.
weight = scale · factor · quant - minimum · factor.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import bit_planes, scaled_with_minimums, times
from engine.formats.packed import BLOCK, SUPER, Blocks

_LAYOUT = np.dtype(
    [
        ("scale", "<f2"),
        ("minimum", "<f2"),
        ("scales", "u1", 12),
        ("fifth", "u1", 32),
        ("nibbles", "u1", 128),
    ]
)


def _quants(blocks: NDArray[np.void]) -> NDArray[np.uint8]:
    """uint8 (…, 256) of 0..31."""
    return bit_planes(blocks["nibbles"], 32, 4) | bit_planes(blocks["fifth"], 32, 1) << np.uint8(4)


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales, minimums = scaled_with_minimums(blocks)
    weights = times(scales, _quants(blocks))
    return (weights - minimums.repeat(32, axis=1)).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 5-bit blocks of 32 in super-blocks of 256, as in the file."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // SUPER)
    return Blocks(
        SUPER + 5,
        _quants(blocks).reshape(rows, -1, BLOCK),
        blocks["scale"],
        -blocks["minimum"],
        blocks["scales"],
    )
