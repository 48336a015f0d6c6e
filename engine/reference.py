"""The NumPy twin of every kernel: what it computes, said plainly. The oracle of the tests.

Everything is float32 unless said otherwise; quantized inputs are quantized the same way.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.packed import BLOCK

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


def rms_norm(x: Floats, weight: Floats, epsilon: float) -> Floats:
    """weight · x / √(mean(x²) + ε) over the last axis. Twin of kernels.elementwise.rms_norm_row."""
    mean_square = np.mean(np.square(x, dtype=np.float64), axis=-1, keepdims=True)
    result: Floats = (x / np.sqrt(mean_square + epsilon) * weight).astype(np.float32)
    return result


def silu(x: Floats) -> Floats:
    """x · sigmoid(x)."""
    result: Floats = (x / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)
    return result


def swiglu(gate: Floats, up: Floats) -> Floats:
    """silu(gate) · up. Twin of kernels.elementwise.swiglu_block."""
    return silu(gate) * up


def rope(x: Floats, angles: Floats) -> Floats:
    """Rotate adjacent pairs of x (rows, heads, head_dim); angles (rows, head_dim / 2, 2): cos, sin.

    Twin of kernels.attention.rotate.
    """
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    cos, sin = angles[:, None, :, 0], angles[:, None, :, 1]
    a, b = pairs[..., 0], pairs[..., 1]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)


def attention(q: Floats, k: Floats, v: Floats) -> Floats:
    """Causal grouped-query attention; the last row of q is the last position of k and v.

    q (rows, heads, head_dim), k and v (positions, kv_heads, head_dim) → (rows, heads, head_dim).
    Twin of kernels.attention.attention, but for k and v being float32 here.
    """
    rows, heads, dim = q.shape
    positions, kv_heads, _ = k.shape
    keys = np.repeat(k, heads // kv_heads, axis=1).astype(np.float64)
    values = np.repeat(v, heads // kv_heads, axis=1).astype(np.float64)
    scores = np.einsum("rhd,phd->hrp", q, keys) / np.sqrt(dim)
    hidden = np.arange(positions)[None, :] > np.arange(positions - rows, positions)[:, None]
    scores[:, hidden] = -np.inf
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    result: Floats = np.einsum("hrp,phd->rhd", weights, values).astype(np.float32)
    return result
