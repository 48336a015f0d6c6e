"""Matrix kernels as LLVM vector code of 16 lanes, for every instruction set that can do better
than numba's own loops.

A tile is 16 output rows by 1, 4 or 8 columns. A lane is an output row, so nothing is ever summed
across lanes, and the 16 scales of a block are one load. What differs between instruction sets is
how four bytes are multiplied and added (`Dot`); the rest LLVM splits into the registers there are.
Layouts: `engine.formats.packed` (weights), `engine.kernels.columns` (activations).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.formats.packed import LANES, Q4_RECORD_BYTES, Q8_BLOCK_BYTES, SCALE_BYTES
from engine.kernels.columns import COLUMNS, OFFSET_SUM, RECORD_BYTES, SCALE, SCALED_SUM

I8, I32, I64, FLOAT = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()
BYTES = ir.VectorType(I8, 64)
INTEGERS = ir.VectorType(I32, LANES)
FLOATS = ir.VectorType(FLOAT, LANES)
HALVES = ir.VectorType(ir.HalfType(), LANES)
GROUPS = 8  # of four weights in a block of 32


def _load(builder: Any, address: Any, offset: int, kind: Any, align: int = 1) -> Any:
    """Load a value of LLVM type `kind` from an integer address plus a constant offset."""
    source = builder.inttoptr(builder.add(address, I64(offset)), kind.as_pointer())
    return builder.load(source, align=align, typ=kind)


def _store(builder: Any, address: Any, value: Any) -> None:
    builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=4)


def _broadcast(builder: Any, scalar: Any) -> Any:
    """A vector of 16 lanes that all hold `scalar`."""
    kind = ir.VectorType(scalar.type, LANES)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, I32(0))
    return builder.shuffle_vector(first, first, ir.Constant(INTEGERS, [0] * LANES))


class Dot(NamedTuple):
    """How an instruction set adds 64 products of bytes to 16 int32, by fours."""

    unsigned: Callable[[Any, Any, Any, Any], Any]
    """(builder, sums, unsigned weights, signed x) → sums."""
    signed: Callable[[Any, Any, Any, Any], Any] | None = None
    """The same for signed weights. Without it, 8-bit weights stay w + 128 and sums start at the
    offset that this makes."""


def _fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a · b + c with one rounding."""
    kind = ir.FunctionType(FLOATS, [FLOATS] * 3)
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.fma.v16f32")
    return builder.call(function, [a, b, c])


def _x_group(builder: Any, x: Any, group: int, column: int) -> Any:
    """Four activations of a column, in every lane."""
    four = _load(builder, x, group * 4 * COLUMNS + 4 * column, I32)
    return builder.bitcast(_broadcast(builder, four), BYTES)


def _q8_groups(builder: Any, block: Any, signed: bool) -> list[Any]:
    """The 8 groups of 64 bytes of a Q8 block: w + 128, or signed w."""
    stored = [_load(builder, block, 64 * group, BYTES, 64) for group in range(GROUPS)]
    if signed:
        flip = ir.Constant(BYTES, [-128] * 64)
        return [builder.xor(weights, flip) for weights in stored]
    return stored


