"""AVX-512 with VNNI: `vpdpbusd` multiplies and adds 64 bytes at once (Zen 4, Ice Lake)."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils

from engine.kernels.simd import BYTES, INTEGERS, Dot, multiplier, multiply_panel

NEEDS = ("avx512f", "avx512bw", "avx512vl", "avx512vnni", "f16c", "fma")
"""CPU features, in LLVM's names."""


def _vpdpbusd(builder: Any, sums: Any, weights: Any, x: Any) -> Any:
    kind = ir.FunctionType(INTEGERS, [INTEGERS, BYTES, BYTES])
    name = "llvm.x86.avx512.vpdpbusd.512"
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, [sums, weights, x])


multiply_q4 = multiplier(4, Dot(_vpdpbusd))
multiply_q8 = multiplier(8, Dot(_vpdpbusd))

__all__ = ["NEEDS", "multiply_panel", "multiply_q4", "multiply_q8"]
