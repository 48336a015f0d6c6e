"""Causal grouped-query attention over paged keys and values.

Rows of a step may belong to several sequences; each row finds its keys and values through the
block table of its own (see kernels.kv_layout). The cache stays in f16 and is widened in registers.
How the work is divided: kernels.attention_pieces.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.attention_part import PART, Queries, result_bytes, result_bytes_of
from engine.kernels.attention_pieces import (
    NO_PIECE,
    Job,
    Piece,
    Rows,
    is_last,
    job,
    keys_after,
    keys_of,
    most_columns,
    next_piece,
    result_of,
    rows_of,
    shares_parts,
)
from engine.kernels.intrinsics import floats
from engine.kernels.portable import attend_numbers
from engine.kernels.program import claim
from engine.kernels.softmax import LOWEST, merge


def attention_scratch_bytes(heads: int, kv_heads: int, head_dim: int) -> int:
    """Bytes of scratch that a thread needs for `attention`."""
    columns = most_columns(heads, kv_heads)
    return 4 * columns * (head_dim + PART) + 2 * result_bytes(columns, head_dim)


class Scratch(NamedTuple):
    """Where a thread works; addresses are integers."""

    queries: int  # float32 (columns, dim)
    scores: int  # (columns, PART)
    result: int  # of a part: sums (columns, dim) and states (columns, 2)
    whole: int  # of all parts: the same


@njit
def scratch_of(work: Job) -> Scratch:
    """The scratch of a thread."""
    scores = work.scratch + 4 * work.most * work.dim
    result = scores + 4 * work.most * PART
    return Scratch(work.scratch, scores, result, result + result_bytes_of(work.most, work.dim))


@njit
def queries_of(work: Job, scratch: Scratch, position: int, rows: int) -> Queries:
    """What attends: a piece's rows, from `position` on."""
    return Queries(
        scratch.queries,
        scratch.scores,
        rows * work.group,
        work.group,
        work.dim,
        position,
        rows,
        work.window,
        work.cap,
        work.size,
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
def begin_piece(work: Job, rows: Rows, scratch: Scratch, piece: Piece, before: Piece) -> Queries:
    """Put the queries of a piece into this thread's scratch, unless the piece that the thread had
    before was of the same."""
    first, here = int(rows.spans[piece.span, 0]), int(rows.spans[piece.span, 1])
    columns, heads = here * work.group, (piece.kv * work.group, work.group)
    queries: Queries = queries_of(work, scratch, int(rows.positions[first]), here)
    if before.span != piece.span or before.kv != piece.kv:
        out = floats(scratch.queries, (columns, work.dim))
        gather_queries(rows.qkv, first, heads, work.scale, out)
    if piece.shared == 0:
        clear(scratch.whole, columns, work.dim)
    return queries


@njit
def end_piece(work: Job, rows: Rows, scratch: Scratch, piece: Piece, columns: int) -> None:
    """Of parts that are shared out, who computes the last one merges the results of all."""
    if piece.shared != 0:
        if not is_last(work, piece):
            return
        clear(scratch.whole, columns, work.dim)
        for part in range(piece.start, piece.start + piece.parts):
            result = result_of(work, piece, part, columns)
            merge_result(result, scratch.whole, columns, work.dim)
    heads = (piece.kv * work.group, work.group)
    scatter_results(scratch.whole, columns, int(rows.spans[piece.span, 0]), heads, rows.out)


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
    rows, scratch = rows_of(work, operands, step), scratch_of(work)
    share = shares_parts(work, rows)
    piece, before = next_piece(work, rows, share, claim(operands)), NO_PIECE
    while piece.span >= 0:
        following = next_piece(work, rows, share, claim(operands))
        queries = begin_piece(work, rows, scratch, piece, before)
        for part in range(piece.first, piece.last):
            keys = keys_of(work, rows, piece, part)
            later = keys_after(work, rows, piece, part, following)
            if piece.shared != 0:
                result = result_of(work, piece, part, queries.columns)
                attend_numbers(queries, keys, later, part * PART, result)
            else:
                attend_numbers(queries, keys, later, part * PART, scratch.result)
                merge_result(scratch.result, scratch.whole, queries.columns, work.dim)
        end_piece(work, rows, scratch, piece, queries.columns)
        piece, before = following, piece
