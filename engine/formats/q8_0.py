"""Q8_0: blocks of 32 weights in 34 bytes: `scale f16, quants int8 (32,)`.

weight = scale · quant.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import inverse
from engine.formats.packed import BLOCK, Blocks

_LAYOUT = np.dtype([("scale", "<f2"), ("quants", "i1", BLOCK)])


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    weights = blocks["quants"].astype(np.float32) * blocks["scale"].astype(np.float32)[:, None]
    return weights.reshape(shape)


def quantize(
    values: NDArray[np.float32], importance: NDArray[np.float32] | None = None
) -> NDArray[np.uint8]:
    """float32 → uint8 bytes: scale = largest magnitude / 127, halves rounded away from zero.

    importance is not looked at: 8 bits lose less than the activations' own 8 bits do.
    """
    grouped = values.reshape(-1, BLOCK)
    scales = np.abs(grouped).max(axis=1) / np.float32(127)
    exact = grouped * inverse(scales)[:, None]
    blocks = np.empty(len(grouped), _LAYOUT)
    blocks["scale"] = scales
    blocks["quants"] = np.copysign(np.floor(np.abs(exact) + np.float32(0.5)), exact)
    return blocks.view(np.uint8)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 8-bit blocks of 32, the same numbers."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    return Blocks(8, blocks["quants"], blocks["scale"])
