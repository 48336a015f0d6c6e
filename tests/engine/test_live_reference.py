"""The model computes what transformers computes here and now, which is what was recorded of it."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from tests.engine.perplexity import judge, recorded


@pytest.fixture(scope="module")
def maker():
    """The script that recorded the reference, as a module."""
    specification = importlib.util.spec_from_file_location(
        "make_reference", Path(__file__).with_name("make_reference.py")
    )
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_live_reference(model, model_path, maker):
    reference = recorded("smollm2")
    transformers = maker.reference_model(model_path)
    for window in (0, 9):
        ids = reference["ids"][window]
        theirs = maker.reference_logits(transformers, ids)
        np.testing.assert_array_equal(theirs.argmax(axis=1), reference["best"][window])
        expected = maker.log_probabilities(theirs, ids)
        np.testing.assert_allclose(expected, reference["likely"][window], atol=1e-3)
        best, likely = judge(model, ids)
        assert np.mean(best == theirs.argmax(axis=1)) >= 0.96
        assert abs(np.exp(np.mean(expected) - np.mean(likely)) - 1) < 0.02  # of a single window
        ours = model.forward(ids[:64].astype(np.int32), model.new_cache(), want="all")
        assert np.corrcoef(ours.ravel(), theirs[:64].ravel())[0, 1] > 0.999
