"""AVX-512 with VNNI: `vpdpbusd` multiplies and adds 64 bytes at once (Zen 4, Ice Lake)."""

from typing import Any

from engine.kernels.panels import panel_multiplier
from engine.kernels.simd import Dot, row_multiplier, tile_multiplier
from engine.kernels.sparse_vectors import column_multiplier
from engine.kernels.vectors import INTEGERS, call


def _vpdpbusd(builder: Any, sums: Any, weights: Any, x: Any) -> Any:
    return call(builder, "llvm.x86.avx512.vpdpbusd.512", INTEGERS, [sums, weights, x])


DOT = Dot(_vpdpbusd)
multiply_tile = tile_multiplier(DOT)
multiply_row = row_multiplier(DOT)
multiply_columns = column_multiplier(DOT)
multiply_panel = panel_multiplier(sums=16)

__all__ = ["DOT", "multiply_columns", "multiply_panel", "multiply_row", "multiply_tile"]
