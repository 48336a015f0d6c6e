"""Text that was read before at another place of a prompt: its keys and values are used again.

What a prompt has in common with an earlier one behind its beginning, such as a passage that was
quoted in another order, is found; the first tokens of such a run are computed anew, and of the rest
the keys are turned to their new place (EPIC, Hu et al. 2024; CacheBlend, Yao et al. 2024). The rest
has not looked at what stands before it now, so **answers may change**: this is off unless it is
asked for. What was reused, and all that was computed behind it, is never offered to the prefix
cache or the disk. For the compute thread alone.
"""

import sys
import time
from array import array
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from engine.kernels.kv_layout import BLOCK_TOKENS
from engine.kv import KVSequence
from engine.moved_keys import KeyTurner, joined, read_block, write_block
from engine.prefix_cache import PrefixCache

GRID = 16
"""Tokens that have to be the same for a run to be found; a known prompt has an entry for each."""
LEAST_TOKENS = 48
"""Of a run, or it is computed: 48 tokens take 30 ms to compute and 16 of them are computed anyway
(SmolLM2)."""
COMPUTED_TOKENS = 16
"""Of each run, from its beginning: they see what stands before the run."""
MOST_PROMPTS = 64
"""That are remembered."""
_ID_BYTES = 4


class Run(NamedTuple):
    """Tokens of a prompt that an earlier one has too."""

    start: int
    end: int
    known: "_Known"
    at: int
    """Where the run begins in the earlier prompt."""


class _Known(NamedTuple):
    """A prompt whose blocks are, or were, in the prefix cache."""

    tokens: list[int]
    ids: bytes


class Chunks:
    """What is known of earlier prompts, and who has used how much of it."""

    def __init__(self, cache: PrefixCache, turner: KeyTurner) -> None:
        self._cache = cache
        self._turner = turner
        self._prompts: deque[_Known] = deque()
        self._places: dict[bytes, tuple[_Known, int]] = {}
        self.reused_tokens = 0
        """So far, and what that took."""
        self.reuse_s = 0.0

    def remember(self, tokens: Sequence[int]) -> None:
        """A prompt was computed, as it is; its blocks are in the prefix cache."""
        known = _Known(list(tokens), _ids(tokens))
        if any(other.ids.startswith(known.ids) for other in self._prompts):
            return
        self._prompts = deque(p for p in self._prompts if not known.ids.startswith(p.ids))
        self._prompts.append(known)
        for at in range(0, len(tokens) - GRID + 1, GRID):
            self._places[_gram(known.ids, at)] = (known, at)
        if len(self._prompts) > MOST_PROMPTS:
            oldest = self._prompts.popleft()
            for at in range(0, len(oldest.tokens) - GRID + 1, GRID):
                if self._places.get(_gram(oldest.ids, at), (None,))[0] is oldest:
                    del self._places[_gram(oldest.ids, at)]

    def begin(self, tokens: Sequence[int], first: int) -> "Reuse":
        """What a prompt, of which the first positions are cached, can use again."""
        return Reuse(self, self._runs(tokens, first))

    def _runs(self, tokens: Sequence[int], first: int) -> deque[Run]:
        """Those behind `first`, in order; the last token of a prompt is always computed."""
        runs: deque[Run] = deque()
        ids, start, last = _ids(tokens), first, len(tokens) - 1
        while start + LEAST_TOKENS <= last:
            place = self._places.get(_gram(ids, start))
            if place is None:
                start += 1
                continue
            known, at = place
            begin = start
            while begin > first and at > 0 and known.tokens[at - 1] == tokens[begin - 1]:
                begin, at = begin - 1, at - 1
            end, there = start + GRID, at + start - begin + GRID
            while end < last and there < len(known.tokens) and known.tokens[there] == tokens[end]:
                end, there = end + 1, there + 1
            if end - begin >= LEAST_TOKENS:
                runs.append(Run(begin, end, known, at))
            start = first = end
        return runs

    def fill(self, sequence: KVSequence, run: Run) -> int:
        """Continue a sequence that is somewhere in the run up to the run's end, as far as its
        blocks are still there. Gives the positions won."""
        began = time.perf_counter()
        length = sequence.length
        first, last = run.at + length - run.start, run.at + run.end - run.start
        blocks = self._cache.blocks_of(run.known.tokens[: -(-last // BLOCK_TOKENS) * BLOCK_TOKENS])
        last = min(last, len(blocks) * BLOCK_TOKENS)
        count = last - first
        won = 0
        if count > 0 and self._cache.make_room(sequence.blocks_wanted(count)):
            sequence.reserve(count)
            self._move(blocks, first, last, sequence)
            won = count
        for block in blocks:
            self._cache.pool.release(block)
        self.reused_tokens += won
        self.reuse_s += time.perf_counter() - began
        return won

    def _move(self, blocks: list[int], first: int, last: int, sequence: KVSequence) -> None:
        """Positions `first` to before `last` of these blocks, to the end of a sequence."""
        pool = self._cache.pool
        start, end = first // BLOCK_TOKENS, -(-last // BLOCK_TOKENS)
        read = [read_block(pool.record(block), pool.layout) for block in blocks[start:end]]
        there = joined(read).part(first - start * BLOCK_TOKENS, last - start * BLOCK_TOKENS)
        moved = self._turner.turned(there, first, sequence.length)
        done, count = 0, last - first
        while done < count:
            index, offset = divmod(sequence.length, BLOCK_TOKENS)
            here = min(BLOCK_TOKENS - offset, count - done)
            record = pool.record(sequence.blocks[index])
            write_block(record, pool.layout, offset, moved.part(done, done + here))
            sequence.advance(here)
            done += here


class Reuse:
    """How far a request is with what it can use again."""

    def __init__(self, chunks: Chunks, runs: deque[Run]) -> None:
        self._chunks = chunks
        self._runs = runs
        self.exact = sys.maxsize
        """Positions from the beginning that are as if nothing had been reused."""

    def advance(self, sequence: KVSequence) -> int:
        """Use again what comes next, if it does; gives how many tokens may be computed before
        this is to be asked again."""
        while self._runs:
            run = self._runs[0]
            computed = run.start + COMPUTED_TOKENS
            if sequence.length < computed:
                return computed - sequence.length
            self._runs.popleft()
            before = sequence.length
            if before < run.end and self._chunks.fill(sequence, run):
                self.exact = min(self.exact, before)
        return sys.maxsize


def _ids(tokens: Sequence[int]) -> bytes:
    return array("i", tokens).tobytes()


def _gram(ids: bytes, at: int) -> bytes:
    return ids[_ID_BYTES * at : _ID_BYTES * (at + GRID)]
