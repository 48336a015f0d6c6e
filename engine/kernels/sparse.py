"""The feed-forward block of a single row, without what is zero.

Operations of `kernels.program`. Results are those of the dense operations to the last bit on every
path with vector code, whatever the number of threads: what is left out would have added zero.
Layouts: `engine.sparsity.layout`.
"""

from typing import Any

import numpy as np
from numba import njit, types

from engine.formats.packed import BLOCK, LANES
from engine.kernels.activations import activate_block
from engine.kernels.columns import (
    FIRST_SUM,
    OFFSET_SUM,
    SINGLE_BYTES,
    own_columns,
    quantize_block,
)
from engine.kernels.gates import decide_on_halves
from engine.kernels.intrinsics import (
    addresses,
    bits_to_float,
    floats,
    integers,
    signed_bytes,
)
from engine.kernels.layer_slots import (
    ACTIVE_COLUMNS,
    ACTIVE_GATES,
    ASK,
    COLUMN,
    LAYER_SLOTS,
    LIMIT,
    PLACES,
    RECORD_BYTES,
    RECORDS,
    SCALES,
    STEPS,
)
from engine.kernels.matmul import next_tiles
from engine.kernels.portable import multiply_columns, multiply_row, multiply_rows
from engine.kernels.program import ROWS as STEP_ROWS
from engine.kernels.program import share
from engine.kernels.sparse_rows import ROWS, ROWS_AHEAD, row_room_bytes, spread_activations
from engine.kernels.sparse_vectors import (
    BESIDE,
    CHUNK,
    first_one,
    nonzero_mask,
    ones,
    positive_mask,
)
from engine.kernels.tiles import add_bias, size_of_tile

PIECES_AHEAD = 3
"""How many pieces with active columns behind the one at hand is asked for."""
_VALUES = 4 * BLOCK
"""Bytes of a share's scratch for the gates of a block; lists and sums lie behind."""
_MADVISE = types.int32(types.intp, types.uintp, types.int32)
_madvise = types.ExternalFunction("madvise", _MADVISE)
_WILL_NEED = np.int32(3)


