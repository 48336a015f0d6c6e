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
from engine.kernels.halves import HALF, by_halves
from engine.kernels.multipliers import row_multiplier, tile_multiplier
from engine.kernels.panels import panel_multiplier
from engine.kernels.simd import Dot, X
from engine.kernels.sparse_rows import rows_multiplier
from engine.kernels.sparse_vectors import column_multiplier
from engine.kernels.vectors import I8, I32, INTEGERS, call, part

_HALF_BYTES = ir.VectorType(I8, 32)
_PAIRS = ir.VectorType(ir.IntType(16), 16)
_HALF_INTEGERS = ir.VectorType(I32, 8)


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    return call(builder, f"llvm.x86.avx2.{name}", result, arguments)


def _dot(
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


def _multiply(
    builder: Any, bits: int, groups: Sequence[tuple[int, Any]], x: X, columns: int
) -> list[Any]:
    """`halves.Multiply`: as many products are added as int16 as have room there: 8 pairs of those
    of 4 bits, 4 of 5, 2 of 6."""
    ones = ir.Constant(_PAIRS, [1] * 16)
    room = 1 if bits == 8 else 32767 // (2 * 127 * (2**bits - 1))
    of_pair = _signed if bits == 8 else _unsigned
    sums: list[Any] = [ir.Constant(_HALF_INTEGERS, None)] * columns
    none: list[Any] = [ir.Constant(_PAIRS, None)] * columns
    pairs = list(none)
    for index, (group, weights) in enumerate(groups):
        is_full = (index + 1) % room == 0
        for column in range(columns):
            products = of_pair(builder, weights, x.group(builder, group, column, HALF))
            pairs[column] = builder.add(pairs[column], products)
            if is_full:
                wide = _call(builder, "pmadd.wd", _HALF_INTEGERS, [pairs[column], ones])
                sums[column] = builder.add(sums[column], wide)
        if is_full:
            sums, pairs = _in_turn(builder, sums), list(none)
        else:
            pairs = _in_turn(builder, pairs)
    return sums


def _in_turn(builder: Any, vectors: list[Any]) -> list[Any]:
    """`Dot.in_turn`: an instruction of no bytes stands for each register, and they keep their
    order."""
    return [_held(builder, vector) for vector in vectors]


def _held(builder: Any, vector: Any) -> Any:
    """The vector, as its registers leave the empty instructions."""
    count = vector.type.count
    if count == HALF or vector.type == _PAIRS:
        kind = ir.FunctionType(vector.type, [vector.type])
        return builder.asm(kind, "", "=x,0", [vector], True)
    halves = [_held(builder, part(builder, vector, first, HALF)) for first in (0, HALF)]
    return builder.shuffle_vector(*halves, ir.Constant(INTEGERS, list(range(count))))


DOT = Dot(_dot(_unsigned), _dot(_signed), by_halves(_multiply), _in_turn, sums=4)
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
