"""Between the prefix cache in memory and the store on disk: what goes out, what comes back.

Used by the compute thread alone. Knows token ids and blocks; nothing of requests, files or HTTP.
"""

import hashlib
import time
from array import array
from collections import deque
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
MOST_WAITING = 64
"""Prompts that wait to be copied for the disk; what comes then is not kept."""


class _Copies:
    """Of the blocks of a prompt, those that the disk lacks, and copies of the first of them."""

    def __init__(self, tokens: Sequence[int], wanted: Sequence[int]) -> None:
        self.tokens = tokens
        self.wanted = wanted
        self.payloads: dict[int, memoryview] = {}


class KeptPrefixes:
    """Blocks of the prefix cache that are on disk too."""

    def __init__(self, cache: PrefixCache, store: PrefixStore) -> None:
        self._cache = cache
        self._store = store
        self._waiting: deque[array[int]] = deque()
        self._copies: _Copies | None = None
        self.restored_tokens = 0
        """That came back so far, and how long that took."""
        self.restore_s = 0.0
        self.copy_s = 0.0
        """How long copying for the disk took so far."""

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
        for _ in self._cache.restore(tokens, known, self._store.load(tokens, known)):
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
        """Have the cached blocks at the beginning of `tokens` written, unless they are there:
        `copy_some` does it, piece by piece."""
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(array("i", tokens))

    @property
    def waiting(self) -> bool:
        """Whether `copy_some` has something to do."""
        return bool(self._waiting or self._copies)

    def copy_some(self, seconds: float) -> None:
        """Copy blocks that wait for being written, for `seconds` or a little more.

        The 125 blocks of a prompt of 4 000 tokens (SmolLM2) take 20 to 60 ms, more than may lie
        between two tokens of another's answer. What has left the cache meanwhile is not kept.
        """
        began = time.perf_counter()
        end = began + seconds
        while self.waiting:
            if self._copies is None:
                self._copies = self._begin(self._waiting.popleft())
            if self._copy(self._copies, end):
                self._store.save(self._copies.tokens, self._copies.payloads)
                self._copies = None
            if time.perf_counter() >= end:
                break
        self.copy_s += time.perf_counter() - began

    def _begin(self, tokens: Sequence[int]) -> _Copies:
        whole = tokens[: self._cache.cached_length(tokens)]
        return _Copies(whole, self._store.wanted(whole))

    def _copy(self, copies: _Copies, end: float) -> bool:
        """Copy until that moment, one at least; whether all is copied that is there."""
        blocks, payloads = self._cache.blocks_of(copies.tokens), copies.payloads
        left = [number for number in copies.wanted[len(payloads) :] if number < len(blocks)]
        for number in left:
            record = self._cache.pool.record(blocks[number])
            payloads[number] = record.flatten().data
            if time.perf_counter() >= end:
                break
        for block in blocks:
            self._cache.pool.release(block)
        return not left or number == left[-1]

    def close(self, timeout: float) -> None:
        """Write what waits, for `timeout` seconds at most. After the compute thread has ended."""
        self.copy_some(timeout)
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
