"""The gates of a single row from the upper halves of their 8-bit weights, where these say enough.

A ReLU makes nothing of a negative gate, whatever its value. The upper four bits of the weights tell
a gate but for what the lower four add, which is as good as random: of N inputs, sums of N small
numbers. So a gate whose upper half puts it MARGIN standard deviations of such sums below zero is
negative, and its lower half is not read; all others are computed in full, to the last bit of the
dense product. Those also tell how far sums really stray: where one strays by more than STRAY, the
remainders of that layer are not random, and its gates are read whole from then on.

Where gates are mostly open, halves are no gain: then a layer reads whole gates for PAUSE tokens.
Layouts: `engine.sparsity.layout`.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.formats.packed import BLOCK, LANES
from engine.kernels.columns import SCALE, SINGLE_BYTES, own_columns
from engine.kernels.intrinsics import (
    addresses,
    atomic_add,
    floats,
    integers,
    signed_bytes,
)
from engine.kernels.layer_slots import (
    ALWAYS,
    DEVIATIONS,
    GATE_ROW_BYTES,
    GATE_ROWS,
    HALVED,
    LAYER_SLOTS,
    OPEN,
    OPEN_LIMIT,
    OPENED,
    STRAYED,
    UPPER,
    WHOLE,
)
from engine.kernels.matmul import next_tiles
from engine.kernels.portable import multiply_row, multiply_rows
from engine.kernels.program import claim
from engine.kernels.sparse_rows import ROWS, ROWS_AHEAD, row_room_bytes, spread_activations
from engine.kernels.sparse_vectors import first_one, positive_mask
from engine.kernels.tiles import add_bias, size_of_tile

MARGIN = 8.0
"""Standard deviations below zero at which a gate counts as negative: of normal sums one in 10¹⁵ is
farther off, and it would be a gate that is hardly positive."""
STRAY = 7.5
"""Standard deviations that no sum of random numbers is off: one in 10¹³."""
PAUSE = 128
"""Tokens after which halves are tried again."""
PIECE = 1024
"""Gates whose open ones are one list: threads claim pieces, so that they finish together."""
_VALUES = 4 * BLOCK
"""Bytes of a share's scratch for the gates of a block; lists and sums lie behind."""
_LIST = PIECE + ROWS


def gate_scratch_bytes(inputs: int) -> int:
    """Bytes of scratch that a share needs for gates of `inputs`."""
    return _VALUES + 20 * _LIST + row_room_bytes(inputs)


def gates_by_halves(operands: Any, step: Any, part: int, parts: int) -> None:
    """gate = W · x + bias for a single row, with the upper halves of W alone where they may do.

    operands: address of the columns of x (each share has its own), of float32 gate (neurons,);
    inputs, neurons; address of W (packed with 8 bits), of the float32 bias (0: none), of the
    layer's slots; address of the scratch, bytes of it for a share.
    """
    gate, blocks = operands[1], operands[2] // BLOCK
    layer = addresses(operands[6], LAYER_SLOTS)
    bits, weights = 8, operands[4]
    if layer[WHOLE] == 0:
        bits, weights = 4, layer[UPPER]
    tiles, size = operands[3] // LANES, size_of_tile(bits, blocks)
    x = own_columns(operands[0], part, blocks)
    start, end = next_tiles(operands, tiles, size, part, parts, 0)
    while start < end:
        y = gate + 4 * LANES * start
        multiply_row(bits, weights + start * size, end - start, blocks, x, y, 0)
        add_bias(operands[5], gate, 0, 1, start, end - start)
        start, end = next_tiles(operands, tiles, size, part, parts, end)


@njit
def _norm(x: int, blocks: int) -> np.float32:
    """√Σ x² of a single row of columns."""
    total = np.float32(0.0)
    for block in range(blocks):
        record = x + SINGLE_BYTES * block
        values, squares = signed_bytes(record, BLOCK), np.int32(0)
        for i in range(BLOCK):
            squares += np.int32(values[i]) * np.int32(values[i])
        scale = floats(record + SCALE, 1)[0]
        total += np.float32(squares) * scale * scale
    norm: np.float32 = np.sqrt(total)
    return norm


