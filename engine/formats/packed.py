"""The layout that the matrix kernels read: tiles of 16 output rows, interleaved.

Lane = output row. A block is 32 weights of each of 16 rows; a group is 4 consecutive weights of
each. Quants of 4, 5 and 6 bits lie in records, block after block:

- `two times (16,) f16`: scales and minimums, for 6 bits the scales of each half of the block;
- `(4 groups, 16 rows, 4)`: the 4 low bits, groups 0-3 in the low nibbles, 4-7 in the high ones;
- 5 bits: `(16 rows, 4)`: bit g of a byte is the fifth bit in group g;
- 6 bits: `(2, 16 rows, 4)`: bits 2i and 2i + 1 of a byte are the high bits in group i, and in
  group 4 + i of the second half.

4 and 5 bits: weight = scale · quant + minimum. 6 bits: weight = scale of its half · (quant - 32).

- K-quants of 4, 5 and 6 bits: 8 blocks are a super-block, with half floats of its own that the
  scales are multiples of, as in the file. `scale (16,) f16`, `minimum (16,) f16` (6 bits: unused),
  the factors, then the quants of the 8 blocks as above, without scales. Factors of 4 and 5 bits:
  `(3, 16 rows, 4)`, the file's 12 bytes (see `formats.bits.scales_and_minimums`); of 6 bits:
  `(16 half blocks, 16 rows) int8`. scale of a block = scale · factor, likewise its minimum.
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

from engine.formats.bits import scales_and_minimums

BLOCK = 32
"""Weights that share a scale."""
LANES = 16
"""Output rows in a tile."""
GROUPS = BLOCK // 4
SUPER = 256
"""Weights of a super-block. A layout that has them goes by its bits + SUPER."""
SUPER_BLOCKS = SUPER // BLOCK
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
SUPER_BITS = (SUPER + 4, SUPER + 5, SUPER + 6)
SUPER_HEADS = dict(
    zip(SUPER_BITS, (2 * SCALE_BYTES + LANES * n for n in (12, 12, 16)), strict=True)
)
"""Bits → bytes before the quants of a super-block: 256, 256, 320."""
SUPER_BYTES = {
    bits: head + SUPER_BLOCKS * (RECORD_BYTES[bits - SUPER] - 2 * SCALE_BYTES)
    for bits, head in SUPER_HEADS.items()
}
"""Bits → bytes of a super-block of 16 rows: 2304, 2816, 3392; 4.5, 5.5 and 6.625 bits a weight."""
K4_BYTES, K5_BYTES, K6_BYTES = SUPER_BYTES.values()
Q8_BLOCK_BYTES = LANES * BLOCK
Q8_PAIR_BYTES = 2 * (SCALE_BYTES + Q8_BLOCK_BYTES)
"""1088: whole cache lines, which a block with its scales is not."""
Bytes = NDArray[np.uint8]


class Blocks(NamedTuple):
    """A matrix in blocks of 32, as formats hand it over.

    quants: uint8 (rows, blocks, 32) of as many bits, int8 for 8 bits, the float32 weights
    themselves for 32 bits; scales: float16 (rows, blocks), for 6 bits (rows, blocks, 2), None for
    32 bits; minimums: float16 (rows, blocks) for 4 and 5 bits, else None.

    With super-blocks, scales and minimums are float16 (rows, super-blocks), factors uint8 (rows,
    super-blocks, 12), for 6 bits int8 (rows, super-blocks, 16).
    """

    bits: int
    quants: NDArray[np.generic]
    scales: NDArray[np.float16] | None = None
    minimums: NDArray[np.float16] | None = None
    factors: NDArray[np.generic] | None = None


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
    if bits == SUPER + 4:
        return blocks // SUPER_BLOCKS * K4_BYTES
    if bits == SUPER + 5:
        return blocks // SUPER_BLOCKS * K5_BYTES
    if bits == SUPER + 6:
        return blocks // SUPER_BLOCKS * K6_BYTES
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


def _block_scales(
    scales: NDArray[np.float16],
    minimums: NDArray[np.float16] | None,
    factors: NDArray[np.generic],
) -> NDArray[np.float32]:
    """Scales and minimums of blocks, or scales of their halves: float32 (…, blocks, 2).

    scales and minimums: (…, super-blocks); factors: (…, super-blocks, 12 or 16).
    """
    wide = scales.astype(np.float32)[..., None]
    if minimums is None:
        both = wide * factors.view(np.int8)
    else:
        by_scale, by_minimum = scales_and_minimums(factors.view(np.uint8))
        lowest = minimums.astype(np.float32)[..., None] * by_minimum
        both = np.stack([wide * by_scale, lowest], axis=-1)
    return both.reshape(*scales.shape[:-1], -1, 2)


def without_super_blocks(blocks: Blocks) -> Blocks:
    """The same quants, their scales rounded to half floats: this adds 0.07% (RMS) to Gemma 3 270M.

    What has no super-blocks is given back as it is.
    """
    if blocks.factors is None:
        return blocks
    assert blocks.scales is not None, "a quantized matrix has scales"
    both = _block_scales(blocks.scales, blocks.minimums, blocks.factors).astype(np.float16)
    if blocks.minimums is None:
        return Blocks(blocks.bits - SUPER, blocks.quants, both)
    return Blocks(blocks.bits - SUPER, blocks.quants, both[..., 0], both[..., 1])


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


def _quant_bytes(groups: Bytes, bits: int) -> list[Bytes]:
    """Quants of 4, 5 or 6 bits, uint8 (tiles, blocks, 8, 16, 4), as they lie in a record: uint8
    (tiles, blocks, n) each."""
    low = groups & np.uint8(15)
    parts: list[Bytes] = [low[:, :, :4] | low[:, :, 4:] << np.uint8(4)]
    if bits > 4:
        parts.append(_joined(groups >> np.uint8(4), bits - 4))
    return [part.reshape(*groups.shape[:2], -1) for part in parts]


def _pack_super_blocks(out: Bytes, groups: Bytes, blocks: Blocks) -> None:
    """Fill uint8 (tiles, super-blocks, bytes); groups: uint8 (tiles, blocks, 8, 16, 4)."""
    assert blocks.scales is not None, "a quantized matrix has scales"
    assert blocks.factors is not None, "super-blocks have factors"
    head = SUPER_HEADS[blocks.bits]
    out[:, :, :SCALE_BYTES] = _by_block(blocks.scales)
    if blocks.minimums is not None:
        out[:, :, SCALE_BYTES : 2 * SCALE_BYTES] = _by_block(blocks.minimums)
    factors = _tiled(blocks.factors).view(np.uint8)  # (tiles, 16, super-blocks, 12 or 16)
    width = 1 if blocks.minimums is None else 4
    beside = factors.reshape(*factors.shape[:3], -1, width).transpose(0, 2, 3, 1, 4)
    out[:, :, 2 * SCALE_BYTES : head] = beside.reshape(*out.shape[:2], -1)
    quants = np.concatenate(_quant_bytes(groups, blocks.bits - SUPER), axis=2)
    out[:, :, head:] = quants.reshape(*out.shape[:2], -1)


def _pack_records(out: Bytes, groups: Bytes, blocks: Blocks) -> None:
    """Fill uint8 (tiles, blocks, record); groups: uint8 (tiles, blocks, 8, 16, 4)."""
    assert blocks.scales is not None, "a quantized matrix has scales"
    if blocks.bits == 6:
        scales = (blocks.scales[:, :, 0], blocks.scales[:, :, 1])
    else:
        assert blocks.minimums is not None, "a matrix of 4 or 5 bits has minimums"
        scales = (blocks.scales, blocks.minimums)
    parts = [_by_block(scale) for scale in scales] + _quant_bytes(groups, blocks.bits)
    np.concatenate(parts, axis=2, out=out)


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
    elif blocks.bits >= SUPER:
        _pack_super_blocks(out.reshape(tiles, -1, SUPER_BYTES[blocks.bits]), groups, blocks)
    else:
        _pack_records(out.reshape(tiles, count, RECORD_BYTES[blocks.bits]), groups, blocks)
    return out.reshape(-1)


def _stored_quants(stored: Bytes, bits: int) -> Bytes:
    """uint8 (tiles, blocks, 8, 16, 4) of 4, 5 or 6 bits; the inverse of `_quant_bytes`, joined."""
    shape = stored.shape[:2]
    nibbles, rest = np.split(stored, [NIBBLE_BYTES], axis=2)
    both = nibbles.reshape(*shape, 4, LANES, 4)
    quants = np.concatenate([both & 15, both >> 4], axis=2)
    if bits > 4:
        quants |= _fields(rest.reshape(*shape, -1, LANES, 4), bits - 4) << np.uint8(4)
    return quants


def _stored_super_blocks(tiles: Bytes, bits: int, count: int) -> tuple[Bytes, NDArray[np.float32]]:
    """What `_stored` gives, of a matrix with super-blocks: its scales are float32."""
    head, records = SUPER_HEADS[bits], tiles.reshape(len(tiles), -1, SUPER_BYTES[bits])
    quants = _stored_quants(records[:, :, head:].reshape(len(tiles), count, -1), bits - SUPER)
    halves = np.ascontiguousarray(records[:, :, : 2 * SCALE_BYTES]).view(np.float16)
    by_row = halves.reshape(*records.shape[:2], 2, LANES).transpose(2, 0, 3, 1)
    width = 1 if bits == SUPER + 6 else 4
    factors = records[:, :, 2 * SCALE_BYTES : head].reshape(*records.shape[:2], -1, LANES, width)
    factors = np.ascontiguousarray(factors.transpose(0, 3, 1, 2, 4))  # (tiles, 16, …, 3 or 16, …)
    factors = factors.reshape(*factors.shape[:3], -1)
    minimums = None if bits == SUPER + 6 else by_row[1]
    return quants, _block_scales(by_row[0], minimums, factors).transpose(0, 2, 3, 1)


def _stored(
    data: Bytes, bits: int, columns: int
) -> tuple[Bytes, NDArray[np.float16] | NDArray[np.float32]]:
    """Of a packed quantized matrix: uint8 (tiles, blocks, 8 groups, 16, 4) quants as they are
    stored, (tiles, blocks, kinds, 16) scales and minimums, float16 as they are stored or float32 as
    they are computed."""
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
    if bits >= SUPER:
        return _stored_super_blocks(tiles, bits, count)
    records = tiles.reshape(len(tiles), count, -1)
    scales = np.ascontiguousarray(records[:, :, : 2 * SCALE_BYTES]).view(np.float16)
    quants = _stored_quants(records[:, :, 2 * SCALE_BYTES :], bits)
    return quants, scales.reshape(*records.shape[:2], 2, LANES)


def _by_row(values: NDArray[np.generic], rows: int) -> NDArray[np.generic]:
    """(tiles, blocks, groups, 16, 4) → (rows, columns)."""
    return values.transpose(0, 3, 1, 2, 4).reshape(len(values) * LANES, -1)[:rows]


def quants_and_scales(
    data: Bytes, bits: int, rows: int, columns: int
) -> tuple[Bytes, NDArray[np.float16]]:
    """uint8 (rows, columns) quants as a packed matrix has them (8 bits: w + 128), and float16
    (kinds, rows, blocks): scales; for 4 and 5 bits minimums, for 6 bits the second halves'. Not of
    a matrix with super-blocks."""
    assert bits < SUPER, "a matrix with super-blocks has no half floats for its blocks"
    quants, scales = _stored(data, bits, columns)
    halves = scales.astype(np.float16, copy=False)
    by_kind = halves.transpose(2, 0, 3, 1).reshape(scales.shape[2], -1, scales.shape[1])
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
    elif bits % SUPER == 6:
        by_half = [scales[:, :, half].repeat(4, axis=2) for half in (0, 1)]
        weights = np.concatenate(by_half, axis=2) * (values - 32)
    else:
        weights = first * values + scales[:, :, 1]
    return _by_row(weights, rows).view(np.float32)
