"""Q2_K: blocks of 256 weights in 84 bytes: `scales (16,), quants (64,), scale f16, minimum f16`.

Every 16 weights share a byte of `scales`: the low nibble is a factor of the block's scale, the high
one of its minimum. Quants are 2 bits, in planes of 32 weights.
weight = scale · low nibble · quant - minimum · high nibble.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import bit_planes, times
from engine.formats.packed import Blocks, quantize_blocks

_LAYOUT = np.dtype(
    [("scales", "u1", 16), ("quants", "u1", 64), ("scale", "<f2"), ("minimum", "<f2")]
)


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales = blocks["scale"].astype(np.float32)[:, None] * (blocks["scales"] & 15)
    minimums = blocks["minimum"].astype(np.float32)[:, None] * (blocks["scales"] >> 4)
    weights = times(scales, bit_planes(blocks["quants"], 32, 2))
    return (weights - minimums.repeat(16, axis=1)).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 8-bit blocks of 32, quantized anew: two scales become one.

    This adds 0.4% (RMS), measured on random blocks.
    """
    return quantize_blocks(dequantize(data, (rows, columns)))
