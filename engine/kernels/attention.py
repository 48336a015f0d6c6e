"""Rotary positions, the KV cache's layout, and causal grouped-query attention.

Cache of a layer, all float16: keys (kv_heads, capacity / 16, head_dim, 16), so that 16 positions
are one vector; values (kv_heads, capacity, head_dim). The cache stays in f16 and is widened in
registers.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.formats.packed import LANES
from engine.kernels.arithmetic import exponential, float_to_half
from engine.kernels.intrinsics import floats, halves
from engine.kernels.portable import multiply_panel
from engine.kernels.program import CAPACITY, KEYS, POSITION, ROWS, VALUES, claim, share

KEY_BLOCK = 128
"""Positions between two updates of the running softmax; boundaries are absolute, so that a
prompt gives the same logits however it is cut into steps."""
QUERY_ROWS = 8
"""Token positions that one piece of work covers."""
_LOWEST = np.float32(-1e30)


def attention_scratch_bytes(heads: int, kv_heads: int, head_dim: int) -> int:
    """Bytes of scratch that a thread needs for `attention`."""
    columns = (QUERY_ROWS * (heads // kv_heads) + 3) // 4 * 4
    return columns * (2 * head_dim + KEY_BLOCK + 2) * 4


@njit(inline="always")
def rotate(vector: np.ndarray, angles: np.ndarray) -> None:
    """Rotate adjacent pairs of float32 (head_dim,) in place; angles: (head_dim / 2, 2) cos and sin.

    RoPE (Su et al. 2021) in the order in which GGUF stores Llama's heads.
    """
    for i in range(angles.shape[0]):
        a, b = vector[2 * i], vector[2 * i + 1]
        vector[2 * i] = a * angles[i, 0] - b * angles[i, 1]
        vector[2 * i + 1] = a * angles[i, 1] + b * angles[i, 0]


def rope_store(operands: Any, step: Any, thread: int, threads: int) -> None:
    """Rotate queries in place, rotate keys, put keys and values into the cache.

    operands: address of qkv float32 (rows, (heads + 2 kv_heads) · head_dim), of the angles float32
    (context, head_dim / 2, 2), layer, heads, kv_heads, head_dim.
    """
    layer, heads, kv_heads, dim = operands[2], operands[3], operands[4], operands[5]
    rows, position, capacity = step[ROWS], step[POSITION], step[CAPACITY]
    qkv = floats(operands[0], (rows, heads + 2 * kv_heads, dim))
    angles = floats(operands[1], (capacity, dim // 2, 2))
    offset = 2 * layer * kv_heads * capacity * dim
    keys = halves(step[KEYS] + offset, (kv_heads, capacity // LANES, dim, LANES))
    values = halves(step[VALUES] + offset, (kv_heads, capacity, dim))
    first, last = share(rows * (heads + kv_heads), thread, threads)
    for item in range(first, last):
        row, head = item // (heads + kv_heads), item % (heads + kv_heads)
        rotate(qkv[row, head], angles[position + row])
        if head >= heads:
            p, kv = position + row, head - heads
            for i in range(dim):
                keys[kv, p // LANES, i, p % LANES] = float_to_half(qkv[row, head, i])
                values[kv, p, i] = float_to_half(qkv[row, head + kv_heads, i])


@njit
def largest(values: np.ndarray, count: int) -> np.float32:
    """The largest of the first `count` float32."""
    result = _LOWEST
    for i in range(count):
        result = max(result, values[i])
    return result


@njit(fastmath={"reassoc", "nsz"})
def total(values: np.ndarray, count: int) -> np.float32:
    """The sum of the first `count` float32."""
    result = np.float32(0.0)
    for i in range(count):
        result += values[i]
    return result


@njit
def softmax_update(
    scores: np.ndarray, visible: int, count: int, state: np.ndarray, out: np.ndarray
) -> None:
    """One step of the running softmax (Milakov & Gimelshein 2018) of one query.

    scores: float32 of `count` positions, becomes their weights (0 for those not `visible`); state:
    float32 (2,) highest score and sum of weights so far; out: float32 (head_dim,), rescaled to the
    new highest score.
    """
    if visible > 0:
        highest = max(state[0], largest(scores, visible))
        correction = exponential(state[0] - highest)
        for i in range(visible):
            scores[i] = exponential(scores[i] - highest)
        state[0] = highest
        state[1] = state[1] * correction + total(scores, visible)
        for i in range(out.size):
            out[i] *= correction
    for i in range(max(visible, 0), count):
        scores[i] = np.float32(0.0)


@njit
def gather_queries(
    q: np.ndarray, first: int, here: int, heads: tuple[int, int], out: np.ndarray
) -> None:
    """Queries of `here` rows from `first` on as columns, scaled by 1 / √head_dim; then zeros.

    q: float32 (rows, all heads, head_dim); heads: the first one of the group and how many;
    out: float32 (columns, head_dim), the column of a row's head is row · group + head.
    """
    head, group = heads
    dim = out.shape[1]
    scale = np.float32(1.0) / np.sqrt(np.float32(dim))
    for c in range(out.shape[0]):
        for i in range(dim):
            if c < here * group:
                out[c, i] = q[first + c // group, head + c % group, i] * scale
            else:
                out[c, i] = np.float32(0.0)


@njit
def scatter_results(
    sums: np.ndarray, states: np.ndarray, first: int, heads: tuple[int, int], out: np.ndarray
) -> None:
    """Divide each column by its sum of weights and put it where it belongs in out.

    sums: float32 (columns, head_dim); states: float32 (columns, 2); out: float32 (rows, heads,
    head_dim).
    """
    head, group = heads
    for c in range(sums.shape[0]):
        for i in range(sums.shape[1]):
            out[first + c // group, head + c % group, i] = sums[c, i] / states[c, 1]


def attention(operands: Any, step: Any, thread: int, threads: int) -> None:
    """out = softmax(q · Kᵀ / √head_dim) · V, each row seeing the cache up to itself.

    operands: address of qkv float32 (rows, (heads + 2 kv_heads) · head_dim), of out float32 (rows,
    heads · head_dim), layer, heads, kv_heads, head_dim, address of scratch, its bytes for a thread.

    A piece of work is 8 rows of the query heads that share a kv head: columns of a matrix product.
    """
    layer, heads, kv_heads, dim = operands[2], operands[3], operands[4], operands[5]
    rows, position, capacity = step[ROWS], step[POSITION], step[CAPACITY]
    qkv = floats(operands[0], (rows, heads + 2 * kv_heads, dim))
    out = floats(operands[1], (rows, heads, dim))
    group = heads // kv_heads
    most = (QUERY_ROWS * group + 3) // 4 * 4
    queries_at = operands[6] + thread * operands[7]
    scores_at = queries_at + 4 * most * dim
    sums_at = scores_at + 4 * most * KEY_BLOCK
    states_at = sums_at + 4 * most * dim
    pieces = (rows + QUERY_ROWS - 1) // QUERY_ROWS * kv_heads
    piece = claim(operands)
    while piece < pieces:
        first, kv = piece // kv_heads * QUERY_ROWS, piece % kv_heads
        here = min(QUERY_ROWS, rows - first)
        used = here * group
        columns = (used + 3) // 4 * 4
        scores, sums = floats(scores_at, (used, KEY_BLOCK)), floats(sums_at, (used, dim))
        states = floats(states_at, (used, 2))
        gather_queries(qkv, first, here, (kv * group, group), floats(queries_at, (columns, dim)))
        sums[:] = np.float32(0.0)
        states[:, 0], states[:, 1] = _LOWEST, np.float32(0.0)
        cache = 2 * (layer * kv_heads + kv) * capacity * dim
        end = position + first + here
        for base in range(0, end, KEY_BLOCK):
            count = min(KEY_BLOCK, end - base)
            keys = step[KEYS] + cache + 2 * base * dim
            values = step[VALUES] + cache + 2 * base * dim
            for p in range(0, count, LANES):
                a, c = keys + 2 * p * dim, scores_at + 4 * p
                multiply_panel(a, 2 * LANES, queries_at, 4 * dim, c, 4 * KEY_BLOCK, dim, columns, 0)
            for c in range(used):
                visible = min(count, position + first + c // group + 1 - base)
                softmax_update(scores[c], visible, count, states[c], sums[c])
            for i in range(0, dim, LANES):
                a, c = values + 2 * i, sums_at + 4 * i
                multiply_panel(a, 2 * dim, scores_at, 4 * KEY_BLOCK, c, 4 * dim, count, columns, 1)
        scatter_results(sums, states, first, (kv * group, group), out)
        piece = claim(operands)
