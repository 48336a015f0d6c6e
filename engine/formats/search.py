"""Scales that make quantized weights close to the exact ones: for formats worth a search.

Both functions try some scales around the obvious one, round, solve for the scale that is best for
these quants by weighted least squares, and keep what has the least weighted squared error. Source:
make_qx_quants and make_qkx2_quants in ggml-quants.c.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.bits import inverse

Floats = NDArray[np.float32]


def best_scales(values: Floats, largest: int, weights: Floats) -> Floats:
    """Scales s of values ≈ s · q with whole q of -largest..largest - 1.

    values, weights: float32 (n, k); weights say how much an error counts. Gives float32 (n,).
    """
    index = np.abs(values).argmax(axis=1)[:, None]
    extreme = np.take_along_axis(values, index, axis=1)
    scales = np.zeros(len(values), np.float32)
    best = np.zeros(len(values), np.float32)  # of (Σ w·x·q)² / Σ w·q²: what the quants explain
    for step in range(-9, 10):
        tried = inverse(extreme) * np.float32(-(largest + 0.1 * step))
        quants = np.clip(np.rint(tried * values), -largest, largest - 1)
        weighted = weights * quants
        product, square = (weighted * values).sum(axis=1), (weighted * quants).sum(axis=1)
        solved = product * inverse(square)
        better = product * solved > best
        best = np.where(better, product * solved, best)
        scales = np.where(better, solved, scales)
    return scales


def best_scales_and_minimums(values: Floats, top: int, weights: Floats) -> tuple[Floats, Floats]:
    """Scales s and minimums m ≥ 0 of values ≈ s · q - m with whole q of 0..top.

    values, weights: float32 (n, k). Gives two of float32 (n,).
    """
    low = np.minimum(values.min(axis=1), 0)
    width = values.max(axis=1) - low
    sum_w, sum_x = weights.sum(axis=1), (weights * values).sum(axis=1)
    scales, minimums = width / np.float32(top), -low
    best = np.full(len(values), np.inf, np.float32)
    for step in range(-1, 21):
        tried = inverse(width) * np.float32(top if step < 0 else top - 1 + 0.1 * step)
        quants = np.clip(np.rint(tried[:, None] * (values - low[:, None])), 0, top)
        weighted = weights * quants
        sum_q, sum_qq = weighted.sum(axis=1), (weighted * quants).sum(axis=1)
        sum_xq = (weighted * values).sum(axis=1)
        scale, minimum = _solve(sum_w, sum_x, sum_q, sum_qq, sum_xq)
        rest = scale[:, None] * quants - minimum[:, None] - values
        error = (weights * rest * rest).sum(axis=1)
        better = (error < best) & (scale > 0)
        best = np.where(better, error, best)
        scales = np.where(better, scale, scales)
        minimums = np.where(better, minimum, minimums)
    return scales, minimums


def _solve(
    sum_w: Floats, sum_x: Floats, sum_q: Floats, sum_qq: Floats, sum_xq: Floats
) -> tuple[Floats, Floats]:
    """The s and m ≥ 0 of the least Σ w · (s · q - m - x)², from its normal equations."""
    one = inverse(sum_w * sum_qq - sum_q * sum_q)
    scale = (sum_w * sum_xq - sum_x * sum_q) * one
    minimum = (sum_q * sum_xq - sum_qq * sum_x) * one
    above = minimum < 0  # all weights are above zero: then without a minimum
    return np.where(above, sum_xq * inverse(sum_qq), scale), np.where(above, 0, minimum)
