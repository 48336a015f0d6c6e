"""Rotary positions, and keys and values into the cache."""

from typing import Any

import numpy as np
from numba import njit

from engine.formats.packed import LANES
from engine.kernels.arithmetic import exponential, float_to_half, half_to_float
from engine.kernels.intrinsics import (
    addresses,
    bits_to_float,
    float_to_bits,
    floats,
    halves,
    integers,
    signed_bytes,
    unsigned_bytes,
)
from engine.kernels.kv_layout import (
    BLOCK_TOKENS,
    BYTE,
    GROUP,
    HALF_BYTES,
    LEAST_EXPONENT,
    RUN_BLOCKS,
    half_bytes,
    value_place,
)
from engine.kernels.program import POSITIONS, ROWS, TABLES, share

LN2 = np.float32(0.6931471805599453)
LOGARITHM = tuple(
    np.float32(value)
    for value in (
        -0.0264573852,
        0.123451298,
        -0.279537931,
        0.458270703,
        -0.718281896,
        1.44255314,
    )
)
"""Coefficients of f⁶ to f for log2(1 + f), 0 ≤ f < 1, within 2.1e-6."""

half_bytes_of = njit(half_bytes)


@njit(inline="always")
def head_offset(layer: int, kv_heads: int, head: int, dim: int, size: int) -> int:
    """Bytes from a block's first keys to those of a head (see kernels.kv_layout)."""
    before: int = 2 * RUN_BLOCKS * half_bytes_of(dim, size) * (layer * kv_heads + head)
    return before


@njit(inline="always")
def values_offset(dim: int, size: int) -> int:
    """Bytes from a head's keys in a block to its values there."""
    offset: int = RUN_BLOCKS * half_bytes_of(dim, size)
    return offset


@njit(inline="always")
def rotate(vector: np.ndarray, angles: np.ndarray, halves_apart: int) -> None:
    """Rotate pairs of the first elements of float32 (head_dim,) in place (RoPE, Su et al. 2021).

    angles: (pairs, 2) cos and sin; a pair is 2i and 2i + 1, the order in which GGUF stores Llama's
    heads, or with `halves_apart` i and i + pairs.
    """
    pairs = angles.shape[0]
    apart, near = (pairs, 1) if halves_apart != 0 else (1, 2)
    for i in range(pairs):
        a, b = vector[near * i], vector[near * i + apart]
        vector[near * i] = a * angles[i, 0] - b * angles[i, 1]
        vector[near * i + apart] = a * angles[i, 1] + b * angles[i, 0]


@njit
def store_halves(
    qkv: np.ndarray, head: int, kv_heads: int, keys: np.ndarray, values: np.ndarray, p: int
) -> None:
    """Put key and value of a head into a block, as its position p.

    qkv: float32 (all heads, head_dim), head: of the key; keys (head_dim, BLOCK_TOKENS), values
    (BLOCK_TOKENS, head_dim): of the head in the block, as float16 bits.
    """
    for i in range(qkv.shape[1]):
        keys[i, p] = float_to_half(qkv[head, i])
        values[p, i] = float_to_half(qkv[head + kv_heads, i])


@njit
def store_floats(
    qkv: np.ndarray, head: int, kv_heads: int, keys: np.ndarray, values: np.ndarray, p: int
) -> None:
    """As `store_halves`, in a block of float32."""
    for i in range(qkv.shape[1]):
        keys[i, p] = qkv[head, i]
        values[p, i] = qkv[head + kv_heads, i]


@njit
def quantized(value: np.float32, inverse: np.float32) -> np.int32:
    """value · inverse rounded to nearest, at most ±127."""
    scaled = min(max(value * inverse, np.float32(-127.0)), np.float32(127.0))
    return np.int32(np.rint(scaled))


@njit
def largest_magnitude(values: np.ndarray) -> np.float32:
    """The largest |x| of float32."""
    largest = np.float32(0.0)
    for i in range(values.size):
        largest = max(largest, abs(values[i]))
    return largest


byte_of_position = njit(value_place)


