"""Sums of values of attention that are bytes, by weights that are: tiles of 16 numbers of a head.

As in `kernels.simd`, a lane is an output and nothing is summed across lanes; the sums of a column
are the same to the last bit however many there are.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.formats.packed import LANES
from engine.kernels.attention_part import PART
from engine.kernels.kv_layout import BLOCK_TOKENS
from engine.kernels.simd import Dot, in_registers
from engine.kernels.vectors import (
    BYTES,
    FLOAT,
    FLOATS,
    I32,
    I64,
    INTEGERS,
    ask_for,
    broadcast,
    fma,
    load,
    store,
)

_TILES = 2
"""Numbers of a head that are summed at once: 2 · 16."""
_BLOCK_BYTES = _TILES * LANES * BLOCK_TOKENS
"""Of these numbers; fours of the tiles lie by turns."""
_GROUPS = BLOCK_TOKENS // 4
MANY = 8
"""So many columns are multiplied at once where there are; then values are not asked for here."""


def emit_values(builder: Any, columns: int, dot: Dot, arguments: list[Any]) -> None:
    """Write the code of `add_values` for so many columns."""
    values, ahead, blocks, weights, factors, sums, add = arguments
    apart = builder.mul(blocks, I64(4 * LANES * _TILES))  # of the sums of a column
    outputs = [builder.add(sums, builder.mul(apart, I64(column))) for column in range(columns)]
    with cgutils.for_range(builder, blocks) as loop:
        first = builder.add(values, builder.mul(loop.index, I64(_BLOCK_BYTES)))
        at = builder.mul(loop.index, I64(4 * LANES * _TILES))
        for tiles, some in in_registers(_TILES, columns, dot):
            sources = [builder.add(first, I64(4 * LANES * tile)) for tile in tiles]
            totals = [ir.Constant(INTEGERS, None)] * (len(tiles) * len(some))
            for group in range(_GROUPS):
                if columns < MANY:
                    for source in sources:
                        next_line = I64(_BLOCK_BYTES // _GROUPS * group)
                        ask_for(builder, builder.add(builder.add(source, ahead), next_line))
                _add_group(builder, dot, sources, weights, some, group, totals)
            places = [
                builder.add(builder.add(outputs[column], at), I64(4 * LANES * tile))
                for column in some
                for tile in tiles
            ]
            _add_to_sums(builder, totals, places, some, factors, add)


def _add_group(
    builder: Any,
    dot: Dot,
    tiles: list[Any],
    weights: Any,
    columns: Sequence[int],
    group: int,
    totals: list[Any],
) -> None:
    """totals[column, tile] += values of four positions times their weights, of which none is too
    large for `dot.unsigned` (see `byte_scores.levels`)."""
    at = _BLOCK_BYTES // _GROUPS * group
    values = [load(builder, tile, at, BYTES, 4) for tile in tiles]
    for index, column in enumerate(columns):
        four = load(builder, weights, PART * column + 4 * group, I32, 4)
        weight = builder.bitcast(broadcast(builder, four), BYTES)
        for tile, value in enumerate(values):
            i = len(tiles) * index + tile
            totals[i] = dot.unsigned(builder, totals[i], weight, value)


def _add_to_sums(
    builder: Any,
    totals: list[Any],
    places: list[Any],
    columns: Sequence[int],
    factors: Any,
    add: Any,
) -> None:
    """sum = total · factor of its column, (+ what is there)."""
    before = [cgutils.alloca_once(builder, FLOATS) for _ in places]
    for value in before:
        builder.store(ir.Constant(FLOATS, None), value)
    with builder.if_then(builder.icmp_signed("!=", add, I64(0))):
        for value, place in zip(before, places, strict=True):
            builder.store(load(builder, place, 0, FLOATS, 4), value)
    for i, (total, value, place) in enumerate(zip(totals, before, places, strict=True)):
        column = columns[i * len(columns) // len(places)]
        factor = broadcast(builder, load(builder, factors, 4 * column, FLOAT, 4))
        whole = builder.load(value, typ=FLOATS)
        store(builder, place, fma(builder, builder.sitofp(total, FLOATS), factor, whole))


def _panel(columns: int, dot: Dot) -> Callable[..., None]:
    """An intrinsic of 7 int64: `add_values` for fixed columns."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_values(builder, columns, dot, list(arguments))
        return context.get_dummy_value()

    @intrinsic
    def add_values(
        typing_context: Any,
        values: Any,
        ahead: Any,
        blocks: Any,
        weights: Any,
        factors: Any,
        sums: Any,
        add: Any,
    ) -> Any:
        return types.void(*[types.int64] * 7), emit

    result: Callable[..., None] = add_values
    return result


def value_adder(dot: Dot) -> Callable[..., None]:
    """A compiled function: sums[column] (+)= factor[column] · Σ of 32 values times weights.

    values: address of those of a block; ahead: bytes from them to what is asked for meanwhile,
    where there are fewer than MANY columns; blocks: of 32 numbers of a head; weights: uint8
    (columns, PART), from the block's first position on; factors: float32 (columns,); sums: float32
    (columns, head_dim); add: 0 to forget what is there.
    """
    one, two, three, four, eight = (_panel(columns, dot) for columns in (1, 2, 3, 4, MANY))

    @njit(inline="always")
    def add_values(
        values: int,
        ahead: int,
        blocks: int,
        weights: int,
        factors: int,
        sums: int,
        columns: int,
        add: int,
    ) -> None:
        v, a, b, w, f, s = values, ahead, blocks, weights, factors, sums
        wide = 4 * BLOCK_TOKENS * blocks
        while columns >= MANY:
            eight(v, a, b, w, f, s, add)
            w, f, s, columns = w + 8 * PART, f + 32, s + 8 * wide, columns - 8
        if columns >= 4:
            four(v, a, b, w, f, s, add)
            w, f, s, columns = w + 4 * PART, f + 16, s + 4 * wide, columns - 4
        if columns == 3:
            three(v, a, b, w, f, s, add)
        elif columns == 2:
            two(v, a, b, w, f, s, add)
        elif columns == 1:
            one(v, a, b, w, f, s, add)

    result: Callable[..., None] = add_values
    return result
