"""Q4_1: blocks of 32 weights in 20 bytes: `scale f16, minimum f16, nibbles (16,)`.

The low nibbles are the first 16 weights. weight = scale · nibble + minimum.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import bit_planes, inverse, join_planes
from engine.formats.packed import BLOCK, Blocks

_LAYOUT = np.dtype([("scale", "<f2"), ("minimum", "<f2"), ("nibbles", "u1", BLOCK // 2)])


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales = blocks["scale"].astype(np.float32)[:, None]
    minimums = blocks["minimum"].astype(np.float32)[:, None]
    quants = bit_planes(blocks["nibbles"], 16, 4).astype(np.float32)
    return (quants * scales + minimums).reshape(shape)


def quantize(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """float32 → uint8 bytes: the smallest weight is 0, the largest 15."""
    grouped = values.reshape(-1, BLOCK)
    minimums = grouped.min(axis=1, keepdims=True)
    scales = (grouped.max(axis=1, keepdims=True) - minimums) / np.float32(15)
    quants = ((grouped - minimums) * inverse(scales) + np.float32(0.5)).astype(np.uint8)
    np.minimum(quants, 15, out=quants)
    blocks = np.empty(len(grouped), _LAYOUT)
    blocks["scale"], blocks["minimum"] = scales[:, 0], minimums[:, 0]
    blocks["nibbles"] = join_planes(quants, 16, 4)
    return blocks.view(np.uint8)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 4-bit blocks of 32, the same numbers."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    return Blocks(4, bit_planes(blocks["nibbles"], 16, 4), blocks["scale"], blocks["minimum"])
