"""Calibration: thresholds keep the share they were asked for, cost what is said, or are refused."""

import msgspec
import numpy as np
import pytest

from bench.families import CASES, random_model
from bench.gguf_files import write
from engine.calibration.calibrate import calibrate, save_calibration, split, thresholds_at
from engine.calibration.measure import perplexity
from engine.model import Model
from engine.sparsity.calibrated import (
    Calibration,
    CalibrationError,
    Sparsity,
    check,
    path_beside,
    read_calibration,
)

DENSE = Sparsity(zeros=False)
TOKENS = np.random.default_rng(9).integers(0, 75, 3 * 512).astype(np.int32)


@pytest.fixture(scope="module")
def silu(tmp_path_factory):
    path = tmp_path_factory.mktemp("silu") / "m.gguf"
    write(path, CASES["llama"], random_model(CASES["llama"]), "Q8_0")
    return path


@pytest.fixture(scope="module")
def relu(tmp_path_factory):
    path = tmp_path_factory.mktemp("relu") / "m.gguf"
    write(path, CASES["relu llama"], random_model(CASES["relu llama"]), "Q8_0")
    return path


@pytest.fixture
def load():
    loaded = []

    def load_(path, sparsity=DENSE):
        loaded.append(Model.load(path, threads=1, sparsity=sparsity))
        return loaded[-1]

    yield load_
    for one in loaded:
        one.close()


def test_text_is_split_so_that_nothing_is_measured_with_what_was_chosen():
    chosen, measured = split(np.arange(7 * 512, dtype=np.int32))
    assert set(chosen).isdisjoint(measured)
    assert chosen.size + measured.size == 7 * 512
    assert measured.size == 2 * 512


def test_thresholds_are_quantiles():
    samples = np.sort(np.random.default_rng(0).random((3, 1001)).astype(np.float32), axis=1)
    found = thresholds_at(samples, 0.5)
    assert [np.mean(row < t) for row, t in zip(samples, found, strict=True)] == pytest.approx(
        [0.5] * 3, abs=0.001
    )
    assert len(thresholds_at(samples, 1.0)) == 3


def test_as_many_zeros_as_were_asked_for(silu, load):
    """And decoding token by token skips them, with the perplexity that was promised."""
    found = calibrate(load(silu), TOKENS, target=0.6, budget=0.9)
    assert found.zeros == pytest.approx([0.6] * 2, abs=0.05)
    assert found.perplexity_sparse != found.perplexity_dense
    sparse = load(silu, Sparsity(True, found))
    tokens = TOKENS[:60]
    cache = sparse.new_cache()
    alone = [sparse.forward(token[None], cache) for token in tokens]
    assert [layer.columns for layer in sparse.neurons.activity()] == pytest.approx(
        [0.4] * 2, abs=0.05
    )
    assert all(layer.rows == 1 for layer in sparse.neurons.activity())
    dense = load(silu)
    dense.use_program(dense.with_zeros(found.thresholds))
    together = dense.forward(tokens, dense.new_cache(), want="all")
    np.testing.assert_array_equal(np.concatenate(alone), together)
    sparse.neurons.set_break_even(0.0)
    cache = sparse.new_cache()
    again = [sparse.forward(token[None], cache) for token in tokens]
    np.testing.assert_array_equal(np.concatenate(again), together)


def test_what_costs_too_much_is_refused(silu, load):
    with pytest.raises(CalibrationError, match="nothing is saved") as refused:
        calibrate(load(silu), TOKENS, target=0.97, budget=1e-6)
    assert "97%" in str(refused.value)
    assert "--max-perplexity-increase" in str(refused.value)


def test_a_model_with_zeros_of_its_own_is_only_put_in_order(relu, load):
    found = calibrate(load(relu), TOKENS)
    assert found.thresholds == []
    assert found.perplexity_sparse == found.perplexity_dense
    ordered = load(relu, Sparsity(True, found))
    plain, tokens = load(relu, Sparsity()), TOKENS[:30]
    caches = [model.new_cache() for model in (ordered, plain)]
    for token in tokens:
        ours, theirs = (
            model.forward(token[None], cache)
            for model, cache in zip((ordered, plain), caches, strict=True)
        )
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(CalibrationError, match="zeros of its own"):
        calibrate(load(relu), TOKENS, target=0.5)


def made(**changes):
    base = {
        "content_hash": "a",
        "thresholds": [0.5, 0.25],
        "order": [[0, 1, 2], [2, 1, 0]],
        "tokens": 1,
        "zeros": [0.5, 0.5],
        "perplexity_dense": 2.0,
        "perplexity_sparse": 2.0,
    }
    return Calibration(**(base | changes))


def test_saved_and_read_again(tmp_path):
    save_calibration(made(), tmp_path / "m.gguf")
    assert read_calibration(tmp_path / "m.gguf") == made()
    assert [path.name for path in tmp_path.iterdir()] == ["m.gguf.calibration.json"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"content_hash": "b"}, "another model"),
        ({"order": [[0, 1, 2]]}, "2 layers"),
        ({"thresholds": [1.0]}, "2 layers"),
        ({"order": [[0, 1, 2], [0, 1, 1]]}, "3 neurons"),
        ({"order": [[0, 1, 2], [0, 1, 3]]}, "3 neurons"),
        ({"thresholds": [1.0, -1.0]}, "threshold"),
        ({"thresholds": [1.0, float("inf")]}, "threshold"),
    ],
)
def test_a_calibration_that_does_not_fit_is_refused(changes, problem):
    check(made(), "a", 2, 3)
    with pytest.raises(CalibrationError, match=problem):
        check(made(**changes), "a", 2, 3)


def test_a_calibration_that_is_missing_or_broken_says_what_to_do(tmp_path):
    with pytest.raises(CalibrationError, match="hubd model calibrate"):
        read_calibration(tmp_path / "m.gguf")
    for content in (b"", b"{", b"\xff", msgspec.json.encode({"content_hash": 1})):
        path_beside(tmp_path / "m.gguf").write_bytes(content)
        with pytest.raises(CalibrationError, match="is no calibration"):
            read_calibration(tmp_path / "m.gguf")


def test_perplexity_is_put_back(silu, load):
    model = load(silu)
    before = perplexity(model, TOKENS[:60])
    assert perplexity(model, TOKENS[:60], [1e9, 1e9]) != before
    assert perplexity(model, TOKENS[:60]) == before
