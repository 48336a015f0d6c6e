"""A predictor lists nearly all neurons that fire and few others, changes nothing but that, and is
kept only where it was measured to pay.

The trained model is bench/train_relu_model.py's `opt` in 8 bits.
"""

import argparse
import pydoc_data.topics
import shutil
from pathlib import Path

import numpy as np
import pytest

from bench.families import CASES, random_model
from bench.gguf_files import write
from engine.calibration import calibrate, prediction, trial
from engine.calibration.measure import perplexity, text_tokens
from engine.calibration.prediction import (
    RECALLS,
    Fit,
    Moments,
    bytes_read,
    fit,
    moments,
    points,
    ranks_for,
    stored,
    up_projection,
    write_predictor,
)
from engine.model import Model
from engine.sparsity.calibrated import (
    CalibrationError,
    Sparsity,
    calibrated,
    path_beside,
    predictor_beside,
    read_calibration,
)

MODEL = Path(__file__).parents[1] / "data" / "opt.Q8_0.gguf"
DENSE = Sparsity(zeros=False)
RNG = np.random.default_rng(31)


@pytest.fixture
def load(tmp_path):
    loaded = []

    def load_(path=MODEL, sparsity=None):
        directory = tmp_path / "cache"
        loaded.append(Model.load(path, threads=2, cache_directory=directory, sparsity=sparsity))
        return loaded[-1]

    yield load_
    for one in loaded:
        one.close()


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """English as it was trained on: paragraphs, a line each."""
    topics = pydoc_data.topics.topics
    paragraphs = "\n\n".join(topics[name] for name in sorted(topics)).split("\n\n")
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_text("\n".join(" ".join(p.split()) for p in paragraphs if len(p) > 200))
    return path


@pytest.fixture(scope="module")
def made(text, tmp_path_factory):
    """A predictor of the trained model, and what was found of it."""
    path = tmp_path_factory.mktemp("predictor") / "predictor.gguf"
    model = Model.load(MODEL, threads=2, sparsity=DENSE)
    try:
        tokens = calibrate.split(text_tokens(model, text, 6 * 512))
        dense = perplexity(model, tokens[1])
        found = trial.candidate(model, tokens, dense, 0.02, path)
    finally:
        model.close()
    assert not isinstance(found, str), found
    return path, found, dense


def correlated(tokens, dim, directions):
    """Inputs that lie near a few directions, as those of trained models do."""
    basis = RNG.normal(size=(directions, dim))
    inputs = RNG.normal(size=(tokens, directions)) @ basis + 0.05 * RNG.normal(size=(tokens, dim))
    return (inputs / np.sqrt(directions)).astype(np.float32)


def moments_of(inputs):
    mean = inputs.mean(axis=0)
    return Moments(mean, (inputs - mean).T @ (inputs - mean) / np.float32(len(inputs)))


def test_no_product_of_this_rank_is_nearer_to_the_sums():
    inputs, weights = correlated(2000, 64, 40), RNG.normal(size=(96, 64)).astype(np.float32)
    bias = RNG.normal(size=96).astype(np.float32)
    (found,) = fit(moments_of(inputs), weights, bias, [32])
    sums = inputs @ weights.T + bias
    scores = inputs @ found.inner.T @ found.outer.T + found.bias
    units = (sums * scores).mean(axis=0) / np.square(scores).mean(axis=0)
    ours = np.square(sums - scores * units).sum()
    # Eckart-Young: of the sums themselves nothing of rank 32 leaves less than the other values do.
    centred = sums - sums.mean(axis=0)
    least = np.square(np.linalg.svd(centred, compute_uv=False)[32:]).sum()
    assert least <= ours < 1.2 * least
    left, _, right = np.linalg.svd(weights)
    plain = (left[:, :32] * np.linalg.svd(weights, compute_uv=False)[:32]) @ right[:32]
    naive = (inputs - inputs.mean(axis=0)) @ (weights - plain).T
    assert ours < 0.7 * np.square(naive).sum(), "the weights' own directions are the wrong ones"


def test_scores_are_in_units_of_what_is_not_known():
    """So that one threshold suits all neurons, however large their sums are."""
    inputs, weights = correlated(4000, 64, 60), RNG.normal(size=(96, 64)).astype(np.float32)
    weights *= 2 ** RNG.uniform(-1, 1, (96, 1)).astype(np.float32)
    (found,) = fit(moments_of(inputs), weights, np.zeros(96, np.float32), [32])
    sums, scores = inputs @ weights.T, inputs @ found.inner.T @ found.outer.T + found.bias
    units = (sums * scores).mean(axis=0) / np.square(scores).mean(axis=0)
    deviation = (sums - scores * units).std(axis=0) / units
    np.testing.assert_allclose(deviation, 1, rtol=0.1)


