"""AVX2: `vpmaddubsw` and `vpmaddwd` on halves of 32 bytes (Haswell, Zen 1 and later).

`vpmaddubsw` adds two products into int16 with saturation. Weights of 7 bits or fewer cannot reach
it (127 · 128 · 2 = 32 512); bytes are multiplied by magnitude, the sign moved over to x.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from engine.kernels.attention_part import number_attender
from engine.kernels.byte_part import byte_attender
from engine.kernels.byte_scores import block_scorer
from engine.kernels.byte_values import value_adder
from engine.kernels.multipliers import row_multiplier, tile_multiplier
from engine.kernels.panels import panel_multiplier
from engine.kernels.simd import Dot, X
from engine.kernels.sparse_rows import rows_multiplier
from engine.kernels.sparse_vectors import column_multiplier
from engine.kernels.vectors import I8, I32, YMM, call, in_turn, joined, part

_HALF_BYTES = ir.VectorType(I8, 32)
_PAIRS = ir.VectorType(ir.IntType(16), 16)
_HALF_INTEGERS = ir.VectorType(I32, 8)


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    return call(builder, f"llvm.x86.avx2.{name}", result, arguments)


def _unsigned(builder: Any, weights: Any, x: Any) -> Any:
    return _call(builder, "pmadd.ub.sw", _PAIRS, [weights, x])


def _signed(builder: Any, weights: Any, x: Any) -> Any:
    magnitude = _call(builder, "psign.b", _HALF_BYTES, [weights, weights])
    moved = _call(builder, "psign.b", _HALF_BYTES, [x, weights])
    return _call(builder, "pmadd.ub.sw", _PAIRS, [magnitude, moved])


def _pairs(builder: Any, of_half: Callable[[Any, Any, Any], Any], weights: Any, x: Any) -> Any:
    """64 products, added by twos: 32 int16."""
    halves = [[part(builder, both, first, 32) for both in (weights, x)] for first in (0, 32)]
    return joined(builder, *(of_half(builder, *half) for half in halves))


def _widened(builder: Any, pairs: Any) -> Any:
    """32 int16, added by twos: 16 int32."""
    ones = ir.Constant(_PAIRS, [1] * 16)
    halves = [part(builder, pairs, first, 16) for first in (0, 16)]
    return joined(
        builder, *(_call(builder, "pmadd.wd", _HALF_INTEGERS, [half, ones]) for half in halves)
    )


def _dot(of_half: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any, Any], Any]:
    """A `Dot` function from one that multiplies and adds 32 bytes into int16 pairs."""

    def dot(builder: Any, sums: Any, weights: Any, x: Any) -> Any:
        return builder.add(sums, _widened(builder, _pairs(builder, of_half, weights, x)))

    return dot


def _of_few_bits(
    builder: Any,
    bits: int,
    groups: Sequence[int],
    weights: Callable[[int], Any],
    x: X,
    columns: Sequence[int],
    sums: list[Any],
) -> list[Any]:
    """As many products are added as int16 as have room there: 8 pairs of those of 4 bits, 4 of
    5."""
    room = 32767 // (2 * 127 * (2**bits - 1))
    for first in range(0, len(groups), room):
        pairs: list[Any] = [ir.Constant(ir.VectorType(ir.IntType(16), 32), None)] * len(sums)
        for group in groups[first : first + room]:
            factors = weights(group)
            for i, column in enumerate(columns):
                more = _pairs(builder, _unsigned, factors, x.group(builder, group, column))
                pairs[i] = builder.add(pairs[i], more)
            pairs = in_turn(builder, pairs, YMM)
        both = zip(sums, pairs, strict=True)
        sums = [builder.add(total, _widened(builder, some)) for total, some in both]
        sums = in_turn(builder, sums, YMM)
    return sums


DOT = Dot(_dot(_unsigned), _dot(_signed), _of_few_bits, few=YMM)
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
