"""Scalar arithmetic of the kernels against NumPy's."""

import numpy as np
import pytest
from numba import njit

from engine import reference
from engine.kernels import arithmetic

RNG = np.random.default_rng(11)


def test_hyperbolic_tangent():
    hyperbolic_tangent = arithmetic.hyperbolic_tangent

    @njit
    def tangent(x):
        return hyperbolic_tangent(x)

    for x in np.linspace(-60, 60, 999).astype(np.float32):
        assert tangent(x) == pytest.approx(np.tanh(np.float64(x)), abs=2e-7)


def test_exponential_and_silu():
    exponential, silu = arithmetic.exponential, arithmetic.silu

    @njit
    def both(x):
        return exponential(x), silu(x)

    for x in np.concatenate([np.linspace(-87, 87, 999), [0, -1e-20, 1e-20]]).astype(np.float32):
        e, s = both(x)
        assert e == pytest.approx(np.exp(np.float64(x)), rel=4e-7)
        assert s == pytest.approx(float(reference.silu(x)), rel=1e-6, abs=1e-30)
    assert both(np.float32(-1e30))[0] < 1e-37


def test_every_half_float_there_and_back():
    half_to_float, float_to_half = arithmetic.half_to_float, arithmetic.float_to_half

    @njit
    def convert(halves, floats_, back):
        for i in range(halves.size):
            floats_[i] = half_to_float(halves[i])
            back[i] = float_to_half(floats_[i])

    halves = np.arange(1 << 16, dtype=np.uint16)
    halves = halves[np.isfinite(halves.view(np.float16))]
    found, back = np.zeros(halves.size, np.float32), np.zeros_like(halves)
    convert(halves, found, back)
    np.testing.assert_array_equal(found, halves.view(np.float16).astype(np.float32))
    np.testing.assert_array_equal(back, halves)


def test_floats_round_to_the_nearest_half():
    float_to_half = arithmetic.float_to_half

    @njit
    def convert(values, out):
        for i in range(values.size):
            out[i] = float_to_half(values[i])

    values = np.concatenate(
        [RNG.normal(size=20_000).astype(np.float32) * scale for scale in (1, 1e-6, 1e-4, 2e3)]
    )
    out = np.zeros(values.size, np.uint16)
    convert(values.astype(np.float32), out)
    np.testing.assert_array_equal(out.view(np.float16), values.astype(np.float16))
    convert(np.array([1e6, -1e6], np.float32), out)
    assert out[:2].view(np.float16).tolist() == [65504, -65504]
