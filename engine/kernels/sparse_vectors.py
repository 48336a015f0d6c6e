"""Skipping what is zero, as LLVM vector code: rows gathered into tiles, few columns of a matrix.

Layouts: `engine.sparsity.layout`. Sums are those of `kernels.simd`, to the last bit: integers
within a block are exact in any order, and blocks are added in theirs.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.formats.packed import LANES
from engine.kernels.columns import SCALE, SCALED_SUM
from engine.kernels.simd import Dot
from engine.kernels.vectors import (
    BYTES,
    FLOAT,
    FLOATS,
    HALVES,
    I8,
    I32,
    I64,
    INTEGERS,
    broadcast,
    call,
    fma,
    load,
    store,
    transposed,
)

CHUNK = 64
"""Outputs of a column that are multiplied at once."""
BESIDE = 4
"""Columns whose products are added by one instruction."""
_UNITS = LANES  # units of a row that are turned at once
_PAIRS = ir.VectorType(ir.IntType(16), 2 * LANES)


@intrinsic
def positive_mask(typing_context: Any, address: Any) -> Any:
    """Bit i says that the i-th of 32 float32 at an address is positive, or no number at all."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.VectorType(FLOAT, 32)
        values = load(builder, arguments[0], 0, kind, 4)
        mask = builder.fcmp_unordered(">", values, ir.Constant(kind, [0.0] * 32))
        return builder.zext(builder.bitcast(mask, I32), I64)

    return types.int64(types.int64), emit


@intrinsic
def nonzero_mask(typing_context: Any, address: Any) -> Any:
    """Bit i says that the i-th of 32 int8 at an address is not zero."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.VectorType(I8, 32)
        mask = builder.icmp_signed("!=", load(builder, arguments[0], 0, kind), kind(None))
        return builder.zext(builder.bitcast(mask, I32), I64)

    return types.int64(types.int64), emit


@intrinsic
def ones(typing_context: Any, mask: Any) -> Any:
    """How many bits of a mask are set."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return call(builder, "llvm.ctpop.i64", I64, [arguments[0]])

    return types.int64(types.int64), emit


@intrinsic
def first_one(typing_context: Any, mask: Any) -> Any:
    """The lowest bit of a mask that is set; 64 if none is."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(I64, [I64, ir.IntType(1)]), "llvm.cttz.i64"
        )
        return builder.call(function, [arguments[0], ir.IntType(1)(0)])

    return types.int64(types.int64), emit


def _emit_gather(builder: Any, dwords: int, arguments: list[Any]) -> None:
    """Write the code that turns 16 rows, unit after unit, into a tile.

    arguments, all int64: address of int64 (16,), where the rows are; of another 16 that will be
    needed next; address of the tile; units of a row. A unit is two halves and `dwords` dwords.
    """
    rows, following, tile, units = arguments
    chunks = builder.udiv(builder.add(units, I64(_UNITS - 1)), I64(_UNITS))
    starts = [load(builder, rows, 8 * lane, I64, 8) for lane in range(LANES)]
    later = [load(builder, following, 8 * lane, I64, 8) for lane in range(LANES)]
    prefetch = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, I32, I32, I32]),
        "llvm.prefetch.p0",
    )

    def turned(line: Any) -> list[Any]:
        """Line `line` of 64 bytes of every row, transposed; the same of the next is asked for."""
        offset = builder.mul(line, I64(64))
        for address in later:
            pointer = builder.inttoptr(builder.add(address, offset), cgutils.voidptr_t)
            builder.call(prefetch, [pointer, I32(0), I32(2), I32(1)])
        return transposed(
            builder, [load(builder, builder.add(s, offset), 0, INTEGERS, 4) for s in starts]
        )

    unit_bytes = I64(64 * (1 + dwords))
    narrow = ir.VectorType(ir.IntType(16), LANES)
    with cgutils.for_range(builder, chunks) as loop:
        for index, both in enumerate(turned(loop.index)):
            unit = builder.add(builder.mul(loop.index, I64(_UNITS)), I64(index))
            target = builder.add(tile, builder.mul(unit, unit_bytes))
            second = builder.lshr(both, ir.Constant(INTEGERS, [16] * LANES))
            store(builder, target, builder.trunc(both, narrow))
            store(builder, builder.add(target, I64(2 * LANES)), builder.trunc(second, narrow))
    count = builder.mul(units, I64(dwords))
    lines = builder.udiv(builder.add(count, I64(LANES - 1)), I64(LANES))
    with cgutils.for_range(builder, lines) as loop:
        for index, line in enumerate(turned(builder.add(chunks, loop.index))):
            dword = builder.add(builder.mul(loop.index, I64(LANES)), I64(index))
            before = builder.add(builder.udiv(dword, I64(dwords)), I64(1))  # lines of halves
            store(
                builder, builder.add(tile, builder.mul(builder.add(dword, before), I64(64))), line
            )


def _gather(dwords: int) -> Callable[..., None]:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _emit_gather(builder, dwords, list(arguments))
        return context.get_dummy_value()

    @intrinsic
    def gather(typing_context: Any, rows: Any, following: Any, tile: Any, units: Any) -> Any:
        return types.void(*[types.int64] * 4), emit

    result: Callable[..., None] = gather
    return result


_gather_4, _gather_5, _gather_6, _gather_8 = (_gather(dwords) for dwords in (4, 5, 6, 16))


@njit
def gather_tile(bits: int, rows: int, following: int, tile: int, blocks: int) -> None:
    """Make a tile of 16 rows that lie anywhere, each as `engine.sparsity.layout` has them.

    Addresses of int64 (16,): where the rows are, and where those are that will be asked for next;
    address of the tile, with room for 16 units more; blocks of a row.
    """
    if bits == 4:
        _gather_4(rows, following, tile, blocks)
    elif bits == 5:
        _gather_5(rows, following, tile, blocks)
    elif bits == 6:
        _gather_6(rows, following, tile, blocks)
    else:
        _gather_8(rows, following, tile, (blocks + 1) // 2)


def _unpacked(builder: Any, high: bool, a: Any, b: Any) -> Any:
    """Elements of the low or high half of every 16 bytes of a and b, in turn (x86's unpack)."""
    count = a.type.count
    lane = count // 4  # elements of 16 bytes
    first = lane // 2 if high else 0
    order = [
        at
        for start in range(0, count, lane)
        for i in range(start + first, start + first + lane // 2)
        for at in (i, count + i)
    ]
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, count), order))