@njit
def logarithm(scale: np.float32) -> np.float32:
    """log2 of a scale of values within 3e-6, at least LEAST_EXPONENT."""
    bits = float_to_bits(max(scale, np.float32(2.0**LEAST_EXPONENT)))
    exponent = (bits >> np.int32(23)) - np.int32(127)
    f = bits_to_float((bits & np.int32(0x7FFFFF)) | np.int32(0x3F800000)) - np.float32(1.0)
    p = np.float32(0.0)
    for coefficient in LOGARITHM:
        p = (p + coefficient) * f
    return np.float32(exponent) + p


@njit
def store_bytes(key: np.ndarray, value: np.ndarray, address: int, p: int) -> None:
    """Put key and value of a head, float32 (head_dim,), into a block of bytes as its position p.

    address: of the head in the block.
    """
    dim, tile, lane = key.size, p // LANES, p % LANES
    groups = dim // GROUP
    keys = unsigned_bytes(address, (groups, 8, 2, LANES, 4))
    scales = halves(address + BLOCK_TOKENS * dim, (2, groups, LANES))
    for group in range(groups):
        numbers = key[group * GROUP : (group + 1) * GROUP]
        half = float_to_half(largest_magnitude(numbers) * np.float32(1 / 127))
        scale = half_to_float(half)
        inverse = np.float32(1.0) / scale if scale > np.float32(0.0) else np.float32(0.0)
        scales[tile, group, lane] = half
        for i in range(GROUP):
            number = quantized(numbers[i], inverse)
            keys[group, i // 4, tile, lane, i % 4] = np.uint8(number + np.int32(128))
    at = address + values_offset(dim, BYTE)
    values = signed_bytes(at, (groups, 8, 2, LANES, 4))
    at_byte = byte_of_position(p)
    half = float_to_half(logarithm(largest_magnitude(value) * np.float32(1 / 127)))
    halves(at + BLOCK_TOKENS * dim, BLOCK_TOKENS)[p] = half
    inverse = exponential(-half_to_float(half) * LN2)
    for i in range(dim):
        number = np.int8(quantized(value[i], inverse))
        values[i // GROUP, at_byte // 4, i % GROUP // LANES, i % LANES, at_byte % 4] = number


def rope_store(operands: Any, step: Any, thread: int, threads: int) -> None:
    """Rotate queries in place, rotate keys, put keys and values into their blocks.

    operands: address of qkv float32 (rows, (heads + 2 kv_heads) · head_dim), of the int64 address
    of the angles float32 (positions, pairs, 2), layer, heads, kv_heads, head_dim, pairs that are
    rotated in a head, whether those are halves apart, bytes of a number in the cache.
    """
    layer, heads, kv_heads, dim = operands[2], operands[3], operands[4], operands[5]
    pairs, halves_apart, size = operands[6], operands[7], operands[8]
    rows, angles = step[ROWS], addresses(operands[1], 1)[0]
    positions, tables = integers(step[POSITIONS], rows), addresses(step[TABLES], rows)
    qkv = floats(operands[0], (rows, heads + 2 * kv_heads, dim))
    keys_shape, values_shape = (dim, BLOCK_TOKENS), (BLOCK_TOKENS, dim)
    first, last = share(rows * (heads + kv_heads), thread, threads)
    for item in range(first, last):
        row, head = item // (heads + kv_heads), item % (heads + kv_heads)
        p = positions[row]
        rotate(qkv[row, head], floats(angles + 8 * p * pairs, (pairs, 2)), halves_apart)
        if head >= heads:
            block = addresses(tables[row], p // BLOCK_TOKENS + 1)[p // BLOCK_TOKENS]
            key = block + head_offset(layer, kv_heads, head - heads, dim, size)
            value = key + values_offset(dim, size)
            slot = p % BLOCK_TOKENS
            if size == BYTE:
                store_bytes(qkv[row, head], qkv[row, head + kv_heads], key, slot)
            elif size == HALF_BYTES:
                keys, values = halves(key, keys_shape), halves(value, values_shape)
                store_halves(qkv[row], head, kv_heads, keys, values, slot)
            else:
                keys, values = floats(key, keys_shape), floats(value, values_shape)
                store_floats(qkv[row], head, kv_heads, keys, values, slot)
