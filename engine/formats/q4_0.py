"""Q4_0: blocks of 32 weights in 18 bytes: `scale f16, nibbles (16,)`.

The low nibbles are the first 16 weights. weight = scale · (nibble - 8).
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import as_stored, bit_planes, inverse, join_planes
from engine.formats.packed import BLOCK, Blocks
from engine.formats.search import best_scales

_LAYOUT = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales = blocks["scale"].astype(np.float32)[:, None]
    quants = bit_planes(blocks["nibbles"], 16, 4).astype(np.float32) - 8
    return (quants * scales).reshape(shape)


def quantize(
    values: NDArray[np.float32], importance: NDArray[np.float32] | None = None
) -> NDArray[np.uint8]:
    """float32 → uint8 bytes: the weight of the largest magnitude is -8 · scale exactly.

    importance: how much each weight's squared error counts; the scale is then searched for.
    """
    grouped = values.reshape(-1, BLOCK)
    if importance is None:
        largest = np.take_along_axis(grouped, np.abs(grouped).argmax(axis=1)[:, None], axis=1)
        scales = largest / np.float32(-8)
    else:
        scales = as_stored(best_scales(grouped, 8, importance.reshape(grouped.shape))[:, None])
    exact = grouped * inverse(scales) + np.float32(8.5)
    quants = np.clip(exact, 0, 15).astype(np.uint8)
    blocks = np.empty(len(grouped), _LAYOUT)
    blocks["scale"] = scales[:, 0]
    blocks["nibbles"] = join_planes(quants, 16, 4)
    return blocks.view(np.uint8)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 4-bit blocks of 32 with minimum -8 · scale (exact: a power of two)."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    scales = blocks["scale"]
    return Blocks(4, bit_planes(blocks["nibbles"], 16, 4), scales, scales * np.float16(-8))
