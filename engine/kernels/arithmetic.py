"""Scalar arithmetic that LLVM turns into vector code: exp, half floats."""

import numpy as np
from numba import njit

from engine.kernels.intrinsics import bits_to_float, float_to_bits

LOG2E = np.float32(1.4426950408889634)
LN2_HIGH = np.float32(0.693359375)
LN2_LOW = np.float32(-2.12194440e-4)
ROUND = np.float32(12582912.0)  # 1.5 · 2²³: adding it rounds to the nearest integer
LOWEST_EXPONENT = np.float32(-87.0)
"""exp of less is not a normal float32."""
EXPONENTIAL = tuple(
    np.float32(value)
    for value in (
        1.9875691500e-4,
        1.3981999507e-3,
        8.3334519073e-3,
        4.1665795894e-2,
        1.6666665459e-1,
        5.0000001201e-1,
    )
)
"""Coefficients of Cephes' expf for r⁷ to r²."""
_HALF_TO_FLOAT = np.float32(2.0**112)  # exponent bias of float32 minus that of float16
_LARGEST_HALF = np.int32(0x477FE000)  # 65504 as float32 bits


@njit(inline="always")
def exponential(x: np.float32) -> np.float32:
    """exp(x) in float32 within 2 units in the last place; x is clamped to ±87.

    Cephes' expf: 2ⁿ · polynomial(r). The library's expf is a call that keeps loops from being
    vectorized.
    """
    x = min(max(x, LOWEST_EXPONENT), -LOWEST_EXPONENT)
    n = (x * LOG2E + ROUND) - ROUND
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    p = EXPONENTIAL[0]
    p = p * r + EXPONENTIAL[1]
    p = p * r + EXPONENTIAL[2]
    p = p * r + EXPONENTIAL[3]
    p = p * r + EXPONENTIAL[4]
    p = p * r + EXPONENTIAL[5]
    p = p * r * r + r + np.float32(1.0)
    result: np.float32 = p * bits_to_float((np.int32(n) + np.int32(127)) << np.int32(23))
    return result


@njit(inline="always")
def silu(x: np.float32) -> np.float32:
    """x · sigmoid(x)."""
    result: np.float32 = x / (np.float32(1.0) + exponential(-x))
    return result


@njit(inline="always")
def hyperbolic_tangent(x: np.float32) -> np.float32:
    """tanh(x) within 1e-7."""
    doubled = exponential(np.float32(2.0) * x)
    result: np.float32 = np.float32(1.0) - np.float32(2.0) / (doubled + np.float32(1.0))
    return result


@njit(inline="always")
def half_to_float(half: np.uint16) -> np.float32:
    """The value of finite float16 bits."""
    bits = np.int32(half)
    magnitude = bits_to_float((bits & np.int32(0x7FFF)) << np.int32(13)) * _HALF_TO_FLOAT
    sign = (bits & np.int32(0x8000)) << np.int32(16)
    result: np.float32 = bits_to_float(float_to_bits(magnitude) | sign)
    return result


@njit(inline="always")
def float_to_half(value: np.float32) -> np.uint16:
    """float16 bits of a float32, to nearest, ties to even; beyond ±65504 the largest half."""
    bits = float_to_bits(value)
    sign = (bits >> np.int32(16)) & np.int32(0x8000)
    magnitude = min(bits & np.int32(0x7FFFFFFF), _LARGEST_HALF)
    if magnitude < np.int32(0x38800000):  # a subnormal half: let the float adder do the rounding
        shifted = bits_to_float(magnitude) + np.float32(0.5)
        half = float_to_bits(shifted) - np.int32(0x3F000000)
    else:
        odd = (magnitude >> np.int32(13)) & np.int32(1)
        half = ((magnitude + np.int32(0xFFF) + odd) >> np.int32(13)) - np.int32(112 << 10)
    return np.uint16(half | sign)
