"""Q5_0: blocks of 32 weights in 22 bytes: `scale f16, fifth bits (4,), nibbles (16,)`.

The low nibbles are the first 16 weights; bit i of the fifth bits is the highest of weight i.
weight = scale · (quant - 16).
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import as_stored, bit_planes, inverse, join_planes
from engine.formats.packed import BLOCK, Blocks
from engine.formats.search import best_scales

_LAYOUT = np.dtype([("scale", "<f2"), ("fifth", "u1", 4), ("nibbles", "u1", BLOCK // 2)])


def _codes(blocks: NDArray[np.void]) -> NDArray[np.uint8]:
    """uint8 (…, 32) of 0..31."""
    return bit_planes(blocks["nibbles"], 16, 4) | bit_planes(blocks["fifth"], 1, 1) << np.uint8(4)


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales = blocks["scale"].astype(np.float32)[:, None]
    return (scales * (_codes(blocks).view(np.int8) - np.int8(16)).astype(np.float32)).reshape(shape)


def quantize(
    values: NDArray[np.float32], importance: NDArray[np.float32] | None = None
) -> NDArray[np.uint8]:
    """float32 → uint8 bytes: the weight of the largest magnitude is -16 · scale exactly.

    importance: how much each weight's squared error counts; the scale is then searched for.
    """
    grouped = values.reshape(-1, BLOCK)
    if importance is None:
        largest = np.take_along_axis(grouped, np.abs(grouped).argmax(axis=1)[:, None], axis=1)
        scales = largest / np.float32(-16)
    else:
        scales = as_stored(best_scales(grouped, 16, importance.reshape(grouped.shape))[:, None])
    exact = grouped * inverse(scales) + np.float32(16.5)
    quants = np.clip(exact, 0, 31).astype(np.uint8)
    blocks = np.empty(len(grouped), _LAYOUT)
    blocks["scale"] = scales[:, 0]
    blocks["fifth"] = join_planes(quants >> np.uint8(4), 1, 1)
    blocks["nibbles"] = join_planes(quants & np.uint8(15), 16, 4)
    return blocks.view(np.uint8)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 5-bit blocks of 32 with minimum -16 · scale: the same numbers."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    return Blocks(5, _codes(blocks), blocks["scale"], blocks["scale"] * np.float16(-16))
