"""Q6_K: blocks of 256 weights in 210 bytes: `low (128,), high (64,), scales int8 (16,), scale f16`.

Every 16 weights share an 8-bit factor of the block's scale. Quants have 4 low bits, in planes of 64
weights, and 2 high bits, in planes of 32. weight = scale · factor · (quant - 32).
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import bit_planes, times
from engine.formats.packed import Blocks, quantize_blocks

_LAYOUT = np.dtype([("low", "u1", 128), ("high", "u1", 64), ("scales", "i1", 16), ("scale", "<f2")])


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    quants = bit_planes(blocks["low"], 64, 4) | bit_planes(blocks["high"], 32, 2) << 4
    scales = blocks["scale"].astype(np.float32)[:, None] * blocks["scales"]
    return times(scales, quants.view(np.int8) - np.int8(32)).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 8-bit blocks of 32, quantized anew: two scales become one.

    This adds 0.56% (RMS), measured on Gemma 3 270M.
    """
    return quantize_blocks(dequantize(data, (rows, columns)))
