"""Feed-forward activations: an operation of `kernels.program`."""

from typing import Any

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK
from engine.kernels.arithmetic import hyperbolic_tangent, silu
from engine.kernels.columns import quantize_block
from engine.kernels.intrinsics import floats
from engine.kernels.program import ROWS, share

SILU, GELU, RELU, SQUARED_RELU, DOUBLE_RELU, PLAIN_RELU, PREDICTED_RELU = range(7)
"""How gate and up become one (see engine.architectures.family.Activation); the last one is
PLAIN_RELU where the gate is a guess of what will be positive: relu(up) where it is, else 0."""
_ZERO = np.float32(0.0)
_GELU_CUBIC, _GELU_SCALE = np.float32(0.044715), np.float32(0.7978845608028654)  # √(2 / π)


@njit(inline="always")
def gelu(x: np.float32) -> np.float32:
    """x · Φ(x) with the tanh approximation (Hendrycks & Gimpel 2016)."""
    inner = _GELU_SCALE * (x + _GELU_CUBIC * x * x * x)
    result: np.float32 = np.float32(0.5) * x * (np.float32(1.0) + hyperbolic_tangent(inner))
    return result


@njit
def activate_block(kind: int, gate: np.ndarray, up: np.ndarray) -> None:
    """gate = activation(gate, up) (Shazeer 2020); float32 (32,)."""
    if kind == SILU:
        for i in range(BLOCK):
            gate[i] = silu(gate[i]) * up[i]
    elif kind == GELU:
        for i in range(BLOCK):
            gate[i] = gelu(gate[i]) * up[i]
    elif kind == RELU:
        for i in range(BLOCK):
            gate[i] = max(gate[i], _ZERO) * up[i]
    elif kind == SQUARED_RELU:
        for i in range(BLOCK):
            positive = max(gate[i], _ZERO)
            gate[i] = positive * positive * up[i]
    elif kind == DOUBLE_RELU:
        for i in range(BLOCK):
            gate[i] = max(gate[i], _ZERO) * max(up[i], _ZERO)
    elif kind == PREDICTED_RELU:
        for i in range(BLOCK):
            gate[i] = max(up[i], _ZERO) if gate[i] > _ZERO else _ZERO
    else:
        for i in range(BLOCK):
            gate[i] = max(gate[i], _ZERO)


def activate_quantize(operands: Any, step: Any, part: int, parts: int) -> None:
    """gate = activation(gate, up), and columns = quantized gate.

    operands: address of float32 (rows · slots, 2 · ffn_dim), gate then up in each row, of the
    columns, ffn_dim, kind of activation, slots (rows of this for a row of the step).
    """
    rows, inputs, kind = step[ROWS] * operands[4], operands[2], operands[3]
    blocks = inputs // BLOCK
    both = floats(operands[0], (rows, 2, blocks, BLOCK))
    first, last = share(rows * blocks, part, parts)
    for item in range(first, last):
        row = item // blocks
        b = item - row * blocks
        gate = both[row, 0, b]
        activate_block(kind, gate, both[row, 1, b])
        address = operands[0] + 4 * BLOCK * (2 * blocks * row + b)
        quantize_block(address, operands[1], rows, row, b, blocks)
