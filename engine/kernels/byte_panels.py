"""Products of attention where keys and values are bytes: tiles of 16 lanes times bytes of columns.

As in `kernels.simd`, a lane is an output and nothing is summed across lanes; the sums of a column
are the same to the last bit however many there are.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

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


def emit_value_panel(builder: Any, columns: int, dot: Dot, arguments: list[Any]) -> None:
    """Write the code of `kernels.portable.multiply_values` for so many columns."""
    a, tiles, x, x_stride, scales, scales_stride, c, c_stride, add, ahead = arguments
    multiply = dot.signed or (lambda b, sums, values, x: dot.unsigned(b, sums, x, values))
    totals = zeros(builder, columns)
    inputs = [builder.add(x, builder.mul(x_stride, I64(i))) for i in range(columns)]
    widths = []
    for column in range(columns):
        place = builder.add(scales, builder.mul(scales_stride, I64(column)))
        widths.append(broadcast(builder, load(builder, place, 0, FLOAT, 4)))
    with cgutils.for_range(builder, tiles) as tile:
        out = builder.add(c, builder.mul(tile.index, I64(64)))
        outputs = [builder.add(out, builder.mul(c_stride, I64(i))) for i in range(columns)]
        for total in totals:
            builder.store(ir.Constant(FLOATS, None), total)
        with builder.if_then(builder.icmp_signed("!=", add, I64(0))):
            for total, output in zip(totals, outputs, strict=True):
                builder.store(load(builder, output, 0, FLOATS, 4), total)
        values = builder.add(a, builder.mul(tile.index, I64(TILE_BYTES)))
        for line in range(TILE_BYTES // 64):
            ask_for(builder, builder.add(builder.add(values, ahead), I64(64 * line)))
        groups = [load(builder, values, 64 * group, BYTES) for group in range(_GROUPS)]
        for total, width, output, column in zip(totals, widths, outputs, inputs, strict=True):
            sums = ir.Constant(INTEGERS, None)
            for index, group in enumerate(groups):
                four = broadcast(builder, load(builder, column, 4 * index, I32, 4))
                sums = multiply(builder, sums, group, builder.bitcast(four, BYTES))
            before = builder.load(total, typ=FLOATS)
            store(builder, output, fma(builder, builder.sitofp(sums, FLOATS), width, before))


def _panel(emit_code: Callable[..., None], columns: int, dot: Dot) -> Callable[..., None]:
    """An intrinsic of ten int64: what `emit_code` writes for fixed columns."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_code(builder, columns, dot, list(arguments))
        return context.get_dummy_value()

    @intrinsic
    def multiply(
        typing_context: Any,
        a: Any,
        b: Any,
        c: Any,
        d: Any,
        e: Any,
        f: Any,
        g: Any,
        h: Any,
        i: Any,
        j: Any,
    ) -> Any:
        return types.void(*[types.int64] * 10), emit

    result: Callable[..., None] = multiply
    return result


def byte_multiplier(dot: Dot) -> Callable[..., None]:
    """A compiled `kernels.portable.multiply_bytes` for an instruction set.

    Where one column is left, the one behind it is computed as well: there must be room for it.
    (LLVM 22 drops the first tile of a product of one column, once that is inlined in attention.)
    """
    two, three, four, eight = (_panel(emit_byte_panel, columns, dot) for columns in (2, 3, 4, 8))

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
        elif columns > 0:
            two(a, scales, apart, tiles, blocks, x, c, c_stride, add, ahead)

    result: Callable[..., None] = multiply_bytes
    return result


def value_multiplier(dot: Dot) -> Callable[..., None]:
    """A compiled `kernels.portable.multiply_values` for an instruction set."""
    one, two, three, four, eight = (
        _panel(emit_value_panel, columns, dot) for columns in (1, 2, 3, 4, 8)
    )

    @njit
    def multiply_values(
        a: int,
        tiles: int,
        x: int,
        x_stride: int,
        scales: int,
        scales_stride: int,
        c: int,
        c_stride: int,
        columns: int,
        add: int,
        ahead: int,
    ) -> None:
        u, v, w = x_stride, scales_stride, c_stride
        while columns >= 8:
            eight(a, tiles, x, u, scales, v, c, w, add, ahead)
            x, scales, c, columns = x + 8 * u, scales + 8 * v, c + 8 * w, columns - 8
        if columns >= 4:
            four(a, tiles, x, u, scales, v, c, w, add, ahead)
            x, scales, c, columns = x + 4 * u, scales + 4 * v, c + 4 * w, columns - 4
        if columns == 3:
            three(a, tiles, x, u, scales, v, c, w, add, ahead)
        elif columns == 2:
            two(a, tiles, x, u, scales, v, c, w, add, ahead)
        elif columns == 1:
            one(a, tiles, x, u, scales, v, c, w, add, ahead)

    result: Callable[..., None] = multiply_values
    return result
