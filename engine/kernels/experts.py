"""Mixtures of experts (Shazeer et al. 2017; Jiang et al. 2024): only the chosen ones are read.

Operations of `kernels.program`. An item is one chosen expert of one row: item = row · used + slot.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK, FLOAT_BITS, LANES
from engine.kernels.arithmetic import exponential
from engine.kernels.columns import COLUMNS, RECORD_BYTES
from engine.kernels.floating import multiply_float
from engine.kernels.intrinsics import floats, integers
from engine.kernels.portable import multiply_row, multiply_tile
from engine.kernels.program import ROWS, claim, share
from engine.kernels.tiles import size_of_tile

PIECE_TILES = 6
"""Tiles of an expert that a thread claims at once."""


@njit
def choose(scores: np.ndarray, choices: np.ndarray, shares: np.ndarray) -> None:
    """The experts with the highest scores, and the softmax over their scores.

    scores: float32 (experts,); choices: int32 (used,), shares: float32 (used,), best first.
    """
    for slot in range(choices.size):
        best = -1
        for expert in range(scores.size):
            free = True
            for earlier in range(slot):
                free = free and choices[earlier] != expert
            if free and (best < 0 or scores[expert] > scores[best]):
                best = expert
        choices[slot] = best
    total = np.float32(0.0)
    for slot in range(choices.size):
        shares[slot] = exponential(scores[choices[slot]] - scores[choices[0]])
        total += shares[slot]
    for slot in range(choices.size):
        shares[slot] /= total


def choose_experts(operands: Any, step: Any, part: int, parts: int) -> None:
    """Each row's experts and their shares.

    operands: address of scores float32, floats from a row to the next, experts, experts used,
    address of choices int32 (rows, used) and of shares float32 (rows, used).
    """
    rows, stride, experts, used = step[ROWS], operands[1], operands[2], operands[3]
    choices, shares = integers(operands[4], (rows, used)), floats(operands[5], (rows, used))
    first, last = share(rows, part, parts)
    for row in range(first, last):
        choose(floats(operands[0] + 4 * row * stride, experts), choices[row], shares[row])


def matmul_experts(operands: Any, step: Any, part: int, parts: int) -> None:
    """y[item] = x · Wᵀ of the item's expert; x is the row's, or the item's own.

    operands: address of W (packed, expert after expert), of x (columns, or float32 for 32 bits), of
    y float32; inputs; outputs of an expert (a multiple of 16); floats from an item of y to the
    next; bits; address of the choices; experts; experts used; items that share a row of x; floats
    from a row of x to the next.

    With few items each is a piece of work; with many it is an expert and all items that chose it,
    so that its weights stay in cache.
    """
    inputs, outputs, stride, bits = operands[3], operands[4], operands[5], operands[6]
    experts, used, sharing, apart = operands[8], operands[9], operands[10], operands[11]
    items, blocks, tiles = step[ROWS] * used, inputs // BLOCK, outputs // LANES
    choices = integers(operands[7], items)
    tile_bytes = size_of_tile(bits, blocks)
    alone = items == sharing  # a single row of x lies in records of its own
    few = items < experts
    across = (tiles + PIECE_TILES - 1) // PIECE_TILES
    pieces = across * (items if few else experts)
    piece = claim(operands)
    while piece < pieces:
        group, tile = piece // across, piece % across * PIECE_TILES
        expert = choices[group] if few else group
        first, last = (group, group + 1) if few else (0, items)
        for t in range(tile, min(tile + PIECE_TILES, tiles)):
            weights = operands[0] + (expert * tiles + t) * tile_bytes
            for item in range(first, last):
                if choices[item] != expert:
                    continue
                row = item // sharing
                y = operands[2] + 4 * (item * stride + t * LANES)
                # The fields of a column lie 4 bytes after those of the one before it.
                x = operands[1] + row // COLUMNS * blocks * RECORD_BYTES + 4 * (row % COLUMNS)
                if bits == FLOAT_BITS:
                    multiply_float(weights, inputs, operands[1] + 4 * row * apart, y, 0)
                elif alone:
                    multiply_row(bits, weights, 1, blocks, operands[1], y, 0)
                else:
                    multiply_tile(bits, weights, blocks, x, y, stride, 1, 0)
        piece = claim(operands)


def add_experts(operands: Any, step: Any, part: int, parts: int) -> None:
    """x[row] += Σ over its experts of share · y[item].

    operands: address of x float32 (rows, dim), of y float32 (items, dim), dim, address of shares
    float32 (rows, used), experts used.
    """
    rows, dim, used = step[ROWS], operands[2], operands[4]
    x, y = floats(operands[0], (rows, dim)), floats(operands[1], (rows, used, dim))
    shares = floats(operands[3], (rows, used))
    first, last = share(rows, part, parts)
    for row in range(first, last):
        for slot in range(used):
            for i in range(dim):
                x[row, i] += shares[row, slot] * y[row, slot, i]
