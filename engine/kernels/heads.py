"""One head of a text as float16, as the panels of attention read it (see `kernels.panels`)."""

from typing import Any

from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.formats.packed import LANES
from engine.kernels.vectors import (
    FLOATS,
    I64,
    INTEGERS,
    half_bits,
    load,
    store,
    transposed,
)

_VECTOR, _HALF_VECTOR = 4 * LANES, 2 * LANES  # bytes


def emit_keys(builder: Any, arguments: list[Any]) -> None:
    """Write the code of `gather_keys`: squares of 16 rows and 16 numbers are transposed."""
    source, stride, rows, width, dim, target = arguments
    last = builder.sub(rows, I64(1))
    panels, squares = (builder.udiv(count, I64(LANES)) for count in (width, dim))
    apart = builder.mul(width, I64(2))
    with cgutils.for_range(builder, panels) as panel:
        first = builder.mul(panel.index, I64(LANES))
        lines = []
        for lane in range(LANES):
            row = builder.add(first, I64(lane))
            row = builder.select(builder.icmp_signed("<", row, last), row, last)
            lines.append(builder.add(source, builder.mul(row, stride)))
        column = builder.add(target, builder.mul(panel.index, I64(_HALF_VECTOR)))
        with cgutils.for_range(builder, squares) as square:
            across = builder.mul(square.index, I64(_VECTOR))
            square_rows = [
                load(builder, builder.add(line, across), 0, INTEGERS, 4) for line in lines
            ]
            start = builder.mul(square.index, I64(LANES))
            for index, numbers in enumerate(transposed(builder, square_rows)):
                place = builder.mul(builder.add(start, I64(index)), apart)
                halves = half_bits(builder, builder.bitcast(numbers, FLOATS))
                store(builder, builder.add(column, place), halves)


def emit_values(builder: Any, arguments: list[Any]) -> None:
    """Write the code of `gather_values`."""
    source, stride, rows, dim, target = arguments
    vectors = builder.udiv(dim, I64(LANES))
    with cgutils.for_range(builder, rows) as row:
        line = builder.add(source, builder.mul(row.index, stride))
        out = builder.add(target, builder.mul(row.index, builder.mul(dim, I64(2))))
        with cgutils.for_range(builder, vectors) as vector:
            place = builder.add(line, builder.mul(vector.index, I64(_VECTOR)))
            halves = half_bits(builder, load(builder, place, 0, FLOATS, 4))
            store(builder, builder.add(out, builder.mul(vector.index, I64(_HALF_VECTOR))), halves)


@intrinsic
def _keys(
    typing_context: Any, source: Any, stride: Any, rows: Any, width: Any, dim: Any, target: Any
) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_keys(builder, list(arguments))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), emit


@intrinsic
def _values(typing_context: Any, source: Any, stride: Any, rows: Any, dim: Any, target: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_values(builder, list(arguments))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), emit


@njit
def gather_keys(source: int, stride: int, rows: int, width: int, dim: int, target: int) -> None:
    """float32 (rows, dim), rows `stride` bytes apart → float16 (dim, width): rows side by side.

    width: rows rounded up to whole vectors of 16, filled up with the last row; dim: a multiple of
    16. One number after the other, in numba, takes ten times as long.
    """
    _keys(source, stride, rows, width, dim, target)


@njit
def gather_values(source: int, stride: int, rows: int, dim: int, target: int) -> None:
    """float32 (rows, dim), rows `stride` bytes apart → float16 (rows, dim); dim: as above."""
    _values(source, stride, rows, dim, target)
