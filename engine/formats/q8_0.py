"""Q8_0: blocks of 32 weights in 34 bytes: `scale f16, quants int8 (32,)`.

weight = scale · quant.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.packed import BLOCK, Blocks

_LAYOUT = np.dtype([("scale", "<f2"), ("quants", "i1", BLOCK)])


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    weights = blocks["quants"].astype(np.float32) * blocks["scale"].astype(np.float32)[:, None]
    return weights.reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 8-bit blocks of 32, the same numbers."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    return Blocks(8, blocks["quants"], blocks["scale"])
