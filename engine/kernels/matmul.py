"""Matrix products: which share has which tiles and rows. The tiles are a path's."""

from typing import Any, NamedTuple

from numba import njit

from engine.formats.packed import BLOCK, LANES
from engine.kernels.columns import COLUMNS, RECORD_BYTES, own_columns
from engine.kernels.portable import multiply_row, multiply_tile
from engine.kernels.program import LOGITS, ROWS, claim
from engine.kernels.tiles import BLOCK_TILES, add_bias, share_tiles, size_of_tile

ROW_CHUNK = 64
"""Rows of x that all tiles meet before the next rows: their x and y stay in cache (twice as fast
as 256 at 960 x 576)."""
PIECE_TILES = 6
"""Tiles that a thread claims at once: 55 to 150 µs of work with ROW_CHUNK rows."""
LONG_BYTES = 1 << 22
"""A product of one row with more weights than this is claimed too,"""
LONG_PIECES = 16
"""in so many pieces."""


class Job(NamedTuple):
    """A product y (+)= x · Wᵀ + bias; addresses are integers."""

    bits: int
    weights: int  # address of the packed matrix
    x: int  # address of the quantized activations
    y: int  # address of float32 y[0, 0]
    stride: int  # floats from a row of y to the next
    add: int  # whether to add to y
    bias: int  # address of float32, 0 if there is none
    rows: int
    blocks: int  # of 32 inputs
    tile_bytes: int
    tiles: int  # of 16 outputs


@njit
def job(operands: Any, step: Any, part: int) -> Job:
    """Read the operands of a matrix product.

    operands: address of W (packed), of x (see kernels.columns), of y float32 (0: the step's
    logits); inputs; outputs (a multiple of 16); floats from a row of y to the next; whether to add
    to y; bits; whether each share has an x of its own if it is a single row; address of the bias
    float32 (outputs,), 0 if there is none.
    """
    y, blocks, bits, rows = operands[2], operands[3] // BLOCK, operands[7], step[ROWS]
    return Job(
        bits,
        operands[0],
        own_columns(operands[1], part if rows == 1 and operands[8] != 0 else 0, blocks),
        step[LOGITS] if y == 0 else y,
        operands[5],
        operands[6],
        operands[9],
        rows,
        blocks,
        size_of_tile(bits, blocks),
        operands[4] // LANES,
    )


@njit
def next_tiles(
    operands: Any, tiles: int, size: int, part: int, parts: int, before: int
) -> tuple[int, int]:
    """The [first, last) tiles that a share multiplies a single row with next, none at the end.

    size: bytes of a tile; before: where the last ones ended, 0 at first. A short product is over
    before claiming pieces would pay: each share then has its own tiles, whole blocks of outputs, so
    that what takes those as its inputs can follow without a barrier.
    """
    if tiles * size < LONG_BYTES:
        return share_tiles(tiles, part, parts) if before == 0 else (before, before)
    each = (tiles + LONG_PIECES - 1) // LONG_PIECES
    each += each % BLOCK_TILES  # whole blocks of outputs
    first = claim(operands) * each
    return min(first, tiles), min(first + each, tiles)


def matmul(operands: Any, step: Any, part: int, parts: int) -> None:
    """Operation: y (+)= x · Wᵀ + bias for the step's rows; operands as `job` says."""
    work = job(operands, step, part)
    if work.rows == 1:
        start, end = next_tiles(operands, work.tiles, work.tile_bytes, part, parts, 0)
        while start < end:
            weights, y = work.weights + start * work.tile_bytes, work.y + 4 * start * LANES
            multiply_row(work.bits, weights, end - start, work.blocks, work.x, y, work.add)
            add_bias(work.bias, work.y, work.stride, 1, start, end - start)
            start, end = next_tiles(operands, work.tiles, work.tile_bytes, part, parts, end)
        return
    across = (work.tiles + PIECE_TILES - 1) // PIECE_TILES
    pieces = across * ((work.rows + ROW_CHUNK - 1) // ROW_CHUNK)
    piece = claim(operands)
    while piece < pieces:
        start, row = piece % across * PIECE_TILES, piece // across * ROW_CHUNK
        end, until = min(start + PIECE_TILES, work.tiles), min(row + ROW_CHUNK, work.rows)
        for tile in range(start, end):
            weights = work.weights + tile * work.tile_bytes
            for r in range(row, until, COLUMNS):
                x = work.x + r // COLUMNS * work.blocks * RECORD_BYTES
                y = work.y + 4 * (r * work.stride + tile * LANES)
                here = min(COLUMNS, until - r)
                multiply_tile(work.bits, weights, work.blocks, x, y, work.stride, here, work.add)
        y = work.y + 4 * row * work.stride
        add_bias(work.bias, y, work.stride, until - row, start, end - start)
        piece = claim(operands)
