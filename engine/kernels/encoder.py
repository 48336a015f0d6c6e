"""What encoders need besides: positions of packed texts, attention both ways, BERT's activation.

Several texts lie one after the other in the rows of a step, without padding. Each is an operation
of `kernels.program`.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK, LANES
from engine.kernels.arithmetic import exponential, float_to_half
from engine.kernels.columns import quantize_block
from engine.kernels.intrinsics import bits_to_float, float_to_bits, floats, halves, integers
from engine.kernels.portable import multiply_panel
from engine.kernels.program import ROWS, claim, share
from engine.kernels.softmax import total

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
_ROOT_HALF = np.float32(0.7071067811865476)  # 1 / √2
# Abramowitz & Stegun, Handbook of Mathematical Functions, 7.1.26: erf within 1.5e-7.
_P = np.float32(0.3275911)
_A1, _A2, _A3 = np.float32(0.254829592), np.float32(-0.284496736), np.float32(1.421413741)
_A4, _A5 = np.float32(-1.453152027), np.float32(1.061405429)


def attention_scratch_bytes(rows: int, head_dim: int) -> int:
    """Bytes of scratch that a thread needs for `attend_within` of texts of up to `rows` rows."""
    width = _padded(rows)
    half_floats = 2 * width * head_dim  # keys, values
    single_floats = QUERY_ROWS * (2 * head_dim + width + 1)  # queries, sums, scores, weights
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


@njit
def gather_keys(k: np.ndarray, keys: np.ndarray) -> None:
    """float32 (rows, dim) of one head → float16 bits (panels, dim, 16): 16 rows side by side.

    Rows past the end of the text are zeros.
    """
    rows = k.shape[0]
    for panel in range(keys.shape[0]):
        for i in range(keys.shape[1]):
            for lane in range(LANES):
                row = panel * LANES + lane
                keys[panel, i, lane] = float_to_half(k[row, i]) if row < rows else np.uint16(0)


@njit
def gather_values(v: np.ndarray, values: np.ndarray) -> None:
    """float32 (rows, dim) of one head → float16 bits (rows, dim)."""
    for row in range(v.shape[0]):
        for i in range(v.shape[1]):
            values[row, i] = float_to_half(v[row, i])


@njit(inline="always")
def ordered(bits: np.int32) -> np.int32:
    """float32 bits → an integer that orders as the floats do, and back again."""
    result: np.int32 = bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))
    return result


@njit
def highest_of(values: np.ndarray) -> np.float32:
    """The largest of float32 (n,), n ≥ 1.

    Through integers: their maximum becomes vector code, that of floats waits for one comparison
    after the other (a third of the time of a text of 256 tokens).
    """
    result = np.int32(-0x80000000)
    for i in range(values.size):
        result = max(result, ordered(float_to_bits(values[i])))
    highest: np.float32 = bits_to_float(ordered(result))
    return highest


@njit(fastmath=_FINITE)
def exponentials(scores: np.ndarray) -> np.float32:
    """scores = exp(scores - the highest); gives their sum. float32 (rows,)."""
    highest = highest_of(scores)
    for i in range(scores.size):
        scores[i] = exponential(scores[i] - highest)
    result: np.float32 = total(scores, scores.size)
    return result


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
        gather_keys(qkv[first : first + rows, 1, head], halves(keys_at, (panels, dim, LANES)))
        gather_values(qkv[first : first + rows, 2, head], halves(values_at, (rows, dim)))
        queries, sums = floats(queries_at, (QUERY_ROWS, dim)), floats(sums_at, (QUERY_ROWS, dim))
        weights = floats(scores_at + 4 * QUERY_ROWS * width, QUERY_ROWS)
        for start in range(0, rows, QUERY_ROWS):
            here = min(QUERY_ROWS, rows - start)
            columns = (here + 3) // 4 * 4
            queries[here:columns] = np.float32(0.0)
            for r in range(here):
                for i in range(dim):
                    queries[r, i] = qkv[first + start + r, 0, head, i] * scale
            for panel in range(panels):
                a, c = keys_at + panel * _HALF_BYTES * LANES * dim, scores_at + 4 * LANES * panel
                b = queries_at
                multiply_panel(
                    a, _HALF_BYTES * LANES, b, 4 * dim, c, 4 * width, dim, columns, 1, 0, 0
                )
            for r in range(here):
                weights[r] = exponentials(floats(scores_at + 4 * r * width, rows))
            a, b, c, wide = values_at, scores_at, sums_at, dim // LANES
            multiply_panel(
                a, _HALF_BYTES * dim, b, 4 * width, c, 4 * dim, rows, columns, wide, 0, 0
            )
            for r in range(here):
                for i in range(dim):
                    out[first + start + r, head, i] = sums[r, i] / weights[r]
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
