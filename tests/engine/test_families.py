"""Every family against transformers: tiny random models, written as llama.cpp's converter does."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from bench.families import CASES, TOKENS, random_model, write
from bench.model_table import theirs
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
    expected, sure = theirs(model)
    write(tmp_path / "exact.gguf", CASES[name], model, "F32")
    found = logits_of(tmp_path / "exact.gguf")
    error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    assert error < 1e-4, f"relative error {error:.2e}"

    write(tmp_path / "small.gguf", CASES[name], model, "Q8_0")
    found = logits_of(tmp_path / "small.gguf")
    errors = np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1)
    # Not of all: from the first token on that changes its expert, states are others.
    rounding = np.quantile(errors, 0.25)
    assert rounding < 0.04, f"relative error with Q8_0 {rounding:.4f}"
    agreed = (found.argmax(axis=1) == expected.argmax(axis=1))[sure]
    assert agreed.size >= 15
    assert agreed.mean() > 0.99, f"top-1 agreement {agreed.mean():.3f} of {agreed.size}"


@pytest.mark.parametrize(("name", "activation"), [("relu llama", "relu"), ("drelu llama", "drelu")])
def test_an_activation_that_the_file_does_not_tell(tmp_path, name, activation):
    """As files of ReLU models mostly are: nothing in them differs from a Llama."""
    case = dataclasses.replace(CASES[name], keys={})
    model = random_model(case)
    expected, _ = theirs(model)
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
