"""Matrix kernels as LLVM vector code of 16 lanes, for every instruction set that can do better
than numba's own loops.

A tile is 16 output rows by 1, 2, 4 or 8 columns. A lane is an output row, so nothing is ever summed
across lanes, and the 16 scales of a block are one load. What differs between instruction sets is
how four bytes are multiplied and added (`Dot`); the rest LLVM splits into the registers there are.
Layouts: `engine.formats.packed` (weights), `engine.kernels.columns` (activations).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import cgutils

from engine.formats.packed import (
    LANES,
    NIBBLE_BYTES,
    Q8_BLOCK_BYTES,
    Q8_PAIR_BYTES,
    RECORD_BYTES,
    SCALE_BYTES,
    SUPER,
    SUPER_BLOCKS,
    SUPER_BYTES,
    SUPER_HEADS,
)
from engine.kernels import columns as x_layout
from engine.kernels.asking import ahead
from engine.kernels.columns import FIRST_SUM, OFFSET_SUM, SCALE, SCALED_SUM, SINGLE_BYTES
from engine.kernels.vectors import (
    BYTES,
    FLOAT,
    FLOATS,
    HALVES,
    I8,
    I32,
    I64,
    INTEGERS,
    Register,
    ask_for,
    broadcast,
    fma,
    in_turn,
    keep_order,
    load,
    store,
)

GROUPS = 8  # of four weights in a block of 32

UNROLLED, FEW = 16, 4
"""Vectors of 16 sums that stay in registers beside what is multiplied: those of a panel of 8
columns and 2 tiles, where all of it is unrolled, and where there are few. On ARM sums of eight
columns of values take 1 256 instructions so, 1 905 with 16 of them, most of them on the stack."""


class Dot(NamedTuple):
    """How an instruction set adds 64 products of bytes to 16 int32, by fours."""

    unsigned: Callable[[Any, Any, Any, Any], Any]
    """(builder, sums, unsigned weights, signed x) → sums."""
    signed: Callable[[Any, Any, Any, Any], Any] | None = None
    """The same for signed weights. Without it, 8-bit weights stay w + 128 and sums start at the
    offset that this makes."""
    of_few_bits: Callable[..., list[Any]] | None = None
    """(builder, bits, groups, group → its unsigned weights, x, columns, their sums) → sums, for 4
    and 5 bits, where that takes less than one group after the other."""
    few: Register | None = None
    """The registers, where the weights of a block would fill them: then these meet four columns at
    a time, whose sums stay in registers, group by group. LLVM, left alone, computes one column
    after the other and reads the weights from the stack for each."""

    @property
    def sums(self) -> int:
        """Vectors of 16 sums that stay in registers beside what is multiplied."""
        return UNROLLED if self.few is None else FEW

    def in_order(self, builder: Any, sums: list[Any]) -> list[Any]:
        """The sums; with few registers all of them are computed before what follows."""
        return sums if self.few is None else in_turn(builder, sums, self.few)


def in_registers(tiles: int, columns: int, dot: Dot) -> Iterator[tuple[range, range]]:
    """Tiles and columns whose sums stay in registers together: pairs that make up all of them."""
    deep = tiles if tiles * columns <= dot.sums else 1
    wide = dot.sums // deep
    for column in range(0, columns, wide):
        for tile in range(0, tiles, deep):
            yield range(tile, tile + deep), range(column, min(column + wide, columns))


class X(NamedTuple):
    """A record of activations."""

    address: Any
    width: int
    """Columns in it."""

    def load(self, builder: Any, field: int, column: int, kind: Any) -> Any:
        """One column's number of a field, in every lane."""
        value = load(builder, self.address, field * self.width + 4 * column, kind, 4)
        return broadcast(builder, value)

    def group(self, builder: Any, group: int, column: int) -> Any:
        """Four activations of a column, in every lane."""
        return builder.bitcast(self.load(builder, 4 * group, column, I32), BYTES)


def _shifted(builder: Any, vector: Any, left: int, mask: int) -> Any:
    """Every byte moved `left` bits (right if negative) and masked."""
    moved = builder.shl if left > 0 else builder.lshr
    count = ir.Constant(BYTES, [abs(left)] * 4 * LANES)
    return builder.and_(moved(vector, count), ir.Constant(BYTES, [mask] * 4 * LANES))


def _bytes_at(builder: Any, address: Any, offset: int) -> Any:
    return load(builder, address, offset, BYTES, 64)


