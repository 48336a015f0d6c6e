"""Attention where a number in the cache has 1 byte: queries and weights become bytes as well.

Divided as `kernels.attention` is. A kernel by itself, for the time to compile.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK, LANES
from engine.kernels.arithmetic import LOG2E
from engine.kernels.attention_part import PART, result_bytes, result_bytes_of
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
from engine.kernels.byte_part import ByteQueries, integer_power, padded
from engine.kernels.columns import (
    COLUMNS,
    RECORD_BYTES,
    column_buffer_bytes,
    quantize_row,
)
from engine.kernels.intrinsics import float_to_bits, floats
from engine.kernels.kv_layout import BLOCK_TOKENS
from engine.kernels.portable import attend_bytes
from engine.kernels.program import claim
from engine.kernels.softmax import LOWEST

_BLOCKS = PART // BLOCK_TOKENS
padded_columns = njit(padded)


def byte_scratch_bytes(heads: int, kv_heads: int, head_dim: int) -> int:
    """Bytes of scratch that a thread needs for `attention_to_bytes`."""
    columns = most_columns(heads, kv_heads)
    quantized = column_buffer_bytes(columns, head_dim)
    of_parts = 2 * result_bytes(columns, head_dim) + 8 * PART
    return (
        quantized
        + (columns + 1) * PART
        + 4 * ((1 + LANES) * _BLOCKS + BLOCK_TOKENS + 2) * padded(columns)
        + of_parts
    )


class Scratch(NamedTuple):
    """Where a thread works; addresses are integers."""

    quantized: int  # the queries as columns (see kernels.columns)
    weights: int  # uint8 (columns + 1, PART)
    exponents: int  # float32 (2, PART): of scales of values, and 1 / scales
    scores: int  # float32 (columns padded, BLOCK_TOKENS): exponents of weights
    bases: int  # float32 (blocks of a part, columns padded): exponents of bytes
    sums: int  # float32 (blocks of a part, columns padded, 16): lanes of sums of weights
    highest: int  # float32 (columns padded): exponents of a part
    totals: int  # the same: its sums of weights
    result: int  # of a part: sums of values (columns, dim) and states (columns, 2)
    whole: int  # of all parts: the same


@njit
def scratch_of(work: Job) -> Scratch:
    """The scratch of a thread."""
    columns, wide = work.most, 4 * padded_columns(work.most)
    quantized = (columns + COLUMNS - 1) // COLUMNS * (work.dim // BLOCK) * RECORD_BYTES
    weights = work.scratch + quantized
    exponents = weights + (columns + 1) * PART
    scores = exponents + 8 * PART
    bases = scores + BLOCK_TOKENS * wide
    sums = bases + _BLOCKS * wide
    highest = sums + LANES * _BLOCKS * wide
    totals = highest + wide
    result = totals + wide
    whole = result + result_bytes_of(columns, work.dim)
    return Scratch(
        work.scratch,
        weights,
        exponents,
        scores,
        bases,
        sums,
        highest,
        totals,
        result,
        whole,
    )


@njit
def queries_of(work: Job, scratch: Scratch, position: int, rows: int) -> ByteQueries:
    """What attends: a piece's rows, from `position` on."""
    return ByteQueries(
        rows * work.group,
        work.group,
        work.dim,
        position,
        rows,
        work.window,
        int(float_to_bits(work.scale * LOG2E)),
        int(float_to_bits(work.cap)),
        scratch.quantized,
        scratch.weights,
        scratch.exponents,
        scratch.scores,
        scratch.bases,
        scratch.sums,
        scratch.highest,
        scratch.totals,
    )


