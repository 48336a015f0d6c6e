"""The memory of a forward step: one arena, addresses of its parts."""

import numpy as np

from engine.architectures.config import ModelConfig
from engine.formats.packed import padded_rows
from engine.kernels.attention import attention_scratch_bytes
from engine.kernels.attention_pieces import attention_shared_bytes
from engine.kernels.byte_attention import byte_scratch_bytes
from engine.kernels.choice_layout import room_bytes
from engine.kernels.columns import column_buffer_bytes

MAX_ROWS = 256
"""Tokens that go through the layers at once; more would push activations out of the L2 cache."""
_ALIGNMENT = 64


class Buffers:
    """Addresses of the activations of a step; all float32 but `columns` and `choices`."""

    def __init__(self, config: ModelConfig, threads: int, angles: int, local_angles: int) -> None:
        """angles, local_angles: `RopeTable.cell` of layers that see everything, and of those with a
        window."""
        c = config
        attended = c.heads * c.head_dim
        widest = max(c.dim, attended)
        items = MAX_ROWS * max(1, c.experts_used)  # inputs of the last product of a layer
        self.score_stride = padded_rows(c.experts)
        heads = (c.heads, c.kv_heads, c.head_dim)
        of_a_thread = max(attention_scratch_bytes(*heads), byte_scratch_bytes(*heads))
        self.scratch_bytes = aligned(of_a_thread)
        self.shared_bytes = attention_shared_bytes(c.heads, c.head_dim, c.context_length)
        self.choosing_bytes = aligned(room_bytes(c.vocabulary))
        sizes = {
            "x": 4 * MAX_ROWS * c.dim,  # (rows, dim) the residual stream
            "h": 4 * MAX_ROWS * c.dim,  # (rows, dim) after a norm
            "qkv": 4 * MAX_ROWS * (c.heads + 2 * c.kv_heads) * c.head_dim,
            "attended": 4 * MAX_ROWS * attended,  # (rows, heads · head_dim)
            "ffn": 4 * items * 2 * c.ffn_dim,  # (items, 2 · ffn_dim) gate, then up
            "columns": column_buffer_bytes(MAX_ROWS, widest),  # quantized inputs of a product
            "active": column_buffer_bytes(items, c.ffn_dim),  # those of the last one of a layer
            "scratch": threads * self.scratch_bytes,  # of attention
            "shared": self.shared_bytes,  # what threads hand to each other in attention
            "scores": 4 * MAX_ROWS * self.score_stride,  # (rows, experts, padded)
            "choices": 4 * MAX_ROWS * c.experts_used,  # int32 (rows, experts used)
            "shares": 4 * MAX_ROWS * c.experts_used,  # (rows, experts used)
            "mixed": 4 * MAX_ROWS * c.experts_used * c.dim,  # (rows, experts used, dim)
            "choosing": threads * self.choosing_bytes,  # of the next token
        }
        self._arena = np.zeros(sum(aligned(size) for size in sizes.values()) + _ALIGNMENT, np.uint8)
        start = aligned(self._arena.ctypes.data)
        addresses = {}
        for name, size in sizes.items():
            addresses[name] = start
            start += aligned(size)
        self.angles, self.local_angles = angles, local_angles
        self.x, self.h = addresses["x"], addresses["h"]
        self.qkv, self.attended = addresses["qkv"], addresses["attended"]
        self.ffn, self.active = addresses["ffn"], addresses["active"]
        self.columns = addresses["columns"]
        self.scratch, self.shared = addresses["scratch"], addresses["shared"]
        self.scores = addresses["scores"]
        self.choices, self.shares = addresses["choices"], addresses["shares"]
        self.mixed, self.choosing = addresses["mixed"], addresses["choosing"]


def aligned(size: int) -> int:
    """`size` rounded up to whole cache lines."""
    return (size + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
