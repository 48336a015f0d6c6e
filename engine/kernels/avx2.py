"""AVX2: `vpmaddubsw` and `vpmaddwd` on halves of 32 bytes (Haswell, Zen 1 and later).

`vpmaddubsw` adds two products into int16 with saturation. Weights of 7 bits or fewer cannot reach
it (127 · 128 · 2 = 32 512); bytes are multiplied by magnitude, the sign moved over to x.
"""

import functools
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
from engine.kernels.vectors import I8, I32, INTEGERS, call, part

_HALF_BYTES = ir.VectorType(I8, 32)
_PAIRS = ir.VectorType(ir.IntType(16), 16)
_HALF_INTEGERS = ir.VectorType(I32, 8)


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    return call(builder, f"llvm.x86.avx2.{name}", result, arguments)


def _by_halves(
    of_half: Callable[[Any, Any, Any], Any],
) -> Callable[[Any, Any, Any, Any], Any]:
    """A `Dot` function from one that multiplies and adds 32 bytes into int16 pairs."""

    def dot(builder: Any, sums: Any, weights: Any, x: Any) -> Any:
        ones = ir.Constant(_PAIRS, [1] * 16)
        products = []
        for first in (0, 32):
            pairs = of_half(builder, part(builder, weights, first, 32), part(builder, x, first, 32))
            products.append(_call(builder, "pmadd.wd", _HALF_INTEGERS, [pairs, ones]))
        whole = ir.Constant(INTEGERS, list(range(16)))
        return builder.add(sums, builder.shuffle_vector(*products, whole))

    return dot


def _unsigned(builder: Any, weights: Any, x: Any) -> Any:
    return _call(builder, "pmadd.ub.sw", _PAIRS, [weights, x])


def _signed(builder: Any, weights: Any, x: Any) -> Any:
    magnitude = _call(builder, "psign.b", _HALF_BYTES, [weights, weights])
    moved = _call(builder, "psign.b", _HALF_BYTES, [x, weights])
    return _call(builder, "pmadd.ub.sw", _PAIRS, [magnitude, moved])


def _few_bits(builder: Any, bits: int, weights: list[Any], x: list[Any]) -> Any:
    """As many products are added as int16 as have room there: 8 times those of 4 bits, 4 of 5.

    SmolLM2 Q4_1 on Zen 3: prefill of one thread 1.14 times as fast, of two of one core 1.03 times.
    """
    ones, most = ir.Constant(_PAIRS, [1] * 16), 32767 // (2 * 127 * (2**bits - 1))
    sums = []
    for first in (0, 32):
        pairs = [
            _unsigned(builder, *(part(builder, vector, first, 32) for vector in both))
            for both in zip(weights, x, strict=True)
        ]
        added = [
            functools.reduce(builder.add, pairs[i : i + most]) for i in range(0, len(pairs), most)
        ]
        whole = [_call(builder, "pmadd.wd", _HALF_INTEGERS, [some, ones]) for some in added]
        sums.append(functools.reduce(builder.add, whole))
    return builder.shuffle_vector(*sums, ir.Constant(INTEGERS, list(range(16))))


DOT = Dot(_by_halves(_unsigned), _by_halves(_signed), _few_bits, sums=4)
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