def sparse_scratch_bytes(inputs: int, neurons: int) -> int:
    """Bytes of scratch that a share needs for rows of `inputs`, and as many outputs."""
    rows = 20 * (neurons + ROWS) + row_room_bytes(inputs)
    columns = 9 * neurons + 12 * (2 * neurons // BLOCK + 1) + 4 * inputs
    return _VALUES + max(rows, columns)


@njit
def _count(address: int, blocks: int, of_gates: bool) -> int:
    """Active neurons: positive float32 gates, or quantized activations that are not zero."""
    total = 0
    for block in range(blocks):
        if of_gates:
            total += ones(positive_mask(address + 4 * BLOCK * block))
        else:
            total += ones(nonzero_mask(address + SINGLE_BYTES * block))
    return total


@njit
def _even_blocks(gate: int, blocks: int, total: int, part: int, parts: int) -> tuple[int, int]:
    """The [first, last) blocks of neurons that are share `part` of the active ones."""
    first, last, before = 0, 0, 0
    for block in range(blocks):
        before += ones(positive_mask(gate + 4 * BLOCK * block))
        first += 1 if before <= total * part // parts else 0
        last += 1 if before <= total * (part + 1) // parts else 0
    return 0 if part == 0 else first, blocks if part == parts - 1 else last


@njit
def _ask_the_disk(x: int, first: int, last: int, of_gates: bool, layer: Any) -> None:
    """Have the active neurons of blocks [first, last) read from the disk, many at a time, where
    else each would be waited for (madvise(2)); x: as for `_count`."""
    places, size = integers(layer[PLACES], BLOCK * last), layer[RECORD_BYTES]
    for block in range(first, last):
        gates, quants = x + 4 * BLOCK * block, x + SINGLE_BYTES * block
        mask = positive_mask(gates) if of_gates else nonzero_mask(quants)
        while mask != 0:
            record = layer[RECORDS] + places[BLOCK * block + first_one(mask)] * size
            start = record - record % layer[ASK]
            _madvise(start, np.uint64(record + size - start), _WILL_NEED)
            mask &= mask - 1


@njit
def _list_rows(
    gate: int, first: int, last: int, layer: Any, rows: int, which: int, gates: int
) -> int:
    """List the active neurons of blocks [first, last); gives how many they are.

    Addresses of int64 (neurons + ROWS_AHEAD,), where their rows are, the last one again at the end;
    of int32 (neurons,): which neurons they are; of float32 (neurons,): their gates.
    """
    neurons = BLOCK * (last - first)
    places, found = integers(layer[PLACES], BLOCK * last), 0
    addresses_, names = addresses(rows, neurons + ROWS_AHEAD), integers(which, neurons)
    given, listed = floats(gate, BLOCK * last), floats(gates, neurons)
    for block in range(first, last):
        mask = positive_mask(gate + 4 * BLOCK * block)
        while mask != 0:
            neuron = BLOCK * block + first_one(mask)
            addresses_[found] = layer[RECORDS] + places[neuron] * layer[RECORD_BYTES]
            names[found], listed[found] = neuron, given[neuron]
            found += 1
            mask &= mask - 1
    for i in range(ROWS_AHEAD):
        addresses_[found + i] = addresses_[found - 1] if found > 0 else layer[RECORDS]
    return found


@njit
def _activate(operands: Any, first: int, last: int, room: int) -> None:
    """up = activation(gate, up) of the blocks [first, last) of `up_of_active`, and their columns;
    others may still be looking at the gate. room: address of 32 floats."""
    gate, blocks, values = operands[0], operands[4] // BLOCK, floats(room, BLOCK)
    for block in range(first, last):
        gates = floats(gate + 4 * BLOCK * block, BLOCK)
        up = gate + 4 * BLOCK * (blocks + block)
        ups = floats(up, BLOCK)
        for i in range(BLOCK):
            values[i] = gates[i]
        activate_block(operands[5], values, ups)
        for i in range(BLOCK):
            ups[i] = values[i]
        quantize_block(up, operands[2], 1, 0, block, blocks)


def up_of_active(operands: Any, step: Any, part: int, parts: int) -> None:
    """up = activation(gate, W · x) of the neurons whose gate is positive, 0 of the others; and
    columns = quantized up. For a single row.

    operands: address of float32 gate (neurons,) and behind it up, of x (each share has columns of
    its own), of the columns to make; inputs, neurons, kind of activation; address of W (packed);
    bits; address of the scratch, bytes of it for a share; address of the layer's slots; of the bias
    of W · x float32, 0 if there is none.

    The list of active neurons is what the threads divide among them, in whole blocks.
    """
    gate, inputs, neurons, bits = operands[0], operands[3], operands[4], operands[7]
    blocks, x_blocks = neurons // BLOCK, inputs // BLOCK
    up, x = gate + 4 * neurons, own_columns(operands[1], part, x_blocks)
    scratch = operands[8] + operands[9] * part
    layer = addresses(operands[10], LAYER_SLOTS)
    total = _count(gate, blocks, True)
    if part == 0:
        layer[ACTIVE_GATES] += total
    if total > layer[LIMIT]:
        tiles, tile_size = neurons // LANES, size_of_tile(bits, x_blocks)
        start, end = next_tiles(operands, tiles, tile_size, part, parts, 0)
        while start < end:
            weights, y = operands[6] + start * tile_size, up + 4 * LANES * start
            multiply_row(bits, weights, end - start, x_blocks, x, y, 0)
            add_bias(operands[11], up, 0, 1, start, end - start)
            first, last = start * LANES // BLOCK, end * LANES // BLOCK
            _activate(operands, first, last, scratch)
            start, end = next_tiles(operands, tiles, tile_size, part, parts, end)
        return
    first, last = _even_blocks(gate, blocks, total, part, parts)
    if layer[ASK] != 0:
        _ask_the_disk(gate, first, last, True, layer)
    floats(up + 4 * BLOCK * first, BLOCK * (last - first))[:] = np.float32(0.0)
    room = neurons + ROWS
    rows = scratch + _VALUES
    which, outputs, gates = rows + 8 * room, rows + 12 * room, rows + 16 * room
    count = _list_rows(gate, first, last, layer, rows, which, gates)
    if count > 0:
        spread_activations(bits, x, x_blocks, rows + 20 * room)
        multiply_rows(bits, rows, count, x_blocks, x, rows + 20 * room, outputs)
    names, values = integers(which, count), floats(outputs, count)
    if operands[11] != 0:
        for i in range(count):
            values[i] += floats(operands[11] + 4 * names[i], 1)[0]
    for start in range(0, count, BLOCK):
        at = 4 * start
        activate_block(operands[5], floats(gates + at, BLOCK), floats(outputs + at, BLOCK))
    results, whole = floats(gates, count), floats(up, neurons)
    for i in range(count):
        whole[names[i]] = results[i]
    for block in range(first, last):
        quantize_block(up + 4 * BLOCK * block, operands[2], 1, 0, block, blocks)


def activate_drop_quantize(operands: Any, step: Any, part: int, parts: int) -> None:
    """As `activations.activate_quantize`, but what is smaller than a threshold becomes 0.

    operands: as there, and the bits of the float32 threshold (TEAL, Liu et al. 2024).
    """
    rows, inputs, kind = step[STEP_ROWS] * operands[4], operands[2], operands[3]
    threshold = bits_to_float(np.int32(operands[5]))
    blocks = inputs // BLOCK
    both = floats(operands[0], (rows, 2, blocks, BLOCK))
    first, last = share(rows * blocks, part, parts)
    for item in range(first, last):
        row = item // blocks
        b = item - row * blocks
        gate = both[row, 0, b]
        activate_block(kind, gate, both[row, 1, b])
        for i in range(BLOCK):
            if abs(gate[i]) < threshold:
                gate[i] = np.float32(0.0)
        address = operands[0] + 4 * BLOCK * (2 * blocks * row + b)
        quantize_block(address, operands[1], rows, row, b, blocks)


@njit
def _list_columns(
    x: int, blocks: int, pieces: int, layer: Any, start: int, columns: int, quants: int, found: int
) -> int:
    """List the active columns by fours, with their activations; gives how many pieces have some.

    pieces: of a block, that have sums of their own. Addresses of int64 (neurons,), where the
    columns' bytes from `start` on are; of int8 (neurons,); of int32 (blocks · pieces + 1, 3): of a
    piece with active columns which it is, its first column in these lists, how many it has. An
    incomplete four is filled up with its first column, times 0.
    """
    neurons = BLOCK * blocks
    places, listed = integers(layer[PLACES], neurons), addresses(columns, neurons)
    values, table = signed_bytes(quants, neurons), integers(found, (blocks * pieces + 1, 3))
    at, active, size = 0, 0, BLOCK // pieces
    base = layer[RECORDS] + layer[COLUMN] + start
    for block in range(blocks):
        given = signed_bytes(x + SINGLE_BYTES * block, BLOCK)
        whole = nonzero_mask(x + SINGLE_BYTES * block)
        for piece in range(pieces):
            mask = whole if pieces == 1 else (whole >> size * piece) & ((1 << size) - 1)
            if mask == 0:
                continue
            count, first = ones(mask), at
            table[active, 0], table[active, 1] = block * pieces + piece, first
            table[active, 2], active = count, active + 1
            while mask != 0:
                i = size * piece + first_one(mask)
                place = base + places[BLOCK * block + i] * layer[RECORD_BYTES]
                if at % BESIDE == 0:
                    for beside in range(BESIDE):
                        listed[at + beside] = place
                        values[at + beside] = 0
                listed[at], values[at] = place, given[i]
                at += 1
                mask &= mask - 1
            at = first + (count + BESIDE - 1) // BESIDE * BESIDE
    return active


def down_of_active(operands: Any, step: Any, part: int, parts: int) -> None:
    """y (+)= x · Wᵀ + bias for a single row, without the columns whose activation is 0.

    operands: address of x (see kernels.columns); whether each share has one of its own; address of
    y float32; inputs; outputs (a multiple of 64); whether to add to y; address of W (packed); bits;
    address of the scratch, bytes of it for a share; address of the layer's slots; of the bias
    float32, 0 if there is none.

    The threads divide the outputs among them, so that nothing is left to be added up.
    """
    inputs, outputs, add, bits = operands[3], operands[4], operands[5], operands[7]
    blocks, y = inputs // BLOCK, operands[2]
    x = own_columns(operands[0], part if operands[1] != 0 else 0, blocks)
    scratch = operands[8] + operands[9] * part
    layer = addresses(operands[10], LAYER_SLOTS)
    total = _count(x, blocks, False)
    if part == 0:
        layer[STEPS] += 1
        layer[ACTIVE_COLUMNS] += total
        decide_on_halves(layer)
    if total > layer[LIMIT]:
        tiles, tile_size = outputs // LANES, size_of_tile(bits, blocks)
        begin, end = next_tiles(operands, tiles, tile_size, part, parts, 0)
        while begin < end:
            weights, out = operands[6] + begin * tile_size, y + 4 * LANES * begin
            multiply_row(bits, weights, end - begin, blocks, x, out, add)
            add_bias(operands[11], y, 0, 1, begin, end - begin)
            begin, end = next_tiles(operands, tiles, tile_size, part, parts, end)
        return
    if layer[ASK] != 0 and layer[COLUMN] == 0:  # else they were asked for with their rows
        _ask_the_disk(x, *share(blocks, part, parts), False, layer)
    first, last = share(outputs // CHUNK, part, parts)
    chunk_bytes = CHUNK // 2 if bits == 4 else CHUNK
    start = first * chunk_bytes
    columns = scratch + _VALUES
    quants, found = columns + 8 * inputs, columns + 9 * inputs
    pieces = 2 if bits == 6 else 1
    totals = found + 12 * (blocks * pieces + 1)
    sums = floats(totals, (last - first) * CHUNK)
    sums[:] = np.float32(0.0)
    active = 0
    if last > first:
        active = _list_columns(x, blocks, pieces, layer, start, columns, quants, found)
    table = integers(found, (active + 1, 3))
    kind_bytes = 2 * outputs  # of scales
    block_bytes = kind_bytes if bits == 8 else 2 * kind_bytes
    scales = layer[SCALES] + 2 * CHUNK * first
    for item in range(active):
        block, half = table[item, 0] // pieces, table[item, 0] % pieces
        record = x + SINGLE_BYTES * block
        whole, front = integers(record + OFFSET_SUM, 1)[0], integers(record + FIRST_SUM, 1)[0]
        begin = whole if bits == 8 else 0
        if bits == 6:
            begin = front if half == 0 else whole // 4 - front
        later = min(item + PIECES_AHEAD, active - 1)
        multiply_columns(
            bits,
            columns + 8 * table[item, 1],
            (table[item, 2] + BESIDE - 1) // BESIDE,
            quants + table[item, 1],
            scales + block * block_bytes + half * kind_bytes,
            kind_bytes,
            record,
            begin,
            totals,
            last - first,
            columns + 8 * table[later, 1],
            table[later, 2],
            scales + table[later, 0] // pieces * block_bytes,
        )
    out = floats(y + 4 * CHUNK * first, sums.size)
    for i in range(sums.size):
        out[i] = out[i] + sums[i] if add != 0 else sums[i]
    tiles = CHUNK // LANES
    add_bias(operands[11], y, 0, 1, tiles * first, tiles * (last - first))
