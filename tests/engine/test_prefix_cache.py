"""The prefix cache: what it finds, shares, gives up and keeps, against a plain list of prompts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.kernels.kv_layout import BLOCK_TOKENS, KVLayout, blocks_for
from engine.kv import BlockPool
from engine.prefix_cache import PrefixCache, common_prefix

LAYOUT = KVLayout(layers=1, kv_heads=1, head_dim=16, number_bytes=2)
BLOCK = BLOCK_TOKENS


def numbers_of(cache, block):
    """A block's keys as a list of one number a position."""
    return cache.pool.record(block)[0, 0, :BLOCK]


def compute(cache, tokens, tail=True):
    """What a request does: continue from what is known, write the rest, offer it, end."""
    sequence = cache.begin(tokens, 1000)
    found = sequence.length
    assert cache.make_room(sequence.blocks_wanted(len(tokens) - found))
    sequence.reserve(len(tokens) - found)
    for token in tokens[found:]:
        numbers = numbers_of(cache, sequence.blocks[sequence.length // BLOCK])
        numbers[sequence.length % BLOCK] = token % 251
        sequence.advance(1)
    written = [
        numbers_of(cache, sequence.blocks[at // BLOCK])[at % BLOCK] for at in range(len(tokens))
    ]
    assert written == [token % 251 for token in tokens]
    cache.publish(tokens, sequence, tail=tail)
    sequence.release()
    return found


def test_the_longest_beginning_is_found_to_the_token():
    cache = PrefixCache(BlockPool(LAYOUT, 50))
    system = list(range(100))
    assert compute(cache, [*system, 200, 201]) == 0
    assert compute(cache, [*system, 300, 301]) == 100
    assert compute(cache, [*system, 300, 301]) == 101, "one token is left to compute"
    assert compute(cache, [*system[:40], 9]) == 40
    assert compute(cache, [5, *system]) == 0
    assert (cache.prompt_tokens, cache.cached_tokens) == (
        102 + 102 + 102 + 41 + 101,
        100 + 101 + 40,
    )


def test_full_blocks_are_shared_not_copied():
    pool = BlockPool(LAYOUT, 50)
    cache = PrefixCache(pool)
    tokens = list(range(3 * BLOCK + 5))
    compute(cache, tokens)
    used = pool.blocks - pool.free
    sequences = [cache.begin([*tokens, 900 + n], 1000) for n in range(5)]
    assert pool.blocks - pool.free == used
    assert all(sequence.length == len(tokens) for sequence in sequences)


def test_what_two_compute_at_once_is_kept_once():
    pool = BlockPool(LAYOUT, 50)
    cache = PrefixCache(pool)
    tokens = list(range(70))
    both = [cache.begin(tokens, 1000) for _ in range(2)]
    for sequence in both:
        sequence.reserve(70)
        sequence.advance(70)
    assert pool.blocks - pool.free == 6
    for sequence in both:
        cache.publish(tokens, sequence)
    assert both[0].blocks[:2] == both[1].blocks[:2]
    assert pool.blocks - pool.free == 4


def test_the_leaf_unused_for_longest_goes_first():
    pool = BlockPool(LAYOUT, 6)
    cache = PrefixCache(pool)
    base = list(range(BLOCK))
    compute(cache, [*base, *range(100, 100 + BLOCK)])
    compute(cache, [*base, *range(200, 200 + BLOCK)])
    compute(cache, [*base, *range(100, 100 + BLOCK)])  # used again
    assert cache.make_room(4)
    assert cache.cached_length([*base, *range(100, 100 + BLOCK)]) == 2 * BLOCK
    assert cache.cached_length([*base, *range(200, 200 + BLOCK)]) == BLOCK
    assert cache.evicted_blocks == 1


def test_blocks_in_use_are_never_given_up_and_pinned_ones_last():
    pool = BlockPool(LAYOUT, 6)
    cache = PrefixCache(pool)
    pinned, used = list(range(2 * BLOCK)), list(range(500, 500 + 2 * BLOCK))
    compute(cache, pinned)
    assert cache.pin(pinned) == 2 * BLOCK
    compute(cache, used)
    holder = cache.begin([*used, 1], 1000)
    compute(cache, list(range(900, 900 + 2 * BLOCK)))
    assert cache.make_room(2)
    assert cache.cached_length(pinned) == 2 * BLOCK
    assert not cache.make_room(5), "more than can be given up: nothing is"
    assert cache.cached_length(pinned) == 2 * BLOCK
    assert cache.make_room(4)
    assert (cache.cached_length(pinned), cache.cached_length(used)) == (0, 2 * BLOCK)
    cache.unpin(pinned)
    assert holder.length == 2 * BLOCK


def test_pins_are_bounded_and_the_oldest_is_lifted():
    cache = PrefixCache(BlockPool(LAYOUT, 12))
    prompts = [list(range(start, start + 3 * BLOCK)) for start in (0, 1000, 2000)]
    for prompt in prompts:
        compute(cache, prompt)
        assert cache.pin(prompt) == 3 * BLOCK
        assert cache.pin(prompt) == 3 * BLOCK, "again: it is one pin"
    assert cache.make_room(6)
    assert [cache.cached_length(prompt) for prompt in prompts] == [0, 3 * BLOCK, 3 * BLOCK]
    long = list(range(5000, 5000 + 12 * BLOCK))
    compute(cache, long)
    assert cache.pin(long) == 6 * BLOCK, "half of all blocks"
    assert cache.make_room(6)
    assert cache.cached_length(long) == 6 * BLOCK
    cache.unpin(long[: 6 * BLOCK])
    cache.unpin(long[: 6 * BLOCK])
    assert cache.make_room(12)


def test_prompts_that_share_a_beginning_are_pinned_each_for_itself():
    cache = PrefixCache(BlockPool(LAYOUT, 12))
    beginning = list(range(2 * BLOCK))
    prompts = [[*beginning, *range(start, start + BLOCK)] for start in (500, 900)]
    for prompt in prompts:
        compute(cache, prompt)
        assert cache.pin(prompt) == 3 * BLOCK
    cache.unpin(prompts[0])
    assert cache.make_room(9)
    assert [cache.cached_length(prompt) for prompt in prompts] == [2 * BLOCK, 3 * BLOCK]


def test_blocks_go_out_and_come_back():
    cache = PrefixCache(BlockPool(LAYOUT, 10))
    tokens = list(range(2 * BLOCK + 7))
    compute(cache, tokens)
    blocks = cache.blocks_of(tokens)
    records = [cache.pool.record(block).copy() for block in blocks]
    for block in blocks:
        cache.pool.release(block)

    other = PrefixCache(BlockPool(LAYOUT, 10))
    assert not [*other.restore(tokens, 1, records[1:])], "its parent is not there"
    assert not [*other.restore(tokens, 0, [records[0][..., :-1]])], "a record of another size"
    assert not [*other.restore(tokens[: BLOCK - 1], 0, records)]
    assert [*other.restore(tokens, 0, records[:1])] == [0]
    assert [*other.restore(tokens, 0, records)] == [0, 1], "again: it is there"
    assert [*other.restore(tokens, 2, records)] == []
    assert other.cached_length(tokens) == 2 * BLOCK
    restored = [other.pool.record(block) for block in other.blocks_of(tokens)]
    np.testing.assert_array_equal(restored, records)


def test_restoring_never_takes_blocks_in_use():
    cache = PrefixCache(BlockPool(LAYOUT, 1))
    sequence = cache.begin([1, 2], 100)
    sequence.reserve(1)
    record = np.zeros(LAYOUT.block_bytes, np.uint8)
    assert not [*cache.restore(list(range(BLOCK)), 0, [record])]
    sequence.release()
    assert [*cache.restore(list(range(BLOCK)), 0, [record])] == [0]


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from([0, 1, 40]), max_size=3), st.integers(1, 100)),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from([8, 12, 100]),
)
def test_any_prompts_find_no_more_than_is_there_and_all_of_it_where_room_is_left(prompts, blocks):
    """Prompts are alike up to the point where they part; with room for all, the most is found."""
    cache, known = PrefixCache(BlockPool(LAYOUT, blocks)), []
    for parts, length in prompts:
        tokens = list(range(length))
        for part in parts:
            if part < length:
                tokens[part:] = [token + 1000 * (part + 1) for token in tokens[part:]]
        if blocks_for(length) > blocks:
            continue
        found = compute(cache, tokens)
        best = max((common_prefix(other, tokens[:-1]) for other in known), default=0)
        assert found == best if blocks == 100 and not cache.evicted_blocks else found <= best
        known.append(tokens)
    assert cache.available() == blocks
    assert cache.make_room(blocks)


@pytest.mark.parametrize(
    ("a", "b", "shared"),
    [([], [], 0), ([1], [], 0), ([1, 2], [1, 3], 1), ([1, 2], [1, 2, 3], 2), ([5], [6], 0)],
)
def test_common_prefix(a, b, shared):
    assert common_prefix(a, b) == shared
