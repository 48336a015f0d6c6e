"""AVX2: `vpmaddubsw` and `vpmaddwd` on halves of 32 bytes (Haswell, Zen 1 and later).

`vpmaddubsw` adds two products into int16 with saturation. Nibbles (at most 15) cannot reach it;
bytes are multiplied by magnitude, the sign moved over to x (at most 128 · 127 · 2 = 32 512).
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from engine.kernels.simd import I8, I32, INTEGERS, Dot, multiplier, multiply_panel

NEEDS = ("avx2", "f16c", "fma")
"""CPU features, in LLVM's names."""

_HALF_BYTES = ir.VectorType(I8, 32)
_PAIRS = ir.VectorType(ir.IntType(16), 16)
_HALF_INTEGERS = ir.VectorType(I32, 8)


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.avx2.{name}")
    return builder.call(function, arguments)


def _halves(builder: Any, vector: Any, lanes: int) -> list[Any]:
    """The two halves of a vector of `lanes` lanes."""
    index = [list(range(lanes // 2)), list(range(lanes // 2, lanes))]
    masks = [ir.Constant(ir.VectorType(I32, lanes // 2), part) for part in index]
    return [builder.shuffle_vector(vector, vector, mask) for mask in masks]


def _by_halves(of_half: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any, Any], Any]:
    """A `Dot` function from one that multiplies and adds 32 bytes into int16 pairs."""

    def dot(builder: Any, sums: Any, weights: Any, x: Any) -> Any:
        ones = ir.Constant(_PAIRS, [1] * 16)
        parts = zip(_halves(builder, weights, 64), _halves(builder, x, 64), strict=True)
        products = [
            _call(builder, "pmadd.wd", _HALF_INTEGERS, [of_half(builder, w, part), ones])
            for w, part in parts
        ]
        whole = ir.Constant(INTEGERS, list(range(16)))
        return builder.add(sums, builder.shuffle_vector(*products, whole))

    return dot


def _unsigned(builder: Any, weights: Any, x: Any) -> Any:
    return _call(builder, "pmadd.ub.sw", _PAIRS, [weights, x])


def _signed(builder: Any, weights: Any, x: Any) -> Any:
    magnitude = _call(builder, "psign.b", _HALF_BYTES, [weights, weights])
    moved = _call(builder, "psign.b", _HALF_BYTES, [x, weights])
    return _call(builder, "pmadd.ub.sw", _PAIRS, [magnitude, moved])


_DOT = Dot(_by_halves(_unsigned), _by_halves(_signed))
multiply_q4 = multiplier(4, _DOT)
multiply_q8 = multiplier(8, _DOT)

__all__ = ["NEEDS", "multiply_panel", "multiply_q4", "multiply_q8"]
