"""How keys and values lie in a KV block: the one place that says it, for kernels and the cache.

A block holds the keys and values of BLOCK_TOKENS positions in a row for all layers. RUN_BLOCKS of
them lie together: for each layer and kv head the keys of one after the other, so that positions are
the lanes of a vector, then the values of all, so that the numbers of a head are. So attention reads
long streams, line by line, where blocks follow each other: a token behind 4 096 positions takes 1.7
to 1.8 ms of two threads for it, 2.1 where each block lies by itself, and of one 2.6, 3.5 (SmolLM2,
Zen 4).

As float16, or as float32 of a model that is computed exactly: keys (head_dim, BLOCK_TOKENS),
values (BLOCK_TOKENS, head_dim). As bytes q for a number q · scale, by fours of what is summed over,
as byte products take them: keys as q + 128 (head_dim / 32, 8, 2, 16 positions, 4), their scales
float16 (2, head_dim / 32, 16 positions), values as q (head_dim / 32, 8, 2, 16 numbers, 4 positions
in the order of `value_place`), the exponents of two of their scales float16 (BLOCK_TOKENS,), and
nothing in what is left of as many bytes as keys take.
"""

import math
from typing import NamedTuple

BLOCK_TOKENS = 32
"""Positions of a block. Divides kernels.attention_part.PART and is a multiple of 16."""
BYTE, HALF_BYTES, FLOAT_BYTES = 1, 2, 4
"""Of a number in the cache."""
RUN_BLOCKS = 8
"""Blocks whose keys lie side by side: those of a part (kernels.attention_part.PART)."""
GROUP = 32
"""Numbers of a key that have a scale together. A value has one scale for all of a head."""
LEAST_EXPONENT = -60.0
"""Of a scale of values: 1 / scale is a number of which many can be added."""


def half_bytes(dim: int, size: int) -> int:
    """Bytes of one head's keys in a block, numbers of `size` bytes and their scales; its values
    take as many."""
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
    def record(self) -> tuple[int, int, int]:
        """Layers times kv heads, 2 for keys and values, bytes of either: a block as an array."""
        return self.layers * self.kv_heads, 2, half_bytes(self.head_dim, self.number_bytes)

    @property
    def block_bytes(self) -> int:
        """Bytes of a block."""
        return math.prod(self.record)

    @property
    def read_bytes(self) -> int:
        """Of these, what attention of one token reads: all but the room that values leave."""
        heads, _, half_bytes = self.record
        values = self.number_bytes * BLOCK_TOKENS * self.head_dim
        scales = 2 * BLOCK_TOKENS if self.number_bytes == BYTE else 0
        return heads * (half_bytes + values + scales)


def blocks_for(tokens: int) -> int:
    """Blocks that hold this many positions."""
    return (tokens + BLOCK_TOKENS - 1) // BLOCK_TOKENS
