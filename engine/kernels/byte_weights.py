"""Weights of attention as bytes, where values are.

A weight is never negative, so that it has all 8 bits where an instruction set multiplies unsigned
with signed bytes. Weights are powers of two of scores in which the scales of values are already
(see kernels.byte_scores): what the highest byte of a block of 32 positions stands for is known
before any weight is, and the sum of weights without those scales is one multiplication more.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.formats.packed import LANES
from engine.kernels.arithmetic import ROUND
from engine.kernels.attention_part import PART
from engine.kernels.kv_layout import BLOCK_TOKENS
from engine.kernels.powers import all_lanes, powers_of_two
from engine.kernels.vectors import (
    FLOAT,
    FLOATS,
    I64,
    INTEGERS,
    broadcast,
    fma,
    load,
    store,
)

_NARROW = ir.VectorType(ir.IntType(16), LANES)


def emit_weights(builder: Any, arguments: list[Any]) -> None:
    """Write the code of `weigh_block`.

    Bytes of a block's two tiles lie by turns, as values do: to narrow two vectors to 16 bits
    together takes half as long as each to 8.
    """
    scores, bases, inverses, weights, sums, columns = arguments
    inverse = [load(builder, inverses, 4 * LANES * tile, FLOATS, 4) for tile in (0, 1)]
    with cgutils.for_range(builder, columns) as loop:
        here = builder.add(scores, builder.mul(loop.index, I64(4 * BLOCK_TOKENS)))
        place = builder.add(bases, builder.mul(loop.index, I64(4)))
        base = broadcast(builder, load(builder, place, 0, FLOAT, 4))
        values = [load(builder, here, 4 * LANES * tile, FLOATS, 4) for tile in (0, 1)]
        powers = powers_of_two(builder, [builder.fsub(value, base) for value in values])
        lanes = builder.fmul(powers[0], inverse[0])
        lanes = fma(builder, powers[1], inverse[1], lanes)
        store(builder, builder.add(sums, builder.mul(loop.index, I64(4 * LANES))), lanes)
        low, high = (
            builder.bitcast(builder.fadd(power, all_lanes(ROUND)), INTEGERS) for power in powers
        )  # their low bits are the integers
        both = builder.add(low, builder.shl(high, ir.Constant(INTEGERS, [8] * LANES)))
        place = builder.add(weights, builder.mul(loop.index, I64(PART)))
        store(builder, place, builder.trunc(both, _NARROW))


@intrinsic
def weigh_block(
    typing_context: Any,
    scores: Any,
    bases: Any,
    inverses: Any,
    weights: Any,
    sums: Any,
    columns: Any,
) -> Any:
    """Scores of a block become bytes: 2 to (score - base).

    scores, bases: addresses of what `byte_scores.block_scorer` leaves; inverses: of float32 (32,),
    1 / scale of values, 0 where nothing is written; weights: of uint8 (columns, PART) from the
    block's first position on, in the order of `kv_layout.value_place`; sums: of float32
    (columns, 16), lanes of sums of weights without the scales of values.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_weights(builder, list(arguments))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), emit
