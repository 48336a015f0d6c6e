"""AVX-VNNI: `vpdpbusd` on halves of 32 bytes (Alder Lake, Meteor Lake, N100 and other small cores).

A CPU with AVX-512 VNNI can run it too, for tests.
"""

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
from engine.kernels.vectors import I32, YMM, call, joined, part

_HALF_INTEGERS = ir.VectorType(I32, 8)


def _vpdpbusd(builder: Any, sums: Any, weights: Any, x: Any) -> Any:
    halves = []
    for half in (0, 1):
        bytes_ = [part(builder, vector, 32 * half, 32) for vector in (weights, x)]
        operands = [part(builder, sums, 8 * half, 8), *bytes_]
        halves.append(call(builder, "llvm.x86.avx512.vpdpbusd.256", _HALF_INTEGERS, operands))
    return joined(builder, *halves)


DOT = Dot(_vpdpbusd, few=YMM)
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
