"""How keys and values lie in a KV block: the one place that says it, for kernels and the cache.

A block holds the keys and values of BLOCK_TOKENS positions in a row for all layers, as one
contiguous record: for each layer and kv head the keys, so that positions are the lanes of a vector,
then the values, so that the numbers of a head are.

As float16, or as float32 of a model that is computed exactly: keys (head_dim, BLOCK_TOKENS),
values (BLOCK_TOKENS, head_dim). As bytes q for a number q · scale, by fours of what is summed over,
as byte products take them: keys as q + 128 (2, head_dim / 32, 8, 16 positions, 4), their scales
float16 (2, head_dim / 32, 16 positions), values as q (head_dim / 16, 8, 16 numbers, 4 positions in
the order of `value_place`), the exponents of two of their scales float16 (BLOCK_TOKENS,).
"""

from typing import NamedTuple

BLOCK_TOKENS = 32
"""Positions of a block. Divides kernels.attention_part.PART and is a multiple of 16."""
BYTE, HALF_BYTES, FLOAT_BYTES = 1, 2, 4
"""Of a number in the cache."""
GROUP = 32
"""Numbers of a key that have a scale together. A value has one scale for all of a head."""
LEAST_EXPONENT = -60.0
"""Of a scale of values: 1 / scale is a number of which many can be added."""


def head_bytes(dim: int, size: int) -> int:
    """Bytes of one head's keys and values in a block: numbers of `size` bytes, and their scales."""
    scales = 2 * BLOCK_TOKENS * dim // GROUP + 2 * BLOCK_TOKENS if size == BYTE else 0
    return 2 * size * BLOCK_TOKENS * dim + scales


def values_offset(dim: int, size: int) -> int:
    """Bytes from a head's keys to its values."""
    scales = 2 * BLOCK_TOKENS * dim // GROUP if size == BYTE else 0
    return size * BLOCK_TOKENS * dim + scales


def value_place(position: int) -> int:
    """Where the value of a position of a block lies among those that are bytes: positions 0, 16, 1,
    17, …, as kernels.byte_weights leaves their weights."""
    return 2 * (position % 16) + position // 16


class KVLayout(NamedTuple):
    """What decides the bytes of a block."""

    layers: int
    kv_heads: int
    head_dim: int
    number_bytes: int
    """1 (bytes with scales; head_dim is a multiple of GROUP), 2 (float16) or 4 (float32)."""

    @property
    def block_bytes(self) -> int:
        """Bytes of a block."""
        return self.layers * self.kv_heads * head_bytes(self.head_dim, self.number_bytes)


def blocks_for(tokens: int) -> int:
    """Blocks that hold this many positions."""
    return (tokens + BLOCK_TOKENS - 1) // BLOCK_TOKENS
