"""BF16: the upper half of a float32. Matrices are quantized to 8 bits for the kernels."""

import numpy as np
from numpy.typing import NDArray

from engine.formats.packed import Blocks, quantize_blocks


def dequantize(data: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """uint8 bytes → float32 of `shape`."""
    return (data.view("<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)


def to_blocks(data: NDArray[np.uint8], rows: int, columns: int) -> Blocks:
    """uint8 bytes → 8-bit blocks of 32."""
    return quantize_blocks(dequantize(data, (rows, columns)))
