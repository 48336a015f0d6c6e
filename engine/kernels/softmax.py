"""Softmax in parts, as attention over a long cache needs it (FlashAttention, FlashDecoding).

Each part of the positions gives its highest score, the sum of its weights and a sum of values; two
of these make one (Milakov & Gimelshein 2018).
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.formats.packed import LANES
from engine.kernels.arithmetic import (
    EXPONENTIAL,
    LN2_HIGH,
    LN2_LOW,
    LOG2E,
    LOWEST_EXPONENT,
    ROUND,
    exponential,
    hyperbolic_tangent,
)
from engine.kernels.intrinsics import floats
from engine.kernels.vectors import (
    FLOAT,
    FLOATS,
    I32,
    I64,
    INTEGERS,
    broadcast,
    call,
    fma,
    load,
    store,
)

LOWEST = np.float32(-1e30)
"""Highest score of nothing: smaller than any score, and finite, so that differences are numbers."""


@njit(fastmath={"reassoc", "nsz"})
def total(values: np.ndarray, count: int) -> np.float32:
    """The sum of the first `count` float32."""
    result = np.float32(0.0)
    for i in range(count):
        result += values[i]
    return result


@njit
def soft_cap(scores: np.ndarray, cap: np.float32) -> None:
    """scores = cap · tanh(scores / cap)."""
    for i in range(scores.size):
        scores[i] = cap * hyperbolic_tangent(scores[i] / cap)


def _exponentials(builder: Any, x: Any) -> Any:
    """exp of a vector of numbers ≤ 0, as `kernels.arithmetic.exponential`; below -87 about 0."""
    low = builder.fcmp_ordered("<", x, _all(LOWEST_EXPONENT))
    x = builder.select(low, _all(LOWEST_EXPONENT), x)
    shifted = fma(builder, x, _all(LOG2E), _all(ROUND))  # its low bits are the integer
    n = builder.fsub(shifted, _all(ROUND))
    r = fma(builder, n, _all(-LN2_LOW), fma(builder, n, _all(-LN2_HIGH), x))
    p = _all(EXPONENTIAL[0])
    for coefficient in EXPONENTIAL[1:]:
        p = fma(builder, p, r, _all(coefficient))
    p = builder.fadd(fma(builder, builder.fmul(r, r), p, r), _all(1.0))
    exponent = builder.shl(builder.bitcast(shifted, INTEGERS), ir.Constant(INTEGERS, [23] * LANES))
    return builder.bitcast(builder.add(builder.bitcast(p, INTEGERS), exponent), FLOATS)


def _all(value: float | np.float32) -> Any:
    """A vector of lanes that all hold a constant."""
    return ir.Constant(FLOATS, [float(value)] * LANES)


def _seen(builder: Any, index: Any, hidden: Any, visible: Any) -> Any:
    """Which lanes of vector `index` are seen."""
    first = broadcast(builder, builder.trunc(builder.mul(index, I64(LANES)), I32))
    lanes = builder.add(first, ir.Constant(INTEGERS, list(range(LANES))))
    after = builder.icmp_signed(">=", lanes, broadcast(builder, hidden))
    before = builder.icmp_signed("<", lanes, broadcast(builder, visible))
    return builder.and_(after, before)


def emit_softmax(builder: Any, arguments: list[Any]) -> None:
    """Write the code of `softmax_part`; arguments, all int64: address of the scores, vectors,
    hidden, visible, address of the state."""
    scores, vectors, hidden, visible, state = arguments
    hidden, visible = builder.trunc(hidden, I32), builder.trunc(visible, I32)
    most, weights = (cgutils.alloca_once(builder, FLOATS) for _ in range(2))
    builder.store(_all(LOWEST), most)
    builder.store(ir.Constant(FLOATS, None), weights)
    with cgutils.for_range(builder, vectors) as loop:
        value = load(builder, builder.add(scores, builder.mul(loop.index, I64(64))), 0, FLOATS, 4)
        value = builder.select(_seen(builder, loop.index, hidden, visible), value, _all(LOWEST))
        before = builder.load(most, typ=FLOATS)
        higher = builder.fcmp_ordered(">", value, before)
        builder.store(builder.select(higher, value, before), most)
    lanes = builder.load(most, typ=FLOATS)
    highest = call(builder, "llvm.vector.reduce.fmax.v16f32", FLOAT, [lanes], ("nnan",))
    every = broadcast(builder, highest)
    with cgutils.for_range(builder, vectors) as loop:
        place = builder.add(scores, builder.mul(loop.index, I64(64)))
        weight = _exponentials(builder, builder.fsub(load(builder, place, 0, FLOATS, 4), every))
        seen = _seen(builder, loop.index, hidden, visible)
        weight = builder.select(seen, weight, ir.Constant(FLOATS, None))
        store(builder, place, weight)
        builder.store(builder.fadd(builder.load(weights, typ=FLOATS), weight), weights)
    store(builder, state, highest)
    lanes = builder.load(weights, typ=FLOATS)
    sum_kind = [FLOAT(-0.0), lanes]
    weight = call(builder, "llvm.vector.reduce.fadd.v16f32", FLOAT, sum_kind, ("reassoc",))
    store(builder, builder.add(state, I64(4)), weight)


@intrinsic
def _softmax(
    typing_context: Any, scores: Any, vectors: Any, hidden: Any, visible: Any, state: Any
) -> Any:
    """What `softmax_part` does: numba's own loops take three times as long."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_softmax(builder, list(arguments))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), emit


@njit
def softmax_part(
    scores: int, vectors: int, hidden: int, visible: int, cap: np.float32, state: int
) -> None:
    """Scores of one part of the positions become weights, 0 for those not seen.

    scores: address of float32 (16 · vectors); seen are those from `hidden` to `visible`; cap: of
    scores by tanh (0: none); state: address of float32 (2,) that become the highest score and the
    sum of weights.
    """
    hidden, visible = max(hidden, 0), min(max(visible, 0), LANES * vectors)
    if cap > np.float32(0.0):
        soft_cap(floats(scores, LANES * vectors), cap)
    _softmax(scores, vectors, hidden, visible, state)


@njit
def merge(
    part: np.ndarray, part_state: np.ndarray, whole: np.ndarray, whole_state: np.ndarray
) -> None:
    """Add a part to a whole; both are sums of values float32 (head_dim,) and a state float32 (2,).

    The same parts in the same order give the same bits, wherever each was computed.
    """
    highest = max(part_state[0], whole_state[0])
    before, now = exponential(whole_state[0] - highest), exponential(part_state[0] - highest)
    for i in range(whole.size):
        whole[i] = whole[i] * before + part[i] * now
    whole_state[0] = highest
    whole_state[1] = whole_state[1] * before + part_state[1] * now