def _weights(builder: Any, bits: int, block: Any, group: int, signed: bool) -> Any:
    """64 weights of a block, one of its 8 groups, each a byte: 8 bits as w + 128, or signed w."""
    if bits == 8:
        stored = _bytes_at(builder, block, 64 * group)
        flip = ir.Constant(BYTES, [-128] * 4 * LANES)
        return builder.xor(stored, flip) if signed else stored
    half, place = divmod(group, GROUPS // 2)
    low = _shifted(builder, _bytes_at(builder, block, 64 * place), -4 * half, 15)
    if bits == 4:
        return low
    if bits == 5:
        high = _shifted(builder, _bytes_at(builder, block, NIBBLE_BYTES), 4 - group, 16)
    else:
        rest = _bytes_at(builder, block, NIBBLE_BYTES + 64 * half)
        high = _shifted(builder, rest, 4 - 2 * place, 48)
    return builder.or_(low, high)


def _starts(builder: Any, bits: int, x: X, column: int) -> list[Any]:
    """What the sums of a column start at, a half of the block each for 6 bits: what the offset of
    stored weights would add is taken away."""
    if bits in (4, 5):
        return [ir.Constant(INTEGERS, None)]
    whole = x.load(builder, OFFSET_SUM, column, I32)
    if bits == 8:
        return [whole]
    first = x.load(builder, FIRST_SUM, column, I32)
    both = builder.ashr(whole, ir.Constant(INTEGERS, [2] * LANES))
    return [first, builder.sub(both, first)]


def _scales(builder: Any, record: Any, count: int) -> list[Any]:
    """Vectors of a record's half floats, widened: scales, then minimums or more scales."""
    halves = [load(builder, record, SCALE_BYTES * index, HALVES, 32) for index in range(count)]
    return [builder.fpext(half, FLOATS) for half in halves]


def _byte(builder: Any, vector: Any, index: int) -> Any:
    """Byte `index` of every four, in 16 lanes of int32."""
    shift, mask = (ir.Constant(INTEGERS, [n] * LANES) for n in (8 * index, 255))
    return builder.and_(builder.lshr(builder.bitcast(vector, INTEGERS), shift), mask)


def _factors(builder: Any, bits: int, head: Any) -> list[Any]:
    """Of each block of a super-block its two vectors of int32 factors (see formats.packed)."""
    if bits == SUPER + 6:
        kind = ir.VectorType(I8, LANES)
        places = [2 * SCALE_BYTES + LANES * half for half in range(2 * SUPER_BLOCKS)]
        return [builder.sext(load(builder, head, at, kind, 16), INTEGERS) for at in places]
    first, second, last = (_bytes_at(builder, head, 64 * index) for index in (1, 2, 3))
    low = [_shifted(builder, word, 0, 63) for word in (first, second)]
    nibbles = [_shifted(builder, last, shift, 15) for shift in (0, -4)]
    tops = [_shifted(builder, word, -2, 48) for word in (first, second)]
    high = [builder.or_(*pair) for pair in zip(nibbles, tops, strict=True)]
    return [
        _byte(builder, kind, index) for both in (low, high) for index in range(4) for kind in both
    ]


def _widen_scales(builder: Any, bits: int, head: Any, room: Any) -> None:
    """Store scale · factor of each block of a super-block, and what goes with it, in `room`."""
    whole = _scales(builder, head, 1) * 2 if bits == SUPER + 6 else _scales(builder, head, 2)
    for index, factor in enumerate(_factors(builder, bits, head)):
        scale = builder.fmul(whole[index % 2], builder.sitofp(factor, FLOATS))
        builder.store(scale, builder.gep(room, [I64(0), I64(index)]))


def _counted(builder: Any, unrolled: bool) -> Iterator[Any]:
    """The index of each block of a super-block, in a loop or one after the other."""
    if unrolled:
        yield from (I64(index) for index in range(SUPER_BLOCKS))
    else:
        with cgutils.for_range(builder, I64(SUPER_BLOCKS)) as loop:
            yield loop.index


def _add_block(
    builder: Any, bits: int, scales: list[Any], block: Any, x: X, totals: list[Any], dot: Dot
) -> None:
    """totals[column] += one block of 16 rows times one block of each column.

    scales: of the block, then its minimums or those of its second half; block: address of its
    weights.
    """
    weights = _groups(builder, bits, block, dot)
    at_once = 1 if dot.few is None else FEW
    for first in range(0, len(totals), at_once):
        columns = range(first, min(first + at_once, len(totals)))
        sums = _products(builder, bits, weights, x, columns, dot)
        for column, of_scales in zip(columns, sums, strict=True):
            x_scale = x.load(builder, SCALE, column, FLOAT)
            value = builder.load(totals[column], typ=FLOATS)
            for index, products in enumerate(of_scales):
                scale = builder.fmul(scales[index], x_scale)
                value = fma(builder, builder.sitofp(products, FLOATS), scale, value)
            if bits in (4, 5):
                scaled_sum = x.load(builder, SCALED_SUM, column, FLOAT)
                value = fma(builder, scales[1], scaled_sum, value)
            builder.store(value, totals[column])


def _groups(builder: Any, bits: int, block: Any, dot: Dot) -> Callable[[int], Any]:
    """Group → its 64 weights. With few registers those of 4 and 8 bits are read where they are
    multiplied, again for every four columns: kept, they would lie on the stack, as those do that
    take more to be made of what is stored."""
    signed = bits == 8 and dot.signed is not None
    if dot.few is not None and bits in (4, 8):
        return lambda group: _weights(builder, bits, block, group, signed)
    return [_weights(builder, bits, block, group, signed) for group in range(GROUPS)].__getitem__


def _products(
    builder: Any,
    bits: int,
    weights: Callable[[int], Any],
    x: X,
    columns: Sequence[int],
    dot: Dot,
) -> list[list[Any]]:
    """The integer sums of a block of each column: one for each of its scales."""
    signed = bits == 8 and dot.signed is not None
    add = dot.signed if signed and dot.signed else dot.unsigned
    zero = [ir.Constant(INTEGERS, None)]
    first = [zero if signed else _starts(builder, bits, x, column) for column in columns]
    of_scales = []
    for chosen, *sums in zip(_of_one_scale(bits), *first, strict=True):
        if bits in (4, 5) and dot.of_few_bits is not None:
            of_scales.append(dot.of_few_bits(builder, bits, chosen, weights, x, columns, sums))
            continue
        for group in chosen:
            factors = weights(group)
            for i, column in enumerate(columns):
                sums[i] = add(builder, sums[i], factors, x.group(builder, group, column))
            sums = dot.in_order(builder, sums)
        of_scales.append(sums)
    return [list(sums) for sums in zip(*of_scales, strict=True)]


def _of_one_scale(bits: int) -> list[list[int]]:
    """The groups that share a scale, in the order in which they are multiplied: the two of the same
    bytes follow each other."""
    if bits == 8:
        return [list(range(GROUPS))]
    if bits == 6:
        return [list(range(GROUPS // 2)), list(range(GROUPS // 2, GROUPS))]
    return [[group for low in range(GROUPS // 2) for group in (low, low + GROUPS // 2)]]


def zeros(builder: Any, columns: int) -> list[Any]:
    """A float vector for each column, in registers once LLVM has seen it."""
    totals = [cgutils.alloca_once(builder, FLOATS) for _ in range(columns)]
    for total in totals:
        builder.store(ir.Constant(FLOATS, None), total)
    return totals


def _finish(builder: Any, totals: list[Any], y: Any, stride: Any, valid: Any, add: Any) -> None:
    """Store the first `valid` columns of a tile, or add them to what is there."""
    for column, total in enumerate(totals):
        with builder.if_then(builder.icmp_signed("<", I64(column), valid)):
            address = builder.add(y, builder.mul(stride, I64(4 * column)))
            value = builder.load(total, typ=FLOATS)
            with builder.if_else(builder.icmp_signed("!=", add, I64(0))) as (adding, storing):
                with adding:
                    before = load(builder, address, 0, FLOATS, 4)
                    store(builder, address, builder.fadd(before, value))
                with storing:
                    store(builder, address, value)


def _places(builder: Any, bits: int, tile: Any, index: Any) -> tuple[Any, Any]:
    """Addresses of the scales and of the weights of a tile's block (see formats.packed)."""
    if bits != 8:
        record = builder.add(tile, builder.mul(index, I64(RECORD_BYTES[bits])))
        return record, builder.add(record, I64(2 * SCALE_BYTES))
    pair = builder.add(tile, builder.mul(builder.lshr(index, I64(1)), I64(Q8_PAIR_BYTES)))
    second = builder.and_(index, I64(1))
    weights = builder.add(pair, I64(2 * SCALE_BYTES))
    return (
        builder.add(pair, builder.mul(second, I64(SCALE_BYTES))),
        builder.add(weights, builder.mul(second, I64(Q8_BLOCK_BYTES))),
    )


def _ask_for_lines(builder: Any, address: Any, size: int, distance: int) -> None:
    """Ask for what lies a distance behind `size` bytes at an address."""
    for at in range(0, size, 64):
        ask_for(builder, builder.add(address, I64(at + distance)))


def _each_block(
    builder: Any,
    bits: int,
    tile: Any,
    blocks: Any,
    columns: int,
    unrolled: bool,
    add: Callable[[Any, Any, Any], None],
) -> None:
    """Write a loop over the blocks of a tile: what `add(index, scales, address)` writes for each.

    columns: that a block is multiplied with; unrolled: as for `_each_super_block`.
    """
    distance = ahead(bits, columns)
    if bits >= SUPER:
        _each_super_block(builder, bits, tile, blocks, unrolled, distance, add)
        return
    with cgutils.for_range(builder, blocks) as loop:
        record, block = _places(builder, bits, tile, loop.index)
        if distance:
            _ask_ahead(builder, bits, record, block, distance)
        add(loop.index, _scales(builder, record, 1 if bits == 8 else 2), block)


def _each_super_block(
    builder: Any,
    bits: int,
    tile: Any,
    blocks: Any,
    unrolled: bool,
    distance: int,
    add: Callable[[Any, Any, Any], None],
) -> None:
    """`_each_block` where blocks are in super-blocks.

    unrolled: a single row of 6 bits takes 15 % less time, many rows take LLVM minutes. distance: at
    which weights are asked for; 0: they are not.
    """
    head_bytes = SUPER_HEADS[bits]
    block_bytes = (SUPER_BYTES[bits] - head_bytes) // SUPER_BLOCKS
    room = cgutils.alloca_once(builder, ir.ArrayType(FLOATS, 2 * SUPER_BLOCKS))
    with cgutils.for_range(builder, builder.udiv(blocks, I64(SUPER_BLOCKS))) as outer:
        head = builder.add(tile, builder.mul(outer.index, I64(SUPER_BYTES[bits])))
        if distance:
            _ask_for_lines(builder, head, head_bytes, distance)
        _widen_scales(builder, bits, head, room)
        first = builder.mul(outer.index, I64(SUPER_BLOCKS))
        quants = builder.add(head, I64(head_bytes))
        for index in _counted(builder, unrolled):
            block = builder.add(quants, builder.mul(index, I64(block_bytes)))
            if distance:
                keep_order(builder)  # else LLVM asks for all blocks at once: twice the time
                _ask_for_lines(builder, block, block_bytes, distance)
            places = [builder.add(builder.mul(index, I64(2)), I64(i)) for i in (0, 1)]
            scales = [
                builder.load(builder.gep(room, [I64(0), place]), typ=FLOATS) for place in places
            ]
            add(builder.add(first, index), scales, block)


def emit_tile(
    builder: Any, bits: int, columns: int, width: int, dot: Dot, arguments: list[Any]
) -> None:
    """Write the code that multiplies one tile of 16 rows with `columns` columns of activations,
    which lie in records of `width` columns.

    arguments, all int64: address of the tile, number of blocks, address of the activations,
    address of y[0, first row of the tile], floats from one column of y to the next, columns to
    store, whether to add.
    """
    tile, blocks, x, y, stride, valid, add = arguments
    totals = zeros(builder, columns)

    def add_one(index: Any, scales: list[Any], block: Any) -> None:
        record = builder.add(x, builder.mul(index, I64(x_layout.RECORD_BYTES)))
        _add_block(builder, bits % SUPER, scales, block, X(record, width), totals, dot)

    _each_block(builder, bits, tile, blocks, columns, False, add_one)
    _finish(builder, totals, y, stride, valid, add)


def _ask_ahead(builder: Any, bits: int, record: Any, block: Any, distance: int) -> None:
    """Ask for what lies a distance behind a block, whose scales are at `record`: whole cache
    lines."""
    if bits == 8:
        _ask_for_lines(builder, record, 64, distance)
        _ask_for_lines(builder, block, Q8_BLOCK_BYTES, distance)
    else:
        _ask_for_lines(builder, record, RECORD_BYTES[bits], distance)


def emit_row(builder: Any, bits: int, dot: Dot, arguments: list[Any]) -> None:
    """Write the code that multiplies tiles with a single row of activations, one after the other.

    arguments, all int64: address of the first tile, number of tiles, bytes of each, number of
    blocks, address of the activations, address of y[first row of the first tile], whether to add.
    """
    weights, tiles, size, blocks, x, y, add = arguments
    (total,) = zeros(builder, 1)

    def add_one(index: Any, scales: list[Any], block: Any) -> None:
        record = X(builder.add(x, builder.mul(index, I64(SINGLE_BYTES))), 1)
        _add_block(builder, bits % SUPER, scales, block, record, [total], dot)

    with cgutils.for_range(builder, tiles) as outer:
        builder.store(ir.Constant(FLOATS, None), total)
        tile = builder.add(weights, builder.mul(outer.index, size))
        _each_block(builder, bits, tile, blocks, 1, True, add_one)
        out = builder.add(y, builder.mul(outer.index, I64(4 * LANES)))
        _finish(builder, [total], out, I64(0), I64(1), add)
