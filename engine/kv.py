"""The KV cache of one sequence: keys and values, in the layout of `kernels.attention`."""

import math
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.formats.packed import LANES


class ContextFullError(EngineError):
    """More tokens than the KV cache has room for."""


class KVCache:
    """Keys and values of the positions a sequence has so far, for all layers.

    Memory is reserved for `capacity` positions and becomes resident as they fill.
    """

    def __init__(
        self, layers: int, kv_heads: int, head_dim: int, capacity: int, exact: bool = False
    ) -> None:
        """exact: float32 in place of float16, for models that are computed exactly."""
        self.capacity = capacity
        """Positions that it has room for."""
        self.padded_capacity = (capacity + LANES - 1) // LANES * LANES
        self._length = 0
        shape = (layers, kv_heads, self.padded_capacity, head_dim)
        kind = np.dtype(np.float32 if exact else np.uint16)  # numba has no float16: its bits
        self.keys = _reserved(shape, kind)  # 16 positions interleaved
        self.values = _reserved(shape, kind)

    @property
    def length(self) -> int:
        """Positions that it holds."""
        return self._length

    def truncate(self, length: int) -> None:
        """Forget the positions from `length` on."""
        if not 0 <= length <= self._length:
            raise ValueError(f"cannot truncate a cache of {self._length} positions to {length}")
        self._length = length

    def reserve(self, tokens: int) -> None:
        """Raise ContextFullError unless there is room for `tokens` more positions."""
        if self._length + tokens > self.capacity:
            raise ContextFullError(
                f"{self._length} positions are taken and {tokens} more do not fit"
                f" into a context of {self.capacity}"
            )

    def advance(self, tokens: int) -> None:
        """`tokens` more positions have been written."""
        self._length += tokens


def _reserved(shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
    """Zeros that take memory page by page as they are written.

    NumPy asks for huge pages. Every layer and head then takes 2 MB for its first position: 178 MB
    and 60 ms for the first token of the default model at 8192 positions, instead of 4 MB.
    """
    memory = mmap.mmap(-1, math.prod(shape) * kind.itemsize)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, kind).reshape(shape)
