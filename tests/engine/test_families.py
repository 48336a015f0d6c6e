"""Every family against transformers: tiny random models, written as llama.cpp's converter does."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from bench.families import CASES, TOKENS, fitted_model, random_model
from bench.gguf_files import write
from bench.model_table import error_of, quantized, same_best, theirs
from engine.model import Model


def logits_of(path: Any, **options: Any) -> np.ndarray:
    """Our logits of TOKENS, in two steps."""
    model = Model.load(path, threads=2, **options)
    try:
        cache = model.new_cache()
        parts = [model.forward(part, cache, want="all") for part in (TOKENS[:37], TOKENS[37:])]
        return np.concatenate(parts)
    finally:
        model.close()


@pytest.mark.parametrize("name", CASES)
def test_logits_are_those_of_transformers(tmp_path, name):
    model = random_model(CASES[name])
    expected = theirs(model)
    write(tmp_path / "exact.gguf", CASES[name], model, "F32")
    found = logits_of(tmp_path / "exact.gguf")
    error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    assert error < 1e-4, f"relative error {error:.2e}"
    made = quantized(CASES[name], model, "Q8_0")
    write(tmp_path / "small.gguf", CASES[name], model, "Q8_0", raw=made)
    assert 1e-3 < error_of(logits_of(tmp_path / "small.gguf"), theirs(model)) < 0.05


@pytest.mark.parametrize("name", CASES)
def test_a_model_that_is_sure_says_the_same_with_q8_0(tmp_path, name):
    """Of all positions: what the model leads with is no near tie (see fitted_model)."""
    model = fitted_model(CASES[name])
    write(tmp_path / "small.gguf", CASES[name], model, "Q8_0")
    agreed = same_best(logits_of(tmp_path / "small.gguf"), theirs(model))
    assert agreed > 0.99, f"top-1 agreement {agreed:.3f}"


@pytest.mark.parametrize(("name", "activation"), [("relu llama", "relu"), ("drelu llama", "drelu")])
def test_an_activation_that_the_file_does_not_tell(tmp_path, name, activation):
    """As files of ReLU models mostly are: nothing in them differs from a Llama."""
    case = dataclasses.replace(CASES[name], keys={})
    model = random_model(case)
    expected = theirs(model)
    write(tmp_path / "m.gguf", case, model, "F32")
    asked, plain = (logits_of(tmp_path / "m.gguf", activation=a) for a in (activation, None))
    assert np.linalg.norm(asked - expected) < 1e-4 * np.linalg.norm(expected)
    assert np.linalg.norm(plain - expected) > 0.1 * np.linalg.norm(expected)
    with pytest.raises(ValueError, match="activation is 'swish'; known: silu"):
        Model.load(tmp_path / "m.gguf", activation="swish")


def test_another_activation_is_another_model(tmp_path):
    write(tmp_path / "m.gguf", CASES["llama"], random_model(CASES["llama"]), "F32")
    models = [Model.load(tmp_path / "m.gguf", activation=a) for a in (None, "relu", "gelu")]
    assert len({model.content_hash for model in models}) == 3
    for model in models:
        model.close()
