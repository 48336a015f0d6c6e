"""Skipping what is zero, as LLVM vector code: which values are, few columns of a matrix.

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
    ask_for,
    broadcast,
    call,
    fma,
    load,
    store,
)

CHUNK = 64
"""Outputs of a column that are multiplied at once."""
BESIDE = 4
"""Columns whose products are added by one instruction."""
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


def widened(builder: Any, address: Any) -> Any:
    """16 half floats as floats."""
    return builder.fpext(load(builder, address, 0, HALVES, 2), FLOATS)


def stored_bytes(builder: Any, nibbles: bool, address: Any) -> Any:
    """64 weights of a row or a column of a record, a byte each."""
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
    columns, groups, quants, scales, kind_bytes, record, start, y, chunks = arguments[:9]
    following, asked, later_scales = arguments[9:]
    minimums = builder.add(scales, kind_bytes)
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
        with cgutils.for_range(builder, asked) as later:
            place = load(
                builder, builder.add(following, builder.mul(later.index, I64(8))), 0, I64, 8
            )
            ask_for(builder, builder.add(place, offset))
        for kind in range(1 if bits == 8 else 2):
            base = builder.add(later_scales, builder.mul(kind_bytes, I64(kind)))
            for line in (0, 64):
                at = builder.add(builder.mul(chunk.index, I64(2 * CHUNK)), I64(line))
                ask_for(builder, builder.add(base, at))
        for total in totals:
            builder.store(first, total)
        with cgutils.for_range(builder, groups) as group:
            places = builder.add(columns, builder.mul(group.index, I64(8 * BESIDE)))
            weights = [
                stored_bytes(builder, bits == 4, builder.add(place, offset))
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

            value = load(builder, target, 0, FLOATS, 4)
            products = builder.sitofp(builder.load(total, typ=INTEGERS), FLOATS)
            value = fma(
                builder,
                products,
                builder.fmul(widened(builder, builder.add(scales, half)), x_scale),
                value,
            )
            if bits in (4, 5):
                value = fma(builder, widened(builder, builder.add(minimums, half)), x_sum, value)
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
        j: Any,
        k: Any,
        m: Any,
    ) -> Any:
        return types.void(*[types.int64] * 12), emit

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
        kind_bytes: int,
        record: int,
        start: int,
        y: int,
        chunks: int,
        following: int,
        asked: int,
        later_scales: int,
    ) -> None:
        behind = (following, asked, later_scales)
        if bits == 4:
            q4(columns, groups, quants, scales, kind_bytes, record, start, y, chunks, *behind)
        elif bits == 5:
            q5(columns, groups, quants, scales, kind_bytes, record, start, y, chunks, *behind)
        elif bits == 6:
            q6(columns, groups, quants, scales, kind_bytes, record, start, y, chunks, *behind)
        else:
            q8(columns, groups, quants, scales, kind_bytes, record, start, y, chunks, *behind)

    result: Callable[..., None] = multiply_columns
    return result
