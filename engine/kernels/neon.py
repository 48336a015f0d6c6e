"""NEON with the dot product extension: `sdot` on quarters of 16 bytes (Cortex-A76, Apple M1).

Both operands are signed: weights of 6 bits or fewer are the same either way, bytes lose their
offset first.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from engine.kernels.attention_part import number_attender
from engine.kernels.byte_part import byte_attender
from engine.kernels.byte_scores import block_scorer
from engine.kernels.byte_values import value_adder
from engine.kernels.multipliers import row_multiplier, tile_multiplier
from engine.kernels.panels import panel_multiplier
from engine.kernels.simd import Dot
from engine.kernels.sparse_rows import rows_multiplier
from engine.kernels.sparse_vectors import column_multiplier
from engine.kernels.vectors import I32, NEON, call, joined, part

_QUARTER = ir.VectorType(I32, 4)
_Multiply = Callable[[Any, Any, Any, Any], Any]


def by_quarters(of_quarter: _Multiply) -> _Multiply:
    """A `Dot` function from one that adds the products of 16 bytes to 4 int32."""

    def dot(builder: Any, sums: Any, weights: Any, x: Any) -> Any:
        quarters = []
        for quarter in range(4):
            bytes_ = [part(builder, vector, 16 * quarter, 16) for vector in (weights, x)]
            quarters.append(of_quarter(builder, part(builder, sums, 4 * quarter, 4), *bytes_))
        halves = [joined(builder, *quarters[first : first + 2]) for first in (0, 2)]
        return joined(builder, *halves)

    return dot


def _of_quarter(builder: Any, sums: Any, weights: Any, x: Any) -> Any:
    return call(builder, "llvm.aarch64.neon.sdot.v4i32.v16i8", _QUARTER, [sums, weights, x])


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
    "by_quarters",
    "multiply_columns",
    "multiply_panel",
    "multiply_row",
    "multiply_rows",
    "multiply_tile",
]
