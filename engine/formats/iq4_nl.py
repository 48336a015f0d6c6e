"""IQ4_NL: blocks of 32 weights in 18 bytes: `scale f16, nibbles (16,)`.

The low nibbles are the first 16 weights. weight = scale · VALUES[nibble]: levels that lie closer
around zero, where most weights are. Source: kvalues_iq4nl in ggml-common.h.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import bit_planes
from engine.formats.packed import BLOCK, Blocks

VALUES = np.array(
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.int8
)
_LAYOUT = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    blocks = data.view(_LAYOUT)
    scales = blocks["scale"].astype(np.float32)[:, None]
    return (scales * VALUES[bit_planes(blocks["nibbles"], 16, 4)]).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 8-bit blocks of 32, the same numbers."""
    blocks = data.view(_LAYOUT).reshape(rows, columns // BLOCK)
    return Blocks(8, VALUES[bit_planes(blocks["nibbles"], 16, 4)], blocks["scale"])
