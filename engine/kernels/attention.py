"""Causal grouped-query attention over paged keys and values.

Rows of a step may belong to several sequences; each row finds its keys and values through the
block table of its own (see kernels.kv_layout). The cache stays in f16 and is widened in registers.

Positions are taken in parts with absolute boundaries. Every part gives a result of its own, and the
results are merged in order: so a token's attention is the same to the last bit however a prompt is
cut into steps and whoever computes its parts. Where there is less work than for all threads, the
parts of one head are spread over them (FlashDecoding, Dao et al. 2023) and who ends last merges.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK
from engine.kernels.attention_part import PART, Keys, Queries, quantize_queries
from engine.kernels.columns import COLUMNS, RECORD_BYTES, column_buffer_bytes
from engine.kernels.intrinsics import (
    addresses,
    atomic_add,
    atomic_store,
    bits_to_float,
    floats,
    integers,
)
from engine.kernels.kv_layout import BLOCK_TOKENS, BYTE
from engine.kernels.portable import attend_bytes, attend_numbers
from engine.kernels.program import POSITIONS, ROWS, SPAN_COUNT, SPANS, TABLES, claim
from engine.kernels.rotation import head_offset
from engine.kernels.softmax import LOWEST, merge

SHARED_BYTES = 1 << 20
"""Room for results of parts that threads hand to each other, unless one row needs more."""
ARRIVAL_BYTES = 1 << 14
"""Of counters of the parts that have been computed: an int64 for each span and kv head."""
_MOST_COLUMNS, _MOST_ROWS = 96, 32
"""Of a span: each key and value is read once for so many queries, whose sums stay in L2."""


def query_rows(heads: int, kv_heads: int) -> int:
    """Token positions that one piece of work covers at most: rows of a span."""
    return min(max(_MOST_COLUMNS * kv_heads // heads, 1), _MOST_ROWS)


def attention_scratch_bytes(heads: int, kv_heads: int, head_dim: int) -> int:
    """Bytes of scratch that a thread needs for `attention`."""
    columns = query_rows(heads, kv_heads) * (heads // kv_heads)
    quantized = column_buffer_bytes(columns, head_dim)
    weights = columns * (PART + 4 * PART // BLOCK) + 4 * PART
    # One column of scores more: see byte_panels.byte_multiplier.
    return columns * (3 * head_dim + 4) * 4 + (columns + 1) * PART * 4 + quantized + weights


def attention_shared_bytes(heads: int, head_dim: int, context: int) -> int:
    """Bytes, zero at first, that all threads of `attention` share."""
    of_a_row = (context + PART - 1) // PART * heads * (head_dim + 2) * 4
    return ARRIVAL_BYTES + max(SHARED_BYTES, of_a_row)


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
    scores: int  # (columns, PART)
    result: int  # of a part: sums (columns, dim) and states (columns, 2)
    whole: int  # of all parts: the same
    quantized: int  # see `attention_part.Queries`
    weights: int
    weight_scales: int
    value_scales: int
    arrivals: int  # int64 of each span and kv head: parts that have been computed
    shared: int  # results of parts
    room: int  # bytes there


@njit
def job(operands: Any, thread: int) -> Job:
    """Read the operands of `attention`."""
    heads, kv_heads, dim = operands[3], operands[4], operands[5]
    group = heads // kv_heads
    most = min(max(_MOST_COLUMNS * kv_heads // heads, 1), _MOST_ROWS) * group
    queries = operands[6] + thread * operands[7]
    scores = queries + 4 * most * dim
    result = scores + 4 * (most + 1) * PART
    quantized = result + 8 * most * (dim + 2)
    groups = (most + COLUMNS - 1) // COLUMNS * RECORD_BYTES
    weights = quantized + groups * (dim // BLOCK)
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
        result,
        result + 4 * most * (dim + 2),
        quantized,
        weights,
        weights + most * PART,
        weights + most * (PART + 4 * PART // BLOCK),
        operands[12],
        operands[12] + ARRIVAL_BYTES,
        operands[13] - ARRIVAL_BYTES,
    )


class Piece(NamedTuple):
    """Some parts of the positions that a span sees, for the query heads of one kv head."""

    span: int  # -1: there are no more
    kv: int
    start: int  # the first part that the span sees
    parts: int  # how many it sees
    first: int  # of those computed here,
    last: int  # and the one behind them
    shared: int  # address of the results of all parts, 0 if they are merged as they come


NO_PIECE = Piece(-1, 0, 0, 0, 0, 0, 0)


class Rows(NamedTuple):
    """The rows of a step."""

    spans: Any  # int32 (spans, 2)
    positions: Any  # int32 (rows,)
    tables: Any  # int64 (rows,)
    qkv: Any  # float32 (rows, heads + 2 kv_heads, dim)
    out: Any  # float32 (rows, heads, dim)


@njit
def rows_of(work: Job, operands: Any, step: Any) -> Rows:
    """Read the step."""
    rows, heads = step[ROWS], work.group * work.kv_heads
    return Rows(
        integers(step[SPANS], (step[SPAN_COUNT], 2)),
        integers(step[POSITIONS], rows),
        addresses(step[TABLES], rows),
        floats(operands[0], (rows, heads + 2 * work.kv_heads, work.dim)),
        floats(operands[1], (rows, heads, work.dim)),
    )


@njit
def seen_by(work: Job, rows: Rows, span: int) -> tuple[int, int, int]:
    """Rows of a span, the first part that they see, and how many parts."""
    position, here = int(rows.positions[rows.spans[span, 0]]), int(rows.spans[span, 1])
    start = max(0, position + 1 - work.window) // PART
    return here, start, (position + here - 1) // PART + 1 - start


@njit
def shares_parts(work: Job, rows: Rows) -> bool:
    """Whether there is room for the results of all parts of all spans."""
    if 8 * rows.spans.shape[0] * work.kv_heads > ARRIVAL_BYTES:
        return False
    total = 0
    for span in range(rows.spans.shape[0]):
        here, _, parts = seen_by(work, rows, span)
        total += parts * work.kv_heads * here * work.group * (work.dim + 2) * 4
    return total <= work.room


@njit
def shared_piece(work: Job, rows: Rows, index: int) -> Piece:
    """Piece `index` where each part is a piece."""
    address = work.shared
    for span in range(rows.spans.shape[0]):
        here, start, parts = seen_by(work, rows, span)
        size = here * work.group * (work.dim + 2) * 4
        if index < parts * work.kv_heads:
            kv, part = index // parts, start + index % parts
            return Piece(span, kv, start, parts, part, part + 1, address + kv * parts * size)
        index -= parts * work.kv_heads
        address += parts * work.kv_heads * size
    return NO_PIECE


@njit
def whole_piece(work: Job, rows: Rows, index: int) -> Piece:
    """Piece `index` where all parts of a span and kv head are one; the longest ones come first."""
    span = rows.spans.shape[0] - 1 - index // work.kv_heads
    if span < 0:
        return NO_PIECE
    _, start, parts = seen_by(work, rows, span)
    return Piece(span, index % work.kv_heads, start, parts, start, start + parts, 0)


@njit
def next_piece(work: Job, rows: Rows, share: bool, index: int) -> Piece:
    """Piece `index`; share: whether each part is one."""
    piece: Piece = whole_piece(work, rows, index)
    if share:
        piece = shared_piece(work, rows, index)
    return piece


@njit
def queries_of(work: Job, position: int, rows: int) -> Queries:
    """What attends: a piece's rows, from `position` on."""
    return Queries(
        work.queries,
        work.scores,
        rows * work.group,
        work.group,
        work.dim,
        position,
        rows,
        work.window,
        work.cap,
        work.size,
        work.quantized,
        work.weights,
        work.weight_scales,
        work.value_scales,
    )


