"""Weights of attention where values are bytes: softmax, and what comes of it as bytes again.

A weight is never negative, so that it has all 8 bits where an instruction set multiplies unsigned
with signed bytes. Each weight is multiplied with the scale of its value first; 32 of them have a
scale together.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.formats.packed import LANES
from engine.kernels.arithmetic import LOG2E, LOWEST_EXPONENT, ROUND
from engine.kernels.kv_layout import BLOCK_TOKENS
from engine.kernels.simd import Dot
from engine.kernels.softmax import LOWEST
from engine.kernels.vectors import FLOAT, FLOATS, I8, I32, I64, INTEGERS, broadcast, call, fma, load

_POWER = (9.58285277e-3, 5.59064250e-2, 2.40240986e-1, 6.93124193e-1, 1.0)
"""Coefficients of f⁴ to 1 for 2ᶠ, |f| ≤ 1/2: within 2.9e-6, where 8 bits are kept."""
_NARROW = ir.VectorType(I8, LANES)
_VECTORS = BLOCK_TOKENS // LANES


def levels(dot: Dot) -> int:
    """The largest weight: with signed bytes only there are 7 bits for it."""
    return 255 if dot.signed is None else 127


def _all(value: float | np.float32) -> Any:
    """A vector of lanes that all hold a constant."""
    return ir.Constant(FLOATS, [float(value)] * LANES)


def _exponentials(builder: Any, x: Any) -> Any:
    """exp of a vector of numbers ≤ 0; below -87 about 0."""
    high = builder.fcmp_ordered(">", x, _all(LOWEST_EXPONENT))
    x = builder.select(high, x, _all(LOWEST_EXPONENT))
    shifted = fma(builder, x, _all(LOG2E), _all(ROUND))  # its low bits are the integer
    integer = builder.fsub(shifted, _all(ROUND))
    f = fma(builder, x, _all(LOG2E), builder.fneg(integer))
    p = _all(_POWER[0])
    for coefficient in _POWER[1:]:
        p = fma(builder, p, f, _all(coefficient))
    exponent = builder.shl(builder.bitcast(shifted, INTEGERS), ir.Constant(INTEGERS, [23] * LANES))
    return builder.bitcast(builder.add(builder.bitcast(p, INTEGERS), exponent), FLOATS)


def _highest(builder: Any, vector: Any) -> Any:
    """The largest of 16 floats."""
    return call(builder, "llvm.vector.reduce.fmax.v16f32", FLOAT, [vector], ("nnan",))


class _Part:
    """The code for one part: addresses and limits, all int64 values of LLVM."""

    def __init__(self, builder: Any, arguments: list[Any], most: int, masked: bool) -> None:
        self.builder, self.most, self.masked = builder, most, masked
        self.scores, self.blocks, hidden, visible, *rest = arguments
        self.value_scales, self.weights, self.scales, self.state = rest
        self.hidden, self.visible = builder.trunc(hidden, I32), builder.trunc(visible, I32)

    def seen(self, vector: Any, index: Any, otherwise: Any) -> Any:
        """Lanes of vector number `index` that are seen, the others being `otherwise`."""
        if not self.masked:
            return vector
        builder = self.builder
        first = broadcast(builder, builder.trunc(builder.mul(index, I64(LANES)), I32))
        lanes = builder.add(first, ir.Constant(INTEGERS, list(range(LANES))))
        after = builder.icmp_signed(">=", lanes, broadcast(builder, self.hidden))
        before = builder.icmp_signed("<", lanes, broadcast(builder, self.visible))
        return builder.select(builder.and_(after, before), vector, otherwise)

    def at(self, address: Any, index: Any, size: int) -> Any:
        """The address of element `index` of `size` bytes."""
        return self.builder.add(address, self.builder.mul(index, I64(size)))

    def emit(self) -> None:
        """Write it: the highest score, then the weights block by block."""
        builder = self.builder
        most, total = (cgutils.alloca_once(builder, FLOATS) for _ in range(2))
        builder.store(_all(LOWEST), most)
        builder.store(_all(0.0), total)
        vectors = builder.mul(self.blocks, I64(_VECTORS))
        with cgutils.for_range(builder, vectors) as loop:
            value = load(builder, self.at(self.scores, loop.index, 64), 0, FLOATS, 4)
            value, before = (
                self.seen(value, loop.index, _all(LOWEST)),
                builder.load(most, typ=FLOATS),
            )
            higher = builder.fcmp_ordered(">", value, before)
            builder.store(builder.select(higher, value, before), most)
        highest = _highest(builder, builder.load(most, typ=FLOATS))
        with cgutils.for_range(builder, self.blocks) as loop:
            self._block(loop.index, broadcast(builder, highest), total)
        lanes = builder.load(total, typ=FLOATS)
        arguments = [FLOAT(-0.0), lanes]
        name = "llvm.vector.reduce.fadd.v16f32"
        weight = call(builder, name, FLOAT, arguments, ("reassoc",))
        for offset, value in ((0, highest), (4, weight)):
            address = builder.add(self.state, I64(offset))
            builder.store(value, builder.inttoptr(address, FLOAT.as_pointer()), align=4)

    def _block(self, block: Any, highest: Any, total: Any) -> None:
        """Weights of 32 positions: added to the total, times scales of values, as bytes."""
        builder, scaled = self.builder, []
        for half in range(_VECTORS):
            index = builder.add(builder.mul(block, I64(_VECTORS)), I64(half))
            score = load(builder, self.at(self.scores, index, 64), 0, FLOATS, 4)
            weight = _exponentials(builder, builder.fsub(score, highest))
            weight = self.seen(weight, index, _all(0.0))
            builder.store(builder.fadd(builder.load(total, typ=FLOATS), weight), total)
            scale = load(builder, self.at(self.value_scales, index, 64), 0, FLOATS, 4)
            product = builder.fmul(weight, scale)
            scaled.append(self.seen(product, index, _all(0.0)))  # an unused scale may be NaN
        higher = builder.fcmp_ordered(">", *scaled)
        largest = _highest(builder, builder.select(higher, *scaled))
        positive = builder.fcmp_ordered(">", largest, FLOAT(1e-30))
        inverse = builder.fdiv(FLOAT(float(self.most)), largest)
        inverse = broadcast(builder, builder.select(positive, inverse, FLOAT(0.0)))
        scale = builder.fmul(largest, FLOAT(1.0 / self.most))
        scale = builder.select(positive, scale, FLOAT(0.0))
        place = builder.inttoptr(self.at(self.scales, block, 4), FLOAT.as_pointer())
        builder.store(scale, place, align=4)
        for half, values in enumerate(scaled):
            rounded = fma(builder, values, inverse, _all(ROUND))  # its low bits are the integer
            narrow = builder.trunc(builder.bitcast(rounded, INTEGERS), _NARROW)
            index = builder.add(builder.mul(block, I64(_VECTORS)), I64(half))
            place = self.at(self.weights, index, LANES)
            builder.store(narrow, builder.inttoptr(place, _NARROW.as_pointer()), align=1)


def byte_weigher(most: int) -> Callable[..., None]:
    """A compiled function: scores of one query become weights of at most `most`.

    scores: address of float32 (32 · blocks,); seen are those from `hidden` to `visible`;
    value_scales: address of float32 (32 · blocks,), arbitrary where nothing is seen; weights,
    scales: addresses of uint8 (32 · blocks,) and float32 (blocks,), the result; state: as
    `softmax.softmax_part` has it.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, blocks, hidden, visible, *_rest = arguments
        all_seen = builder.and_(
            builder.icmp_signed("<=", hidden, I64(0)),
            builder.icmp_signed(">=", visible, builder.mul(blocks, I64(BLOCK_TOKENS))),
        )
        with builder.if_else(all_seen) as (whole, partly):
            with whole:
                _Part(builder, list(arguments), most, masked=False).emit()
            with partly:
                _Part(builder, list(arguments), most, masked=True).emit()
        return context.get_dummy_value()

    @intrinsic
    def weigh(
        typing_context: Any,
        scores: Any,
        blocks: Any,
        hidden: Any,
        visible: Any,
        value_scales: Any,
        weights: Any,
        scales: Any,
        state: Any,
    ) -> Any:
        return types.void(*[types.int64] * 8), emit

    @njit
    def weigh_bytes(
        scores: int,
        blocks: int,
        hidden: int,
        visible: int,
        value_scales: int,
        weights: int,
        scales: int,
        state: int,
    ) -> None:
        room = BLOCK_TOKENS * blocks
        hidden, visible = max(hidden, 0), min(max(visible, 0), room)
        weigh(scores, blocks, hidden, visible, value_scales, weights, scales, state)

    result: Callable[..., None] = weigh_bytes
    return result