def test_points_find_what_they_say():
    inputs, weights = correlated(3000, 64, 24), RNG.normal(size=(96, 64)).astype(np.float32)
    bias = np.full(96, -6, np.float32)
    (found,) = fit(moments_of(inputs), weights, bias, [32])
    fires = inputs @ weights.T + bias > 0
    firing = fires.mean()
    assert 0.05 < firing < 0.4
    shares = points(stored(found), inputs, fires)
    assert [one.recall for one in shares] == pytest.approx(RECALLS, abs=0.002)
    listed = [one.listed for one in shares]
    assert listed == sorted(listed)
    assert listed[0] < firing, "nine tenths are found among no more than fire"
    assert listed[3] < 1.3 * firing
    nothing = points(stored(found), inputs, np.zeros_like(fires))
    assert all(one.recall == 0 for one in nothing)


def test_a_trained_model_is_predicted(made):
    """Nine tenths of what fires, among hardly more than as many; it costs next to nothing."""
    _, found, dense = made
    assert found.predictor.rank == 32
    assert min(found.recall) > 0.85
    assert found.perplexity < 1.02 * dense
    assert found.listed[1:] == pytest.approx([0.035, 0.05, 0.08], abs=0.03)
    assert found.read < 0.6, "of which 0.31 are the predictor itself"


def alone(model, tokens):
    """float32 (tokens, vocabulary): logits of each token, decoded one by one."""
    cache = model.new_cache()
    return np.concatenate([model.forward(token[None], cache) for token in tokens])


def test_decoding_with_it_is_what_was_measured(made, text, load):
    path, found, _ = made
    predicted, dense = load(sparsity=Sparsity(predictor=path)), load(sparsity=DENSE)
    tokens = text_tokens(dense, text)[:100]
    together = dense.forward(tokens, dense.new_cache(), want="all")
    dense.use_program(dense.with_zeros(None, found.predictor))
    masked = dense.forward(tokens, dense.new_cache(), want="all")
    assert not np.array_equal(masked, together)
    np.testing.assert_array_equal(alone(predicted, tokens), masked)
    activity = predicted.neurons.activity()
    assert [one.rows for one in activity] == pytest.approx(found.listed, abs=0.05)
    assert all(one.columns <= one.rows for one in activity)
    predicted.neurons.set_break_even(0.0)  # everything is read, and what was not listed dropped
    np.testing.assert_array_equal(alone(predicted, tokens), masked)


def test_what_fits_all_neurons_changes_nothing(text, load, tmp_path):
    dense = load(sparsity=DENSE)
    about = moments(dense, text_tokens(dense, text, 600))
    fits = [fit(one, *up_projection(dense, i), [32])[0] for i, one in enumerate(about)]
    all_listed = [one._replace(bias=np.full_like(one.bias, 1e6)) for one in fits]
    write_predictor(tmp_path / "all.gguf", dense, all_listed)
    predicted = load(sparsity=Sparsity(predictor=tmp_path / "all.gguf"))
    tokens = text_tokens(dense, text)[:40]
    together = dense.forward(tokens, dense.new_cache(), want="all")
    np.testing.assert_array_equal(alone(predicted, tokens), together)
    predicted.neurons.set_break_even(1.0)
    np.testing.assert_array_equal(alone(predicted, tokens), together)
    assert [one.rows for one in predicted.neurons.activity()] == [1.0] * 4


def given(model, text):
    return argparse.Namespace(
        model=model,
        text=text,
        threads=2,
        activation=None,
        target_sparsity=None,
        max_perplexity_increase=0.02,
    )


