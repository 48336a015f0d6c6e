"""What encoders need besides: positions of packed texts, attention both ways, BERT's activation.

Several texts lie one after the other in the rows of a step, without padding. Each is an operation
of `kernels.program`.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK, LANES
from engine.kernels.arithmetic import exponential
from engine.kernels.columns import quantize_block
from engine.kernels.heads import gather_keys, gather_values
from engine.kernels.intrinsics import bits_to_float, floats, integers
from engine.kernels.portable import multiply_panel
from engine.kernels.program import ROWS, claim, share
from engine.kernels.softmax import softmax_part

# Slots of the step that only these operations read.
POSITIONS = 13  # address of int32 (rows,): the position of each row in its text
SEQUENCES = 14  # texts in this step
STARTS = 15  # address of int32 (texts + 1,): the first row of each text, then the end

QUERY_ROWS = 16
"""Rows whose scores are computed together."""
_HALF_BYTES = 2
_FINITE = {"nnan", "ninf", "nsz", "contract"}
"""What LLVM may assume of loops with an exponential: nothing that changes the order of a sum. They
take two thirds of the time."""
_ONE, _HALF = np.float32(1.0), np.float32(0.5)
_NO_CAP = np.float32(0.0)
_ROOT_HALF = np.float32(0.7071067811865476)  # 1 / √2
# Abramowitz & Stegun, Handbook of Mathematical Functions, 7.1.26: erf within 1.5e-7.
_P = np.float32(0.3275911)
_A1, _A2, _A3 = np.float32(0.254829592), np.float32(-0.284496736), np.float32(1.421413741)
_A4, _A5 = np.float32(-1.453152027), np.float32(1.061405429)


def attention_scratch_bytes(rows: int, head_dim: int) -> int:
    """Bytes of scratch that a thread needs for `attend_within` of texts of up to `rows` rows."""
    width = _padded(rows)
    half_floats = 2 * width * head_dim  # keys, values
    single_floats = QUERY_ROWS * (2 * head_dim + width + 2)  # queries, sums, scores, states
    return _HALF_BYTES * half_floats + 4 * single_floats


def _padded(rows: int) -> int:
    return (rows + LANES - 1) // LANES * LANES


def add_positions_of_texts(operands: Any, step: Any, thread: int, threads: int) -> None:
    """x[row] += table[position of the row in its text].

    operands: address of the table float32 (positions, dim), of x float32 (rows, dim), dim.
    """
    rows, dim = step[ROWS], operands[2]
    positions = integers(step[POSITIONS], rows)
    first, last = share(rows, thread, threads)
    for row in range(first, last):
        entry = floats(operands[0] + 4 * positions[row] * dim, dim)
        x = floats(operands[1] + 4 * row * dim, dim)
        for i in range(dim):
            x[i] += entry[i]


def attend_within(operands: Any, step: Any, thread: int, threads: int) -> None:
    """out = softmax(scale · q · Kᵀ) · V, each row seeing all rows of its text and no others.

    operands: address of qkv float32 (rows, 3, heads, head_dim), of out float32 (rows, heads,
    head_dim), heads, head_dim (a multiple of 16), address of scratch, its bytes for a thread, bits
    of the float32 scale. A piece of work is one head of one text.
    """
    heads, dim = operands[2], operands[3]
    scale = bits_to_float(np.int32(operands[6]))
    qkv = floats(operands[0], (step[ROWS], 3, heads, dim))
    out = floats(operands[1], (step[ROWS], heads, dim))
    starts = integers(step[STARTS], step[SEQUENCES] + 1)
    keys_at = operands[4] + thread * operands[5]
    piece = claim(operands)
    while piece < step[SEQUENCES] * heads:
        head, first = piece % heads, starts[piece // heads]
        rows = starts[piece // heads + 1] - first
        panels = (rows + LANES - 1) // LANES
        width = panels * LANES
        values_at = keys_at + _HALF_BYTES * width * dim
        queries_at = values_at + _HALF_BYTES * width * dim
        sums_at = queries_at + 4 * QUERY_ROWS * dim
        scores_at = sums_at + 4 * QUERY_ROWS * dim
        stride, each = 4 * 3 * heads * dim, 4 * heads * dim
        query_at = operands[0] + first * stride + 4 * head * dim
        gather_keys(query_at + each, stride, rows, width, dim, keys_at)
        gather_values(query_at + 2 * each, stride, rows, dim, values_at)
        queries, sums = floats(queries_at, (QUERY_ROWS, dim)), floats(sums_at, (QUERY_ROWS, dim))
        states_at = scores_at + 4 * QUERY_ROWS * width
        states = floats(states_at, (QUERY_ROWS, 2))  # the highest score, the sum of weights
        for start in range(0, rows, QUERY_ROWS):
            here = min(QUERY_ROWS, rows - start)
            columns = (here + 3) // 4 * 4
            queries[here:columns] = np.float32(0.0)
            for r in range(here):
                for i in range(dim):
                    queries[r, i] = qkv[first + start + r, 0, head, i] * scale
            a, b, c, apart = keys_at, queries_at, scores_at, _HALF_BYTES * width
            multiply_panel(a, apart, b, 4 * dim, c, 4 * width, dim, columns, panels, 0, 0)
            for r in range(here):
                softmax_part(scores_at + 4 * r * width, panels, 0, rows, _NO_CAP, states_at + 8 * r)
            a, b, c, apart = values_at, scores_at, sums_at, _HALF_BYTES * dim
            wide = dim // LANES
            multiply_panel(a, apart, b, 4 * width, c, 4 * dim, rows, columns, wide, 0, 0)
            for r in range(here):
                for i in range(dim):
                    out[first + start + r, head, i] = sums[r, i] * (_ONE / states[r, 1])
        piece = claim(operands)


@njit(inline="always")
def exact_gelu(x: np.float32) -> np.float32:
    """x · Φ(x) (Hendrycks & Gimpel 2016), Φ through erf as BERT has it, not through tanh."""
    z = abs(x) * _ROOT_HALF
    t = _ONE / (_ONE + _P * z)
    tail = t * (_A1 + t * (_A2 + t * (_A3 + t * (_A4 + t * _A5)))) * exponential(-z * z)
    erf = np.copysign(_ONE - tail, x)
    result: np.float32 = _HALF * x * (_ONE + erf)
    return result


@njit(fastmath=_FINITE)
def add_and_activate(x: np.ndarray, bias: np.ndarray) -> None:
    """x = gelu(x + bias); float32 (width,)."""
    for i in range(x.size):
        x[i] = exact_gelu(x[i] + bias[i])


def gelu_quantize(operands: Any, step: Any, thread: int, threads: int) -> None:
    """x = gelu(x + bias), and columns = quantized x.

    operands: address of x float32 (rows, width), of the bias float32 (width,), of the columns,
    width.
    """
    rows, width = step[ROWS], operands[3]
    blocks = width // BLOCK
    bias = floats(operands[1], width)
    first, last = share(rows, thread, threads)
    for row in range(first, last):
        address = operands[0] + 4 * row * width
        add_and_activate(floats(address, width), bias)
        for b in range(blocks):
            quantize_block(address + 4 * b * BLOCK, operands[2], rows, row, b, blocks)
