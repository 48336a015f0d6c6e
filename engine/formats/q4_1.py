"""Q4_1: blocks of 32 weights in 20 bytes: `scale f16, minimum f16, nibbles (16,)`.

The low nibbles are the first 16 weights. weight = scale · nibble + minimum.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import as_stored, bit_planes, inverse, join_planes
from engine.formats.packed import BLOCK, Blocks
from engine.formats.search import best_scales_and_minimums

_LAYOUT = np.dtype([("scale", "<f2"), ("minimum", "<f2"), ("nibbles", "u1", BLOCK // 2)])


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales = blocks["scale"].astype(np.float32)[:, None]
    minimums = blocks["minimum"].astype(np.float32)[:, None]
    quants = bit_planes(blocks["nibbles"], 16, 4).astype(np.float32)
    return (quants * scales + minimums).reshape(shape)


def quantize(
    values: NDArray[np.float32], importance: NDArray[np.float32] | None = None
) -> NDArray[np.uint8]:
    """float32 → uint8 bytes: the smallest weight is 0, the largest 15.

    importance: how much each weight's squared error counts; both are then searched for.
    """
    grouped = values.reshape(-1, BLOCK)
    if importance is None:
        minimums = grouped.min(axis=1, keepdims=True)
        scales = (grouped.max(axis=1, keepdims=True) - minimums) / np.float32(15)
    else:
        weights = importance.reshape(grouped.shape)
        found = best_scales_and_minimums(grouped, 15, weights)
        scales, below = (as_stored(part[:, None]) for part in found)
        minimums = -below
    exact = (grouped - minimums) * inverse(scales) + np.float32(0.5)
    quants = np.clip(exact, 0, 15).astype(np.uint8)
    blocks = np.empty(len(grouped), _LAYOUT)
    blocks["scale"], blocks["minimum"] = scales[:, 0], minimums[:, 0]
    blocks["nibbles"] = join_planes(quants, 16, 4)
    return blocks.view(np.uint8)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 4-bit blocks of 32, the same numbers."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    return Blocks(4, bit_planes(blocks["nibbles"], 16, 4), blocks["scale"], blocks["minimum"])
