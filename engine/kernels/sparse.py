"""The feed-forward block of a single row, without what is zero.

Operations of `kernels.program`. Results are those of the dense operations to the last bit on every
path with vector code, whatever the number of threads: what is left out would have added zero.
Layouts: `engine.sparsity.layout`.
"""

from typing import Any

import numpy as np
from numba import njit, types

from engine.formats.packed import BLOCK, LANES, tile_bytes
from engine.kernels.activations import activate_block
from engine.kernels.columns import (
    FIRST_SUM,
    OFFSET_SUM,
    SINGLE_BYTES,
    own_columns,
    quantize_block,
)
from engine.kernels.intrinsics import (
    addresses,
    bits_to_float,
    floats,
    integers,
    prefetch,
    signed_bytes,
)
from engine.kernels.matmul import next_tiles
from engine.kernels.portable import multiply_columns, multiply_row
from engine.kernels.program import ROWS, share
from engine.kernels.sparse_vectors import (
    BESIDE,
    CHUNK,
    first_one,
    gather_tile,
    nonzero_mask,
    ones,
    positive_mask,
)
from engine.kernels.tiles import add_bias, size_of_tile

# What the operations are told of a layer: int64 slots.
RECORDS = 0  # address of the neurons' records
RECORD_BYTES = 1  # from a record to the next
COLUMN = 2  # bytes of a record before the column
PLACES = 3  # address of int32 (neurons,): which record a neuron has
SCALES = 4  # address of the float16 scales of the columns, (blocks, 2, outputs)
LIMIT = 5  # active neurons up to which skipping is faster than reading everything
STEPS = 6  # tokens so far,
ACTIVE_GATES = 7  # neurons whose rows were needed for them,
ACTIVE_COLUMNS = 8  # and those whose columns were
ASK = 9  # bytes of a page where records are to be asked for before they are read, else 0
LAYER_SLOTS = 10

_AHEAD = 2
"""Blocks whose columns are asked for while another one is multiplied."""
# Of a share's scratch, in bytes: two lists of rows, or one of columns and their activations; ...
_LIST, _LIST_IDS, _OUTPUTS, _GATES, _TILE = 256, 128, 512, 640, 1024
_SPARE = LANES * 17 * 64  # that gathering may write behind a tile
_MADVISE = types.int32(types.intp, types.uintp, types.int32)
_madvise = types.ExternalFunction("madvise", _MADVISE)
_WILL_NEED = np.int32(3)
_NOTHING = np.float32(0.0)


