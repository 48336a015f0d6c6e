"""Scores of attention where keys are bytes: tiles of 16 positions times bytes of queries.

Scores are exponents of two. That of the scale of a value is added to a score, so that its power is
what the bytes of the value are multiplied with (see kernels.byte_weights). As in `kernels.simd`, a
lane is an output; the sums of a column are the same to the last bit however many there are.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.formats.packed import BLOCK, LANES
from engine.kernels.arithmetic import LOG2E
from engine.kernels.columns import COLUMNS, OFFSET_SUM, RECORD_BYTES, SCALE
from engine.kernels.kv_layout import BLOCK_TOKENS
from engine.kernels.powers import all_lanes, capped, higher, of_each
from engine.kernels.simd import Dot, in_registers
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

TILES = BLOCK_TOKENS // LANES
BLOCK_BYTES = BLOCK_TOKENS * BLOCK
"""Of 32 numbers of the keys; fours of the tiles lie by turns."""
_GROUPS = BLOCK // 4

HIDDEN = -2e6
"""Exponent of what a query does not see: its weight is 0, and"""
LOWEST_BASE = -1e6
"""the lowest base there is, so that it is where nothing of a block is seen, too."""


def levels(dot: Dot) -> int:
    """The largest weight: with signed bytes only there are 7 bits for it."""
    return 255 if dot.signed is None else 127


def emit_scores(builder: Any, columns: int, dot: Dot, arguments: list[Any]) -> None:
    """Write the code of `score_block` for so many columns of a record."""
    _Panel(builder, columns, dot, arguments).emit()


class _Panel:
    """The code for some columns and a block of 32 positions; arguments: int64 values of LLVM."""

    def __init__(self, builder: Any, columns: int, dot: Dot, arguments: list[Any]) -> None:
        self.builder, self.columns, self.dot = builder, columns, dot
        self.keys, self.ahead, self.blocks, self.x, self.factor, *rest = arguments
        self.exponents, self.scores, self.bases, self.partly, *rest = rest
        self.visible, self.window, self.first, self.group, self.cap = rest

    def emit(self) -> None:
        """Write it."""
        builder = self.builder
        scores = [cgutils.alloca_once(builder, FLOATS) for _ in range(TILES * self.columns)]
        self._score(scores)
        with builder.if_then(builder.icmp_signed("!=", self.cap, I64(0))):
            self._cap(scores)
        with builder.if_then(builder.icmp_signed("!=", self.partly, I64(0))):
            self._hide(scores)
        values = [builder.load(score, typ=FLOATS) for score in scores]
        for i, value in enumerate(values):
            store(builder, builder.add(self.scores, I64(4 * LANES * i)), value)
        highest = [higher(builder, *values[i : i + TILES]) for i in range(0, len(values), TILES)]
        peaks = of_each(builder, highest, higher)
        peaks = higher(builder, peaks, ir.Constant(peaks.type, [LOWEST_BASE] * peaks.type.count))
        most = ir.Constant(peaks.type, [math.log2(levels(self.dot))] * peaks.type.count)
        store(builder, self.bases, builder.fsub(peaks, most))

    def _score(self, scores: list[Any]) -> None:
        """scores[column, tile]: products of bytes times both scales, and exponents of values."""
        builder = self.builder
        exponents = self._of_values()
        for i, score in enumerate(scores):
            builder.store(exponents[i % TILES], score)
        for tiles, columns in in_registers(TILES, self.columns, self.dot):
            self._score_some(scores, tiles, columns)

    def _score_some(self, scores: list[Any], tiles: Sequence[int], columns: Sequence[int]) -> None:
        """Add the products of some tiles and columns."""
        builder = self.builder
        widths = builder.add(self.keys, builder.mul(self.blocks, I64(BLOCK_BYTES)))
        with cgutils.for_range(builder, self.blocks) as loop:
            keys = builder.add(self.keys, builder.mul(loop.index, I64(BLOCK_BYTES)))
            width = builder.add(widths, builder.mul(loop.index, I64(2 * LANES)))
            places = [
                (
                    builder.add(keys, I64(4 * LANES * tile)),
                    builder.add(width, builder.mul(self.blocks, I64(2 * LANES * tile))),
                )
                for tile in tiles
            ]
            record = builder.add(self.x, builder.mul(loop.index, I64(RECORD_BYTES)))
            some = [scores[TILES * column + tile] for column in columns for tile in tiles]
            self._add_block(places, record, columns, some)

    def _add_block(
        self,
        tiles: list[tuple[Any, Any]],
        record: Any,
        columns: Sequence[int],
        scores: list[Any],
    ) -> None:
        """scores[column, tile] += 32 numbers of keys times those of queries, times both scales."""
        builder = self.builder
        sums = [ir.Constant(INTEGERS, None)] * len(scores)
        if self.dot.signed is None:
            starts = [self._of_column(record, OFFSET_SUM, column, I32) for column in columns]
            sums = [start for start in starts for _ in tiles]
        sums = self._products([keys for keys, _ in tiles], record, columns, sums)
        factor = builder.bitcast(builder.trunc(self.factor, I32), FLOAT)
        factor = broadcast(builder, factor)
        widths = [builder.fpext(load(builder, at, 0, HALVES, 2), FLOATS) for _, at in tiles]
        widths = [builder.fmul(width, factor) for width in widths]
        for i, score in enumerate(scores):
            scale = self._of_column(record, SCALE, columns[i // len(tiles)], FLOAT)
            product = builder.fmul(builder.sitofp(sums[i], FLOATS), widths[i % len(tiles)])
            before = builder.load(score, typ=FLOATS)
            builder.store(fma(builder, product, scale, before), score)

    def _products(
        self, tiles: list[Any], record: Any, columns: Sequence[int], starts: list[Any]
    ) -> list[Any]:
        """starts[column, tile] + 32 numbers of keys times those of queries."""
        sums = starts
        for group in range(_GROUPS):
            sums = self._add_group(tiles, record, group, columns, sums)
            sums = self.dot.in_order(self.builder, sums)
        return sums

    def _of_column(self, record: Any, field: int, column: int, kind: Any) -> Any:
        """A column's number of a field of a record, in every lane."""
        value = load(self.builder, record, COLUMNS * field + 4 * column, kind, 4)
        return broadcast(self.builder, value)

    def _add_group(
        self,
        tiles: list[Any],
        record: Any,
        group: int,
        columns: Sequence[int],
        before: list[Any],
    ) -> list[Any]:
        """before[column, tile] + four numbers of keys times those of queries."""
        builder, sums, at = self.builder, list(before), BLOCK_BYTES // _GROUPS * group
        if self.columns < COLUMNS:  # else the block is asked for once, by who comes here
            for tile in tiles:
                ask_for(builder, builder.add(builder.add(tile, self.ahead), I64(at)))
        keys = [load(builder, tile, at, BYTES) for tile in tiles]
        if self.dot.signed is not None:
            flip = ir.Constant(BYTES, [-128] * BYTES.count)
            keys = [builder.xor(key, flip) for key in keys]
        multiply = self.dot.signed or self.dot.unsigned
        for index, column in enumerate(columns):
            query = builder.bitcast(self._of_column(record, 4 * group, column, I32), BYTES)
            for tile, key in enumerate(keys):
                i = len(keys) * index + tile
                sums[i] = multiply(builder, sums[i], key, query)
        return sums

    def _of_values(self) -> list[Any]:
        """Exponents of the scales of values."""
        places = [4 * LANES * tile for tile in range(TILES)]
        return [load(self.builder, self.exponents, place, FLOATS, 4) for place in places]

    def _cap(self, scores: list[Any]) -> None:
        """score = cap · tanh(score / cap), the exponents of values apart from it."""
        builder = self.builder
        cap = builder.bitcast(builder.trunc(self.cap, I32), FLOAT)
        cap = broadcast(builder, builder.fmul(cap, FLOAT(float(LOG2E))))
        exponents = self._of_values()
        for i, score in enumerate(scores):
            exponent = exponents[i % TILES]
            alone = builder.fsub(builder.load(score, typ=FLOATS), exponent)
            builder.store(builder.fadd(capped(builder, alone, cap), exponent), score)

    def _row(self, column: int) -> Any:
        """The row of a column."""
        return self.builder.sdiv(self.builder.add(self.first, I64(column)), self.group)

    def _hide(self, scores: list[Any]) -> None:
        """Scores of positions that a column does not see become the lowest."""
        builder = self.builder
        for column in range(self.columns):
            visible = builder.add(self.visible, self._row(column))
            bounds = []
            for bound in (visible, builder.sub(visible, self.window)):
                bound = builder.select(builder.icmp_signed("<", bound, I64(0)), I64(0), bound)
                most = I64(BLOCK_TOKENS)
                bound = builder.select(builder.icmp_signed(">", bound, most), most, bound)
                bounds.append(broadcast(builder, builder.trunc(bound, I32)))
            for tile in range(TILES):
                lanes = ir.Constant(INTEGERS, list(range(LANES * tile, LANES * (tile + 1))))
                before = builder.icmp_signed("<", lanes, bounds[0])
                seen = builder.and_(before, builder.icmp_signed(">=", lanes, bounds[1]))
                place = scores[TILES * column + tile]
                value = builder.load(place, typ=FLOATS)
                builder.store(builder.select(seen, value, all_lanes(HIDDEN)), place)


