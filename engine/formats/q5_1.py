"""Q5_1: blocks of 32 weights in 24 bytes: `scale f16, minimum f16, fifth bits (4,), nibbles (16,)`.

The low nibbles are the first 16 weights; bit i of the fifth bits is the highest of weight i.
weight = scale · quant + minimum.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import as_stored, bit_planes, inverse, join_planes
from engine.formats.packed import BLOCK, Blocks
from engine.formats.search import best_scales_and_minimums

_LAYOUT = np.dtype(
    [("scale", "<f2"), ("minimum", "<f2"), ("fifth", "u1", 4), ("nibbles", "u1", BLOCK // 2)]
)


def _quants(blocks: NDArray[np.void]) -> NDArray[np.uint8]:
    """uint8 (…, 32) of 0..31."""
    return bit_planes(blocks["nibbles"], 16, 4) | bit_planes(blocks["fifth"], 1, 1) << np.uint8(4)


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales = blocks["scale"].astype(np.float32)[:, None]
    minimums = blocks["minimum"].astype(np.float32)[:, None]
    return (_quants(blocks).astype(np.float32) * scales + minimums).reshape(shape)


def quantize(
    values: NDArray[np.float32], importance: NDArray[np.float32] | None = None
) -> NDArray[np.uint8]:
    """float32 → uint8 bytes: the smallest weight is 0, the largest 31.

    importance: how much each weight's squared error counts; both are then searched for.
    """
    grouped = values.reshape(-1, BLOCK)
    if importance is None:
        minimums = grouped.min(axis=1, keepdims=True)
        scales = (grouped.max(axis=1, keepdims=True) - minimums) / np.float32(31)
    else:
        weights = importance.reshape(grouped.shape)
        found = best_scales_and_minimums(grouped, 31, weights)
        scales, below = (as_stored(part[:, None]) for part in found)
        minimums = -below
    exact = (grouped - minimums) * inverse(scales) + np.float32(0.5)
    quants = np.clip(exact, 0, 31).astype(np.uint8)
    blocks = np.empty(len(grouped), _LAYOUT)
    blocks["scale"], blocks["minimum"] = scales[:, 0], minimums[:, 0]
    blocks["fifth"] = join_planes(quants >> 4, 1, 1)
    blocks["nibbles"] = join_planes(quants & 15, 16, 4)
    return blocks.view(np.uint8)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 5-bit blocks of 32, the same numbers."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    return Blocks(5, _quants(blocks), blocks["scale"], blocks["minimum"])