@njit
def begin_piece(
    work: Job, rows: Rows, scratch: Scratch, piece: Piece, before: Piece
) -> ByteQueries:
    """Quantize the queries of a piece into this thread's scratch, unless the piece that the thread
    had before was of the same."""
    first, here = int(rows.spans[piece.span, 0]), int(rows.spans[piece.span, 1])
    columns, head = here * work.group, piece.kv * work.group
    queries: ByteQueries = queries_of(work, scratch, int(rows.positions[first]), here)
    if before.span != piece.span or before.kv != piece.kv:
        start, wide = rows.qkv.ctypes.data, 4 * work.dim
        for column in range(columns):
            row, of_row = first + column // work.group, head + column % work.group
            query = start + wide * (row * rows.qkv.shape[1] + of_row)
            quantize_row(query, scratch.quantized, COLUMNS, column, work.dim // BLOCK)
    if piece.shared == 0:
        clear(scratch.whole, columns, work.dim)
    return queries


@njit
def clear(result: int, columns: int, dim: int) -> None:
    """A result of no positions at all."""
    floats(result, columns * dim)[:] = np.float32(0.0)
    states = floats(result + 4 * columns * dim, (columns, 2))
    states[:, 0], states[:, 1] = LOWEST, np.float32(0.0)


@njit
def add_part(result: int, whole: int, columns: int, dim: int) -> None:
    """Add a part to a whole, addresses of two results: only sums are rounded."""
    sums, states = (
        floats(result, (columns, dim)),
        floats(result + 4 * columns * dim, (columns, 2)),
    )
    into, kept = (
        floats(whole, (columns, dim)),
        floats(whole + 4 * columns * dim, (columns, 2)),
    )
    for c in range(columns):
        highest = max(states[c, 0], kept[c, 0])
        before, now = (
            integer_power(kept[c, 0] - highest),
            integer_power(states[c, 0] - highest),
        )
        for i in range(dim):
            into[c, i] = into[c, i] * before + sums[c, i] * now
        kept[c, 0] = highest
        kept[c, 1] = kept[c, 1] * before + states[c, 1] * now


@njit
def put_whole(whole: int, columns: int, first: int, heads: tuple[int, int], out: Any) -> None:
    """Divide each column by its sum of weights and put it where it belongs in out.

    whole: address of a result; out: float32 (rows, heads, head_dim), of rows from `first` on.
    """
    head, group = heads
    dim = out.shape[2]
    sums, states = (
        floats(whole, (columns, dim)),
        floats(whole + 4 * columns * dim, (columns, 2)),
    )
    for c in range(columns):
        inverse = np.float32(1.0) / states[c, 1]
        for i in range(dim):
            out[first + c // group, head + c % group, i] = sums[c, i] * inverse


@njit
def put_parts(
    results: int, parts: int, columns: int, first: int, heads: tuple[int, int], out: Any
) -> None:
    """As `put_whole`, of results that follow each other: what `add_part` makes of them in turn."""
    head, group = heads
    dim = out.shape[2]
    size, behind = result_bytes_of(columns, dim), 4 * columns * dim
    for c in range(columns):
        highest, weight = LOWEST, np.float32(0.0)
        for part in range(parts):
            highest = max(highest, floats(results + size * part + behind, (columns, 2))[c, 0])
        total = out[first + c // group, head + c % group]
        total[:] = np.float32(0.0)
        for part in range(parts):
            state = floats(results + size * part + behind, (columns, 2))[c]
            factor = integer_power(state[0] - highest)
            weight += state[1] * factor
            sums = floats(results + size * part + 4 * dim * c, dim)
            for i in range(dim):
                total[i] += sums[i] * factor
        inverse = np.float32(1.0) / weight
        for i in range(dim):
            total[i] *= inverse


@njit
def end_piece(work: Job, rows: Rows, scratch: Scratch, piece: Piece, columns: int) -> None:
    """Of parts that are shared out, who computes the last one merges the results of all."""
    first, heads = int(rows.spans[piece.span, 0]), (piece.kv * work.group, work.group)
    if piece.shared == 0:
        put_whole(scratch.whole, columns, first, heads, rows.out)
    elif is_last(work, piece):
        put_parts(piece.shared, piece.parts, columns, first, heads, rows.out)


def attention_to_bytes(operands: Any, step: Any, thread: int, threads: int) -> None:
    """`attention`, with the same operands, where a number in the cache has 1 byte."""
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
            whole = piece.shared == 0
            result = scratch.result if whole else result_of(work, piece, part, queries.columns)
            attend_bytes(queries, keys, later, part * PART, result)
            if whole:
                add_part(result, scratch.whole, queries.columns, work.dim)
        end_piece(work, rows, scratch, piece, queries.columns)
        piece, before = following, piece
