"""Blocks and sequences: bookkeeping against a plain model of it, and copy on write."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.kernels.kv_layout import BLOCK_TOKENS, RUN_BLOCKS, KVLayout, blocks_for
from engine.kv import BlockPool, ContextFullError, KVSequence, NoFreeBlocksError

LAYOUT = KVLayout(layers=1, kv_heads=1, head_dim=16, number_bytes=2)


def numbers_of(pool, block):
    """A block's keys as a list of one number a position."""
    return pool.record(block)[0, 0, :BLOCK_TOKENS]


def write(sequence, *numbers):
    """Append positions."""
    sequence.reserve(len(numbers))
    for number in numbers:
        block = sequence.blocks[sequence.length // BLOCK_TOKENS]
        numbers_of(sequence.pool, block)[sequence.length % BLOCK_TOKENS] = number
        sequence.advance(1)


def read(sequence):
    records = [numbers_of(sequence.pool, block) for block in sequence.blocks]
    return np.concatenate(records)[: sequence.length].tolist() if records else []


@pytest.mark.parametrize(("size", "expected"), [(4, 49_152), (2, 24_576), (1, 12_288 + 384 + 384)])
def test_bytes_of_a_block(size, expected):
    """Two layers of three heads, 32 positions, 32 numbers each; bytes have scales besides."""
    assert KVLayout(2, 3, 32, size).block_bytes == expected


def test_values_have_as_much_room_as_keys_and_the_rest_of_it_is_not_read():
    layout = KVLayout(2, 3, 64, 1)
    keys, values = 32 * (64 + 4), 32 * (64 + 2)
    assert (layout.block_bytes, layout.read_bytes) == (2 * 3 * 2 * keys, 2 * 3 * (keys + values))
    assert KVLayout(2, 3, 64, 2).read_bytes == KVLayout(2, 3, 64, 2).block_bytes


def test_blocks_share_no_byte():
    pool = BlockPool(KVLayout(2, 2, 32, 1), 19)
    for block in range(19):
        pool.record(block)[...] = block
    for block in range(19):
        assert (pool.record(block) == block).all()
        assert pool.record(block).shape == pool.layout.record


def test_sequences_that_grow_by_turns_have_their_blocks_side_by_side():
    pool = BlockPool(LAYOUT, 4 * RUN_BLOCKS + 3)
    first, second = KVSequence(pool, 1000), KVSequence(pool, 1000)
    for _ in range(RUN_BLOCKS + 2):
        write(first, *range(BLOCK_TOKENS))
        write(second, *range(BLOCK_TOKENS))
    assert first.blocks == [*range(RUN_BLOCKS), 2 * RUN_BLOCKS, 2 * RUN_BLOCKS + 1]
    assert second.blocks[:RUN_BLOCKS] == [*range(RUN_BLOCKS, 2 * RUN_BLOCKS)]
    third = KVSequence(pool, 1000)
    write(third, *range(3 * BLOCK_TOKENS))
    assert third.blocks == [4 * RUN_BLOCKS, 4 * RUN_BLOCKS + 1, 4 * RUN_BLOCKS + 2]
    first.release()
    write(third, 1)
    assert third.blocks[-1] == 0, "the first of a run that nobody uses"


def test_no_block_is_left_over_where_runs_are_in_use():
    pool = BlockPool(LAYOUT, 2 * RUN_BLOCKS + 3)
    sequences = [KVSequence(pool, 100) for _ in range(pool.blocks)]
    for sequence in sequences:
        write(sequence, 1)
    assert sorted(block for each in sequences for block in each.blocks) == [*range(pool.blocks)]
    with pytest.raises(NoFreeBlocksError):
        pool.take()


def test_length_reserve_truncate():
    sequence = KVSequence(BlockPool(LAYOUT, 4), capacity=70)
    assert (sequence.length, sequence.capacity, sequence.blocks) == (0, 70, [])
    sequence.reserve(65)
    assert len(sequence.blocks) == 3
    sequence.advance(65)
    with pytest.raises(ContextFullError, match="65 positions are taken and 6 more"):
        sequence.reserve(6)
    assert (sequence.length, len(sequence.blocks)) == (65, 3)
    sequence.truncate(32)
    assert (sequence.length, len(sequence.blocks), sequence.pool.free) == (32, 1, 3)
    sequence.reserve(38)


@pytest.mark.parametrize("length", [-1, 5])
def test_truncate_and_fork_only_what_is_there(length):
    sequence = KVSequence(BlockPool(LAYOUT, 1), capacity=8)
    sequence.reserve(4)
    sequence.advance(4)
    with pytest.raises(ValueError, match="4 positions"):
        sequence.truncate(length)
    with pytest.raises(ValueError, match="of 4"):
        sequence.fork(length)


def test_a_full_pool_changes_nothing():
    pool = BlockPool(LAYOUT, 2)
    first, second = KVSequence(pool, 100), KVSequence(pool, 100)
    write(first, *range(40))
    with pytest.raises(NoFreeBlocksError, match="1 blocks of the KV cache are wanted and 0"):
        second.reserve(1)
    with pytest.raises(NoFreeBlocksError):
        pool.take()
    fork = first.fork()
    with pytest.raises(NoFreeBlocksError):  # it would have to copy the last block
        fork.reserve(1)
    assert (second.blocks, fork.blocks) == ([], first.blocks)


def test_a_shared_block_is_copied_when_written_to():
    pool = BlockPool(LAYOUT, 8)
    first = KVSequence(pool, 100)
    write(first, *range(40))
    second = first.fork(35)
    assert pool.free == 6
    assert second.blocks_wanted(1) == 1
    write(second, 90, 91)
    write(first, 80)
    assert read(second) == [*range(35), 90, 91]
    assert read(first) == [*range(40), 80]
    assert second.blocks[0] == first.blocks[0]
    assert second.blocks[1] != first.blocks[1]


def test_garbage_gives_its_blocks_back():
    pool = BlockPool(LAYOUT, 4)
    sequence = KVSequence(pool, 100)
    write(sequence, *range(40))
    del sequence
    assert pool.free == 4


def test_the_table_has_the_addresses_of_the_blocks():
    pool = BlockPool(LAYOUT, 5)
    other, sequence = KVSequence(pool, 200), KVSequence(pool, 200)
    for _ in range(2):
        write(sequence, *range(BLOCK_TOKENS))
        write(other, 1)
    table = np.ctypeslib.as_array(
        np.ctypeslib.ctypes.cast(
            sequence.table_address, np.ctypeslib.ctypes.POINTER(np.ctypeslib.ctypes.c_int64)
        ),
        (2,),
    )
    assert table.tolist() == [pool.record(block).ctypes.data for block in sequence.blocks]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["write", "truncate", "fork", "release", "drop"]),
            st.integers(0, 5),
            st.integers(0, 70),
        ),
        max_size=60,
    )
)
def test_any_traffic_reads_back_what_each_sequence_wrote(actions):
    pool = BlockPool(LAYOUT, 12)
    sequences, written, number = [KVSequence(pool, 150)], [[]], 0
    for action, index, count in actions:
        if not sequences:
            break
        index %= len(sequences)
        sequence, expected = sequences[index], written[index]
        if action == "write":
            numbers = [(number + i) % 251 for i in range(count)]
            fits = len(expected) + count <= 150 and sequence.blocks_wanted(count) <= pool.free
            if not fits:
                with pytest.raises((ContextFullError, NoFreeBlocksError)):
                    sequence.reserve(count)
                continue
            write(sequence, *numbers)
            expected += numbers
            number += count
        elif action == "truncate":
            length = min(count, len(expected))
            sequence.truncate(length)
            del expected[length:]
        elif action == "fork":
            length = min(count, len(expected))
            sequences.append(sequence.fork(length))
            written.append(expected[:length])
        elif action == "release":
            sequence.release()
            expected.clear()
        elif len(sequences) > 1:
            del sequences[index], written[index], sequence
        for here, known in zip(sequences, written, strict=True):
            assert read(here) == known
            assert len(here.blocks) >= blocks_for(len(known))
        held = {block for here in sequences for block in here.blocks}
        assert pool.free == pool.blocks - len(held)