@njit
def _list_open(
    gate: int, first: int, last: int, layer: Any, norm: np.float32, room: int, rows: int, which: int
) -> int:
    """List the gates [first, last) that may be positive; gives how many they are.

    room: address of 32 floats. Addresses of int64 (PIECE + ROWS_AHEAD,), where their rows are, the
    last one again at the end; of int32 (PIECE,): which they are.
    """
    listed, names = addresses(rows, _LIST), integers(which, PIECE)
    reach, found = np.float32(MARGIN) * norm, 0
    for start in range(first, last, BLOCK):
        known, deviations = floats(gate + 4 * start, BLOCK), layer[DEVIATIONS] + 4 * start
        highest = floats(room, BLOCK)
        for i in range(BLOCK):
            highest[i] = known[i] + reach * floats(deviations, BLOCK)[i]
        mask = positive_mask(room)
        while mask != 0:
            neuron = start + first_one(mask)
            listed[found] = layer[GATE_ROWS] + neuron * layer[GATE_ROW_BYTES]
            names[found] = neuron
            found += 1
            mask &= mask - 1
    for i in range(ROWS_AHEAD):
        listed[found + i] = listed[found - 1] if found > 0 else layer[GATE_ROWS]
    return found


@njit
def _settle(
    operands: Any, layer: Any, norm: np.float32, which: int, outputs: int, count: int
) -> None:
    """Put the gates of a list in the place of what their upper halves said."""
    names, values = integers(which, count), floats(outputs, count)
    gates = floats(operands[1], operands[3])
    deviations = floats(layer[DEVIATIONS], operands[3])
    stray = np.float32(STRAY) * norm
    for i in range(count):
        neuron, value = names[i], values[i]
        if operands[5] != 0:
            value += floats(operands[5] + 4 * neuron, 1)[0]
        if abs(value - gates[neuron]) > stray * deviations[neuron]:
            layer[STRAYED] = 1
        gates[neuron] = value


def settle_gates(operands: Any, step: Any, part: int, parts: int) -> None:
    """Compute in full those gates that `gates_by_halves` left open; what stays is negative.

    operands: as there.
    """
    layer = addresses(operands[6], LAYER_SLOTS)
    if layer[WHOLE] != 0:
        return
    gate, neurons, blocks = operands[1], operands[3], operands[2] // BLOCK
    x, scratch = own_columns(operands[0], part, blocks), operands[7] + operands[8] * part
    rows = scratch + _VALUES
    which, outputs, room = rows + 8 * _LIST, rows + 12 * _LIST, rows + 20 * _LIST
    norm = _norm(x, blocks)
    spread_activations(8, x, blocks, room)
    pieces = (neurons + PIECE - 1) // PIECE
    piece = claim(operands)
    while piece < pieces:
        first, last = piece * PIECE, min((piece + 1) * PIECE, neurons)
        count = _list_open(gate, first, last, layer, norm, scratch, rows, which)
        if count > 0:
            multiply_rows(8, rows, count, blocks, x, room, outputs)
            _settle(operands, layer, norm, which, outputs, count)
        atomic_add(operands[6] + 8 * OPEN, count)
        piece = claim(operands)


@njit
def decide_on_halves(layer: Any) -> None:
    """How the next token's gates are to be read; for one thread, while no gates are made."""
    if layer[UPPER] == 0:
        return
    if layer[WHOLE] == 0:
        layer[HALVED] += 1
        layer[OPENED] += layer[OPEN]
        if layer[STRAYED] != 0:
            layer[WHOLE] = ALWAYS
        elif layer[OPEN] > layer[OPEN_LIMIT]:
            layer[WHOLE] = PAUSE
    elif layer[WHOLE] != ALWAYS:
        layer[WHOLE] -= 1
    layer[OPEN] = 0
