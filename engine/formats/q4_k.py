"""Q4_K: blocks of 256 weights in 144 bytes: `scale f16, minimum f16, scales (12,), nibbles (128,)`.

Every 32 weights share a 6-bit factor of the block's scale and one of its minimum (see
`bits.scales_and_minimums`). Quants are 4 bits, in planes of 32 weights.
weight = scale · factor · quant - minimum · factor.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import (
    bit_planes,
    inverse,
    join_planes,
    join_scales_and_minimums,
    scaled_with_minimums,
    times,
)
from engine.formats.packed import BLOCK, SUPER, Blocks
from engine.formats.search import best_scales_and_minimums

_LAYOUT = np.dtype(
    [("scale", "<f2"), ("minimum", "<f2"), ("scales", "u1", 12), ("nibbles", "u1", 128)]
)


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales, minimums = scaled_with_minimums(blocks)
    weights = times(scales, bit_planes(blocks["nibbles"], 32, 4))
    return (weights - minimums.repeat(32, axis=1)).reshape(shape)


def quantize(
    values: NDArray[np.float32], importance: NDArray[np.float32] | None = None
) -> NDArray[np.uint8]:
    """float32 → uint8 bytes, the scales searched for; large weights count more.

    importance: how much each weight's squared error counts besides.
    """
    grouped = values.reshape(-1, BLOCK)
    spread = np.sqrt(np.mean(grouped * grouped, axis=1, keepdims=True))
    weights = spread + np.abs(grouped)
    if importance is not None:
        weights *= importance.reshape(grouped.shape)
    found = best_scales_and_minimums(grouped, 15, weights)
    blocks = np.zeros(grouped.size // 256, _LAYOUT)
    factors = []
    for field, exact in zip(("scale", "minimum"), found, strict=True):
        by_block = exact.reshape(-1, 8)
        largest = by_block.max(axis=1)
        blocks[field] = largest / np.float32(63)
        factors.append(np.rint(by_block * inverse(largest)[:, None] * 63).astype(np.uint8))
    blocks["scales"] = join_scales_and_minimums(*factors)
    scales, minimums = (part.reshape(-1, 1) for part in scaled_with_minimums(blocks))
    quants = np.clip(np.rint((grouped + minimums) * inverse(scales)), 0, 15).astype(np.uint8)
    blocks["nibbles"] = join_planes(quants.reshape(-1, 256), 32, 4)
    return blocks.view(np.uint8)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 4-bit blocks of 32 in super-blocks of 256, as in the file."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // SUPER)
    return Blocks(
        SUPER + 4,
        bit_planes(blocks["nibbles"], 32, 4).reshape(rows, -1, BLOCK),
        blocks["scale"],
        -blocks["minimum"],
        blocks["scales"],
    )
