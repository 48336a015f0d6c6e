"""What is trained with PyTorch is what the engine runs: the same perplexity of the written file."""

import json
import math
import pydoc_data.topics
import sys

import numpy as np
import pytest

from engine.model import Model
from engine.sparsity.calibrated import Sparsity
from engine.tokenizer import Tokenizer

torch = pytest.importorskip("torch")
train_relu_model = pytest.importorskip("bench.train_relu_model")

WINDOW = 32


def train(monkeypatch, folder, steps, name="relu"):
    text = folder.parent / "text"
    topics = pydoc_data.topics.topics
    text.write_text("\n\n".join(topics[name] for name in sorted(topics)), encoding="utf-8")
    sizes = ["--dim", "96", "--layers", "2", "--ffn", "128", "--vocabulary", "400"]
    amounts = ["--steps", str(steps), "--batch", "4", "--window", str(WINDOW)]
    options = [*sizes, *amounts, "--models", name, "--text", str(text)]
    monkeypatch.setattr(sys, "argv", ["train", str(folder), *options])
    train_relu_model.main()
    return json.loads((folder / f"{name}.json").read_text())


def log_likelihood(model, window):
    """Σ log p of all tokens but the first, of which there are as many as `opt` has positions."""
    logits = model.forward(window[:-1], model.new_cache(), want="all").astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True)
    chosen = np.take_along_axis(logits, window[1:, None].astype(np.int64), axis=1)[:, 0]
    return float((chosen - np.log(np.exp(logits).sum(axis=1))).sum())


@pytest.mark.parametrize("name", ["relu", "opt"])
def test_the_written_model_has_the_perplexity_that_was_judged(tmp_path, monkeypatch, name):
    told = train(monkeypatch, tmp_path / "out", steps=4, name=name)
    assert all(0.2 < share < 0.8 for share in told["zeros"]), "it has hardly learned yet"
    model = Model.load(tmp_path / "out" / f"{name}.gguf", threads=1, sparsity=Sparsity(zeros=False))
    try:
        tokenizer = Tokenizer(model.gguf.metadata)
        end = int(model.gguf.metadata["tokenizer.ggml.eos_token_id"])
        ids = []
        for paragraph in (tmp_path / "out" / "held-out.txt").read_text().split("\n\n"):
            ids += [*tokenizer.encode(paragraph, add_special=False), end]
        size = WINDOW + 1
        windows = np.array(ids[: len(ids) // size * size], np.int32).reshape(-1, size)
        total = sum(log_likelihood(model, window) for window in windows)
    finally:
        model.close()
    perplexity = math.exp(-total / (WINDOW * len(windows)))
    assert perplexity == pytest.approx(told["perplexity"], rel=1e-4)


def test_a_run_that_was_ended_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    first = train(monkeypatch, tmp_path / "out", steps=4)

    def step(*_):
        pytest.fail("all steps were done before")

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    assert train(monkeypatch, tmp_path / "out", steps=4) == first