def _q4_groups(builder: Any, block: Any) -> list[Any]:
    """The 8 groups of 64 nibbles of a Q4 block: low nibbles are the first 16 weights of a row."""
    mask, shift = ir.Constant(BYTES, [15] * 64), ir.Constant(BYTES, [4] * 64)
    both = [_load(builder, block, 64 * group, BYTES, 64) for group in range(GROUPS // 2)]
    return [builder.and_(b, mask) for b in both] + [builder.lshr(b, shift) for b in both]


def _block_sums(
    builder: Any, groups: list[Any], x: Any, columns: int, dot: Callable[..., Any], offset: bool
) -> list[Any]:
    """One vector of 16 integer dot products a column; with `offset`, weights are w + 128."""
    sums = [ir.Constant(INTEGERS, None)] * columns
    if offset:
        starts = [_load(builder, x, OFFSET_SUM + 4 * column, I32) for column in range(columns)]
        sums = [_broadcast(builder, start) for start in starts]
    for group, weights in enumerate(groups):
        for column in range(columns):
            values = _x_group(builder, x, group, column)
            sums[column] = dot(builder, sums[column], weights, values)
    return sums


def _finish(builder: Any, totals: list[Any], y: Any, stride: Any, valid: Any, add: Any) -> None:
    """Store the first `valid` columns of a tile, or add them to what is there."""
    for column, total in enumerate(totals):
        with builder.if_then(builder.icmp_signed("<", I64(column), valid)):
            address = builder.add(y, builder.mul(stride, I64(4 * column)))
            value = builder.load(total, typ=FLOATS)
            with builder.if_else(builder.icmp_signed("!=", add, I64(0))) as (adding, storing):
                with adding:
                    before = _load(builder, address, 0, FLOATS, 4)
                    _store(builder, address, builder.fadd(before, value))
                with storing:
                    _store(builder, address, value)


def _add_block(builder: Any, block: tuple[Any, ...], x: Any, totals: list[Any], dot: Dot) -> None:
    """totals[column] += one block of 16 rows times one block of each column.

    block: bits, address of its scales, address of its weights.
    """
    bits, scales, weights = block
    if bits == 4:
        groups, add, offset = _q4_groups(builder, weights), dot.unsigned, False
    else:
        groups = _q8_groups(builder, weights, signed=dot.signed is not None)
        add, offset = dot.signed or dot.unsigned, dot.signed is None
    sums = _block_sums(builder, groups, x, len(totals), add, offset)
    scale = builder.fpext(_load(builder, scales, 0, HALVES, 32), FLOATS)
    if bits == 4:
        minimum = builder.fpext(_load(builder, scales, SCALE_BYTES, HALVES, 32), FLOATS)
    for column, total in enumerate(totals):
        x_scale = _broadcast(builder, _load(builder, x, SCALE + 4 * column, FLOAT))
        products = builder.sitofp(sums[column], FLOATS)
        value = builder.load(total, typ=FLOATS)
        value = _fma(builder, products, builder.fmul(scale, x_scale), value)
        if bits == 4:
            x_sum = _broadcast(builder, _load(builder, x, SCALED_SUM + 4 * column, FLOAT))
            value = _fma(builder, minimum, x_sum, value)
        builder.store(value, total)


def _zeros(builder: Any, columns: int) -> list[Any]:
    """A float vector for each column, in registers once LLVM has seen it."""
    totals = [cgutils.alloca_once(builder, FLOATS) for _ in range(columns)]
    for total in totals:
        builder.store(ir.Constant(FLOATS, None), total)
    return totals


def _tile(bits: int, columns: int, dot: Dot) -> Callable[..., None]:
    """An intrinsic: multiply one tile of 16 rows with `columns` columns of activations.

    Its arguments, all int64: address of the tile, number of blocks, address of the activations,
    address of y[0, first row of the tile], floats from one column of y to the next, columns to
    store, whether to add.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        tile, blocks, x, y, stride, valid, add = arguments
        totals = _zeros(builder, columns)
        head = builder.mul(blocks, I64(SCALE_BYTES))  # scales of a Q8 tile, padded to 64 bytes
        head = builder.and_(builder.add(head, I64(63)), I64(-64))
        with cgutils.for_range(builder, blocks) as loop:
            if bits == 4:
                scales = builder.add(tile, builder.mul(loop.index, I64(Q4_RECORD_BYTES)))
                weights = builder.add(scales, I64(2 * SCALE_BYTES))
            else:
                scales = builder.add(tile, builder.mul(loop.index, I64(SCALE_BYTES)))
                weights = builder.add(tile, builder.mul(loop.index, I64(Q8_BLOCK_BYTES)))
                weights = builder.add(weights, head)
            x_block = builder.add(x, builder.mul(loop.index, I64(RECORD_BYTES)))
            _add_block(builder, (bits, scales, weights), x_block, totals, dot)
        _finish(builder, totals, y, stride, valid, add)
        return context.get_dummy_value()

    @intrinsic
    def multiply(
        typing_context: Any,
        tile: Any,
        blocks: Any,
        x: Any,
        y: Any,
        stride: Any,
        valid: Any,
        add: Any,
    ) -> Any:
        return types.void(*[types.int64] * 7), emit

    result: Callable[..., None] = multiply
    return result


def multiplier(bits: int, dot: Dot) -> Callable[..., None]:
    """A compiled `engine.kernels.portable.multiply_q4` (or `_q8`) for an instruction set."""
    one, four, eight = (_tile(bits, columns, dot) for columns in (1, 4, 8))

    @njit
    def multiply(tile: int, blocks: int, x: int, y: int, stride: int, valid: int, add: int) -> None:
        if valid > 4:
            eight(tile, blocks, x, y, stride, valid, add)
        elif valid > 1:
            four(tile, blocks, x, y, stride, valid, add)
        else:
            one(tile, blocks, x, y, stride, valid, add)

    result: Callable[..., None] = multiply
    return result


def _panel(columns: int) -> Callable[..., None]:
    """An intrinsic: `engine.kernels.portable.multiply_panel` for a fixed number of columns."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, a_stride, b, b_stride, c, c_stride, depth, add = arguments
        rows = [builder.mul(c_stride, I64(column)) for column in range(columns)]
        outputs = [builder.add(c, row) for row in rows]
        inputs = [builder.add(b, builder.mul(b_stride, I64(column))) for column in range(columns)]
        totals = _zeros(builder, columns)
        with builder.if_then(builder.icmp_signed("!=", add, I64(0))):
            for total, output in zip(totals, outputs, strict=True):
                builder.store(_load(builder, output, 0, FLOATS, 4), total)
        with cgutils.for_range(builder, depth) as loop:
            source = builder.add(a, builder.mul(loop.index, a_stride))
            vector = builder.fpext(_load(builder, source, 0, HALVES, 2), FLOATS)
            index = builder.mul(loop.index, I64(4))
            for total, start in zip(totals, inputs, strict=True):
                weight = _load(builder, builder.add(start, index), 0, FLOAT, 4)
                value = builder.load(total, typ=FLOATS)
                value = _fma(builder, vector, _broadcast(builder, weight), value)
                builder.store(value, total)
        for total, output in zip(totals, outputs, strict=True):
            _store(builder, output, builder.load(total, typ=FLOATS))
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
    ) -> Any:
        return types.void(*[types.int64] * 8), emit

    result: Callable[..., None] = multiply
    return result


_panel_4, _panel_8 = _panel(4), _panel(8)


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
    add: int,
) -> None:
    """As `engine.kernels.portable.multiply_panel`."""
    done = 0
    while columns - done >= 8:
        b_here, c_here = b + done * b_stride, c + done * c_stride
        _panel_8(a, a_stride, b_here, b_stride, c_here, c_stride, depth, add)
        done += 8
    if done < columns:
        b_here, c_here = b + done * b_stride, c + done * c_stride
        _panel_4(a, a_stride, b_here, b_stride, c_here, c_stride, depth, add)