@njit
def gather_queries(
    q: np.ndarray, first: int, heads: tuple[int, int], scale: np.float32, out: np.ndarray
) -> None:
    """Queries of rows from `first` on as columns, times `scale`.

    q: float32 (rows, all heads, head_dim); heads: the first one of the group and how many;
    out: float32 (columns, head_dim), the column of a row's head is row · group + head.
    """
    head, group = heads
    for c in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[c, i] = q[first + c // group, head + c % group, i] * scale


@njit
def scatter_results(
    whole: int, columns: int, first: int, heads: tuple[int, int], out: np.ndarray
) -> None:
    """Divide each column by its sum of weights and put it where it belongs in out.

    whole: address of a result; out: float32 (rows, heads, head_dim), of rows from `first` on.
    """
    head, group = heads
    dim = out.shape[2]
    sums, states = floats(whole, (columns, dim)), floats(whole + 4 * columns * dim, (columns, 2))
    for c in range(columns):
        inverse = np.float32(1.0) / states[c, 1]
        for i in range(dim):
            out[first + c // group, head + c % group, i] = sums[c, i] * inverse


@njit
def clear(result: int, columns: int, dim: int) -> None:
    """A result of no positions at all."""
    floats(result, columns * dim)[:] = np.float32(0.0)
    states = floats(result + 4 * columns * dim, (columns, 2))
    states[:, 0], states[:, 1] = LOWEST, np.float32(0.0)


@njit
def merge_result(result: int, whole: int, columns: int, dim: int) -> None:
    """`merge` of all columns; addresses of two results."""
    sums, states = floats(result, (columns, dim)), floats(result + 4 * columns * dim, (columns, 2))
    into, kept = floats(whole, (columns, dim)), floats(whole + 4 * columns * dim, (columns, 2))
    for c in range(columns):
        merge(sums[c], states[c], into[c], kept[c])


@njit
def keys_of(work: Job, rows: Rows, piece: Piece, part: int) -> Keys:
    """Where a piece has its keys of a part."""
    first, here = rows.spans[piece.span, 0], int(rows.spans[piece.span, 1])
    blocks = (int(rows.positions[first]) + here - 1) // BLOCK_TOKENS + 1
    start = part * (PART // BLOCK_TOKENS)
    offset = head_offset(work.layer, work.kv_heads, piece.kv, work.dim, work.size)
    return Keys(rows.tables[first] + 8 * start, blocks - start, offset)


@njit
def keys_after(work: Job, rows: Rows, piece: Piece, part: int, following: Piece) -> Keys:
    """Where those keys are that are read behind a part: the next one's, or the next piece's."""
    if part + 1 < piece.last or following.span < 0:
        keys: Keys = keys_of(work, rows, piece, min(part + 1, piece.last - 1))
    else:
        keys = keys_of(work, rows, following, following.first)
    return keys


@njit
def begin_piece(work: Job, rows: Rows, piece: Piece, before: Piece) -> Queries:
    """Put the queries of a piece into this thread's scratch, unless the piece that the thread had
    before was of the same."""
    first, here = int(rows.spans[piece.span, 0]), int(rows.spans[piece.span, 1])
    columns, heads = here * work.group, (piece.kv * work.group, work.group)
    queries: Queries = queries_of(work, int(rows.positions[first]), here)
    if before.span != piece.span or before.kv != piece.kv:
        out = floats(work.queries, (columns, work.dim))
        gather_queries(rows.qkv, first, heads, work.scale, out)
        if work.size == BYTE:
            quantize_queries(queries)
    if piece.shared == 0:
        clear(work.whole, columns, work.dim)
    return queries


@njit(inline="always")
def result_of(work: Job, piece: Piece, part: int, columns: int) -> int:
    """Where the result of a part belongs."""
    if piece.shared == 0:
        return work.result
    return piece.shared + (part - piece.start) * 4 * columns * (work.dim + 2)


@njit
def end_piece(work: Job, rows: Rows, piece: Piece, columns: int) -> None:
    """Of parts that are shared out, who computes the last one merges the results of all."""
    if piece.shared != 0:
        arrivals = work.arrivals + 8 * (piece.span * work.kv_heads + piece.kv)
        if atomic_add(arrivals, 1) < piece.parts - 1:
            return
        atomic_store(arrivals, 0)
        clear(work.whole, columns, work.dim)
        for part in range(piece.start, piece.start + piece.parts):
            merge_result(result_of(work, piece, part, columns), work.whole, columns, work.dim)
    heads = (piece.kv * work.group, work.group)
    scatter_results(work.whole, columns, int(rows.spans[piece.span, 0]), heads, rows.out)


def attention(operands: Any, step: Any, thread: int, threads: int) -> None:
    """out = softmax(scale · q · Kᵀ) · V, each row seeing its sequence up to itself.

    operands: address of qkv float32 (rows, (heads + 2 kv_heads) · head_dim), of out float32 (rows,
    heads · head_dim), layer, heads, kv_heads, head_dim, address of scratch, its bytes for a thread,
    bits of the float32 scale, of the float32 cap of scores (0: none), positions that a row sees,
    itself included, bytes of a number in the cache (2 or 4), address of what threads share, its
    bytes.

    A piece is claimed before the one before it is computed, so that its keys can be asked for.
    """
    work = job(operands, thread)
    rows = rows_of(work, operands, step)
    share = shares_parts(work, rows)
    piece, before = next_piece(work, rows, share, claim(operands)), NO_PIECE
    while piece.span >= 0:
        following = next_piece(work, rows, share, claim(operands))
        queries = begin_piece(work, rows, piece, before)
        for part in range(piece.first, piece.last):
            keys = keys_of(work, rows, piece, part)
            later = keys_after(work, rows, piece, part, following)
            result = result_of(work, piece, part, queries.columns)
            attend_numbers(queries, keys, later, part * PART, result)
            if piece.shared == 0:
                merge_result(result, work.whole, queries.columns, work.dim)
        end_piece(work, rows, piece, queries.columns)
        piece, before = following, piece


def attention_to_bytes(operands: Any, step: Any, thread: int, threads: int) -> None:
    """`attention` where a number in the cache has 1 byte; by itself, for the time to compile."""
    work = job(operands, thread)
    rows = rows_of(work, operands, step)
    share = shares_parts(work, rows)
    piece, before = next_piece(work, rows, share, claim(operands)), NO_PIECE
    while piece.span >= 0:
        following = next_piece(work, rows, share, claim(operands))
        queries = begin_piece(work, rows, piece, before)
        for part in range(piece.first, piece.last):
            keys = keys_of(work, rows, piece, part)
            later = keys_after(work, rows, piece, part, following)
            result = result_of(work, piece, part, queries.columns)
            attend_bytes(queries, keys, later, part * PART, result)
            if piece.shared == 0:
                merge_result(result, work.whole, queries.columns, work.dim)
        end_piece(work, rows, piece, queries.columns)
        piece, before = following, piece
