"""The layout that the matrix kernels read: tiles of 16 output rows, interleaved.

Lane = output row. A block is 32 weights of each of 16 rows; a group is 4 consecutive weights of
each.

- 4 bits: `scale (16,) f16, minimum (16,) f16, nibbles (4 groups, 16 rows, 4)`, block after block;
  the low nibbles are groups 0-3, the high ones groups 4-7. weight = scale · nibble + minimum.
- 8 bits: `scale (blocks, 16) f16` padded to 64 bytes, then `(blocks, 8 groups, 16 rows, 4)` of w +
  128. weight = scale · (byte - 128).
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
FLOAT_BITS = 32
"""Bits of a weight that is kept as float32."""
SCALE_BYTES = 2 * LANES
Q4_BLOCK_BYTES = LANES * BLOCK // 2
"""The nibbles of a 4-bit block of 16 rows, without scales."""
Q4_RECORD_BYTES = 2 * SCALE_BYTES + Q4_BLOCK_BYTES
Q8_BLOCK_BYTES = LANES * BLOCK


class Blocks(NamedTuple):
    """A matrix in blocks of 32, as formats hand it over: weight = scale · quant + minimum.

    quants: uint8 (rows, blocks, 32) of 0..15 for 4 bits, int8 for 8 bits, the float32
    weights themselves for 32 bits; scales: float16 (rows, blocks), None for 32 bits; minimums:
    float16 (rows, blocks), None for all but 4 bits.
    """

    bits: int
    quants: NDArray[np.generic]
    scales: NDArray[np.float16] | None = None
    minimums: NDArray[np.float16] | None = None


def tile_bytes(bits: int, blocks: int) -> int:
    """Bytes of one tile of 16 rows with `blocks` blocks a row."""
    if bits == 4:
        return blocks * Q4_RECORD_BYTES
    if bits == FLOAT_BITS:
        return blocks * BLOCK * LANES * 4
    return (blocks * SCALE_BYTES + 63) // 64 * 64 + blocks * Q8_BLOCK_BYTES


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


def _by_block(values: NDArray[np.float16]) -> NDArray[np.uint8]:
    """float16 (rows, blocks) → its bytes as uint8 (tiles, blocks, 32): 16 rows side by side."""
    return np.ascontiguousarray(_tiled(values).transpose(0, 2, 1)).view(np.uint8)


def pack(blocks: Blocks) -> NDArray[np.uint8]:
    """Interleave a matrix by 16 rows; gives a flat uint8 array (see the module's docstring)."""
    count = blocks.quants.shape[1]
    if blocks.bits == FLOAT_BITS:
        floats = _tiled(blocks.quants)  # (tiles, 16, blocks, 32)
        return np.ascontiguousarray(floats.transpose(0, 2, 3, 1)).view(np.uint8).reshape(-1)
    assert blocks.scales is not None, "a quantized matrix has scales"
    quants = _tiled(blocks.quants).view(np.uint8)  # (tiles, 16, blocks, 32)
    tiles = len(quants)
    out = np.zeros((tiles, tile_bytes(blocks.bits, count)), np.uint8)
    if blocks.bits == 4:
        assert blocks.minimums is not None, "a 4-bit matrix has minimums"
        both = quants[..., :16] | quants[..., 16:] << 4
        nibbles = both.reshape(tiles, LANES, count, 4, 4).transpose(0, 2, 3, 1, 4)
        records = out.reshape(tiles, count, Q4_RECORD_BYTES)
        records[:, :, :SCALE_BYTES] = _by_block(blocks.scales)
        records[:, :, SCALE_BYTES : 2 * SCALE_BYTES] = _by_block(blocks.minimums)
        records[:, :, 2 * SCALE_BYTES :] = nibbles.reshape(tiles, count, -1)
    else:
        head = count * SCALE_BYTES
        offset = quants ^ np.uint8(0x80)
        grouped = offset.reshape(tiles, LANES, count, 8, 4).transpose(0, 2, 3, 1, 4)
        out[:, :head] = _by_block(blocks.scales).reshape(tiles, -1)
        out[:, (head + 63) // 64 * 64 :] = grouped.reshape(tiles, -1)
    return out.reshape(-1)


def unpack(data: NDArray[np.uint8], bits: int, rows: int, columns: int) -> NDArray[np.float32]:
    """The float32 (rows, columns) that a packed matrix stands for: the oracle of the kernels."""
    count = columns // BLOCK
    if bits == FLOAT_BITS:
        return (
            data.view(np.float32)
            .reshape(-1, columns, LANES)
            .swapaxes(1, 2)
            .reshape(-1, columns)[:rows]
        )
    tiles = data.reshape(-1, tile_bytes(bits, count))
    if bits == 4:
        records = tiles.reshape(len(tiles), count, Q4_RECORD_BYTES)
        halves = np.ascontiguousarray(records[:, :, : 2 * SCALE_BYTES]).view(np.float16)
        scales, minimums = halves[:, :, :LANES], halves[:, :, LANES:]
        both = records[:, :, 2 * SCALE_BYTES :].reshape(-1, count, 4, LANES, 4)
        nibbles = np.concatenate([both & 15, both >> 4], axis=2)
        groups = nibbles.astype(np.float32)
    else:
        head = count * SCALE_BYTES
        scales = np.ascontiguousarray(tiles[:, :head]).view(np.float16).reshape(-1, count, LANES)
        minimums = np.zeros_like(scales)
        stored = tiles[:, (head + 63) // 64 * 64 :].reshape(-1, count, 8, LANES, 4)
        groups = stored.astype(np.float32) - 128
    scale = scales.astype(np.float32)[:, :, None, :, None]
    minimum = minimums.astype(np.float32)[:, :, None, :, None]
    weights = groups * scale + minimum  # (tiles, blocks, groups, lanes, 4)
    return weights.transpose(0, 3, 1, 2, 4).reshape(-1, columns)[:rows]
