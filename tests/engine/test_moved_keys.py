"""Keys of one position as those of another: against the keys that the model computes there."""

import dataclasses

import numpy as np
import pytest

from engine.kernels.kv_layout import BLOCK_TOKENS, BYTE, KVLayout
from engine.model import Model
from engine.moved_keys import joined, read_block, write_block

LAYERS, HEADS, DIM = 2, 3, 32
TEXT = np.random.default_rng(4).integers(0, 256, 100).astype(np.int32)


@pytest.fixture(params=["f32", "f16", "int8"], scope="module")
def model(request, tiny_path, model_path):
    kind = request.param
    path = tiny_path if kind == "f32" else model_path
    loaded = Model.load(path, threads=1, kv_format="int8" if kind == "int8" else "f16")
    yield loaded
    loaded.close()


def positions_of(model, tokens):
    """Keys and values that the model computes."""
    cache = model.new_cache()
    model.forward(tokens, cache, want="none")
    blocks = [read_block(cache.pool.record(b), cache.pool.layout) for b in cache.blocks]
    return joined(blocks).part(0, len(tokens))


def floats(positions):
    if positions.keys.dtype != np.uint8:
        return positions.keys.astype(np.float32), positions.values.astype(np.float32)
    scales = np.repeat(positions.key_scales.astype(np.float32), 32, axis=2)
    keys = (positions.keys.astype(np.float32) - 128) * scales
    return keys, positions.values * np.exp2(positions.value_scales.astype(np.float32))[..., None]


def test_the_first_layer_has_turned_keys_as_if_they_were_computed_there(model):
    """Its keys and values depend on the token and the position alone."""
    heads = model.config.kv_heads
    was, now, count = 7, 61, 30
    there = positions_of(model, TEXT[: was + count]).part(was, was + count)
    moved = model.key_turner().turned(there, was, now)
    tokens = np.concatenate([TEXT[-now:], TEXT[was : was + count]])
    expected = positions_of(model, tokens).part(now, now + count)
    for got, wanted in zip(floats(moved), floats(expected), strict=True):
        got, wanted = got[:, :heads], wanted[:, :heads]
        assert np.abs(got - wanted).max() < 0.02 * np.abs(wanted).max()
    unturned, wanted = floats(there)[0][:, :heads], floats(expected)[0][:, :heads]
    assert np.abs(unturned - wanted).max() > 0.3 * np.abs(wanted).max()


def test_there_and_back_is_the_same_but_for_rounding(model):
    turner, there = model.key_turner(), positions_of(model, TEXT[:50])
    back = turner.turned(turner.turned(there, 0, 90), 90, 0)
    keys, again = floats(there)[0], floats(back)[0]
    assert np.abs(keys - again).max() < 0.02 * np.abs(keys).max()
    assert turner.turned(there, 5, 5) is there


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize(("first", "count"), [(0, 32), (5, 7), (15, 2), (31, 1)])
def test_a_block_takes_positions_and_keeps_the_others(size, first, count):
    random, layout = np.random.default_rng(size), KVLayout(LAYERS, HEADS, DIM, size)
    blocks = random.integers(0, 255, (2, *layout.record), np.uint8)
    before = read_block(blocks[0], layout)
    new = read_block(blocks[1], layout).part(first, first + count)
    write_block(blocks[0], layout, first, new)
    for field, old, put in zip(read_block(blocks[0], layout), before, new, strict=True):
        if not field.size:
            assert size != BYTE
            continue
        expected = old.copy()
        expected[first : first + count] = put
        np.testing.assert_array_equal(field.view(np.uint8), expected.view(np.uint8))
    whole = read_block(blocks[1], layout)
    write_block(blocks[0], layout, 0, whole)
    np.testing.assert_array_equal(blocks[0], blocks[1])
    assert len(whole.keys) == BLOCK_TOKENS


def test_a_model_whose_layers_differ_is_refused(tiny_path):
    other = Model.load(tiny_path, threads=1)
    other.family = dataclasses.replace(other.family, no_rope_every=4)
    with pytest.raises(ValueError, match="rotates the keys of all layers alike"):
        other.key_turner()
    other.close()
