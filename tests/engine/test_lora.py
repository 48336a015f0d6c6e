"""LoRA adapters: what the engine computes is what transformers computes with the sums by hand."""

import struct
import time

import gguf
import numpy as np
import pytest
import torch

from bench.families import CASES, TOKENS, random_model
from bench.gguf_files import ALPHA, RANK, random_adapter, write, write_adapter
from engine.gguf import ModelFormatError
from engine.lora import AdapterFile
from engine.model import Model


def add_by_hand(model, pairs, scale):
    """W += scale · alpha / rank · B · A in the transformers model."""
    weights = model.state_dict()
    with torch.no_grad():
        for name, (a, b) in pairs.items():
            weights[name] += torch.from_numpy(scale * ALPHA / RANK * (b @ a))


def ours(path, *adapters, **options):
    model = Model.load(path, threads=2, adapters=adapters, **options)
    try:
        return model.forward(TOKENS, model.new_cache(), want="all")
    finally:
        model.close()


def theirs(model):
    with torch.inference_mode():
        return model(torch.from_numpy(TOKENS[None].astype(np.int64))).logits[0].numpy()


def error_of(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.fixture
def llama(tmp_path):
    model = random_model(CASES["llama"])
    write(tmp_path / "base.gguf", CASES["llama"], model, "F32")
    return model


def test_one_adapter(tmp_path, llama):
    pairs, tensors = random_adapter(CASES["llama"], llama, 1)
    write_adapter(tmp_path / "a.gguf", tensors)
    plain = theirs(llama)
    add_by_hand(llama, pairs, 1.0)
    expected = theirs(llama)
    assert error_of(plain, expected) > 0.1, "the adapter changes something"
    found = ours(tmp_path / "base.gguf", AdapterFile(tmp_path / "a.gguf"))
    assert error_of(found, expected) < 1e-4


def test_several_adapters_with_scales_and_of_half_precision(tmp_path, llama):
    files = []
    for seed, scale in ((1, 0.5), (2, -0.75)):
        pairs, tensors = random_adapter(CASES["llama"], llama, seed)
        halves = {name: values.astype(np.float16) for name, values in tensors.items()}
        path = write_adapter(tmp_path / f"{seed}.gguf", halves)
        exact = {
            name: [part.astype(np.float16).astype(np.float32) for part in pair]
            for name, pair in pairs.items()
        }
        add_by_hand(llama, exact, scale)
        files.append(AdapterFile(path, scale))
    assert error_of(ours(tmp_path / "base.gguf", *files), theirs(llama)) < 1e-4


def test_the_embedding_is_turned_around(tmp_path, llama):
    """And changes the head with it, where that is the same matrix."""
    pairs, tensors = random_adapter(CASES["llama"], llama, 3, ("embed_tokens",))
    assert set(tensors) == {"token_embd.weight.lora_a", "token_embd.weight.lora_b"}
    write_adapter(tmp_path / "a.gguf", tensors)
    add_by_hand(llama, pairs, 1.0)
    found = ours(tmp_path / "base.gguf", AdapterFile(tmp_path / "a.gguf"))
    assert error_of(found, theirs(llama)) < 1e-4


def test_experts_have_an_adapter_each(tmp_path):
    model = random_model(CASES["mixtral"])
    write(tmp_path / "base.gguf", CASES["mixtral"], model, "F32")
    rng = np.random.default_rng(4)
    tensors = {}
    for index, layer in enumerate(model.model.layers):
        down = layer.mlp.experts.down_proj  # (experts, outputs, inputs)
        experts, outputs, inputs = down.shape
        a = rng.normal(size=(experts, RANK, inputs)).astype(np.float32) / 8
        b = rng.normal(size=(experts, outputs, RANK)).astype(np.float32)
        with torch.no_grad():
            down += torch.from_numpy(ALPHA / RANK * (b @ a))
        name = f"blk.{index}.ffn_down_exps.weight"
        tensors |= {f"{name}.lora_a": a, f"{name}.lora_b": b}
    write_adapter(tmp_path / "a.gguf", tensors)
    found = ours(tmp_path / "base.gguf", AdapterFile(tmp_path / "a.gguf"))
    assert error_of(found, theirs(model)) < 1e-4


@pytest.mark.parametrize("type_name", ["Q4_0", "Q8_0"])
def test_a_quantized_model_keeps_8_bits_of_the_sums(tmp_path, type_name):
    """Against the sums of the quantized weights: as near as a Q8_0 file of those sums."""
    case, model = CASES["llama"], random_model(CASES["llama"])
    write(tmp_path / "base.gguf", case, model, type_name)
    kind = gguf.GGMLQuantizationType[type_name]
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:  # rows are permuted in the file, blocks stay what they are
                data = gguf.quants.quantize(weight.numpy(), kind)
                weight.copy_(torch.from_numpy(gguf.quants.dequantize(data, kind)))
    pairs, tensors = random_adapter(case, model, 5)
    add_by_hand(model, pairs, 1.0)
    expected = theirs(model)
    adapter = write_adapter(tmp_path / "a.gguf", tensors)
    found = error_of(ours(tmp_path / "base.gguf", AdapterFile(adapter)), expected)
    merged = {}
    for kept in ("Q8_0", "Q4_0"):
        write(tmp_path / f"{kept}.gguf", case, model, kept)
        merged[kept] = error_of(ours(tmp_path / f"{kept}.gguf"), expected)
    # Measured for a Q4_0 model: 0.09; a Q8_0 file of the sums 0.11, a Q4_0 file 0.59.
    assert found < 1.5 * merged["Q8_0"], (found, merged)
    assert found < 0.3 * merged["Q4_0"], (found, merged)


def test_packed_weights_are_kept_apart(tmp_path, llama):
    """By the adapters' whole content and by their scales."""
    _, tensors = random_adapter(CASES["llama"], llama, 6)
    path = write_adapter(tmp_path / "a.gguf", tensors)
    base, cache = tmp_path / "base.gguf", tmp_path / "cache"

    def logits(*adapters):
        return ours(base, *adapters, cache_directory=cache)

    plain = logits()
    full, half = logits(AdapterFile(path)), logits(AdapterFile(path, 0.5))
    assert len(list(cache.glob("*.packed"))) == 3
    for again, first in ((logits(), plain), (logits(AdapterFile(path)), full)):
        np.testing.assert_array_equal(again, first)
    assert min(error_of(full, plain), error_of(half, plain), error_of(half, full)) > 0.01
    data = bytearray(path.read_bytes())
    last = struct.unpack("<f", data[-4:])[0]
    data[-4:] = struct.pack("<f", last + 1)  # one weight, the last
    path.write_bytes(data)
    logits(AdapterFile(path))
    assert len(list(cache.glob("*.packed"))) == 4


Q = "blk.0.attn_q.weight"
GOOD = {f"{Q}.lora_a": np.ones((2, 256), np.float32), f"{Q}.lora_b": np.ones((256, 2), np.float32)}
BAD_TENSORS = {
    "nothing": ({}, "it changes nothing"),
    "alone": ({f"{Q}.lora_a": GOOD[f"{Q}.lora_a"]}, r"no 'blk\.0\.attn_q\.weight\.lora_b'"),
    "neither": (GOOD | {"blk.0.attn_norm.weight": np.ones(256, np.float32)}, "neither a .lora_a"),
    "unknown": (
        {"x.lora_a": np.ones((2, 256), np.float32), "x.lora_b": np.ones((256, 2), np.float32)},
        "the model has no tensor 'x'",
    ),
    "inputs": (GOOD | {f"{Q}.lora_a": np.ones((2, 32), np.float32)}, r"shape \(2, 32\) does not"),
    "outputs": (GOOD | {f"{Q}.lora_b": np.ones((48, 2), np.float32)}, r"shape \(48, 2\) does not"),
    "ranks": (GOOD | {f"{Q}.lora_a": np.ones((3, 256), np.float32)}, r"shape \(3, 256\) does not"),
    "vector": (
        {
            "blk.0.attn_norm.weight.lora_a": np.ones((1, 256), np.float32),
            "blk.0.attn_norm.weight.lora_b": np.ones((1, 1), np.float32),
        },
        r"does not fit 'blk\.0\.attn_norm\.weight'",
    ),
    "deep": (
        {f"{Q}.lora_a": np.ones((257, 256), np.float32), f"{Q}.lora_b": np.ones((256, 257), "f4")},
        "a rank of 257 is more",
    ),
    "type": (GOOD | {f"{Q}.lora_a": np.ones((2, 256), np.int32)}, "type I32 cannot be read"),
    "infinite": (GOOD | {f"{Q}.lora_b": np.full((256, 2), np.inf, "f4")}, "not all finite"),
    "not a number": (GOOD | {f"{Q}.lora_a": np.full((2, 256), np.nan, "f4")}, "not all finite"),
}
BAD_KEYS = {
    "model": ({"general__type": "model"}, "general.type is 'model', not 'adapter'"),
    "untyped": ({"general__type": None}, "general.type is None"),
    "kind": ({"adapter__type": "control_vector"}, "adapter.type is 'control_vector'"),
    "family": ({"architecture": "qwen2"}, "is 'qwen2', but that of the model is 'llama'"),
    "alpha": ({"alpha": float("nan")}, "adapter.lora.alpha is nan"),
    "negative": ({"alpha": -1.0}, "adapter.lora.alpha is -1.0"),
    "activated": (
        {"adapter__alora__invocation_tokens": "x"},
        "adapter.alora.invocation_tokens is there",
    ),
}


def refusal(base, adapter):
    start = time.perf_counter()
    with pytest.raises(ModelFormatError) as caught:
        Model.load(base, threads=1, adapters=[AdapterFile(adapter)])
    assert time.perf_counter() - start < 1
    return str(caught.value)


@pytest.mark.parametrize("name", BAD_TENSORS)
def test_tensors_that_do_not_fit(tmp_path, llama, name):
    tensors, message = BAD_TENSORS[name]
    write_adapter(tmp_path / "bad.gguf", tensors)
    with pytest.raises(ModelFormatError, match=message) as caught:
        Model.load(tmp_path / "base.gguf", adapters=[AdapterFile(tmp_path / "bad.gguf")])
    assert "bad.gguf" in str(caught.value)
    assert not tensors or "at offset" in str(caught.value)


@pytest.mark.parametrize("name", BAD_KEYS)
def test_metadata_that_does_not_fit(tmp_path, llama, name):
    keys, message = BAD_KEYS[name]
    write_adapter(tmp_path / "bad.gguf", GOOD, **keys)
    assert message in refusal(tmp_path / "base.gguf", tmp_path / "bad.gguf")


def test_a_file_cut_short_at_any_place(tmp_path, llama):
    data = write_adapter(tmp_path / "whole.gguf", GOOD).read_bytes()
    for size in range(0, len(data), 61):
        (tmp_path / "bad.gguf").write_bytes(data[:size])
        assert "bad.gguf" in refusal(tmp_path / "base.gguf", tmp_path / "bad.gguf")


def test_an_adapter_is_no_model_and_no_adapter_is_missing(tmp_path, llama):
    path = write_adapter(tmp_path / "a.gguf", GOOD)
    with pytest.raises(ModelFormatError, match="this is a LoRA adapter; load the model"):
        Model.load(path)
    with pytest.raises(FileNotFoundError):
        Model.load(tmp_path / "base.gguf", adapters=[AdapterFile(tmp_path / "no.gguf")])
    with pytest.raises(ModelFormatError, match="17 adapters; at most 16"):
        Model.load(tmp_path / "base.gguf", adapters=[AdapterFile(path)] * 17)


def test_alpha_zero_leaves_the_scale_alone(tmp_path, llama):
    write_adapter(tmp_path / "zero.gguf", GOOD, alpha=0.0)
    write_adapter(tmp_path / "rank.gguf", GOOD, alpha=2.0)
    found = [
        ours(tmp_path / "base.gguf", AdapterFile(tmp_path / f"{name}.gguf"))
        for name in ("zero", "rank")
    ]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("text", "path", "scale"),
    [
        ("a.gguf", "a.gguf", 1.0),
        ("a.gguf:0.5", "a.gguf", 0.5),
        ("/m/a:b.gguf", "/m/a:b.gguf", 1.0),
        ("/m/a:b.gguf:-2", "/m/a:b.gguf", -2.0),
    ],
)
def test_the_written_form(text, path, scale):
    found = AdapterFile.parse(text)
    assert (str(found.path), found.scale) == (path, scale)


@pytest.mark.parametrize("text", ["a.gguf:nan", "a.gguf:inf", "a.gguf:1e9"])
def test_scales_out_of_reason(text):
    with pytest.raises(ValueError, match="a scale from -1000 to 1000"):
        AdapterFile.parse(text)
