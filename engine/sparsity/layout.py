"""The layout in which a neuron is read alone: its row of the up projection, its column of down.

Made from packed matrices (see `engine.formats.packed`), with the same quants and scales.

- A row, unit after unit of its tile: `scales (units, 2) f16`, then `quants (units, dwords, 4)`,
  each filled up to a multiple of 64 bytes. A unit is a block with its scale and minimum (for 6 bits
  two scales) and 4, 5 or 6 dwords; for 8 bits it is a pair of blocks, 16 dwords.
- A column: the quants of all outputs, 4 bits each where the weights have 4, else a byte each, in
  chunks of 64. A chunk is (4, 4, 4) outputs with the first two axes swapped, which is the order in
  which x86 unpacks bytes. With 4 bits the first half of a chunk is in the low nibbles.
- The scales of columns belong to blocks of 32 neurons and lie apart: `(blocks, kinds, outputs)
  f16`; kinds: 1 for 8 bits, else 2.

A record is a row, if rows are skipped too, and the column behind it.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.packed import BLOCK, LANES, Bytes, quants_and_scales, tile_bytes

CHUNK = 64
"""Outputs that are multiplied at once."""
_LINE = 64


def lines(size: int) -> int:
    """`size` bytes rounded up to whole cache lines."""
    return (size + _LINE - 1) // _LINE * _LINE


def _units(bits: int, inputs: int) -> tuple[int, int]:
    """Units of a row, and the dwords of one."""
    blocks = inputs // BLOCK
    return (blocks, bits) if bits != 8 else ((blocks + 1) // 2, 16)


def row_bytes(bits: int, inputs: int) -> int:
    """Bytes of a neuron's row."""
    units, dwords = _units(bits, inputs)
    return lines(4 * units) + lines(4 * units * dwords)


def column_bytes(bits: int, outputs: int) -> int:
    """Bytes of a neuron's column; outputs: a multiple of 64."""
    return lines(outputs // 2 if bits == 4 else outputs)


def scale_bytes(bits: int, neurons: int, outputs: int) -> int:
    """Bytes of the scales of all columns."""
    return neurons // BLOCK * (1 if bits == 8 else 2) * outputs * 2


def rows_of(packed: Bytes, bits: int, neurons: int, inputs: int) -> Bytes:
    """uint8 (neurons, row_bytes): a packed matrix (neurons, inputs), row by row."""
    units, dwords = _units(bits, inputs)
    tiles = packed.reshape(-1, tile_bytes(bits, inputs // BLOCK)).view(np.uint32)
    by_line = tiles.reshape(-1, units, 1 + dwords, LANES)
    halves = np.ascontiguousarray(by_line[:, :, 0]).view(np.uint16).reshape(-1, units, 2, LANES)
    scales = np.ascontiguousarray(halves.transpose(0, 3, 1, 2)).view(np.uint8)
    quants = np.ascontiguousarray(by_line[:, :, 1:].transpose(0, 3, 1, 2)).view(np.uint8)
    out = np.zeros((neurons, row_bytes(bits, inputs)), np.uint8)
    out[:, : 4 * units] = scales.reshape(-1, 4 * units)[:neurons]
    start = lines(4 * units)
    end = start + 4 * units * dwords
    out[:, start:end] = quants.reshape(-1, 4 * units * dwords)[:neurons]
    return out


def columns_of(
    packed: Bytes, bits: int, outputs: int, neurons: int
) -> tuple[Bytes, NDArray[np.uint16]]:
    """uint8 (neurons, column_bytes) and the scales of a packed matrix (outputs, neurons)."""
    quants, scales = quants_and_scales(packed, bits, outputs, neurons)
    chunks = quants.T.reshape(neurons, -1, 4, 4, 4).swapaxes(2, 3).reshape(neurons, -1, CHUNK)
    if bits == 4:
        chunks = chunks[:, :, : CHUNK // 2] | chunks[:, :, CHUNK // 2 :] << np.uint8(4)
    out = np.zeros((neurons, column_bytes(bits, outputs)), np.uint8)
    flat = chunks.reshape(neurons, -1)
    out[:, : flat.shape[1]] = flat
    return out, np.ascontiguousarray(scales.transpose(2, 0, 1))
