"""Between the prefix cache in memory and the store on disk: what goes out, what comes back.

Used by the compute thread alone. Knows token ids and blocks; nothing of requests, files or HTTP.
"""

import hashlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.kernels.kv_layout import BLOCK_TOKENS
from engine.prefix_cache import PrefixCache
from engine.prefix_store import PrefixStore, StoreStats

if TYPE_CHECKING:
    from engine.model import Model

_CODE = ("architectures", "formats", "kernels")
"""Rooms whose code decides what keys and values are."""


class KeptPrefixes:
    """Blocks of the prefix cache that are on disk too."""

    def __init__(self, cache: PrefixCache, store: PrefixStore) -> None:
        self._cache = cache
        self._store = store
        self.restored_tokens = 0
        """That came back so far, and how long that took."""
        self.restore_s = 0.0

    @property
    def stats(self) -> StoreStats:
        """What the store has done."""
        return self._store.stats

    def restore(self, tokens: Sequence[int], seconds: float) -> bool:
        """Bring back blocks at the beginning of `tokens` that only the disk has, for `seconds` at
        most; whether there may be more of them."""
        began = time.perf_counter()
        known, more = self._cache.cached_length(tokens) // BLOCK_TOKENS, False
        if known == len(tokens) // BLOCK_TOKENS:
            return False
        for number, record in enumerate(self._store.load(tokens, known), known):
            if not self._cache.restore(tokens[: (number + 1) * BLOCK_TOKENS], record):
                break  # no room in memory
            self.restored_tokens += BLOCK_TOKENS
            if time.perf_counter() - began > seconds:
                more = True
                break
        self.restore_s += time.perf_counter() - began
        return more

    def recent(self) -> Iterator[list[int]]:
        """Tokens of the prompts used last, as many as fill half of the memory. For any thread."""
        return self._store.recent(self._cache.pool.blocks // 2)

    def keep(self, tokens: Sequence[int]) -> None:
        """Have the cached blocks at the beginning of `tokens` written, unless they are there."""
        whole = tokens[: self._cache.cached_length(tokens)]
        wanted = self._store.wanted(whole)
        blocks = self._cache.blocks_of(whole)
        record = self._cache.pool.record
        self._store.save(whole, {number: record(blocks[number]).tobytes() for number in wanted})
        for block in blocks:
            self._cache.pool.release(block)

    def close(self, timeout: float) -> None:
        """Write what waits, for `timeout` seconds at most. After the compute thread has ended."""
        self._store.close(timeout)


def kept_prefixes(model: "Model", cache: PrefixCache, directory: Path, budget: int) -> KeptPrefixes:
    """The prefixes of this model in a directory. Raises OSError where that cannot be used."""
    store = PrefixStore(
        directory,
        f"{model.kv_identity}\n{_code_hash()}",
        block_tokens=BLOCK_TOKENS,
        block_bytes=model.kv_layout.block_bytes,
        budget=budget,
    )
    return KeptPrefixes(cache, store)


def _code_hash() -> str:
    """Of the code that computes keys and values: another version's are not taken for ours."""
    room = Path(__file__).parent
    digest = hashlib.sha256()
    for folder in _CODE:
        for file in sorted((room / folder).glob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()
