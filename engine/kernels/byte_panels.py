"""Products of attention where keys and values are bytes: tiles of 16 lanes times quantized columns.

As in `kernels.simd`, a lane is an output and nothing is summed across lanes; the sums of a column
are the same to the last bit however many there are.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.formats.packed import LANES
from engine.kernels.columns import COLUMNS, OFFSET_SUM, RECORD_BYTES, SCALE
from engine.kernels.simd import Dot, zeros
from engine.kernels.vectors import (
    BYTES,
    FLOAT,
    FLOATS,
    HALVES,
    I32,
    I64,
    INTEGERS,
    ask_for,
    broadcast,
    fma,
    load,
    store,
)

TILE_BYTES = 512
"""Of 16 lanes and 32 numbers to sum over."""
_GROUPS = 8


def emit_byte_panel(builder: Any, columns: int, dot: Dot, arguments: list[Any]) -> None:
    """Write the code of `kernels.portable.multiply_bytes` for so many columns of a record."""
    a, scales, scales_apart, tiles, blocks, x, c, c_stride, add, ahead = arguments
    totals = zeros(builder, columns)
    with cgutils.for_range(builder, tiles) as tile:
        first = builder.mul(tile.index, blocks)
        out = builder.add(c, builder.mul(tile.index, I64(64)))
        outputs = [builder.add(out, builder.mul(c_stride, I64(i))) for i in range(columns)]
        for total in totals:
            builder.store(ir.Constant(FLOATS, None), total)
        with builder.if_then(builder.icmp_signed("!=", add, I64(0))):
            for total, output in zip(totals, outputs, strict=True):
                builder.store(load(builder, output, 0, FLOATS, 4), total)
        with cgutils.for_range(builder, blocks) as block:
            index = builder.add(first, block.index)
            weights = builder.add(a, builder.mul(index, I64(TILE_BYTES)))
            halves = builder.add(scales, builder.mul(index, scales_apart))
            record = builder.add(x, builder.mul(block.index, I64(RECORD_BYTES)))
            for line in range(TILE_BYTES // 64):
                ask_for(builder, builder.add(builder.add(weights, ahead), I64(64 * line)))
            _add_tile(builder, weights, halves, record, totals, dot)
        for total, output in zip(totals, outputs, strict=True):
            store(builder, output, builder.load(total, typ=FLOATS))


def _add_tile(
    builder: Any, weights: Any, halves: Any, record: Any, totals: list[Any], dot: Dot
) -> None:
    """totals[column] += a tile times a column's block of 32, times both scales."""
    groups = [load(builder, weights, 64 * group, BYTES) for group in range(_GROUPS)]
    if dot.signed is not None:
        flip = ir.Constant(BYTES, [-128] * BYTES.count)
        groups = [builder.xor(group, flip) for group in groups]
    multiply = dot.signed or dot.unsigned
    scales = builder.fpext(load(builder, halves, 0, HALVES, 2), FLOATS)
    for column, total in enumerate(totals):

        def of_column(field: int, kind: Any, column: int = column) -> Any:
            return broadcast(builder, load(builder, record, field + 4 * column, kind, 4))

        sums = ir.Constant(INTEGERS, None)
        if dot.signed is None:
            sums = of_column(COLUMNS * OFFSET_SUM, I32)
        for index, group in enumerate(groups):
            x = builder.bitcast(of_column(4 * COLUMNS * index, I32), BYTES)
            sums = multiply(builder, sums, group, x)
        scale = builder.fmul(scales, of_column(COLUMNS * SCALE, FLOAT))
        before = builder.load(total, typ=FLOATS)
        builder.store(fma(builder, builder.sitofp(sums, FLOATS), scale, before), total)


@intrinsic
def multiply_first(typing_context: Any, values: Any, factors: Any, count: Any) -> Any:
    """The first `count` of 32 float32 times factors, both at an address; the others become 0."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, factors, count = arguments
        limit = broadcast(builder, builder.trunc(count, I32))
        for first in (0, LANES):
            place = builder.add(values, I64(4 * first))
            lanes = ir.Constant(INTEGERS, list(range(first, first + LANES)))
            factor = load(builder, factors, 4 * first, FLOATS, 4)
            product = builder.fmul(load(builder, place, 0, FLOATS, 4), factor)
            seen = builder.icmp_signed("<", lanes, limit)
            store(builder, place, builder.select(seen, product, ir.Constant(FLOATS, None)))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


def _panel(columns: int, dot: Dot) -> Callable[..., None]:
    """An intrinsic: `emit_byte_panel` for fixed columns."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_byte_panel(builder, columns, dot, list(arguments))
        return context.get_dummy_value()

    @intrinsic
    def multiply(
        typing_context: Any,
        a: Any,
        scales: Any,
        scales_apart: Any,
        tiles: Any,
        blocks: Any,
        x: Any,
        c: Any,
        c_stride: Any,
        add: Any,
        ahead: Any,
    ) -> Any:
        return types.void(*[types.int64] * 10), emit

    result: Callable[..., None] = multiply
    return result


def byte_multiplier(dot: Dot) -> Callable[..., None]:
    """A compiled `kernels.portable.multiply_bytes` for an instruction set."""
    one, two, three, four, eight = (_panel(columns, dot) for columns in (1, 2, 3, 4, 8))

    @njit
    def multiply_bytes(
        a: int,
        scales: int,
        apart: int,
        tiles: int,
        blocks: int,
        x: int,
        x_stride: int,
        c: int,
        c_stride: int,
        columns: int,
        add: int,
        ahead: int,
    ) -> None:
        while columns >= 8:
            eight(a, scales, apart, tiles, blocks, x, c, c_stride, add, ahead)
            x, c, columns = x + x_stride, c + 8 * c_stride, columns - 8
        if columns >= 4:
            four(a, scales, apart, tiles, blocks, x, c, c_stride, add, ahead)
            x, c, columns = x + 16, c + 4 * c_stride, columns - 4
        if columns == 3:
            three(a, scales, apart, tiles, blocks, x, c, c_stride, add, ahead)
        elif columns == 2:
            two(a, scales, apart, tiles, blocks, x, c, c_stride, add, ahead)
        elif columns == 1:
            one(a, scales, apart, tiles, blocks, x, c, c_stride, add, ahead)

    result: Callable[..., None] = multiply_bytes
    return result
