"""Q8_1: blocks of 32 weights in 36 bytes: `scale f16, scaled sum f16, quants int8 (32,)`.

weight = scale · quant. The sum, scale · Σ quants, is what llama.cpp's products with Q4_1 use; it
says nothing new about the weights. Source: block_q8_1 in ggml-common.h.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.packed import BLOCK, Blocks

_LAYOUT = np.dtype([("scale", "<f2"), ("sum", "<f2"), ("quants", "i1", BLOCK)])


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    weights = blocks["quants"].astype(np.float32) * blocks["scale"].astype(np.float32)[:, None]
    return weights.reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 8-bit blocks of 32, the same numbers."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    return Blocks(8, blocks["quants"], blocks["scale"])