def test_it_is_kept_only_where_it_pays(text, tmp_path, monkeypatch, load):
    """By the time that was measured; a predictor that no longer pays goes."""
    path = shutil.copy(MODEL, tmp_path / "m.gguf")
    monkeypatch.setattr(trial, "LEAST_SPEEDUP", 0.0)
    said = calibrate.run(given(path, text))
    assert "predictor: rank 32, recall" in said
    found = read_calibration(path)
    assert found.predictor is not None
    assert found.predictor.speedup > 0
    assert min(found.predictor.recall) > 0.85
    assert found.perplexity_sparse != found.perplexity_dense
    model = load(path, calibrated(path))
    assert model.predictor is not None
    assert model.kv_identity != load(path).kv_identity, "its answers are another's"
    monkeypatch.setattr(trial, "LEAST_SPEEDUP", 1e9)
    said = calibrate.run(given(path, text))
    assert "no predictor, it does not pay here: rank 32, recall" in said
    assert not predictor_beside(path).exists()
    assert read_calibration(path).perplexity_sparse == found.perplexity_dense
    assert load(path, calibrated(path)).predictor is None
    names = {one.name for one in tmp_path.iterdir()} - {"cache"}
    assert names == {"m.gguf", path_beside(path).name}, "nothing else is left behind"


def test_what_costs_or_reads_too_much_is_refused(text, tmp_path, load, monkeypatch):
    """The trained model's, which reads little, for its price; that of random weights for what it
    would take to find all."""
    trained = load(sparsity=DENSE)
    halves = calibrate.split(text_tokens(trained, text, 6 * 512))
    bound = perplexity(trained, halves[1]) / 2  # what it would have to come down to
    reason = trial.candidate(trained, halves, bound, 0.0, tmp_path / "p.gguf")
    assert isinstance(reason, str)
    assert "recall it costs" in reason
    write(tmp_path / "m.gguf", CASES["opt"], random_model(CASES["opt"]), "Q8_0")
    model = load(tmp_path / "m.gguf", DENSE)
    tokens = calibrate.split(RNG.integers(0, 75, 6 * 512).astype(np.int32))
    for module in (prediction, trial):
        monkeypatch.setattr(module, "RECALLS", (1.0,))
    reason = trial.candidate(model, tokens, 1.0, 0.0, tmp_path / "p.gguf")
    assert isinstance(reason, str)
    assert "of what all rows take" in reason


def test_bytes_count_the_predictor_and_what_it_lists(load):
    model = load(sparsity=DENSE)
    up = 512 * 128 * 17 / 16
    own = (128 + 512) * 32 * 17 / 16 + 4 * 512
    assert bytes_read(model, 32, [0.25] * 4) == pytest.approx(own / up + 0.25)
    assert ranks_for(model) == [32]


@pytest.mark.parametrize("damage", ["another", "layer", "rank", "cut", "order"])
def test_a_predictor_that_does_not_fit_is_refused(made, load, tmp_path, damage):
    path, problem = tmp_path / "p.gguf", "calibrate again"
    model, rank = load(sparsity=DENSE), 48 if damage == "rank" else 32
    random = RNG.normal(size=(512 + 128, rank)).astype(np.float32)
    one = Fit(random[512:].T, random[:512], np.zeros(512, np.float32))
    if damage == "rank":
        one = Fit(one.inner[:16].repeat(10, axis=0), one.outer[:, :1].repeat(160, axis=1), one.bias)
    fits = [one] * (3 if damage == "layer" else 4)
    if damage == "order":
        fits = [Fit(one.inner[:, :64], one.outer, one.bias)] * 4
    if damage == "another":
        other = load(MODEL.with_name("relu_llama.Q8_0.gguf"), DENSE)
        write_predictor(path, other, fits)
    else:
        write_predictor(path, model, fits)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:3000])
        problem = "is no predictor"
    with pytest.raises(CalibrationError, match=problem):
        load(sparsity=Sparsity(predictor=path))


def test_it_is_for_models_without_a_gate(made, load):
    gated = MODEL.with_name("relu_llama.Q8_0.gguf")
    with pytest.raises(CalibrationError, match="no gate"):
        load(gated, Sparsity(predictor=made[0]))


def test_a_predictor_that_was_exchanged_is_refused(text, tmp_path, monkeypatch, load):
    path = shutil.copy(MODEL, tmp_path / "m.gguf")
    monkeypatch.setattr(trial, "LEAST_SPEEDUP", 0.0)
    calibrate.run(given(path, text))
    model = load(path, DENSE)
    one = Fit(*(np.zeros(size, np.float32) for size in ((32, 128), (512, 32), 512)))
    write_predictor(predictor_beside(path), model, [one] * 4)
    with pytest.raises(CalibrationError, match="not the one that was calibrated"):
        load(path, calibrated(path))
    predictor_beside(path).unlink()
    with pytest.raises(CalibrationError, match="cannot be read"):
        load(path, calibrated(path))
