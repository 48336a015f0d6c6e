"""Matrix products: which thread multiplies which tile with which rows. The tiles are a path's."""

from typing import Any, NamedTuple

from numba import njit

from engine.formats.packed import BLOCK, LANES, Q4_RECORD_BYTES, Q8_BLOCK_BYTES, SCALE_BYTES
from engine.kernels.columns import COLUMNS, RECORD_BYTES
from engine.kernels.portable import multiply_q4, multiply_q8
from engine.kernels.program import LOGITS, ROWS, claim

ROW_CHUNK = 64
"""Rows of x that all tiles meet before the next rows: their x and y stay in cache (twice as fast
as 256 at 960 x 576)."""


PIECE_TILES = 6
"""Tiles that a thread claims at once: 55 to 150 µs of work with ROW_CHUNK rows."""


class Job(NamedTuple):
    """A product y (+)= x · Wᵀ; addresses are integers."""

    bits: int  # 4 or 8
    weights: int  # address of the packed matrix
    x: int  # address of the quantized activations
    y: int  # address of float32 y[0, 0]
    stride: int  # floats from a row of y to the next
    add: int  # whether to add to y
    rows: int
    blocks: int  # of 32 inputs
    tile_bytes: int
    tiles: int  # of 16 outputs


@njit
def job(operands: Any, step: Any) -> Job:
    """Read the operands of a matrix product.

    operands: address of W (packed), of x (see kernels.columns), of y float32 (0: the step's
    logits); inputs; outputs (a multiple of 16); floats from a row of y to the next; whether to add
    to y; bits.
    """
    y, blocks, bits = operands[2], operands[3] // BLOCK, operands[7]
    if y == 0:
        y = step[LOGITS]
    size = blocks * Q4_RECORD_BYTES
    if bits == 8:
        size = (blocks * SCALE_BYTES + 63) // 64 * 64 + blocks * Q8_BLOCK_BYTES
    return Job(
        bits,
        operands[0],
        operands[1],
        y,
        operands[5],
        operands[6],
        step[ROWS],
        blocks,
        size,
        operands[4] // LANES,
    )


def matmul(operands: Any, step: Any, thread: int, threads: int) -> None:
    """Operation: y (+)= x · Wᵀ for the step's rows; operands as `job` says.

    A few rows are over before claiming pieces would pay: each thread then has its own.
    """
    work = job(operands, step)
    few = work.rows < COLUMNS
    tiles_each = (work.tiles + threads - 1) // threads if few else PIECE_TILES
    across = (work.tiles + tiles_each - 1) // tiles_each
    pieces = across * ((work.rows + ROW_CHUNK - 1) // ROW_CHUNK)
    piece = thread if few else claim(operands)
    while piece < pieces:
        first, row = piece % across * tiles_each, piece // across * ROW_CHUNK
        for tile in range(first, min(first + tiles_each, work.tiles)):
            for r in range(row, min(row + ROW_CHUNK, work.rows), COLUMNS):
                weights = work.weights + tile * work.tile_bytes
                x = work.x + r // COLUMNS * work.blocks * RECORD_BYTES
                y = work.y + 4 * (r * work.stride + tile * LANES)
                valid = min(COLUMNS, work.rows - r)
                if work.bits == 4:
                    multiply_q4(weights, work.blocks, x, y, work.stride, valid, work.add)
                else:
                    multiply_q8(weights, work.blocks, x, y, work.stride, valid, work.add)
        piece = pieces if few else claim(operands)
