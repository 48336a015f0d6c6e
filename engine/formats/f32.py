"""F32: little-endian IEEE 754 floats. Matrices stay as they are."""

import numpy as np
from numpy.typing import NDArray

from engine.formats.packed import BLOCK, FLOAT_BITS, Blocks


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    return data.view("<f4").astype(np.float32).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → float32 blocks of 32."""
    return Blocks(FLOAT_BITS, dequantize(data, (rows, columns // BLOCK, BLOCK)))
