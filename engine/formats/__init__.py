"""Weight formats: one file each, and the table of them.

A format knows its layout, how to dequantize (the reference) and how to hand its weights over in
blocks of 32 for packing. Adding one: a file like `q8_0.py` and a line here.
"""

from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.formats import (
    bf16,
    f16,
    f32,
    iq4_nl,
    iq4_xs,
    mxfp4,
    q2_k,
    q3_k,
    q4_0,
    q4_1,
    q4_k,
    q5_0,
    q5_1,
    q5_k,
    q6_k,
    q8_0,
    q8_1,
    q8_k,
    tq1_0,
    tq2_0,
)
from engine.formats.packed import FLOAT_BITS, SUPER, Blocks


class Quantize(Protocol):
    """How weights are written."""

    def __call__(
        self, values: NDArray[np.float32], importance: NDArray[np.float32] | None = None
    ) -> NDArray[np.uint8]:
        """float32 of whole blocks → bytes; importance: how much each squared error counts."""


class Format(NamedTuple):
    """What the engine can do with tensors of a type."""

    bits: int
    """Of the quants once packed: 4, 5, 6, 8 or 32; with super-blocks SUPER more."""
    dequantize: Callable[[NDArray[np.uint8], tuple[int, ...]], NDArray[np.float32]]
    to_blocks: Callable[[NDArray[np.uint8], int, int], Blocks]
    quantize: Quantize | None
    """None for formats that are only read."""


def _format(bits: int, module: ModuleType) -> Format:
    return Format(bits, module.dequantize, module.to_blocks, getattr(module, "quantize", None))


FORMATS: dict[str, Format] = {
    "F32": _format(FLOAT_BITS, f32),
    "F16": _format(8, f16),
    "BF16": _format(8, bf16),
    "Q4_0": _format(4, q4_0),
    "Q4_1": _format(4, q4_1),
    "Q5_0": _format(5, q5_0),
    "Q5_1": _format(5, q5_1),
    "Q8_0": _format(8, q8_0),
    "Q8_1": _format(8, q8_1),
    "Q2_K": _format(8, q2_k),
    "Q3_K": _format(SUPER + 6, q3_k),
    "Q4_K": _format(SUPER + 4, q4_k),
    "Q5_K": _format(SUPER + 5, q5_k),
    "Q6_K": _format(SUPER + 6, q6_k),
    "Q8_K": _format(8, q8_k),
    "IQ4_NL": _format(8, iq4_nl),
    "IQ4_XS": _format(8, iq4_xs),
    "TQ1_0": _format(4, tq1_0),
    "TQ2_0": _format(4, tq2_0),
    "MXFP4": _format(5, mxfp4),
}
"""Type name as in `engine.gguf.TENSOR_TYPES` → its format."""
