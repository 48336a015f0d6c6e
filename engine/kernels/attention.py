"""Rotary positions, and causal grouped-query attention over paged keys and values.

Rows of a step may belong to several sequences; each row finds its keys and values through the
block table of its own (see kernels.kv_layout). The cache stays in f16 and is widened in registers.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.formats.packed import LANES
from engine.kernels.arithmetic import exponential, float_to_half, hyperbolic_tangent
from engine.kernels.floating import float_panel
from engine.kernels.intrinsics import (
    addresses,
    bits_to_float,
    floats,
    halves,
    integers,
    prefetch,
)
from engine.kernels.kv_layout import BLOCK_TOKENS
from engine.kernels.portable import multiply_panel
from engine.kernels.program import POSITIONS, ROWS, SPAN_COUNT, SPANS, TABLES, claim, share

KEY_BLOCK = 128
"""Positions between two updates of the running softmax; boundaries are absolute, so that a
prompt gives the same logits however it is cut into steps."""
QUERY_ROWS = 8
"""Token positions that one piece of work covers at most: rows of a span."""
HALF_BYTES, FLOAT_BYTES = 2, 4
"""Of a number in the cache."""
_LOWEST = np.float32(-1e30)


def attention_scratch_bytes(heads: int, kv_heads: int, head_dim: int) -> int:
    """Bytes of scratch that a thread needs for `attention`."""
    columns = (QUERY_ROWS * (heads // kv_heads) + 3) // 4 * 4
    return columns * (2 * head_dim + KEY_BLOCK + 2) * 4


@njit(inline="always")
def rotate(vector: np.ndarray, angles: np.ndarray, halves_apart: int) -> None:
    """Rotate pairs of the first elements of float32 (head_dim,) in place (RoPE, Su et al. 2021).

    angles: (pairs, 2) cos and sin; a pair is 2i and 2i + 1, the order in which GGUF stores Llama's
    heads, or with `halves_apart` i and i + pairs.
    """
    pairs = angles.shape[0]
    apart, near = (pairs, 1) if halves_apart != 0 else (1, 2)
    for i in range(pairs):
        a, b = vector[near * i], vector[near * i + apart]
        vector[near * i] = a * angles[i, 0] - b * angles[i, 1]
        vector[near * i + apart] = a * angles[i, 1] + b * angles[i, 0]


@njit
def store_halves(
    qkv: np.ndarray, head: int, kv_heads: int, keys: np.ndarray, values: np.ndarray, p: int
) -> None:
    """Put key and value of a head into a block, as its position p.

    qkv: float32 (all heads, head_dim), head: of the key; keys, values: of the head in the block, as
    float16 bits.
    """
    for i in range(qkv.shape[1]):
        keys[p // LANES, i, p % LANES] = float_to_half(qkv[head, i])
        values[p, i] = float_to_half(qkv[head + kv_heads, i])


@njit
def store_floats(
    qkv: np.ndarray, head: int, kv_heads: int, keys: np.ndarray, values: np.ndarray, p: int
) -> None:
    """As `store_halves`, in a block of float32."""
    for i in range(qkv.shape[1]):
        keys[p // LANES, i, p % LANES] = qkv[head, i]
        values[p, i] = qkv[head + kv_heads, i]


@njit(inline="always")
def head_offset(layer: int, kv_heads: int, head: int, dim: int, size: int) -> int:
    """Bytes from the beginning of a block to the keys of a head (see kernels.kv_layout)."""
    return 2 * size * BLOCK_TOKENS * dim * (layer * kv_heads + head)


def rope_store(operands: Any, step: Any, thread: int, threads: int) -> None:
    """Rotate queries in place, rotate keys, put keys and values into their blocks.

    operands: address of qkv float32 (rows, (heads + 2 kv_heads) · head_dim), of the int64 address
    of the angles float32 (positions, pairs, 2), layer, heads, kv_heads, head_dim, pairs that are
    rotated in a head, whether those are halves apart, bytes of a number in the cache.
    """
    layer, heads, kv_heads, dim = operands[2], operands[3], operands[4], operands[5]
    pairs, halves_apart, size = operands[6], operands[7], operands[8]
    rows, angles = step[ROWS], addresses(operands[1], 1)[0]
    positions, tables = integers(step[POSITIONS], rows), addresses(step[TABLES], rows)
    qkv = floats(operands[0], (rows, heads + 2 * kv_heads, dim))
    shape = (BLOCK_TOKENS // LANES, dim, LANES)
    first, last = share(rows * (heads + kv_heads), thread, threads)
    for item in range(first, last):
        row, head = item // (heads + kv_heads), item % (heads + kv_heads)
        p = positions[row]
        rotate(qkv[row, head], floats(angles + 8 * p * pairs, (pairs, 2)), halves_apart)
        if head >= heads:
            block = addresses(tables[row], p // BLOCK_TOKENS + 1)[p // BLOCK_TOKENS]
            key = block + head_offset(layer, kv_heads, head - heads, dim, size)
            value = key + size * BLOCK_TOKENS * dim
            slot = p % BLOCK_TOKENS
            if size == HALF_BYTES:
                values = halves(value, (BLOCK_TOKENS, dim))
                store_halves(qkv[row], head, kv_heads, halves(key, shape), values, slot)
            else:
                values = floats(value, (BLOCK_TOKENS, dim))
                store_floats(qkv[row], head, kv_heads, floats(key, shape), values, slot)


@njit(fastmath={"nnan", "nsz", "reassoc"})
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
def soft_cap(scores: np.ndarray, hidden: int, visible: int, cap: np.float32) -> None:
    """scores = cap · tanh(scores / cap), for those from `hidden` to `visible`."""
    for i in range(hidden, visible):
        scores[i] = cap * hyperbolic_tangent(scores[i] / cap)


@njit
def softmax_update(
    scores: np.ndarray, hidden: int, visible: int, state: np.ndarray, out: np.ndarray
) -> None:
    """One step of the running softmax (Milakov & Gimelshein 2018) of one query.

    scores: float32, become their weights, 0 for those before `hidden` and from `visible` on; state:
    float32 (2,) highest score and sum of weights so far; out: float32 (head_dim,), rescaled to the
    new highest score.
    """
    if visible > hidden:
        seen = scores[hidden:visible]
        highest = max(state[0], largest(seen, seen.size))
        correction = exponential(state[0] - highest)
        for i in range(seen.size):
            seen[i] = exponential(seen[i] - highest)
        state[0] = highest
        state[1] = state[1] * correction + total(seen, seen.size)
        for i in range(out.size):
            out[i] *= correction
    for i in range(min(hidden, scores.size)):
        scores[i] = np.float32(0.0)
    for i in range(max(visible, 0), scores.size):
        scores[i] = np.float32(0.0)


@njit
def gather_queries(
    q: np.ndarray,
    first: int,
    here: int,
    heads: tuple[int, int],
    scale: np.float32,
    out: np.ndarray,
) -> None:
    """Queries of `here` rows from `first` on as columns, times `scale`; then zeros.

    q: float32 (rows, all heads, head_dim); heads: the first one of the group and how many;
    out: float32 (columns, head_dim), the column of a row's head is row · group + head.
    """
    head, group = heads
    dim = out.shape[1]
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


@njit
def softmax_rows(
    scores: np.ndarray,
    states: np.ndarray,
    sums: np.ndarray,
    count: int,
    seen: int,
    group: int,
    window: int,
    cap: np.float32,
) -> None:
    """`softmax_update` of all columns, for one run of positions.

    scores: float32 (columns, KEY_BLOCK), of which `count` are used; states, sums: as
    `softmax_update`, one a column; seen: of these positions, those up to the first row itself;
    group: columns of a row; window, cap: see `attention`.
    """
    for c in range(scores.shape[0]):
        visible = seen + c // group
        hidden, visible = max(0, visible - window), min(count, visible)
        if cap > np.float32(0.0):
            soft_cap(scores[c], hidden, visible, cap)
        softmax_update(scores[c, :count], hidden, visible, states[c], sums[c])


class Job(NamedTuple):
    """What `attention` is told; addresses are integers."""

    layer: int
    kv_heads: int
    group: int  # query heads that share a kv head
    dim: int  # of a head
    scale: np.float32
    cap: np.float32
    window: int
    size: int  # bytes of a number in the cache
    queries: int  # of this thread's scratch: float32 (columns, dim)
    scores: int  # (columns, KEY_BLOCK)
    sums: int  # (columns, dim)
    states: int  # (columns, 2)


@njit
def job(operands: Any, thread: int) -> Job:
    """Read the operands of `attention`."""
    kv_heads, dim = operands[4], operands[5]
    group = operands[3] // kv_heads
    most = (QUERY_ROWS * group + 3) // 4 * 4
    queries = operands[6] + thread * operands[7]
    scores = queries + 4 * most * dim
    sums = scores + 4 * most * KEY_BLOCK
    return Job(
        operands[2],
        kv_heads,
        group,
        dim,
        bits_to_float(np.int32(operands[8])),
        bits_to_float(np.int32(operands[9])),
        operands[10],
        operands[11],
        queries,
        scores,
        sums,
        sums + 4 * most * dim,
    )


def attention(operands: Any, step: Any, thread: int, threads: int) -> None:
    """out = softmax(scale · q · Kᵀ) · V, each row seeing its sequence up to itself.

    operands: address of qkv float32 (rows, (heads + 2 kv_heads) · head_dim), of out float32 (rows,
    heads · head_dim), layer, heads, kv_heads, head_dim, address of scratch, its bytes for a thread,
    bits of the float32 scale, of the float32 cap of scores (0: none), positions that a row sees,
    itself included, bytes of a number in the cache.

    A piece of work is a span of rows and the query heads that share a kv head: columns of a matrix
    product. Values are asked for while keys are multiplied, and the next keys while values are: at
    1 024 positions a token takes 1.4 ms instead of 2.5 (SmolLM2, one thread).
    """
    work, rows = job(operands, thread), step[ROWS]
    group, dim, size = work.group, work.dim, work.size
    spans = integers(step[SPANS], (step[SPAN_COUNT], 2))
    positions, tables = integers(step[POSITIONS], rows), addresses(step[TABLES], rows)
    qkv = floats(operands[0], (rows, (group + 2) * work.kv_heads, dim))
    out = floats(operands[1], (rows, group * work.kv_heads, dim))
    piece = claim(operands)
    while piece < spans.shape[0] * work.kv_heads:
        first, here = int(spans[piece // work.kv_heads, 0]), int(spans[piece // work.kv_heads, 1])
        kv, position = piece % work.kv_heads, int(positions[first])
        used = here * group
        columns = (used + 3) // 4 * 4
        heads = (kv * group, group)
        queries = floats(work.queries, (columns, dim))
        gather_queries(qkv, first, here, heads, work.scale, queries)
        scores = floats(work.scores, (used, KEY_BLOCK))
        sums, states = floats(work.sums, (used, dim)), floats(work.states, (used, 2))
        sums[:], states[:, 0], states[:, 1] = np.float32(0.0), _LOWEST, np.float32(0.0)
        offset = head_offset(work.layer, work.kv_heads, kv, dim, size)
        end, half = position + here, size * BLOCK_TOKENS * dim
        blocks = addresses(tables[first], (end + BLOCK_TOKENS - 1) // BLOCK_TOKENS)
        start = max(0, position + 1 - work.window) // KEY_BLOCK * KEY_BLOCK
        for base in range(start, end, KEY_BLOCK):
            count = min(KEY_BLOCK, end - base)
            for p in range(0, count, LANES):
                block = blocks[(base + p) // BLOCK_TOKENS] + offset
                a, b, c = block + size * (p % BLOCK_TOKENS) * dim, work.queries, work.scores + 4 * p
                prefetch(a + half, size * LANES * dim)
                if size == HALF_BYTES:
                    multiply_panel(a, 2 * LANES, b, 4 * dim, c, 4 * KEY_BLOCK, dim, columns, 1, 0)
                else:
                    float_panel(a, 4 * LANES, b, 4 * dim, c, 4 * KEY_BLOCK, dim, columns, 1, 0)
            seen = position + 1 - base
            softmax_rows(scores, states, sums, count, seen, group, work.window, work.cap)
            for p in range(0, count, BLOCK_TOKENS):
                later = min((base + p + KEY_BLOCK) // BLOCK_TOKENS, blocks.size - 1)
                prefetch(blocks[later] + offset, half)
                a = blocks[(base + p) // BLOCK_TOKENS] + offset + half
                b, c, near = work.scores + 4 * p, work.sums, 4 * KEY_BLOCK
                depth, wide = min(BLOCK_TOKENS, count - p), dim // LANES
                if size == HALF_BYTES:
                    multiply_panel(a, 2 * dim, b, near, c, 4 * dim, depth, columns, wide, 1)
                else:
                    float_panel(a, 4 * dim, b, near, c, 4 * dim, depth, columns, wide, 1)
        scatter_results(sums, states, first, heads, out)
        piece = claim(operands)
