"""TQ2_0: blocks of 256 weights of -1, 0 or 1 in 66 bytes: `quants (64,), scale f16`.

Quants are 2 bits, in planes of 32 weights. weight = scale · (quant - 1).
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import bit_planes
from engine.formats.packed import BLOCK, Blocks

_LAYOUT = np.dtype([("quants", "u1", 64), ("scale", "<f2")])


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales = blocks["scale"].astype(np.float32)[:, None]
    quants = bit_planes(blocks["quants"], 32, 2).astype(np.float32) - 1
    return (scales * quants).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 4-bit blocks of 32 with minimum -scale: the same numbers."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // 256)
    scales = blocks["scale"].repeat(256 // BLOCK, axis=1)
    quants = bit_planes(blocks["quants"], 32, 2)
    return Blocks(4, quants.reshape(rows, -1, BLOCK), scales, -scales)
