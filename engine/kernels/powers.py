"""Vector code of softmax in powers of two, and sums and maxima of many columns at once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from engine.formats.packed import LANES
from engine.kernels.arithmetic import LOG2E, ROUND
from engine.kernels.vectors import FLOATS, I32, INTEGERS, fma

_POWER = (9.58285277e-3, 5.59064250e-2, 2.40240986e-1, 6.93124193e-1, 1.0)
"""Coefficients of f⁴ to 1 for 2ᶠ, |f| ≤ 1/2: within 2.9e-6, where 8 bits are kept."""
_LOWEST_POWER = -126.0
"""2 to less is not a normal float32."""


def all_lanes(value: float | np.float32) -> Any:
    """A vector of lanes that all hold a constant."""
    return ir.Constant(FLOATS, [float(value)] * LANES)


def higher(builder: Any, a: Any, b: Any) -> Any:
    """The larger of two floats, or of each lane."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _at_least_lowest(builder: Any, x: Any) -> Any:
    """x, or _LOWEST_POWER where it is lower: as an unsigned integer a negative float is the larger
    the lower it is, and units that compare integers have less to do here."""
    bits, lowest = builder.bitcast(x, INTEGERS), builder.bitcast(all_lanes(_LOWEST_POWER), INTEGERS)
    fits = builder.icmp_unsigned("<", bits, lowest)
    return builder.bitcast(builder.select(fits, bits, lowest), FLOATS)


def powers_of_two(builder: Any, exponents: Sequence[Any]) -> list[Any]:
    """2ˣ of vectors of numbers < 127; below -126 about 0.

    Step by step for all of them: the CPU then has as much to do at once. One after the other takes
    half as long again.
    """

    def each(step: Callable[..., Any], *lists: Sequence[Any]) -> list[Any]:
        return [step(builder, *values) for values in zip(*lists, strict=True)]

    x = each(_at_least_lowest, exponents)
    shifted = each(lambda b, x: b.fadd(x, all_lanes(ROUND)), x)  # low bits are the integer
    whole = each(lambda b, s: b.fsub(s, all_lanes(ROUND)), shifted)
    f = each(lambda b, x, n: b.fsub(x, n), x, whole)
    p = [all_lanes(_POWER[0])] * len(f)
    for coefficient in map(all_lanes, _POWER[1:]):
        p = each(lambda b, p, f, c=coefficient: fma(b, p, f, c), p, f)
    left = ir.Constant(INTEGERS, [23] * LANES)
    powers = each(lambda b, s: b.shl(b.bitcast(s, INTEGERS), left), shifted)
    return each(lambda b, p, e: b.bitcast(b.add(b.bitcast(p, INTEGERS), e), FLOATS), p, powers)


def added(builder: Any, a: Any, b: Any) -> Any:
    """The sum of two floats, or of each lane."""
    return builder.fadd(a, b)


def power_of_two(builder: Any, x: Any) -> Any:
    """`powers_of_two` of one vector."""
    return powers_of_two(builder, [x])[0]


def capped(builder: Any, x: Any, cap: Any) -> Any:
    """cap · tanh(x / cap) of vectors: cap · (1 - 2 / (exp(2 x / cap) + 1))."""
    exponent = builder.fdiv(builder.fmul(x, all_lanes(2 * LOG2E)), cap)
    low = builder.fcmp_ordered("<", exponent, all_lanes(64.0))
    power = power_of_two(builder, builder.select(low, exponent, all_lanes(64.0)))
    rest = builder.fdiv(all_lanes(2.0), builder.fadd(power, all_lanes(1.0)))
    return builder.fmul(cap, builder.fsub(all_lanes(1.0), rest))


def of_each(builder: Any, vectors: Sequence[Any], combine: Callable[[Any, Any, Any], Any]) -> Any:
    """What `combine` makes of the 16 lanes of each of 1 to 16 vectors, one lane for each.

    Lanes i and i + 8 are combined, then i and i + 4, …: in the same order however many vectors
    there are. The result has as many lanes as the next power of two.
    """
    rows, width = list(vectors), LANES
    while len(rows) & (len(rows) - 1):
        rows.append(rows[-1])
    while width > 1:
        pairs = list(zip(rows[::2], rows[1::2], strict=True)) if len(rows) > 1 else [(rows[0],) * 2]
        lanes = rows[0].type.count * (2 if len(rows) > 1 else 1)
        first = [i for i in range(lanes) if i % width < width // 2]
        masks = [
            ir.Constant(ir.VectorType(I32, len(first)), [i + half for i in first])
            for half in (0, width // 2)
        ]
        rows = [
            combine(builder, *(builder.shuffle_vector(a, b, mask) for mask in masks))
            for a, b in pairs
        ]
        width //= 2
    return rows[0]