def _panel(columns: int, dot: Dot) -> Callable[..., None]:
    """An intrinsic of 14 int64: `score_block` for fixed columns."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_scores(builder, columns, dot, list(arguments))
        return context.get_dummy_value()

    @intrinsic
    def score(
        typing_context: Any,
        keys: Any,
        ahead: Any,
        blocks: Any,
        x: Any,
        factor: Any,
        exponents: Any,
        scores: Any,
        bases: Any,
        partly: Any,
        visible: Any,
        window: Any,
        first: Any,
        group: Any,
        cap: Any,
    ) -> Any:
        return types.void(*[types.int64] * 14), emit

    result: Callable[..., None] = score
    return result


def block_scorer(dot: Dot) -> Callable[..., None]:
    """A compiled function: scores of queries and a block of keys, as exponents of two.

    keys: address of a block's keys; ahead: bytes from them to what is asked for meanwhile, where
    there are fewer than 8 columns; blocks: of 32 numbers of a head; x: queries as columns (see
    kernels.columns); factor: bits of the float32 that makes exponents of two of products;
    exponents: of float32 (32,), of the scales of values, 0 where nothing is written; scores: of
    float32 (columns, 32); bases: of float32 (columns,), the exponents of which 2 to the highest
    score is `levels(dot)` times the power; visible: positions from the block's first on that the
    first row sees; window: the last of them that it does; group: columns of a row; cap: bits of the
    float32 cap of scores (0: none).

    Where one column is left, the one behind it is computed as well, and bases of four where three
    are: there must be room for it. (LLVM 22 drops the first tile of a product of one column, once
    that is inlined in attention.)
    """
    two, three, four, eight = (_panel(columns, dot) for columns in (2, 3, 4, 8))

    @njit(inline="always")
    def score_block(
        keys: int,
        ahead: int,
        blocks: int,
        x: int,
        factor: int,
        exponents: int,
        scores: int,
        bases: int,
        columns: int,
        visible: int,
        window: int,
        group: int,
        cap: int,
    ) -> None:
        k, a, b, m, e, s, z = keys, ahead, blocks, factor, exponents, scores, bases
        v, n, c, g, wide = visible, window, 0, group, 4 * BLOCK_TOKENS
        last = visible + (columns - 1) // group
        h = int(visible < BLOCK_TOKENS or last > window)
        while columns - c >= 8:
            eight(k, a, b, x, m, e, s, z, h, v, n, c, g, cap)
            x, s, z, c = x + b * RECORD_BYTES, s + 8 * wide, z + 32, c + 8
        if columns - c >= 4:
            four(k, a, b, x, m, e, s, z, h, v, n, c, g, cap)
            x, s, z, c = x + 16, s + 4 * wide, z + 16, c + 4
        if columns - c == 3:
            three(k, a, b, x, m, e, s, z, h, v, n, c, g, cap)
        elif columns > c:
            two(k, a, b, x, m, e, s, z, h, v, n, c, g, cap)

    result: Callable[..., None] = score_block
    return result
