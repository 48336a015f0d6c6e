"""Importance: squared inputs as transformers sees them, and what quantization makes of them."""

import dataclasses
import subprocess
import sys

import gguf
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.families import CASES, TOKENS, VOCABULARY, random_model
from bench.gguf_files import write
from engine.formats import FORMATS
from engine.gguf import GGUFFile
from engine.importance import measure
from engine.model import Model
from engine.quantize import QuantizeError, quantize_file

SEARCHED = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q6_K")
OTHER = np.random.default_rng(11).integers(0, VOCABULARY, 64).astype(np.int32)


def measured(path):
    model = Model.load(path, threads=2)
    try:
        return measure(model, TOKENS)
    finally:
        model.close()


def of_mean_one(squares):
    return squares / squares.mean(axis=-1, keepdims=True)


def error_of(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def test_squares_are_those_that_transformers_sees(tmp_path):
    model = random_model(CASES["llama"])
    write(tmp_path / "m.gguf", CASES["llama"], model, "F32")
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, model.config.num_hidden_layers)
    expected = {}

    def look(name):
        def hook(module, inputs):
            squares = inputs[0].detach()[0].numpy().astype(np.float64) ** 2
            expected[names.get_name(name) + ".weight"] = squares.sum(axis=0)

        return hook

    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and name != "lm_head":
            module.register_forward_pre_hook(look(name))
    with torch.inference_mode():
        model(torch.from_numpy(TOKENS[None].astype(np.int64)))
    found = measured(tmp_path / "m.gguf")
    assert set(found) == set(expected)
    for name, squares in expected.items():
        assert error_of(found[name], of_mean_one(squares)[None]) < 1e-4, name


def test_every_expert_has_squares_of_its_own(tmp_path):
    model = random_model(CASES["mixtral"])
    write(tmp_path / "m.gguf", CASES["mixtral"], model, "F32")
    expected = []

    def hook(module, inputs):
        states, chosen = inputs[0].numpy().astype(np.float64), inputs[1].numpy()
        squares = np.zeros((5, states.shape[1]))
        for row, experts in zip(states, chosen, strict=True):
            squares[experts] += row**2
        expected.append(squares)

    for layer in model.model.layers:
        layer.mlp.experts.register_forward_pre_hook(hook)
    with torch.inference_mode():
        model(torch.from_numpy(TOKENS[None].astype(np.int64)))
    found = measured(tmp_path / "m.gguf")
    for index, squares in enumerate(expected):
        for name in ("gate", "up"):
            experts = found[f"blk.{index}.ffn_{name}_exps.weight"]
            assert error_of(experts, of_mean_one(squares)) < 1e-4
        assert found[f"blk.{index}.ffn_down_exps.weight"].shape == (5, 256)


@pytest.mark.parametrize("name", SEARCHED)
@given(seed=st.integers(0, 2**32 - 1), spread=st.floats(0.5, 3))
@settings(max_examples=15)
def test_errors_that_matter_become_smaller(name, seed, spread):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(64, 256)).astype(np.float32)
    importance = np.exp(spread * rng.normal(size=256)).astype(np.float32)
    format_ = FORMATS[name]

    def weighted_error(counts):
        data = format_.quantize(values.reshape(-1), counts)
        return np.sum(importance * (format_.dequantize(data, values.shape) - values) ** 2)

    counts = np.broadcast_to(importance, values.shape)
    assert weighted_error(counts) < weighted_error(None)


@pytest.mark.parametrize("name", SEARCHED)
def test_blocks_that_are_nothing_or_do_not_matter(name):
    values = np.zeros((2, 256), np.float32)
    values[1] = np.linspace(-1, 1, 256)
    for importance in (np.zeros_like(values), np.full_like(values, 1e-30), np.ones_like(values)):
        data = FORMATS[name].quantize(values.reshape(-1), importance)
        weights = FORMATS[name].dequantize(data, values.shape)
        assert np.isfinite(weights).all()
        assert np.abs(weights[0]).max() == 0


def uneven_model(**sizes):
    """A model in which a few columns carry most of the activations, as in trained ones."""
    case = dataclasses.replace(CASES["llama"], sizes=CASES["llama"].sizes | sizes)
    model = random_model(case)
    loud = np.random.default_rng(2).choice(256, 24, replace=False)
    with torch.no_grad():
        for layer in model.model.layers:
            for norm in (layer.input_layernorm, layer.post_attention_layernorm):
                norm.weight[loud] *= 12
    return case, model


@pytest.mark.parametrize("to", ["q4_0", "q4_1", "q5_0"])
def test_a_model_loses_less_on_other_tokens(tmp_path, to):
    case, model = uneven_model()
    write(tmp_path / "m.gguf", case, model, "F32")

    def logits(path):
        loaded = Model.load(path, threads=2)
        try:
            return loaded.forward(OTHER, loaded.new_cache(), want="all")
        finally:
            loaded.close()

    expected, errors = logits(tmp_path / "m.gguf"), []
    for importance in (None, measured(tmp_path / "m.gguf")):
        out = tmp_path / "small.gguf"
        quantize_file(tmp_path / "m.gguf", out, to, lambda *_: None, importance=importance)
        errors.append(error_of(logits(out), expected))
    assert errors[1] < 0.9 * errors[0], errors


def test_the_command_line(tmp_path):
    case, model = uneven_model()
    write(tmp_path / "m.gguf", case, model, "F32", "gpt-2")
    (tmp_path / "text.txt").write_text("The boiler is in the cellar, behind the shelves. " * 20)
    (tmp_path / "short.txt").write_text("Too short.")

    def run(*arguments):
        command = [sys.executable, "-m", "engine.quantize", tmp_path / "m.gguf", *arguments]
        return subprocess.run([*map(str, command)], capture_output=True, text=True)

    text = ("--importance", tmp_path / "text.txt")
    for out, more in (("plain", ()), ("weighted", text)):
        done = run(tmp_path / f"{out}.gguf", "--to", "q4_0", *more)
        assert (done.returncode, done.stderr) == (0, "")
    matrices = []
    for out in ("plain", "weighted"):
        with GGUFFile(tmp_path / f"{out}.gguf") as file:
            matrices.append(file.tensor_bytes("blk.0.attn_q.weight"))
    assert (matrices[0] != matrices[1]).any()
    failed = run(tmp_path / "x.gguf", "--to", "q4_0", "--importance", tmp_path / "short.txt")
    assert failed.returncode == 1
    assert failed.stderr.startswith("short.txt has 10 tokens; at least 64")
    refused = run(tmp_path / "x.gguf", "--to", "q8_0", *text)
    assert "changes nothing for q8_0" in refused.stderr
    assert not (tmp_path / "x.gguf").exists()


def test_importance_of_another_model_is_refused(tmp_path):
    case, model = uneven_model()
    write(tmp_path / "m.gguf", case, model, "F32")
    wrong = {"blk.0.attn_q.weight": np.ones((1, 32), np.float32)}
    with pytest.raises(QuantizeError, match=r"importance .*'blk\.0\.attn_q\.weight'"):
        quantize_file(
            tmp_path / "m.gguf", tmp_path / "o.gguf", "q4_0", lambda *_: None, importance=wrong
        )