def _four_beside(builder: Any, columns: list[Any]) -> list[Any]:
    """Four columns of 64 bytes → four vectors of (16 outputs, 4 columns)."""
    first, second, third, fourth = columns
    results = []
    for high in (False, True):
        left = builder.bitcast(_unpacked(builder, high, first, second), _PAIRS)
        right = builder.bitcast(_unpacked(builder, high, third, fourth), _PAIRS)
        for again in (False, True):
            results.append(builder.bitcast(_unpacked(builder, again, left, right), BYTES))
    return results


def _column_bytes(builder: Any, nibbles: bool, address: Any) -> Any:
    """64 weights of a column, a byte each."""
    if not nibbles:
        return load(builder, address, 0, BYTES)
    kind = ir.VectorType(I8, CHUNK // 2)
    both = load(builder, address, 0, kind)
    low = builder.and_(both, ir.Constant(kind, [15] * (CHUNK // 2)))
    high = builder.lshr(both, ir.Constant(kind, [4] * (CHUNK // 2)))
    order = ir.Constant(ir.VectorType(I32, CHUNK), list(range(CHUNK)))
    return builder.shuffle_vector(low, high, order)


def _emit_columns(builder: Any, bits: int, dot: Dot, arguments: list[Any]) -> None:
    """Write the code of `multiply_columns` (see kernels.portable_columns) for a number of bits."""
    columns, groups, quants, scales, minimums, record, start, y, chunks = arguments
    signed = bits == 8 and dot.signed is not None
    add = dot.signed if signed and dot.signed else dot.unsigned
    first = ir.Constant(INTEGERS, None)
    if not signed:
        first = broadcast(builder, builder.trunc(start, I32))
    x_scale = broadcast(builder, load(builder, record, SCALE, FLOAT, 4))
    x_sum = broadcast(builder, load(builder, record, SCALED_SUM, FLOAT, 4))
    totals = [cgutils.alloca_once(builder, INTEGERS) for _ in range(CHUNK // LANES)]
    with cgutils.for_range(builder, chunks) as chunk:
        offset = builder.mul(chunk.index, I64(CHUNK // 2 if bits == 4 else CHUNK))
        for total in totals:
            builder.store(first, total)
        with cgutils.for_range(builder, groups) as group:
            places = builder.add(columns, builder.mul(group.index, I64(8 * BESIDE)))
            weights = [
                _column_bytes(builder, bits == 4, builder.add(place, offset))
                for place in (load(builder, places, 8 * i, I64, 8) for i in range(BESIDE))
            ]
            if signed:
                flip = ir.Constant(BYTES, [-128] * CHUNK)
                weights = [builder.xor(one, flip) for one in weights]
            at = builder.add(quants, builder.mul(group.index, I64(4)))
            x = builder.bitcast(broadcast(builder, load(builder, at, 0, I32, 4)), BYTES)
            for total, beside in zip(totals, _four_beside(builder, weights), strict=True):
                builder.store(add(builder, builder.load(total, typ=INTEGERS), beside, x), total)
        for index, total in enumerate(totals):
            output = builder.add(builder.mul(chunk.index, I64(CHUNK)), I64(LANES * index))
            target = builder.add(y, builder.mul(output, I64(4)))
            half = builder.mul(output, I64(2))

            def widened(table: Any, at: Any = half) -> Any:
                return builder.fpext(load(builder, builder.add(table, at), 0, HALVES, 2), FLOATS)

            value = load(builder, target, 0, FLOATS, 4)
            products = builder.sitofp(builder.load(total, typ=INTEGERS), FLOATS)
            value = fma(builder, products, builder.fmul(widened(scales), x_scale), value)
            if bits in (4, 5):
                value = fma(builder, widened(minimums), x_sum, value)
            store(builder, target, value)


def _columns(bits: int, dot: Dot) -> Callable[..., None]:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _emit_columns(builder, bits, dot, list(arguments))
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
    ) -> Any:
        return types.void(*[types.int64] * 9), emit

    result: Callable[..., None] = multiply
    return result


def column_multiplier(dot: Dot) -> Callable[..., None]:
    """A compiled `engine.kernels.portable_columns.multiply_columns` for an instruction set."""
    q4, q5, q6, q8 = (_columns(bits, dot) for bits in (4, 5, 6, 8))

    @njit
    def multiply_columns(
        bits: int,
        columns: int,
        groups: int,
        quants: int,
        scales: int,
        minimums: int,
        record: int,
        start: int,
        y: int,
        chunks: int,
    ) -> None:
        if bits == 4:
            q4(columns, groups, quants, scales, minimums, record, start, y, chunks)
        elif bits == 5:
            q5(columns, groups, quants, scales, minimums, record, start, y, chunks)
        elif bits == 6:
            q6(columns, groups, quants, scales, minimums, record, start, y, chunks)
        else:
            q8(columns, groups, quants, scales, minimums, record, start, y, chunks)

    result: Callable[..., None] = multiply_columns
    return result