def sparse_scratch_bytes(inputs: int, outputs: int) -> int:
    """Bytes of scratch that a share needs for rows of `inputs` and columns of `outputs`."""
    tile = max(tile_bytes(bits, inputs // BLOCK) for bits in (4, 5, 6, 8))
    return _TILE + max(tile + _SPARE, 4 * outputs)


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
def _list_rows(gate: int, neuron: int, end: int, layer: Any, rows: int) -> int:
    """List up to 16 active neurons from `neuron` on; gives the one to go on with.

    rows: address of int64 (16,), where their rows are; behind them int32 (17,): which they are,
    and how many. An incomplete list is filled up with its first row.
    """
    places, addresses_ = integers(layer[PLACES], end), addresses(rows, LANES)
    which = integers(rows + _LIST_IDS, LANES + 1)
    found = 0
    addresses_[0] = layer[RECORDS]
    while found < LANES and neuron < end:
        mask = positive_mask(gate + 4 * (neuron - neuron % BLOCK)) >> neuron % BLOCK
        if mask == 0:
            neuron += BLOCK - neuron % BLOCK
            continue
        neuron += first_one(mask)
        addresses_[found] = layer[RECORDS] + places[neuron] * layer[RECORD_BYTES]
        which[found] = neuron
        found += 1
        neuron += 1
    for i in range(max(found, 1), LANES):
        addresses_[i] = addresses_[0]
    which[LANES] = found
    return neuron


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
            _activate(operands, first, last, scratch + _GATES)
            start, end = next_tiles(operands, tiles, tile_size, part, parts, end)
        return
    first, last = _even_blocks(gate, blocks, total, part, parts)
    if layer[ASK] != 0:
        _ask_the_disk(gate, first, last, True, layer)
    floats(up + 4 * BLOCK * first, BLOCK * (last - first))[:] = np.float32(0.0)
    here, following = scratch, scratch + _LIST
    neuron = _list_rows(gate, BLOCK * first, BLOCK * last, layer, here)
    found = integers(here + _LIST_IDS, LANES + 1)[LANES]
    while found > 0:
        neuron = _list_rows(gate, neuron, BLOCK * last, layer, following)
        gather_tile(bits, here, following, scratch + _TILE, x_blocks)
        multiply_row(bits, scratch + _TILE, 1, x_blocks, x, scratch + _OUTPUTS, 0)
        which, outputs = integers(here + _LIST_IDS, LANES), floats(scratch + _OUTPUTS, LANES)
        for i in range(found):
            bias = floats(operands[11] + 4 * which[i], 1)[0] if operands[11] != 0 else _NOTHING
            floats(up + 4 * which[i], 1)[0] = outputs[i] + bias
        here, following = following, here
        found = integers(here + _LIST_IDS, LANES + 1)[LANES]
    _activate(operands, first, last, scratch + _GATES)


def activate_drop_quantize(operands: Any, step: Any, part: int, parts: int) -> None:
    """As `activations.activate_quantize`, but what is smaller than a threshold becomes 0.

    operands: as there, and the bits of the float32 threshold (TEAL, Liu et al. 2024).
    """
    rows, inputs, kind = step[ROWS] * operands[4], operands[2], operands[3]
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
def _ask_for_columns(record: int, block: int, layer: Any, start: int, size: int) -> None:
    """Have `size` bytes from `start` on of a block's active columns read soon."""
    places = integers(layer[PLACES] + 4 * BLOCK * block, BLOCK)
    mask = nonzero_mask(record)
    while mask != 0:
        place = places[first_one(mask)]
        prefetch(layer[RECORDS] + place * layer[RECORD_BYTES] + layer[COLUMN] + start, size)
        mask &= mask - 1


@njit
def _list_columns(mask: int, record: int, block: int, layer: Any, start: int, lists: int) -> int:
    """List a block's active columns by fours, with their activations; gives how many fours.

    lists: address of int64 (32,), where the columns' bytes from `start` on are, and behind them
    int8 (32,). An incomplete four is filled up with its first column, times 0.
    """
    places = integers(layer[PLACES] + 4 * BLOCK * block, BLOCK)
    x, columns = signed_bytes(record, BLOCK), addresses(lists, BLOCK)
    quants = signed_bytes(lists + _LIST, BLOCK)
    found = 0
    while mask != 0:
        i = first_one(mask)
        place = places[i]
        columns[found] = layer[RECORDS] + place * layer[RECORD_BYTES] + layer[COLUMN] + start
        quants[found] = x[i]
        found += 1
        mask &= mask - 1
    groups = (found + BESIDE - 1) // BESIDE
    for i in range(found, groups * BESIDE):
        columns[i] = columns[found - 1]
        quants[i] = 0
    return groups


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
    start, size = first * chunk_bytes, (last - first) * chunk_bytes
    sums = floats(scratch + _TILE, (last - first) * CHUNK)
    sums[:] = np.float32(0.0)
    row_bytes = 2 * outputs  # of scales
    block_bytes = row_bytes if bits == 8 else 2 * row_bytes
    for block in range(blocks if last > first else 0):
        record = x + SINGLE_BYTES * block
        scales = layer[SCALES] + block * block_bytes + 2 * CHUNK * first
        if block + _AHEAD < blocks:
            ahead = record + SINGLE_BYTES * _AHEAD
            if nonzero_mask(ahead) != 0:
                _ask_for_columns(ahead, block + _AHEAD, layer, start, size)
                prefetch(scales + _AHEAD * block_bytes, 2 * CHUNK * (last - first))
        mask = nonzero_mask(record)
        whole, front = integers(record + OFFSET_SUM, 1)[0], integers(record + FIRST_SUM, 1)[0]
        for half in range(2 if bits == 6 else 1):
            chosen = mask
            begin = whole if bits == 8 else 0
            if bits == 6:
                chosen = mask & 0xFFFF if half == 0 else mask >> 16 << 16
                begin = front if half == 0 else whole // 4 - front
            if chosen != 0:
                groups = _list_columns(chosen, record, block, layer, start, scratch)
                multiply_columns(
                    bits,
                    scratch,
                    groups,
                    scratch + _LIST,
                    scales + half * row_bytes,
                    scales + row_bytes,
                    record,
                    begin,
                    scratch + _TILE,
                    last - first,
                )
    out = floats(y + 4 * CHUNK * first, sums.size)
    for i in range(sums.size):
        out[i] = out[i] + sums[i] if add != 0 else sums[i]
    tiles = CHUNK // LANES
    add_bias(operands[11], y, 0, 1, tiles * first, tiles * (last - first))
