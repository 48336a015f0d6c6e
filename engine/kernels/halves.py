"""Tiles by halves of a vector, where there are 16 registers of 32 bytes.

Column after column, as `kernels.simd` goes, the weights of a block, which would fill all registers,
are read from the stack for every column. Here 8 rows meet one group of weights after the other,
each for all columns, whose sums stay in registers: a weight is read once. Zen 3, one thread, in the
caches, thousand million products a second: 4 bits 91 for 65, 5 bits 77 for 60, 8 bits 56 for 50.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from engine.formats.packed import LANES
from engine.kernels.columns import SCALE, SCALED_SUM
from engine.kernels.simd import GROUPS, X, starts
from engine.kernels.vectors import FLOAT, FLOATS, I32, call, part

HALF = LANES // 2
_FLOATS = ir.VectorType(FLOAT, HALF)

Multiply = Callable[[Any, int, Sequence[tuple[int, Any]], X, int], list[Any]]
"""(builder, bits, (group, its weights of 8 rows) …, x, columns) → the sums of each column, 8 int32:
of unsigned weights, of signed ones with 8 bits."""


def by_halves(multiply: Multiply) -> Callable[..., None]:
    """`Dot.add_block` by halves, from what multiplies groups of 8 rows."""

    def add_block(
        builder: Any, bits: int, groups: list[Any], scales: list[Any], x: X, totals: list[Any]
    ) -> None:
        halves = []
        for row in (0, HALF):
            weights = [part(builder, group, 4 * row, 4 * HALF) for group in groups]
            own_scales = [part(builder, scale, row, HALF) for scale in scales]
            before = [part(builder, builder.load(total, typ=FLOATS), row, HALF) for total in totals]
            halves.append(_added(builder, bits, weights, own_scales, x, before, multiply))
        whole = ir.Constant(ir.VectorType(I32, LANES), list(range(LANES)))
        for total, *both in zip(totals, *halves, strict=True):
            builder.store(builder.shuffle_vector(*both, whole), total)

    return add_block


def _added(
    builder: Any,
    bits: int,
    weights: list[Any],
    scales: list[Any],
    x: X,
    before: list[Any],
    multiply: Multiply,
) -> list[Any]:
    """Each column's total of 8 rows with one block more."""
    columns, totals = range(len(before)), before
    for index, chosen in enumerate(_of_one_scale(bits)):
        groups = [(group, weights[group]) for group in chosen]
        sums = multiply(builder, bits, groups, x, len(columns))
        for column in columns:
            products = sums[column]
            if bits == 6:
                start = starts(builder, bits, x, column, HALF)[index]
                products = builder.add(products, start)
            scale = builder.fmul(scales[index], x.load(builder, SCALE, column, FLOAT, HALF))
            totals[column] = _fma(builder, builder.sitofp(products, _FLOATS), scale, totals[column])
    if bits in (4, 5):
        for column in columns:
            scaled_sum = x.load(builder, SCALED_SUM, column, FLOAT, HALF)
            totals[column] = _fma(builder, scales[1], scaled_sum, totals[column])
    return totals


def _of_one_scale(bits: int) -> list[list[int]]:
    """The groups that share a scale, in the order in which they are multiplied: the two that lie in
    the same bytes follow each other."""
    if bits == 8:
        return [list(range(GROUPS))]
    if bits == 6:
        return [list(range(GROUPS // 2)), list(range(GROUPS // 2, GROUPS))]
    return [[group for low in range(GROUPS // 2) for group in (low, low + GROUPS // 2)]]


def _fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    return call(builder, "llvm.fma.v8f32", _FLOATS, [a, b, c])
