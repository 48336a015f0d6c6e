"""Weight formats: one file each, and the table of them.

A format knows its layout, how to dequantize (the reference) and how to hand its weights over in
blocks of 32 for packing. Adding one: a file like `q8_0.py` and a line here.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.formats import f16, f32, q4_0, q4_1, q8_0
from engine.formats.packed import FLOAT_BITS, Blocks


class Format(NamedTuple):
    """What the engine can do with tensors of a type."""

    bits: int
    """Bits of a weight once packed: 4, 8 or 32."""
    dequantize: Callable[[NDArray[np.uint8], tuple[int, ...]], NDArray[np.float32]]
    to_blocks: Callable[[NDArray[np.uint8], int, int], Blocks]


FORMATS: dict[str, Format] = {
    "F32": Format(FLOAT_BITS, f32.dequantize, f32.to_blocks),
    "F16": Format(8, f16.dequantize, f16.to_blocks),
    "Q4_0": Format(4, q4_0.dequantize, q4_0.to_blocks),
    "Q4_1": Format(4, q4_1.dequantize, q4_1.to_blocks),
    "Q8_0": Format(8, q8_0.dequantize, q8_0.to_blocks),
}
"""Type name as in `engine.gguf.TENSOR_TYPES` → its format."""
