"""The prefix cache: a tree over token ids whose nodes hold KV blocks of earlier sequences.

A prompt continues from the longest beginning that any earlier sequence had: whole blocks are
shared, and of the block in which they part the common positions are (copied when written to).
What is cached takes only blocks that nobody else needs: `make_room` lets go of the leaves that were
unused for longest. Used by the compute thread alone; knows nothing of requests.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.kernels.kv_layout import BLOCK_TOKENS, blocks_for
from engine.kv import BlockPool, KVSequence


class _Node:
    """A block in the tree: the tokens whose keys and values it holds, after those of its parents.

    Only a full block has children.
    """

    __slots__ = ("block", "children", "parent", "pins", "tokens", "used_at")

    def __init__(self, parent: "_Node | None", tokens: tuple[int, ...], block: int) -> None:
        self.parent = parent
        self.tokens = tokens
        self.block = block
        self.children: dict[tuple[int, ...], _Node] = {}
        self.used_at = 0
        self.pins = 0


class PrefixCache:
    """The longest known beginning of any prompt, as KV blocks."""

    def __init__(self, pool: BlockPool) -> None:
        self.pool = pool
        self._root = _Node(None, (), -1)
        self._nodes: set[_Node] = set()
        self._pinned: dict[tuple[int, ...], list[_Node]] = {}  # tokens of whole blocks → theirs
        self._clock = 0
        self.additions = 0
        """Blocks that were ever added: where it has not changed, nothing more is known."""
        self.prompt_tokens = self.cached_tokens = self.evicted_blocks = 0

    def begin(self, prompt: Sequence[int], capacity: int, *, count: bool = True) -> KVSequence:
        """A sequence that holds the longest cached beginning of `prompt`.

        One token of the prompt is always left to compute, since its logits are wanted. count:
        whether it counts as a prompt in `counts`; one that is begun again does not.
        """
        sequence = KVSequence(self.pool, capacity)
        self.extend(sequence, prompt)
        if count:
            self.prompt_tokens += len(prompt)
            self.cached_tokens += sequence.length
        return sequence

    def extend(self, sequence: KVSequence, prompt: Sequence[int]) -> int:
        """Continue a sequence that holds a beginning of `prompt` from the cache, if that knows more
        of the prompt by now. Gives the positions won."""
        before = sequence.length
        blocks, length = self._find(prompt, len(prompt) - 1)
        if length <= before:
            return 0
        sequence.release()
        sequence.share(blocks, length)
        return length - before

    def publish(self, tokens: Sequence[int], sequence: KVSequence, *, tail: bool = False) -> None:
        """Offer the full blocks of a sequence to others; with `tail` also the one that is not full,
        for a sequence that has come to its end.

        tokens: those of the sequence, from its beginning; what has no token here is not offered. A
        block that the cache has already is given back: the sequence holds the cache's from then on.
        """
        node = self._root
        length = min(len(tokens), sequence.length)
        full = length // BLOCK_TOKENS
        for index in range(full):
            part = tuple(tokens[index * BLOCK_TOKENS : (index + 1) * BLOCK_TOKENS])
            child = node.children.get(part)
            if child is None:
                child = self._insert(node, part, sequence.blocks[index])
            elif child.block != sequence.blocks[index]:
                sequence.swap(index, child.block)
            self._touch(child)
            node = child
        part = tuple(tokens[full * BLOCK_TOKENS : length])
        if tail and part and _common_child(node, part)[1] < len(part):
            self._touch(self._insert(node, part, sequence.blocks[full]))

    def make_room(self, blocks: int) -> bool:
        """Give up cached blocks until `blocks` are free; whether there are as many now.

        Least recently used first, leaves first; pinned ones when nothing else is left. Where it
        would not be enough nothing is given up.
        """
        if self.pool.free >= blocks:
            return True
        if self.available() < blocks:
            return False
        for pinned in (False, True):
            while self.pool.free < blocks:
                leaves = [
                    node
                    for node in self._nodes
                    if not node.children
                    and self.pool.holders(node.block) == 1
                    and (pinned or not node.pins)
                ]
                if not leaves:
                    break
                leaves.sort(key=lambda node: node.used_at)
                for node in leaves[: blocks - self.pool.free]:
                    self._remove(node)
                    self.evicted_blocks += 1
        return self.pool.free >= blocks

    def available(self) -> int:
        """Blocks that are free, or would be if everything cached that nobody uses were given up."""
        holders = self.pool.holders
        return self.pool.free + sum(holders(node.block) == 1 for node in self._nodes)

    def wanted(self, tokens: Sequence[int]) -> int:
        """Of the blocks `available`, those that a sequence of these tokens and one more takes."""
        shared = sum(self.pool.holders(node.block) > 1 for node in self._path(tokens[:-1]))
        return blocks_for(len(tokens) + 1) - shared

    def cached_length(self, tokens: Sequence[int]) -> int:
        """Positions at the beginning of `tokens` that are cached in full blocks."""
        return BLOCK_TOKENS * sum(1 for _ in self._path(tokens))

    def pin(self, tokens: Sequence[int]) -> int:
        """Keep the full blocks at the beginning of `tokens` that are cached, as long as others can
        be given up. Gives their positions.

        Pins hold half of all blocks at most: what is longer is pinned at its beginning, and the
        pins set longest ago are lifted for it. The same tokens again are one pin, the newest.
        """
        most = self.pool.blocks // 2
        nodes = list(self._path(tokens))[:most]
        key = tuple(tokens[: len(nodes) * BLOCK_TOKENS])
        self.unpin(key)
        while self._pinned and self._pinned_with(nodes) > most:
            self.unpin(next(iter(self._pinned)))
        if nodes:
            self._pinned[key] = nodes
        for node in nodes:
            node.pins += 1
        return len(key)

    def unpin(self, tokens: Sequence[int]) -> None:
        """Undo the `pin` of these tokens, if there is one."""
        for node in self._pinned.pop(tuple(tokens), ()):
            node.pins -= 1

    def _pinned_with(self, nodes: Sequence[_Node]) -> int:
        """Blocks that would be pinned if these were, too."""
        return len({node for pinned in (*self._pinned.values(), nodes) for node in pinned})

    def blocks_of(self, tokens: Sequence[int]) -> list[int]:
        """The full blocks cached at the beginning of `tokens`, each held once for the caller, who
        releases them on the compute thread. `pool.record` gives their bytes."""
        blocks = [node.block for node in self._path(tokens)]
        for block in blocks:
            self.pool.hold(block)
        return blocks

    def restore(self, tokens: Sequence[int], record: NDArray[np.uint8]) -> bool:
        """Put a block that was computed earlier into the cache, from its bytes.

        tokens: all from the beginning of the sequence to the block's end; the blocks before it must
        be cached. record: uint8 (block bytes,). False where that is not so, or without room.
        """
        path = list(self._path(tokens[:-BLOCK_TOKENS]))
        part = tuple(tokens[len(path) * BLOCK_TOKENS :])
        node = path[-1] if path else self._root
        if len(part) != BLOCK_TOKENS or record.size != self.pool.layout.block_bytes:
            return False
        if part in node.children:
            return True
        if path:
            self.pool.hold(node.block)  # or it might be given up to make room
        room = self.make_room(1)
        if path:
            self.pool.release(node.block)
        if not room:
            return False
        block = self.pool.take()
        self.pool.record(block)[:] = record
        self._touch(self._insert(node, part, block))
        self.pool.release(block)  # the tree holds it
        return True

    def _path(self, tokens: Sequence[int]) -> Iterator[_Node]:
        """The nodes of full blocks along `tokens`."""
        node = self._root
        for start in range(0, len(tokens) - BLOCK_TOKENS + 1, BLOCK_TOKENS):
            child = node.children.get(tuple(tokens[start : start + BLOCK_TOKENS]))
            if child is None:
                return
            yield child
            node = child

    def _find(self, tokens: Sequence[int], limit: int) -> tuple[list[int], int]:
        """Blocks of the longest cached beginning of tokens[:limit], and its positions."""
        path = list(self._path(tokens[:limit]))
        for node in path:
            self._touch(node)
        blocks, length = [node.block for node in path], len(path) * BLOCK_TOKENS
        rest = tuple(tokens[length : min(limit, length + BLOCK_TOKENS)])
        child, common = _common_child(path[-1] if path else self._root, rest)
        if child is not None and common:
            self._touch(child)
            blocks.append(child.block)
            length += common
        assert len(blocks) == blocks_for(length)
        return blocks, length

    def _insert(self, parent: _Node, tokens: tuple[int, ...], block: int) -> _Node:
        """A new child, in place of one that knows only the beginning of the same tokens."""
        for known in list(parent.children.values()):
            if len(known.tokens) < len(tokens) and tokens[: len(known.tokens)] == known.tokens:
                self._remove(known)
        node = _Node(parent, tokens, block)
        self.additions += 1
        self.pool.hold(block)
        parent.children[tokens] = node
        self._nodes.add(node)
        return node

    def _remove(self, node: _Node) -> None:
        assert node.parent is not None, "the root stays"
        assert not node.children, "leaves first"
        del node.parent.children[node.tokens]
        self._nodes.remove(node)
        self.pool.release(node.block)

    def _touch(self, node: _Node) -> None:
        self._clock += 1
        node.used_at = self._clock


def _common_child(node: _Node, tokens: tuple[int, ...]) -> tuple[_Node | None, int]:
    """The child that has most of `tokens` in common at the start, and how many."""
    best, most = None, 0
    for child in node.children.values():
        if tokens and child.tokens[0] == tokens[0]:
            common = common_prefix(child.tokens, tokens)
            if common > most:
                best, most = child, common
    return best, most


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """How many tokens at the start are the same in both."""
    for index, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return index
    return min(len(a), len(b))
