"""Paged KV: blocks of keys and values in one arena, and sequences that hold blocks.

A sequence's positions lie in blocks anywhere in the arena, found through its block table. A block
may be held by several sequences, and by the prefix cache; who writes into a block that others hold
gets a copy first. Knows nothing of token ids. For one thread at a time.
"""

import weakref

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.huge_pages import anonymous
from engine.kernels.kv_layout import BLOCK_TOKENS, RUN_BLOCKS, KVLayout, blocks_for


class ContextFullError(EngineError):
    """More tokens than a sequence has room for."""


class NoFreeBlocksError(EngineError):
    """Every block of the arena is held."""


class BlockPool:
    """An arena of blocks, who holds each, and which are free.

    The arena's size is fixed when it is made: no block is ever allocated beyond it. Memory of a run
    of eight becomes resident when one of them is first used, even if the last run has fewer.
    """

    def __init__(self, layout: KVLayout, blocks: int) -> None:
        if blocks < 1:
            raise ValueError(f"a pool of {blocks} blocks cannot hold anything")
        self.layout = layout
        self.blocks = blocks
        """Blocks that there are."""
        self._arena = _reserved(blocks, layout)
        self._start = self._arena.ctypes.data
        self._free = dict.fromkeys(reversed(range(blocks)))  # the last is the next to be used
        self._held_of_run = [0] * len(self._arena)
        self._free_runs = dict.fromkeys(reversed(range(len(self._arena))))
        self._holders = [0] * blocks

    @property
    def free(self) -> int:
        """Blocks that nobody holds."""
        return len(self._free)

    def take(self, before: int | None = None) -> int:
        """A free block, held once by the caller. What is in it is arbitrary.

        The one behind the block `before` if that is free, or else the first of a run that nobody
        uses, so that a sequence is read in long pieces: a token behind 4 096 positions takes 1.2
        times as long where four sequences grew by turns and took whatever was next.
        Raises NoFreeBlocksError.
        """
        if not self._free:
            raise NoFreeBlocksError(f"all {self.blocks} blocks of the KV cache are in use")
        block = -1 if before is None else before + 1
        if block not in self._free:
            some_run = next(reversed(self._free_runs), None)
            block = next(reversed(self._free)) if some_run is None else some_run * RUN_BLOCKS
        del self._free[block]
        self._free_runs.pop(block // RUN_BLOCKS, None)
        self._held_of_run[block // RUN_BLOCKS] += 1
        self._holders[block] = 1
        return block

    def hold(self, block: int) -> None:
        """One more holds a block that is held already."""
        assert self._holders[block] > 0, "a free block cannot be held without taking it"
        self._holders[block] += 1

    def release(self, block: int) -> None:
        """One less holds the block; without holders it is free."""
        assert self._holders[block] > 0, "a block was released more often than held"
        self._holders[block] -= 1
        if self._holders[block]:
            return
        run = block // RUN_BLOCKS
        self._free[block] = None
        self._held_of_run[run] -= 1
        if not self._held_of_run[run]:
            self._free_runs[run] = None

    def holders(self, block: int) -> int:
        """How many hold the block."""
        return self._holders[block]

    def address(self, block: int) -> int:
        """Where the block's first keys begin."""
        run, place = divmod(block, RUN_BLOCKS)
        _, _, half_bytes = self.layout.record
        return self._start + run * RUN_BLOCKS * self.layout.block_bytes + place * half_bytes

    def record(self, block: int) -> NDArray[np.uint8]:
        """uint8 (`layout.record`): the block itself, not a copy; it does not lie in one piece."""
        run, place = divmod(block, RUN_BLOCKS)
        record: NDArray[np.uint8] = self._arena[run, :, :, place]
        return record

    def copied(self, block: int) -> int:
        """A new block with the same content. Raises NoFreeBlocksError."""
        copy = self.take()
        self.record(copy)[...] = self.record(block)
        return copy


class KVSequence:
    """The KV cache of one sequence: a table of blocks, and how many positions are filled.

    Blocks go back to the pool with `release`, at the latest when the sequence is garbage.
    """

    def __init__(self, pool: BlockPool, capacity: int) -> None:
        """capacity: positions that it may have at most."""
        self.pool = pool
        self.capacity = capacity
        self.blocks: list[int] = []
        """Those that hold its positions, in order."""
        self._table = np.zeros(blocks_for(capacity), np.int64)
        self.table_address = self._table.ctypes.data
        """Of int64 (blocks,): the address of each block."""
        self._length = 0
        self._finalizer = weakref.finalize(self, _release_all, pool, self.blocks)
        self._finalizer.atexit = False

    @property
    def length(self) -> int:
        """Positions that are filled."""
        return self._length

    def blocks_wanted(self, tokens: int) -> int:
        """Free blocks that `reserve` would take for `tokens` more positions."""
        wanted = blocks_for(self._length + tokens) - len(self.blocks)
        return wanted + (tokens > 0 and self._tail_is_shared())

    def reserve(self, tokens: int) -> None:
        """Make room for `tokens` more positions, in blocks that this sequence alone holds.

        Raises ContextFullError, or NoFreeBlocksError; nothing has changed then.
        """
        if self._length + tokens > self.capacity:
            raise ContextFullError(
                f"{self._length} positions are taken and {tokens} more do not fit"
                f" into a context of {self.capacity}"
            )
        wanted = self.blocks_wanted(tokens)
        if wanted > self.pool.free:
            raise NoFreeBlocksError(
                f"{wanted} blocks of the KV cache are wanted and {self.pool.free} are free"
            )
        if tokens and self._tail_is_shared():
            tail = self._length // BLOCK_TOKENS
            self._put(tail, self.pool.copied(self.blocks[tail]))
        while len(self.blocks) * BLOCK_TOKENS < self._length + tokens:
            self._append(self.pool.take(self.blocks[-1] if self.blocks else None))

    def advance(self, tokens: int) -> None:
        """`tokens` more positions have been written."""
        assert self._length + tokens <= len(self.blocks) * BLOCK_TOKENS, "written beyond the blocks"
        self._length += tokens

    def truncate(self, length: int) -> None:
        """Forget the positions from `length` on."""
        if not 0 <= length <= self._length:
            raise ValueError(f"cannot truncate a cache of {self._length} positions to {length}")
        self._length = length
        while len(self.blocks) > blocks_for(length):
            self.pool.release(self.blocks.pop())

    def release(self) -> None:
        """Give all blocks back; the sequence is empty then, and may be used again."""
        self.truncate(0)

    def fork(self, length: int | None = None) -> "KVSequence":
        """A sequence that shares the blocks of the first `length` positions (all of them)."""
        length = self._length if length is None else length
        if not 0 <= length <= self._length:
            raise ValueError(f"cannot fork {length} positions of {self._length}")
        other = KVSequence(self.pool, self.capacity)
        other.share(self.blocks[: blocks_for(length)], length)
        return other

    def share(self, blocks: list[int], length: int) -> None:
        """Continue an empty sequence from blocks that others hold, `length` positions of them."""
        assert not self.blocks, "only an empty sequence can begin with other's blocks"
        assert len(blocks) == blocks_for(length), "blocks and positions do not go together"
        for block in blocks:
            self.pool.hold(block)
            self._append(block)
        self._length = length

    def swap(self, index: int, block: int) -> None:
        """Hold another block with the same content in place of the one at `index`."""
        self.pool.hold(block)
        self._put(index, block)

    def _tail_is_shared(self) -> bool:
        tail = self._length // BLOCK_TOKENS
        return tail < len(self.blocks) and self.pool.holders(self.blocks[tail]) > 1

    def _append(self, block: int) -> None:
        self._table[len(self.blocks)] = self.pool.address(block)
        self.blocks.append(block)

    def _put(self, index: int, block: int) -> None:
        self.pool.release(self.blocks[index])
        self.blocks[index] = block
        self._table[index] = self.pool.address(block)


def _release_all(pool: BlockPool, blocks: list[int]) -> None:
    while blocks:
        pool.release(blocks.pop())


def _reserved(blocks: int, layout: KVLayout) -> NDArray[np.uint8]:
    """Zeros (runs, heads, 2, RUN_BLOCKS, bytes) that take memory page by page as they are written.

    In huge pages: attention at 1 024 positions takes 1.0 ms a token instead of 1.4 (SmolLM2), for
    which a sequence's first block takes all those of its run.
    """
    runs = -(-blocks // RUN_BLOCKS)
    heads, halves, half_bytes = layout.record
    memory = anonymous(runs * RUN_BLOCKS * layout.block_bytes)
    return np.frombuffer(memory, np.uint8).reshape(runs, heads, halves, RUN_BLOCKS, half_bytes)
