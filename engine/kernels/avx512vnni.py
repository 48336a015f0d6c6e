"""AVX-512 with VNNI: `vpdpbusd` multiplies and adds 64 bytes at once (Zen 4, Ice Lake)."""

from typing import Any

from engine.kernels.attention_part import number_attender
from engine.kernels.byte_part import byte_attender
from engine.kernels.byte_scores import block_scorer
from engine.kernels.byte_values import value_adder
from engine.kernels.multipliers import row_multiplier, tile_multiplier
from engine.kernels.panels import panel_multiplier
from engine.kernels.simd import Dot
from engine.kernels.sparse_rows import rows_multiplier
from engine.kernels.sparse_vectors import column_multiplier
from engine.kernels.vectors import INTEGERS, call


def _vpdpbusd(builder: Any, sums: Any, weights: Any, x: Any) -> Any:
    return call(builder, "llvm.x86.avx512.vpdpbusd.512", INTEGERS, [sums, weights, x])


DOT = Dot(_vpdpbusd)
multiply_tile = tile_multiplier(DOT)
multiply_row = row_multiplier(DOT)
multiply_columns = column_multiplier(DOT)
multiply_rows = rows_multiplier(DOT)
multiply_panel = panel_multiplier(sums=16)
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
