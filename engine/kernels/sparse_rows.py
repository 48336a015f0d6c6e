"""Rows that lie anywhere times a single row of activations, as LLVM vector code.

Layout of the rows: `engine.sparsity.layout`. Sums are those of `kernels.simd`, to the last bit: of
a block they are integers, exact in any order, and blocks are added in theirs. A lane is a block
here, not a row: so a row is read from one end to the other.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.formats.packed import BLOCK, LANES
from engine.kernels.columns import FIRST_SUM, OFFSET_SUM, SCALE, SCALED_SUM, SINGLE_BYTES
from engine.kernels.intrinsics import addresses, floats, integers, signed_bytes
from engine.kernels.simd import Dot
from engine.kernels.sparse_vectors import stored_bytes, widened
from engine.kernels.vectors import (
    BYTES,
    FLOAT,
    FLOATS,
    I32,
    I64,
    INTEGERS,
    ask_for,
    call,
    load,
    store,
)

UNIT = 64
"""Weights of a row that are multiplied at once: two blocks."""
STRIDE_BLOCKS = 16
"""Blocks of a row whose sums are a vector."""
ROWS = 8
"""Rows that are read side by side, 16 blocks of each by turns, and whose blocks are added up
together. Row after row takes 1.2 times as long from memory (Zen 5, 2048 inputs)."""
ROWS_AHEAD = ROWS
"""How many rows behind the one at hand is asked for; with four, 1.1 times as long."""


def _halves_added(builder: Any, left: Any, right: Any) -> Any:
    """Of every four int32 of two vectors: sums of neighbours, two of the left and two of the
    right."""
    pairs = []
    for odd in (0, 1):
        order = [
            at + 16 * (i // 2) + 2 * (i % 2) + odd for at in range(0, LANES, 4) for i in range(4)
        ]
        pairs.append(
            builder.shuffle_vector(left, right, ir.Constant(ir.VectorType(I32, LANES), order))
        )
    return builder.add(*pairs)


def _sums_of_halves(builder: Any, products: list[Any]) -> list[Any]:
    """8 units of 16 int32, a quarter of a unit each four → sums of the first and of the second half
    of each of 16 blocks."""
    while len(products) > 2:
        products = [
            _halves_added(builder, products[i], products[i + 1]) for i in range(0, len(products), 2)
        ]
    # Lane 4 q + i of the first vector is quarter q of unit i, of the second that of unit 4 + i.
    results = []
    for half in (0, 1):
        order = [
            16 * (block // 8) + 4 * (2 * (block % 2) + half) + block % 8 // 2
            for block in range(STRIDE_BLOCKS)
        ]
        mask = ir.Constant(ir.VectorType(I32, LANES), order)
        results.append(builder.shuffle_vector(*products, mask))
    return results


def _emit_terms(builder: Any, bits: int, dot: Dot, arguments: list[Any]) -> None:
    """Write the code that makes of 16 blocks of a row what `_emit_chain` adds up: two factors a
    block and kind of scale.

    arguments, all int64: address of the row, of one that will be needed later, of x as
    `spread_activations` leaves it, of the factors to make; blocks; which 16 of them.
    """
    row, later, x, terms, blocks, stride = arguments
    signed = bits == 8 and dot.signed is not None
    add = dot.signed if signed and dot.signed else dot.unsigned
    kinds = 1 if bits == 8 else 2
    unit_bytes = UNIT // 2 if bits == 4 else UNIT
    strides = builder.udiv(builder.add(blocks, I64(STRIDE_BLOCKS - 1)), I64(STRIDE_BLOCKS))
    table = builder.mul(strides, I64(4 * STRIDE_BLOCKS))  # bytes of a table of floats
    scale_bytes = builder.and_(builder.add(builder.mul(blocks, I64(2)), I64(63)), I64(-64))
    quants = builder.mul(scale_bytes, I64(kinds))
    last = builder.sub(builder.lshr(blocks, I64(1)), I64(1))  # unit

    def at(base: Any, tables: int, offset: Any) -> Any:
        return builder.add(builder.add(base, builder.mul(table, I64(tables))), offset)

    products = []
    for index in range(STRIDE_BLOCKS // 2):
        unit = builder.add(builder.mul(stride, I64(STRIDE_BLOCKS // 2)), I64(index))
        there = builder.select(builder.icmp_signed("<", unit, last), unit, last)
        place = builder.add(quants, builder.mul(there, I64(unit_bytes)))
        ask_for(builder, builder.add(later, place))
        weights = stored_bytes(builder, bits == 4, builder.add(row, place))
        if signed:
            weights = builder.xor(weights, ir.Constant(BYTES, [-128] * UNIT))
        values = load(builder, builder.add(x, builder.mul(unit, I64(UNIT))), 0, BYTES)
        products.append(add(builder, ir.Constant(INTEGERS, None), weights, values))
    sums = _sums_of_halves(builder, products)
    if bits != 6:
        sums = [builder.add(*sums)]
    here = builder.mul(stride, I64(4 * STRIDE_BLOCKS))
    numbers = builder.add(x, builder.mul(strides, I64(32 * STRIDE_BLOCKS)))
    for kind in range(kinds):
        scales = builder.add(builder.mul(scale_bytes, I64(kind)), builder.lshr(here, I64(1)))
        ask_for(builder, builder.add(later, scales))
        scale = widened(builder, builder.add(row, scales))
        factor = load(builder, at(numbers, kind, here), 0, FLOATS, 4)
        if kind < len(sums):
            total = sums[kind]
            if not signed and bits in (6, 8):
                start = load(builder, at(numbers, 2 + kind, here), 0, INTEGERS, 4)
                total = builder.add(total, start)
            left, right = builder.sitofp(total, FLOATS), builder.fmul(scale, factor)
        else:
            left, right = scale, factor
        store(builder, at(terms, 2 * kind, here), left)
        store(builder, at(terms, 2 * kind + 1, here), right)


def _emit_chain(builder: Any, kinds: int, arguments: list[Any]) -> None:
    """Write the code that adds up blocks of 8 rows, each in their order.

    arguments, all int64: address of the rows' factors, bytes from one row's to the next, blocks,
    address of the 8 floats to make.
    """
    terms, row_bytes, blocks, y = arguments
    table = builder.udiv(row_bytes, I64(2 * kinds))
    totals = [cgutils.alloca_once(builder, FLOAT) for _ in range(ROWS)]
    for total in totals:
        builder.store(FLOAT(0.0), total)
    with cgutils.for_range(builder, blocks) as loop:
        start = builder.add(terms, builder.mul(loop.index, I64(4)))
        for kind in range(kinds):
            for row, total in enumerate(totals):
                base = builder.add(start, builder.mul(row_bytes, I64(row)))
                left = builder.add(base, builder.mul(table, I64(2 * kind)))
                pair = [load(builder, left, 0, FLOAT, 4)]
                pair.append(load(builder, builder.add(left, table), 0, FLOAT, 4))
                value = builder.load(total, typ=FLOAT)
                builder.store(call(builder, "llvm.fma.f32", FLOAT, [*pair, value]), total)
    for row, total in enumerate(totals):
        store(builder, builder.add(y, I64(4 * row)), builder.load(total, typ=FLOAT))


def _terms(bits: int, dot: Dot) -> Callable[..., None]:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _emit_terms(builder, bits, dot, list(arguments))
        return context.get_dummy_value()

    @intrinsic
    def make(typing_context: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
        return types.void(*[types.int64] * 6), emit

    result: Callable[..., None] = make
    return result


def _chain(kinds: int) -> Callable[..., None]:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _emit_chain(builder, kinds, list(arguments))
        return context.get_dummy_value()

    @intrinsic
    def add_up(typing_context: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        return types.void(*[types.int64] * 4), emit

    result: Callable[..., None] = add_up
    return result


_chain_1, _chain_2 = _chain(1), _chain(2)


@njit
def _table_floats(blocks: int) -> int:
    """Numbers of a table of one a block."""
    return (blocks + STRIDE_BLOCKS - 1) // STRIDE_BLOCKS * STRIDE_BLOCKS


def row_room_bytes(inputs: int) -> int:
    """Bytes of `room` that `multiply_rows` needs for rows of `inputs`."""
    blocks = -(-inputs // BLOCK // STRIDE_BLOCKS) * STRIDE_BLOCKS
    return blocks * (BLOCK + 4 * 4) + ROWS * blocks * 4 * 4


@njit
def spread_activations(bits: int, x: int, blocks: int, room: int) -> None:
    """Lay a single row of activations out for `multiply_rows`.

    At `room`: int8 (blocks, 32), then tables of a number a block, blocks filled up to a multiple of
    16: float32 (2, blocks), what the scales are multiplied with, and int32 (2, blocks), what the
    sums start at.
    """
    filled = _table_floats(blocks)
    quants = signed_bytes(room, (blocks, BLOCK))
    factors = floats(room + BLOCK * filled, (2, filled))
    starts = integers(room + (BLOCK + 8) * filled, (2, filled))
    for block in range(blocks):
        record = x + SINGLE_BYTES * block
        values = signed_bytes(record, BLOCK)
        for i in range(BLOCK):
            quants[block, i] = values[i]
        factors[0, block] = floats(record + SCALE, 1)[0]
        factors[1, block] = floats(record + (SCALE if bits == 6 else SCALED_SUM), 1)[0]
        whole, first = integers(record + OFFSET_SUM, 1)[0], integers(record + FIRST_SUM, 1)[0]
        starts[0, block] = first if bits == 6 else whole
        starts[1, block] = whole // 4 - first


def rows_multiplier(dot: Dot) -> Callable[..., None]:
    """A compiled `engine.kernels.portable_rows.multiply_rows` for an instruction set."""
    q4, q5, q6, q8 = (_terms(bits, dot) for bits in (4, 5, 6, 8))

    @njit
    def multiply_rows(
        bits: int, rows: int, count: int, blocks: int, x: int, room: int, y: int
    ) -> None:
        filled = _table_floats(blocks)
        terms = room + (BLOCK + 16) * filled
        kinds = 1 if bits == 8 else 2
        row_bytes = 8 * kinds * filled
        places = addresses(rows, count + ROWS_AHEAD)
        for start in range(0, count, ROWS):
            here = min(ROWS, count - start)
            for item in range(here * filled // STRIDE_BLOCKS):
                stride, i = item // here, item % here
                row, later = places[start + i], places[start + i + ROWS_AHEAD]
                out = terms + i * row_bytes
                if bits == 4:
                    q4(row, later, room, out, blocks, stride)
                elif bits == 5:
                    q5(row, later, room, out, blocks, stride)
                elif bits == 6:
                    q6(row, later, room, out, blocks, stride)
                else:
                    q8(row, later, room, out, blocks, stride)
            if kinds == 1:
                _chain_1(terms, row_bytes, blocks, y + 4 * start)
            else:
                _chain_2(terms, row_bytes, blocks, y + 4 * start)

    result: Callable[..., None] = multiply_rows
    return result
