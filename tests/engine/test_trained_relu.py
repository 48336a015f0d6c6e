"""A trained ReLU model, whose zeros are its own (bench/train_relu_model.py made it).

Its twin's and its own perplexity and zeros: docs/sparsity.md.
"""

import ctypes
import pydoc_data.topics
from pathlib import Path

import numpy as np
import pytest

from engine.calibration.calibrate import calibrate, firing
from engine.calibration.measure import log_likelihood
from engine.kernels import sparse
from engine.model import Model
from engine.sparsity import neurons as neurons_module
from engine.sparsity.calibrated import Sparsity
from engine.tokenizer import Tokenizer

MODEL = Path(__file__).parents[1] / "data" / "relu_llama.Q8_0.gguf"
DENSE = Sparsity(zeros=False)
ZEROS = [0.54, 0.85, 0.91, 0.85]
"""Of each layer, on the text that was held out from training."""


@pytest.fixture
def load(tmp_path):
    loaded = []

    def load_(sparsity=None):
        loaded.append(Model.load(MODEL, threads=2, cache_directory=tmp_path, sparsity=sparsity))
        return loaded[-1]

    yield load_
    for one in loaded:
        one.close()


@pytest.fixture(scope="module")
def tokens():
    """English out of Python's documentation, in lines as it was trained on."""
    model = Model.load(MODEL, threads=1, sparsity=DENSE)
    tokenizer = Tokenizer(model.gguf.metadata)
    model.close()
    _, _, text = pydoc_data.topics.topics["exceptions"].partition("\n\n")
    ids = tokenizer.encode(" ".join(text.split()), add_special=False)
    return np.asarray(ids[:300], np.int32)


def alone(model, tokens):
    """float32 (tokens, vocabulary): logits of each token, decoded one by one."""
    cache = model.new_cache()
    return np.concatenate([model.forward(token[None], cache) for token in tokens])


def test_decoding_skips_its_zeros_and_changes_no_bit(load, tokens):
    sparse, dense = load(), load(DENSE)
    together = dense.forward(tokens, dense.new_cache(), want="all")
    np.testing.assert_array_equal(alone(sparse, tokens), together)
    np.testing.assert_array_equal(alone(dense, tokens), together)
    activity = sparse.neurons.activity()
    assert [1 - layer.rows for layer in activity] == pytest.approx(ZEROS, abs=0.06)
    assert all(layer.columns <= layer.rows for layer in activity)


def test_it_reads_less_by_what_it_skips(load, tokens):
    sparse = load()
    alone(sparse, tokens[:100])
    active = np.mean([layer.rows for layer in sparse.neurons.activity()])
    # Of three matrices the gate is read whole; of down its scales are as well, 1/16 of the bytes.
    share = sparse.neurons.bytes_per_token() / sparse.neurons.dense_bytes()
    assert share == pytest.approx((1 + 2 * active + 1 / 16) / 3, abs=0.03)


def test_it_has_learned_english(load, tokens):
    """Better than all that could be told without what stands before, by who knew how often each
    token comes in this very text."""
    perplexity = np.exp(-log_likelihood(load(DENSE), tokens) / (tokens.size - 1))
    share = np.bincount(tokens) / tokens.size
    assert perplexity < np.exp(-np.log(share[tokens]).mean())


def test_calibration_puts_what_fires_most_first(load, tokens):
    text = np.tile(tokens, 6)
    dense = load(DENSE)
    found = calibrate(dense, text)
    assert found.thresholds == []
    assert found.perplexity_sparse == found.perplexity_dense
    assert found.zeros == pytest.approx(ZEROS, abs=0.06)
    for rates, order in zip(firing(dense, tokens, None), found.order, strict=True):
        hot, hottest = rates[order[: len(order) // 4]].sum(), np.sort(rates)[-len(order) // 4 :]
        assert hot > 0.95 * hottest.sum(), "the first quarter is that which fires most"
        assert hot > 1.1 * rates.sum() / 4, "and not all fire alike"
    ordered, plain = load(Sparsity(True, found)), load()
    np.testing.assert_array_equal(alone(ordered, tokens[:80]), alone(plain, tokens[:80]))
    first = places(ordered, 1)[found.order[1][:10]]
    assert first.tolist() == list(range(10)), "their records are the first"


def places(model, layer):
    """int32 (neurons,): which record a neuron has, as the operations are told."""
    slots = (ctypes.c_int64 * sparse.LAYER_SLOTS).from_address(model.neurons.operands(layer)[2])
    address = (ctypes.c_int32 * model.config.ffn_dim).from_address(slots[sparse.PLACES])
    return np.frombuffer(address, np.int32)


def test_with_little_memory_answers_are_the_same(load, tokens, monkeypatch):
    """What each token reads is locked, and records are asked for before they are read."""
    plain = alone(load(), tokens[:40])
    locked = []

    def stay(always, sometimes, all_bytes):
        locked.append((sum(one.size for one in always), sum(one.size for one in sometimes)))
        return True

    monkeypatch.setattr(neurons_module, "stay", stay)
    model = load()
    assert model.neurons.locked
    np.testing.assert_array_equal(alone(model, tokens[:40]), plain)
    records, layers = 512 * (64 + 128 + 128), 4
    always, sometimes = locked[0]
    assert sometimes == layers * records
    up_and_down = sum(
        model.weights.packed(f"blk.{i}.ffn_{part}.weight").size
        for i in range(layers)
        for part in ("up", "down")
    )
    tables = layers * (4 * 512 + 512 // 32 * 128 * 2)  # places and scales, up to the page
    assert always - (model.weight_bytes - up_and_down) == pytest.approx(tables, abs=layers * 4096)
