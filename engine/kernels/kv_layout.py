"""How keys and values lie in a KV block: the one place that says it, for kernels and the cache.

A block holds the keys and values of BLOCK_TOKENS positions in a row for all layers, as one
contiguous record: for each layer and kv head the keys (BLOCK_TOKENS / 16, head_dim, 16), so that
16 positions are one vector, then the values (BLOCK_TOKENS, head_dim). Numbers are float16, or
float32 of a model that is computed exactly.
"""

from typing import NamedTuple

BLOCK_TOKENS = 32
"""Positions of a block. Divides kernels.attention.KEY_BLOCK and is a multiple of 16."""


class KVLayout(NamedTuple):
    """What decides the bytes of a block."""

    layers: int
    kv_heads: int
    head_dim: int
    number_bytes: int
    """2 (float16) or 4 (float32)."""

    @property
    def block_bytes(self) -> int:
        """Bytes of a block."""
        return 2 * self.layers * self.kv_heads * BLOCK_TOKENS * self.head_dim * self.number_bytes


def blocks_for(tokens: int) -> int:
    """Blocks that hold this many positions."""
    return (tokens + BLOCK_TOKENS - 1) // BLOCK_TOKENS
