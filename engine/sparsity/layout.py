"""The layout in which a neuron is read alone: its row of the up projection, its column of down.

Made from packed matrices (see `engine.formats.packed`), with the same quants and scales.

- A row: `scales (kinds, blocks) f16`, each kind filled up to a multiple of 64 bytes, then its
  quants in order, 4 bits each where the weights have 4, else a byte each, filled up likewise. With
  4 bits, of every 64 quants the first half is in the low nibbles. Kinds: 1 for 8 bits, else 2.
- A column: the quants of all outputs, 4 bits each where the weights have 4, else a byte each, in
  chunks of 64. A chunk is (4, 4, 4) outputs with the first two axes swapped, which is the order in
  which x86 unpacks bytes. With 4 bits the first half of a chunk is in the low nibbles.
- The scales of columns belong to blocks of 32 neurons and lie apart: `(blocks, kinds, outputs)
  f16`.

A record is a row, if rows are skipped too, and the column behind it.

Of a gate with 8 bits, the upper halves of its weights are a matrix of 4 bits: weight ≈ 16 · scale ·
upper + minimum, where the minimum stands for the mean of a block's lower halves.
"""

import numpy as np
from numpy.typing import NDArray

from engine.formats.packed import BLOCK, Blocks, Bytes, pack, quants_and_scales

CHUNK = 64
"""Outputs that are multiplied at once."""
_LINE = 64


def lines(size: int) -> int:
    """`size` bytes rounded up to whole cache lines."""
    return (size + _LINE - 1) // _LINE * _LINE


def _kinds(bits: int) -> int:
    """Numbers that a block has besides its quants."""
    return 1 if bits == 8 else 2


def row_bytes(bits: int, inputs: int) -> int:
    """Bytes of a neuron's row; inputs: a multiple of 64."""
    quants = inputs // 2 if bits == 4 else inputs
    return _kinds(bits) * lines(2 * inputs // BLOCK) + lines(quants)


def column_bytes(bits: int, outputs: int) -> int:
    """Bytes of a neuron's column; outputs: a multiple of 64."""
    return lines(outputs // 2 if bits == 4 else outputs)


def scale_bytes(bits: int, neurons: int, outputs: int) -> int:
    """Bytes of the scales of all columns."""
    return neurons // BLOCK * _kinds(bits) * outputs * 2


def rows_of(packed: Bytes, bits: int, neurons: int, inputs: int) -> Bytes:
    """uint8 (neurons, row_bytes): a packed matrix (neurons, inputs), row by row."""
    quants, scales = quants_and_scales(packed, bits, neurons, inputs)
    if bits == 4:
        halves = quants.reshape(neurons, -1, 2, CHUNK // 2)
        quants = (halves[:, :, 0] | halves[:, :, 1] << np.uint8(4)).reshape(neurons, -1)
    out = np.zeros((neurons, row_bytes(bits, inputs)), np.uint8)
    size = lines(2 * inputs // BLOCK)
    for kind in range(_kinds(bits)):
        one = np.ascontiguousarray(scales[kind]).view(np.uint8)
        out[:, kind * size : kind * size + one.shape[1]] = one
    start = _kinds(bits) * size
    out[:, start : start + quants.shape[1]] = quants
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


def upper_halves(packed: Bytes, rows: int, inputs: int) -> tuple[Bytes, NDArray[np.float32]]:
    """The upper halves of a packed matrix of 8 bits (rows, inputs) as one of 4 bits, and float32
    (rows,): by how much, as root mean square, its weights differ from these."""
    quants, scales = quants_and_scales(packed, 8, rows, inputs)
    blocks = quants.reshape(rows, -1, BLOCK)
    scale = scales[0].astype(np.float32)
    lowers = (blocks & np.uint8(15)).mean(axis=2, dtype=np.float32)
    minimums = ((lowers - 128) * scale).astype(np.float16)
    uppers, sixteenfold = blocks >> np.uint8(4), (16 * scale).astype(np.float16)
    stands_for = uppers * sixteenfold.astype(np.float32)[..., None]
    stands_for += minimums.astype(np.float32)[..., None]
    left = (blocks.astype(np.float32) - 128) * scale[..., None] - stands_for
    deviations = np.sqrt(np.square(left).mean(axis=(1, 2)))
    return pack(Blocks(4, uppers, sixteenfold, minimums)), deviations
