"""Products of attention as LLVM vector code: float16 vectors of the KV cache times float32 columns.

The sum over `depth` runs in the same order whatever the number of columns and vectors, so that
results are the same to the last bit.
"""

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.kernels.simd import zeros
from engine.kernels.vectors import FLOAT, FLOATS, HALVES, I64, ask_for, broadcast, fma, load, store


def emit_panel(builder: Any, columns: int, vectors: int, arguments: list[Any]) -> None:
    """Write the code of a panel: a sum for each column and vector stays in a register."""
    a, a_stride, b, b_stride, c, c_stride, depth, add, ahead = arguments
    rows = [builder.add(c, builder.mul(c_stride, I64(column))) for column in range(columns)]
    inputs = [builder.add(b, builder.mul(b_stride, I64(column))) for column in range(columns)]
    outputs = [builder.add(row, I64(64 * vector)) for row in rows for vector in range(vectors)]
    totals = zeros(builder, columns * vectors)
    with builder.if_then(builder.icmp_signed("!=", add, I64(0))):
        for total, output in zip(totals, outputs, strict=True):
            builder.store(load(builder, output, 0, FLOATS, 4), total)
    with cgutils.for_range(builder, depth) as loop:
        source = builder.add(a, builder.mul(loop.index, a_stride))
        index = builder.mul(loop.index, I64(4))
        for line in range((vectors + 1) // 2):
            ask_for(builder, builder.add(builder.add(source, ahead), I64(64 * line)))
        halves = [load(builder, source, 32 * vector, HALVES, 2) for vector in range(vectors)]
        values = [builder.fpext(half, FLOATS) for half in halves]
        for column, start in enumerate(inputs):
            weight = broadcast(builder, load(builder, builder.add(start, index), 0, FLOAT, 4))
            for total, value in zip(totals[column * vectors :], values, strict=False):
                before = builder.load(total, typ=FLOATS)
                builder.store(fma(builder, value, weight, before), total)
    for total, output in zip(totals, outputs, strict=True):
        store(builder, output, builder.load(total, typ=FLOATS))


def _panel(columns: int, vectors: int) -> Callable[..., None]:
    """An intrinsic: `engine.kernels.portable.multiply_panel` for fixed columns and vectors."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_panel(builder, columns, vectors, list(arguments))
        return context.get_dummy_value()

    @intrinsic
    def multiply(
        typing_context: Any,
        a: Any,
        a_stride: Any,
        b: Any,
        b_stride: Any,
        c: Any,
        c_stride: Any,
        depth: Any,
        add: Any,
        ahead: Any,
    ) -> Any:
        return types.void(*[types.int64] * 9), emit

    result: Callable[..., None] = multiply
    return result


def panel_multiplier(sums: int) -> Callable[..., None]:
    """A compiled `engine.kernels.portable.multiply_panel` where registers hold `sums` sums of 16.

    Few columns have a panel of their own: a decoded token has as many as query heads share a kv
    head, and columns that nobody wants would cost as much.
    """
    one, two, three, four, eight = (_by_vectors(columns, sums) for columns in (1, 2, 3, 4, 8))

    @njit
    def multiply_panel(
        a: int,
        a_stride: int,
        b: int,
        b_stride: int,
        c: int,
        c_stride: int,
        depth: int,
        columns: int,
        vectors: int,
        add: int,
        ahead: int,
    ) -> None:
        while columns >= 8:
            eight(a, a_stride, b, b_stride, c, c_stride, depth, vectors, add, ahead)
            b, c, columns = b + 8 * b_stride, c + 8 * c_stride, columns - 8
        if columns >= 4:
            four(a, a_stride, b, b_stride, c, c_stride, depth, vectors, add, ahead)
            b, c, columns = b + 4 * b_stride, c + 4 * c_stride, columns - 4
        if columns == 3:
            three(a, a_stride, b, b_stride, c, c_stride, depth, vectors, add, ahead)
        elif columns == 2:
            two(a, a_stride, b, b_stride, c, c_stride, depth, vectors, add, ahead)
        elif columns == 1:
            one(a, a_stride, b, b_stride, c, c_stride, depth, vectors, add, ahead)

    result: Callable[..., None] = multiply_panel
    return result


def _by_vectors(columns: int, sums: int) -> Callable[..., None]:
    """Panels of fixed columns: four vectors at once where registers hold their sums, or two, or
    one. Four of three columns take 5 % less time over a context than twice two."""
    beside = max(vectors for vectors in (4, 2, 1) if vectors == 1 or vectors * columns <= sums)
    one, two, some = (_panel(columns, vectors) for vectors in (1, min(2, beside), beside))

    @njit
    def multiply(
        a: int,
        a_stride: int,
        b: int,
        b_stride: int,
        c: int,
        c_stride: int,
        depth: int,
        vectors: int,
        add: int,
        ahead: int,
    ) -> None:
        while vectors >= beside:
            some(a, a_stride, b, b_stride, c, c_stride, depth, add, ahead)
            a, c, vectors = a + 32 * beside, c + 64 * beside, vectors - beside
        while vectors >= 2 and beside > 2:
            two(a, a_stride, b, b_stride, c, c_stride, depth, add, ahead)
            a, c, vectors = a + 64, c + 128, vectors - 2
        if vectors == 1:
            one(a, a_stride, b, b_stride, c, c_stride, depth, add, ahead)

    result: Callable[..., None] = multiply
    return result
