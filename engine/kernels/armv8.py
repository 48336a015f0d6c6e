"""NEON without the dot product extension: `smull` and `sadalp` on quarters of 16 bytes (Cortex-A72
and A73, that is Raspberry Pi 4, Home Assistant Yellow and Blue).

Two products of signed bytes have room in an int16 (2 · 127 · 128 = 32 512), so they are added as
such (`addp`) before they are widened. Both operands are signed, as in `kernels.neon`.
"""

from typing import Any

from llvmlite import ir

from engine.kernels.attention_part import number_attender
from engine.kernels.byte_part import byte_attender
from engine.kernels.byte_scores import block_scorer
from engine.kernels.byte_values import value_adder
from engine.kernels.multipliers import row_multiplier, tile_multiplier
from engine.kernels.neon import by_quarters
from engine.kernels.panels import panel_multiplier
from engine.kernels.simd import Dot
from engine.kernels.sparse_rows import rows_multiplier
from engine.kernels.sparse_vectors import column_multiplier
from engine.kernels.vectors import I32, NEON, call, part

_QUARTER = ir.VectorType(I32, 4)
_PAIRS = ir.VectorType(ir.IntType(16), 8)


def _of_quarter(builder: Any, sums: Any, weights: Any, x: Any) -> Any:
    """sums, 4 int32, + 16 products by fours."""
    products = [
        builder.mul(*(builder.sext(part(builder, v, first, 8), _PAIRS) for v in (weights, x)))
        for first in (0, 8)
    ]
    pairs = call(builder, "llvm.aarch64.neon.addp.v8i16", _PAIRS, products)
    wide = call(builder, "llvm.aarch64.neon.saddlp.v4i32.v8i16", _QUARTER, [pairs])
    return builder.add(sums, wide)


_dot = by_quarters(_of_quarter)
DOT = Dot(_dot, _dot, few=NEON)
multiply_tile = tile_multiplier(DOT)
multiply_row = row_multiplier(DOT)
multiply_columns = column_multiplier(DOT)
multiply_rows = rows_multiplier(DOT)
multiply_panel = panel_multiplier(sums=8)
attend_numbers = number_attender(multiply_panel)
attend_bytes = byte_attender(block_scorer(DOT), value_adder(DOT))

__all__ = [
    "DOT",
    "attend_bytes",
    "attend_numbers",
    "multiply_columns",
    "multiply_panel",
    "multiply_row",
    "multiply_rows",
    "multiply_tile",
]
