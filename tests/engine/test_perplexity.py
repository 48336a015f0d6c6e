"""The model computes what the float32 reference computes, on real English text.

The reference is transformers with the same file: recorded for 14 windows (make_reference.py),
live for two.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).parent.parent / "data" / "smollm2_reference.npz"


@pytest.fixture(scope="module")
def reference():
    """ids and best (14, 512), likely (14, 511)."""
    with np.load(DATA) as data:
        return {name: data[name] for name in data.files}


@pytest.fixture(scope="module")
def maker():
    """The script that recorded the reference, as a module."""
    specification = importlib.util.spec_from_file_location(
        "make_reference", Path(__file__).with_name("make_reference.py")
    )
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def log_probabilities(logits, ids):
    """Log-probability that each position gives to the token that follows: (n - 1,)."""
    rows = logits[:-1].astype(np.float64)
    rows -= rows.max(axis=1, keepdims=True)
    return rows[np.arange(len(rows)), ids[1:]] - np.log(np.exp(rows).sum(axis=1))


def test_perplexity_and_best_token_of_recorded_windows(model, reference):
    agreed, likely = [], []
    for ids, best in zip(reference["ids"], reference["best"], strict=True):
        logits = model.forward(ids.astype(np.int32), model.new_cache(), want="all")
        agreed.append(np.mean(logits.argmax(axis=1) == best))
        likely.append(log_probabilities(logits, ids))
    ratio = np.exp(np.mean(reference["likely"]) - np.mean(likely))
    assert len(agreed) == 14
    assert abs(ratio - 1) < 0.01, f"perplexity is {ratio:.4f} of the reference's"
    assert np.mean(agreed) >= 0.96, f"top-1 agreement {np.mean(agreed):.4f}"


def test_live_reference(model, model_path, reference, maker):
    transformers = maker.reference_model(model_path)
    for window in (0, 9):
        ids = reference["ids"][window].astype(np.int32)
        theirs = maker.reference_logits(transformers, ids)
        np.testing.assert_array_equal(theirs.argmax(axis=1), reference["best"][window])
        expected = maker.log_probabilities(theirs, ids)
        np.testing.assert_allclose(expected, reference["likely"][window], atol=1e-3)
        ours = model.forward(ids, model.new_cache(), want="all")
        assert np.mean(ours.argmax(axis=1) == theirs.argmax(axis=1)) >= 0.96
        ratio = np.exp(np.mean(expected) - np.mean(log_probabilities(ours, ids)))
        assert abs(ratio - 1) < 0.02  # of a single window
        assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.999
