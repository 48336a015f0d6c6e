"""Q5_0: blocks of 32 weights in 22 bytes: `scale f16, fifth bits (4,), nibbles (16,)`.

The low nibbles are the first 16 weights; bit i of the fifth bits is the highest of weight i.
weight = scale · (quant - 16).
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import bit_planes
from engine.formats.packed import BLOCK, Blocks

_LAYOUT = np.dtype([("scale", "<f2"), ("fifth", "u1", 4), ("nibbles", "u1", BLOCK // 2)])


def _quants(blocks: NDArray[np.void]) -> NDArray[np.int8]:
    """int8 (…, 32) of -16..15."""
    fifth = bit_planes(blocks["fifth"], 1, 1)
    return (bit_planes(blocks["nibbles"], 16, 4) | fifth << 4).view(np.int8) - np.int8(16)


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales = blocks["scale"].astype(np.float32)[:, None]
    return (scales * _quants(blocks).astype(np.float32)).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 8-bit blocks of 32, the same numbers."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    return Blocks(8, _quants(blocks), blocks["scale"])
