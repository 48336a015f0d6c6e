"""The layout that the matrix kernels read: tiles of 16 output rows, interleaved.

Lane = output row. A block is 32 weights of each of 16 rows; a group is 4 consecutive weights of
each. Quants of 4, 5 and 6 bits lie in records, block after block:

- `two times (16,) f16`: scales and minimums, for 6 bits the scales of each half of the block;
- `(4 groups, 16 rows, 4)`: the 4 low bits, groups 0-3 in the low nibbles, 4-7 in the high ones;
- 5 bits: `(16 rows, 4)`: bit g of a byte is the fifth bit in group g;
- 6 bits: `(2, 16 rows, 4)`: bits 2i and 2i + 1 of a byte are the high bits in group i, and in
  group 4 + i of the second half.

4 and 5 bits: weight = scale · quant + minimum. 6 bits: weight = scale of its half · (quant - 32).

- 8 bits: pairs of blocks, `scale (2, 16) f16`, then `(2, 8 groups, 16 rows, 4)` of w + 128; with an
  odd number of blocks the last is half empty. weight = scale · (byte - 128). Scales lie beside
  their weights so that a tile is read from its start to its end: with all scales in front of it a
  single row was multiplied at 15 GB/s in place of 21.
- 32 bits: `weight (inputs, 16 rows) f32`, for files that are to be computed exactly.

Rows are padded with zeros to a multiple of 16. Every tile starts on a multiple of 64 bytes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 32
"""Weights that share a scale."""
LANES = 16
"""Output rows in a tile."""
GROUPS = BLOCK // 4
FLOAT_BITS = 32
"""Bits of a weight that is kept as float32."""
SCALE_BYTES = 2 * LANES
NIBBLE_BYTES = LANES * BLOCK // 2
"""The four low bits of a block of 16 rows."""
RECORD_BYTES = {
    bits: 2 * SCALE_BYTES + NIBBLE_BYTES + (bits - 4) * LANES * BLOCK // 8 for bits in (4, 5, 6)
}
"""Bits → bytes of a record: 320, 384, 448."""
Q4_RECORD_BYTES, Q5_RECORD_BYTES, Q6_RECORD_BYTES = RECORD_BYTES.values()
Q8_BLOCK_BYTES = LANES * BLOCK
Q8_PAIR_BYTES = 2 * (SCALE_BYTES + Q8_BLOCK_BYTES)
"""1088: whole cache lines, which a block with its scales is not."""
Bytes = NDArray[np.uint8]


class Blocks(NamedTuple):
    """A matrix in blocks of 32, as formats hand it over.

    quants: uint8 (rows, blocks, 32) of as many bits, int8 for 8 bits, the float32 weights
    themselves for 32 bits; scales: float16 (rows, blocks), for 6 bits (rows, blocks, 2), None for
    32 bits; minimums: float16 (rows, blocks) for 4 and 5 bits, else None.
    """

    bits: int
    quants: NDArray[np.generic]
    scales: NDArray[np.float16] | None = None
    minimums: NDArray[np.float16] | None = None


def tile_bytes(bits: int, blocks: int) -> int:
    """Bytes of one tile of 16 rows with `blocks` blocks a row."""
    if bits == 4:
        return blocks * Q4_RECORD_BYTES
    if bits == 5:
        return blocks * Q5_RECORD_BYTES
    if bits == 6:
        return blocks * Q6_RECORD_BYTES
    if bits == FLOAT_BITS:
        return blocks * BLOCK * LANES * 4
    return (blocks + 1) // 2 * Q8_PAIR_BYTES


def padded_rows(rows: int) -> int:
    """`rows` rounded up to whole tiles."""
    return (rows + LANES - 1) // LANES * LANES


def packed_bytes(bits: int, rows: int, columns: int) -> int:
    """Bytes of a packed matrix of `rows` outputs and `columns` inputs."""
    return padded_rows(rows) // LANES * tile_bytes(bits, columns // BLOCK)


def quantize_blocks(values: NDArray[np.float32]) -> Blocks:
    """Quantize float32 (rows, columns) to 8 bits: scale = largest magnitude of a block / 127."""
    rows, columns = values.shape
    blocks = values.reshape(rows, columns // BLOCK, BLOCK)
    scales = (np.abs(blocks).max(axis=2) / np.float32(127)).astype(np.float16)
    used = scales.astype(np.float32)  # divide by what will be multiplied with
    inverse = np.divide(1, used, out=np.zeros_like(used), where=used != 0)
    quants = np.clip(np.rint(blocks * inverse[:, :, None]), -127, 127).astype(np.int8)
    return Blocks(8, quants, scales)


def _tiled(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """(rows, …) → (tiles, 16, …), rows padded with zeros."""
    padding = padded_rows(len(values)) - len(values)
    widths = [(0, padding)] + [(0, 0)] * (values.ndim - 1)
    padded = np.pad(values, widths) if padding else values
    return padded.reshape(-1, LANES, *values.shape[1:])


def _by_block(values: NDArray[np.float16]) -> Bytes:
    """float16 (rows, blocks) → its bytes as uint8 (tiles, blocks, 32): 16 rows side by side."""
    return np.ascontiguousarray(_tiled(values).transpose(0, 2, 1)).view(np.uint8)


def _joined(fields: Bytes, bits: int) -> Bytes:
    """Fields of `bits` bits → bytes: uint8 (tiles, blocks, fields, 16, 4), the first one lowest."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None, None]
    planes = fields.reshape(*fields.shape[:2], -1, 8 // bits, LANES, 4) << shifts
    joined: Bytes = np.bitwise_or.reduce(planes, axis=3)
    return joined


def _fields(joined: Bytes, bits: int) -> Bytes:
    """The inverse of `_joined`."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None, None]
    fields = joined[:, :, :, None] >> shifts & np.uint8((1 << bits) - 1)
    return fields.reshape(*joined.shape[:2], -1, LANES, 4)


def _pack_records(out: Bytes, groups: Bytes, blocks: Blocks) -> None:
    """Fill uint8 (tiles, blocks, record); groups: uint8 (tiles, blocks, 8, 16, 4)."""
    assert blocks.scales is not None, "a quantized matrix has scales"
    if blocks.bits == 6:
        scales = (blocks.scales[:, :, 0], blocks.scales[:, :, 1])
    else:
        assert blocks.minimums is not None, "a matrix of 4 or 5 bits has minimums"
        scales = (blocks.scales, blocks.minimums)
    low = groups & np.uint8(15)
    parts = [_by_block(scale) for scale in scales] + [low[:, :, :4] | low[:, :, 4:] << 4]
    if blocks.bits > 4:
        parts.append(_joined(groups >> np.uint8(4), blocks.bits - 4))
    flat = [part.reshape(*out.shape[:2], -1) for part in parts]
    np.concatenate(flat, axis=2, out=out)


def _half_pairs(pairs: Bytes, first: int, count: int) -> tuple[Bytes, Bytes]:
    """Scales and weights of every second of `count` blocks, from `first` on: views.

    pairs: uint8 (tiles, pairs, Q8_PAIR_BYTES).
    """
    here = pairs[:, : (count + 1 - first) // 2]
    weights = 2 * SCALE_BYTES + first * Q8_BLOCK_BYTES
    return (
        here[:, :, first * SCALE_BYTES : (first + 1) * SCALE_BYTES],
        here[:, :, weights : weights + Q8_BLOCK_BYTES],
    )


def pack(blocks: Blocks) -> Bytes:
    """Interleave a matrix by 16 rows; gives a flat uint8 array (see the module's docstring)."""
    count = blocks.quants.shape[1]
    if blocks.bits == FLOAT_BITS:
        floats = _tiled(blocks.quants)  # (tiles, 16, blocks, 32)
        return np.ascontiguousarray(floats.transpose(0, 2, 3, 1)).view(np.uint8).reshape(-1)
    quants = _tiled(blocks.quants).view(np.uint8)  # (tiles, 16, blocks, 32)
    tiles = len(quants)
    groups = quants.reshape(tiles, LANES, count, GROUPS, 4).transpose(0, 2, 3, 1, 4)
    out = np.zeros((tiles, tile_bytes(blocks.bits, count)), np.uint8)
    if blocks.bits == 8:
        assert blocks.scales is not None, "a quantized matrix has scales"
        pairs = out.reshape(tiles, -1, Q8_PAIR_BYTES)
        for first in (0, 1):
            scales, weights = _half_pairs(pairs, first, count)
            scales[:] = _by_block(blocks.scales)[:, first::2]
            weights[:] = (groups ^ np.uint8(0x80)).reshape(tiles, count, -1)[:, first::2]
    else:
        _pack_records(out.reshape(tiles, count, RECORD_BYTES[blocks.bits]), groups, blocks)
    return out.reshape(-1)


def _stored(data: Bytes, bits: int, columns: int) -> tuple[Bytes, NDArray[np.float16]]:
    """Of a packed quantized matrix: uint8 (tiles, blocks, 8 groups, 16, 4) quants as they are
    stored, float16 (tiles, blocks, kinds, 16) scales and minimums."""
    count = columns // BLOCK
    tiles = data.reshape(-1, tile_bytes(bits, count))
    if bits == 8:
        pairs = tiles.reshape(len(tiles), -1, Q8_PAIR_BYTES)
        halves = np.empty((len(tiles), count, SCALE_BYTES), np.uint8)
        quants = np.empty((len(tiles), count, GROUPS, LANES, 4), np.uint8)
        for first in (0, 1):
            halves[:, first::2], stored = _half_pairs(pairs, first, count)
            quants[:, first::2] = stored.reshape(len(tiles), -1, GROUPS, LANES, 4)
        return quants, halves.view(np.float16).reshape(len(tiles), count, 1, LANES)
    records = tiles.reshape(len(tiles), count, -1)
    shape = records.shape[:2]
    scales = np.ascontiguousarray(records[:, :, : 2 * SCALE_BYTES]).view(np.float16)
    nibbles, rest = np.split(records[:, :, 2 * SCALE_BYTES :], [NIBBLE_BYTES], axis=2)
    both = nibbles.reshape(*shape, 4, LANES, 4)
    quants = np.concatenate([both & 15, both >> 4], axis=2)
    if bits > 4:
        quants |= _fields(rest.reshape(*shape, -1, LANES, 4), bits - 4) << np.uint8(4)
    return quants, scales.reshape(*shape, 2, LANES)


def _by_row(values: NDArray[np.generic], rows: int) -> NDArray[np.generic]:
    """(tiles, blocks, groups, 16, 4) → (rows, columns)."""
    return values.transpose(0, 3, 1, 2, 4).reshape(len(values) * LANES, -1)[:rows]


def quants_and_scales(
    data: Bytes, bits: int, rows: int, columns: int
) -> tuple[Bytes, NDArray[np.float16]]:
    """uint8 (rows, columns) quants as a packed matrix has them (8 bits: w + 128), and float16
    (kinds, rows, blocks): scales; for 4 and 5 bits minimums, for 6 bits the second halves'."""
    quants, scales = _stored(data, bits, columns)
    by_kind = scales.transpose(2, 0, 3, 1).reshape(scales.shape[2], -1, scales.shape[1])
    return _by_row(quants, rows).view(np.uint8), by_kind[:, :rows]


def unpack(data: Bytes, bits: int, rows: int, columns: int) -> NDArray[np.float32]:
    """The float32 (rows, columns) that a packed matrix stands for: the oracle of the kernels."""
    if bits == FLOAT_BITS:
        values = data.view(np.float32).reshape(-1, columns, LANES)
        return values.swapaxes(1, 2).reshape(-1, columns)[:rows]
    quants, halves = _stored(data, bits, columns)
    scales = halves.astype(np.float32)[:, :, :, None, :, None]  # (tiles, blocks, kinds, 1, 16, 1)
    first, values = scales[:, :, 0], quants.astype(np.float32)
    if bits == 8:
        weights = (values - 128) * first
    elif bits == 6:
        by_half = [scales[:, :, half].repeat(4, axis=2) for half in (0, 1)]
        weights = np.concatenate(by_half, axis=2) * (values - 32)
    else:
        weights = first * values + scales[:, :, 1]
    return _by_row(weights, rows).view(np.float32)
