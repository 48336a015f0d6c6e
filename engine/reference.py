"""The NumPy twin of every kernel: what it computes, said plainly. The oracle of the tests.

Everything is float32 unless said otherwise; quantized inputs are quantized the same way.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.formats.packed import BLOCK
from engine.kernels import activations
from engine.kernels.rotation import logarithm

Floats = NDArray[np.float32]


def quantize_activations(x: Floats) -> tuple[NDArray[np.int8], Floats]:
    """x (rows, inputs) → int8 (rows, blocks, 32) and scales (rows, blocks): largest / 127.

    Twin of kernels.columns.quantize_block.
    """
    blocks = x.reshape(len(x), -1, BLOCK)
    largest = np.abs(blocks).max(axis=2)
    inverse = np.divide(np.float32(127), largest, out=np.zeros_like(largest), where=largest > 0)
    quants = np.rint(blocks * inverse[:, :, None]).astype(np.int8)
    return quants, largest * np.float32(1 / 127)


def matmul(x: Floats, weights: Floats) -> Floats:
    """x (rows, inputs) · weights (outputs, inputs)ᵀ, with x quantized to 8 bits a block.

    Twin of kernels.matmul.matmul; weights are those that the packed matrix stands for.
    """
    quants, scales = quantize_activations(x)
    rounded = quants.astype(np.float64) * scales[:, :, None]
    result: Floats = (rounded.reshape(x.shape) @ weights.T.astype(np.float64)).astype(np.float32)
    return result


def matmul_float(x: Floats, weights: Floats) -> Floats:
    """x (rows, inputs) · weights (outputs, inputs)ᵀ. Twin of kernels.floating.matmul_float."""
    result: Floats = (x.astype(np.float64) @ weights.T.astype(np.float64)).astype(np.float32)
    return result


def choose_experts(scores: Floats, used: int) -> tuple[NDArray[np.int64], Floats]:
    """scores (rows, experts) → the best ones (rows, used) and their softmax (rows, used).

    Twin of kernels.experts.choose.
    """
    choices = np.argsort(-scores, axis=1, kind="stable")[:, :used]
    best = np.take_along_axis(scores, choices, axis=1)
    shares = np.exp(best - best[:, :1])
    return choices, shares / shares.sum(axis=1, keepdims=True)


def rms_norm(x: Floats, weight: Floats, epsilon: float) -> Floats:
    """weight · x / √(mean(x²) + ε) over the last axis. Twin of kernels.elementwise.rms_norm_row."""
    mean_square = np.mean(np.square(x, dtype=np.float64), axis=-1, keepdims=True)
    result: Floats = (x / np.sqrt(mean_square + epsilon) * weight).astype(np.float32)
    return result


def layer_norm(x: Floats, weight: Floats, bias: Floats, epsilon: float) -> Floats:
    """weight · (x - mean) / √(variance + ε) + bias. Twin of kernels.norms.layer_norm_row."""
    centred = x - np.mean(x, axis=-1, keepdims=True, dtype=np.float64)
    deviation = np.sqrt(np.mean(np.square(centred), axis=-1, keepdims=True) + epsilon)
    result: Floats = (centred / deviation * weight + bias).astype(np.float32)
    return result


def silu(x: Floats) -> Floats:
    """x · sigmoid(x)."""
    result: Floats = (x / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)
    return result


def gelu(x: Floats) -> Floats:
    """x · Φ(x) with the tanh approximation."""
    wide = x.astype(np.float64)
    inner = np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)
    result: Floats = (wide / 2 * (1 + np.tanh(inner))).astype(np.float32)
    return result


def relu(x: Floats) -> Floats:
    """The positive part of x."""
    result: Floats = np.maximum(x, np.float32(0))
    return result


def activate(kind: int, gate: Floats, up: Floats) -> Floats:
    """The feed-forward activations. Twin of kernels.activations.activate_block."""
    if kind == activations.SILU:
        return silu(gate) * up
    if kind == activations.GELU:
        return gelu(gate) * up
    if kind == activations.RELU:
        return relu(gate) * up
    if kind == activations.SQUARED_RELU:
        return np.square(relu(gate)) * up
    if kind == activations.DOUBLE_RELU:
        return relu(gate) * relu(up)
    if kind == activations.PREDICTED_RELU:
        return np.where(gate > 0, relu(up), np.float32(0))
    return relu(gate)


def scale_logits(logits: Floats, factor: float, cap: float) -> Floats:
    """cap · tanh(factor · logits / cap), or factor · logits without a cap."""
    scaled = logits * np.float32(factor)
    return np.float32(cap) * np.tanh(scaled / np.float32(cap)) if cap else scaled


def rope(x: Floats, angles: Floats, *, halves_apart: bool = False) -> Floats:
    """Rotate pairs of x (rows, heads, head_dim); angles (rows, pairs, 2): cos, sin.

    Adjacent elements are a pair, or i and i + pairs; those beyond the pairs stay as they are.
    Twin of kernels.attention.rotate.
    """
    count = angles.shape[1]
    cos, sin = angles[:, None, :, 0], angles[:, None, :, 1]
    one = np.arange(count) if halves_apart else 2 * np.arange(count)
    other = one + (count if halves_apart else 1)
    result = x.copy()
    a, b = x[..., one], x[..., other]
    result[..., one], result[..., other] = a * cos - b * sin, a * sin + b * cos
    return result


def attention(
    q: Floats,
    k: Floats,
    v: Floats,
    *,
    scale: float | None = None,
    cap: float = 0.0,
    window: int | None = None,
) -> Floats:
    """Causal grouped-query attention; the last row of q is the last position of k and v.

    q (rows, heads, head_dim), k and v (positions, kv_heads, head_dim) → (rows, heads, head_dim);
    scale: of the scores, 1 / √head_dim if not given; cap: of the scores by tanh; window: positions
    that a row sees. Twin of kernels.attention.attention, but for k and v being float32 here.
    """
    weights = _attention_weights(q, k, scale or q.shape[2] ** -0.5, cap, window)
    weights /= weights.sum(axis=2, keepdims=True)
    values = np.repeat(v, q.shape[1] // v.shape[1], axis=1).astype(np.float64)
    result: Floats = np.einsum("hrp,phd->rhd", weights, values).astype(np.float32)
    return result


def attention_to_bytes(
    q: Floats, k: Floats, v: Floats, *, scale: float, cap: float, window: int, most: int
) -> Floats:
    """As `attention`, with everything that is multiplied rounded to 8 bits.

    Queries and keys by 32 numbers, values by position and head (the logarithm of their scale is the
    kernel's own: its last bit decides which float16 it becomes), and weights times the scales of
    their values by 32 positions, to at most `most` (see kernels.byte_weights). Twin of
    kernels.byte_attention.attention_to_bytes.
    """
    groups = k.reshape(*k.shape[:2], -1, BLOCK)
    key_scales = (np.abs(groups).max(axis=3, keepdims=True) / np.float32(127)).astype(np.float16)
    widths = key_scales.astype(np.float32)
    keys = np.clip(np.rint(groups / np.where(widths > 0, widths, 1)), -127, 127) * widths
    largest = np.abs(v).max(axis=2, keepdims=True) * np.float32(1 / 127)
    exponents = np.vectorize(logarithm, otypes=[np.float32])(largest).astype(np.float16)
    widths = np.exp2(exponents.astype(np.float64))
    values = np.clip(np.rint(v / widths), -127, 127)

    quants, scales = quantize_activations(q.reshape(-1, q.shape[2]) * np.float32(scale))
    rounded = (quants * scales[:, :, None]).reshape(q.shape).astype(np.float32)
    group = q.shape[1] // v.shape[1]
    weights = _attention_weights(rounded, keys.reshape(k.shape), 1.0, cap, window)
    scaled = weights * np.repeat(widths[:, :, 0], group, axis=1).T[:, None]
    padded = np.pad(scaled, [(0, 0), (0, 0), (0, -scaled.shape[2] % BLOCK)])
    blocks = padded.reshape(*padded.shape[:2], -1, BLOCK)
    steps = blocks.max(axis=3, keepdims=True) / most
    counted = (np.rint(blocks / np.where(steps > 0, steps, 1)) * steps).reshape(padded.shape)
    sums = np.einsum("hrp,phd->rhd", counted[:, :, : len(v)], np.repeat(values, group, axis=1))
    result: Floats = (sums / weights.sum(axis=2).T[:, :, None]).astype(np.float32)
    return result


def _attention_weights(
    q: Floats, k: Floats, scale: float, cap: float, window: int | None
) -> NDArray[np.float64]:
    """exp(score - highest score) of each head, row and position, 0 for those not seen."""
    rows, heads, _ = q.shape
    positions, kv_heads, _ = k.shape
    keys = np.repeat(k, heads // kv_heads, axis=1).astype(np.float64)
    scores = np.einsum("rhd,phd->hrp", q, keys) * scale
    if cap:
        scores = cap * np.tanh(scores / cap)
    here, there = np.arange(positions - rows, positions)[:, None], np.arange(positions)[None, :]
    scores[:, (there > here) | (there <= here - (window or positions))] = -np.inf
    weights: NDArray[np.float64] = np.exp(scores - scores.max(axis=2, keepdims=True))
    return weights


def attention_within(q: Floats, k: Floats, v: Floats, lengths: Sequence[int]) -> Floats:
    """softmax(q · Kᵀ / √head_dim) · V of each text by itself; all float32 (rows, heads, head_dim).

    lengths: rows of each text. Twin of kernels.encoder.attend_within.
    """
    pieces, first = [], 0
    for rows in lengths:
        text = slice(first, first + rows)
        scores = np.einsum("rhd,phd->hrp", q[text], k[text]) / np.float32(np.sqrt(q.shape[2]))
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        pieces.append(np.einsum("hrp,phd->rhd", weights, v[text]))
        first += rows
    return np.concatenate(pieces)


def exact_gelu(x: Floats) -> Floats:
    """x · Φ(x), Φ the normal distribution (Hendrycks & Gimpel 2016).

    Twin of kernels.encoder.exact_gelu.
    """
    phi = [0.5 * (1 + math.erf(value / math.sqrt(2))) for value in x.ravel().tolist()]
    return x * np.array(phi, np.float32).reshape(x.shape)
