"""A few KV caches that outlive their requests, so that a prompt known already costs nothing.

Used by the compute thread alone. Knows nothing of requests beyond their token ids.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from engine.kv import KVSequence


MIN_SHARED_TOKENS = 32
"""With less in common, take the cache unused for longest: nearly all prompts share the few tokens
that open a chat, and what another conversation left is worth more than those."""


class CacheSlot:
    """One KV cache and the token ids whose keys and values it holds."""

    def __init__(self, cache: "KVSequence") -> None:
        self.cache = cache
        self.tokens: list[int] = []
        self.used_at = 0

    def keep(self, length: int) -> None:
        """Forget everything after the first ``length`` tokens."""
        self.cache.truncate(length)
        del self.tokens[length:]


class CachePool:
    """At most ``size`` caches, made when first needed and reused by longest common prefix."""

    def __init__(self, new_cache: Callable[[], "KVSequence"], size: int) -> None:
        self._new_cache = new_cache
        self._size = size
        self._made = 0
        self._free: list[CacheSlot] = []
        self._clock = 0

    def take(self, prompt: Sequence[int]) -> CacheSlot:
        """A cache that holds a beginning of ``prompt`` and nothing else.

        One token of the prompt is always left to compute, since its logits are wanted. The caller
        holds at most ``size`` slots at a time.
        """
        shared = [common_prefix(slot.tokens, prompt[:-1]) for slot in self._free]
        best = max(range(len(shared)), key=shared.__getitem__, default=None)
        if best is None or shared[best] < MIN_SHARED_TOKENS:
            if self._made < self._size:
                slot = CacheSlot(self._new_cache())
                self._made += 1
                return slot
            best = min(range(len(shared)), key=lambda index: self._free[index].used_at)
        slot = self._free.pop(best)
        slot.keep(shared[best])
        return slot

    def give_back(self, slot: CacheSlot) -> None:
        """Offer the cache, with what it holds, to the next request."""
        self._clock += 1
        slot.used_at = self._clock
        self._free.append(slot)


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """How many tokens at the start are the same in both."""
    length = min(len(a), len(b))
    different = np.flatnonzero(np.asarray(a[:length]) != np.asarray(b[:length]))
    return int(different[0]) if different.size else length
