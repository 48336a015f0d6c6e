"""The KV cache's bookkeeping."""

import pytest

from engine.kv import ContextFullError, KVCache


def test_length_reserve_truncate():
    cache = KVCache(layers=2, kv_heads=3, head_dim=32, capacity=20)
    assert (cache.length, cache.capacity) == (0, 20)
    cache.reserve(20)
    cache.advance(15)
    with pytest.raises(ContextFullError, match="15 positions are taken and 6 more"):
        cache.reserve(6)
    assert cache.length == 15
    cache.truncate(4)
    assert cache.length == 4
    cache.reserve(16)


@pytest.mark.parametrize("length", [-1, 5])
def test_truncate_only_to_what_is_there(length):
    cache = KVCache(layers=1, kv_heads=1, head_dim=32, capacity=8)
    cache.advance(4)
    with pytest.raises(ValueError, match="4 positions"):
        cache.truncate(length)


def test_storage_is_whole_vectors_of_positions():
    cache = KVCache(layers=2, kv_heads=3, head_dim=64, capacity=17)
    assert cache.padded_capacity == 32
    assert cache.keys.shape == cache.values.shape == (2, 3, 32, 64)
    assert cache.keys.itemsize == 2
