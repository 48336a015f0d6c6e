"""Q8_K: blocks of 256 weights in 292 bytes: `scale f32, quants int8 (256,), sums int16 (16,)`.

weight = scale · quant. The sums of every 16 quants serve llama.cpp's products; they say nothing new
about the weights. Source: block_q8_K in ggml-common.h.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.packed import BLOCK, Blocks

_LAYOUT = np.dtype([("scale", "<f4"), ("quants", "i1", 256), ("sums", "<i2", 16)])


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    return (blocks["scale"][:, None] * blocks["quants"].astype(np.float32)).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 8-bit blocks of 32; the scale is rounded to a half float: 0.02% (RMS)."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // 256)
    scales = blocks["scale"].astype(np.float16).repeat(256 // BLOCK, axis=1)
    return Blocks(8, blocks["quants"].reshape(rows, -1, BLOCK), scales)
