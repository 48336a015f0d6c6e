"""Q4_0: blocks of 32 weights in 18 bytes: `scale f16, nibbles (16,)`.

The low nibbles are the first 16 weights. weight = scale · (nibble - 8).
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.packed import BLOCK, Blocks

_LAYOUT = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])


def _nibbles(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """uint8 (…, 16) of two nibbles each → uint8 (…, 32)."""
    return np.concatenate([packed & 15, packed >> 4], axis=-1)


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales = blocks["scale"].astype(np.float32)[:, None]
    return ((_nibbles(blocks["nibbles"]).astype(np.float32) - 8) * scales).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 4-bit blocks of 32 with minimum -8 · scale (exact: a power of two)."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    scales = blocks["scale"]
    return Blocks(4, _nibbles(blocks["nibbles"]), scales, scales * np.float16(-8))
