"""How attention is divided: the parts of positions that threads take, and where their keys lie.

Positions are taken in parts with absolute boundaries. Every part gives a result of its own, and the
results are merged in order: so a token's attention is the same to the last bit however a prompt is
cut into steps and whoever computes its parts. Where there is less work than for all threads, the
parts of one head are spread over them (FlashDecoding, Dao et al. 2023) and who ends last merges.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.attention_part import PART, Keys, result_bytes, result_bytes_of
from engine.kernels.intrinsics import (
    addresses,
    atomic_add,
    atomic_store,
    bits_to_float,
    floats,
    integers,
)
from engine.kernels.kv_layout import BLOCK_TOKENS
from engine.kernels.program import POSITIONS, ROWS, SPAN_COUNT, SPANS, TABLES
from engine.kernels.rotation import head_offset

SHARED_BYTES = 1 << 21
"""Room for results of parts that threads hand to each other, unless one row needs more: for 30 rows
of SmolLM2 behind 5 000 positions. Without it two threads share three heads unevenly: behind 4 000
in 10.4 ms in place of 8.7."""
ARRIVAL_BYTES = 1 << 14
"""Of counters of the parts that have been computed: an int64 for each span and kv head."""
_MOST_COLUMNS, _MOST_ROWS = 96, 32
"""Of a span: each key and value is read once for so many queries, whose sums stay in L2."""


def query_rows(heads: int, kv_heads: int) -> int:
    """Token positions that one piece of work covers at most: rows of a span."""
    return min(max(_MOST_COLUMNS * kv_heads // heads, 1), _MOST_ROWS)


def most_columns(heads: int, kv_heads: int) -> int:
    """Queries that one piece of work covers at most."""
    return query_rows(heads, kv_heads) * (heads // kv_heads)


def attention_shared_bytes(heads: int, head_dim: int, context: int) -> int:
    """Bytes, zero at first, that all threads of attention share."""
    of_a_row = (context + PART - 1) // PART * heads * result_bytes(1, head_dim)
    return ARRIVAL_BYTES + max(SHARED_BYTES, of_a_row)


class Job(NamedTuple):
    """What attention is told; addresses are integers."""

    layer: int
    kv_heads: int
    group: int  # query heads that share a kv head
    dim: int  # of a head
    most: int  # columns of a piece
    scale: np.float32
    cap: np.float32
    window: int
    size: int  # bytes of a number in the cache
    scratch: int  # of this thread
    arrivals: int  # int64 of each span and kv head: parts that have been computed
    shared: int  # results of parts
    room: int  # bytes there


@njit
def job(operands: Any, thread: int) -> Job:
    """Read the operands of `attention`."""
    heads, kv_heads = operands[3], operands[4]
    group = heads // kv_heads
    return Job(
        operands[2],
        kv_heads,
        group,
        operands[5],
        min(max(_MOST_COLUMNS * kv_heads // heads, 1), _MOST_ROWS) * group,
        bits_to_float(np.int32(operands[8])),
        bits_to_float(np.int32(operands[9])),
        operands[10],
        operands[11],
        operands[6] + thread * operands[7],
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
        total += parts * work.kv_heads * result_bytes_of(here * work.group, work.dim)
    return total <= work.room


@njit
def shared_piece(work: Job, rows: Rows, index: int) -> Piece:
    """Piece `index` where each part is a piece."""
    address = work.shared
    for span in range(rows.spans.shape[0]):
        here, start, parts = seen_by(work, rows, span)
        size = result_bytes_of(here * work.group, work.dim)
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


@njit(inline="always")
def result_of(work: Job, piece: Piece, part: int, columns: int) -> int:
    """Where the result of a part that is shared belongs: sums float32 (columns, dim), then states
    float32 (columns, 2)."""
    offset: int = (part - piece.start) * result_bytes_of(columns, work.dim)
    return piece.shared + offset


@njit
def is_last(work: Job, piece: Piece) -> bool:
    """Whether all parts of a span and kv head have been computed with this one."""
    arrivals = work.arrivals + 8 * (piece.span * work.kv_heads + piece.kv)
    if atomic_add(arrivals, 1) < piece.parts - 1:
        return False
    atomic_store(arrivals, 0)
    return True
