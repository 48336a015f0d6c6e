"""Small made-up Llama models of odd sizes against a forward pass written in NumPy."""

import sys

import gguf
import numpy as np
import pytest

from engine import reference
from engine.architectures import ARCHITECTURES, families, families_by_name
from engine.formats import FORMATS
from engine.formats.packed import pack, unpack
from engine.gguf import ModelFormatError
from engine.kernels.activations import SILU
from engine.model import Model

DIM, LAYERS, HEADS, KV_HEADS, HEAD_DIM, FFN, VOCABULARY = 64, 2, 8, 2, 16, 96, 75
EPSILON, ROPE_BASE = 1e-5, 10_000.0
TOKENS = np.random.default_rng(3).integers(0, VOCABULARY, 21).astype(np.int32)
WIDTH, KV_WIDTH = HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
SMALL_FORMATS = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "MXFP4"]
"""Those whose blocks fit DIM and that the `gguf` package can make."""
MATRICES = {
    "attn_q": (WIDTH, DIM),
    "attn_k": (KV_WIDTH, DIM),
    "attn_v": (KV_WIDTH, DIM),
    "attn_output": (DIM, WIDTH),
    "ffn_gate": (FFN, DIM),
    "ffn_up": (FFN, DIM),
    "ffn_down": (DIM, FFN),
}


def tensors_of(tied):
    """Random weights by name."""
    rng = np.random.default_rng(5)
    shapes = {"token_embd": (VOCABULARY, DIM), "output_norm": (DIM,)}
    shapes |= {} if tied else {"output": (VOCABULARY, DIM)}
    for layer in range(LAYERS):
        norms = {"attn_norm": (DIM,), "ffn_norm": (DIM,)}
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in (MATRICES | norms).items()}
    return {
        f"{name}.weight": (rng.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)
        if len(shape) == 2
        else rng.uniform(0.5, 1.5, shape).astype(np.float32)
        for name, shape in shapes.items()
    }


def write(path, tensors, type_name, extra=(), architecture="llama"):
    """extra: key, value and kind of further metadata; it replaces what is there by the same key."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(LAYERS)
    writer.add_context_length(40)
    writer.add_embedding_length(DIM)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(HEAD_DIM)
    writer.add_layer_norm_rms_eps(EPSILON)
    for key, value, kind in extra:
        writer.kv_data[0].pop(key, None)
        getattr(writer, f"add_{kind}")(key, value)
    for name, values in tensors.items():
        kind = gguf.GGMLQuantizationType[type_name if values.ndim == 2 else "F32"]
        writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def as_computed(values, type_name):
    """A matrix as the engine holds it: through its format and the packing."""
    kind = gguf.GGMLQuantizationType[type_name]
    data = gguf.quants.quantize(values, kind).view(np.uint8).reshape(-1)
    blocks = FORMATS[type_name].to_blocks(data, *values.shape)
    return unpack(pack(blocks), blocks.bits, *values.shape)


def forward(tensors, type_name, factors=1.0):
    """Logits of TOKENS by the twins of the kernels: float32 (n, vocabulary)."""
    w = {
        name.removesuffix(".weight"): values if values.ndim == 1 else as_computed(values, type_name)
        for name, values in tensors.items()
    }
    product = reference.matmul_float if type_name == "F32" else reference.matmul
    n, half = len(TOKENS), HEAD_DIM // 2
    frequencies = ROPE_BASE ** (-np.arange(half) / half) / factors
    turns = np.outer(np.arange(n), frequencies)
    angles = np.stack([np.cos(turns), np.sin(turns)], axis=2).astype(np.float32)
    x = w["token_embd"][TOKENS]
    for layer in range(LAYERS):
        here = {name: w[f"blk.{layer}.{name}"] for name in (*MATRICES, "attn_norm", "ffn_norm")}
        h = reference.rms_norm(x, here["attn_norm"], EPSILON)
        q, k, v = (
            product(h, here[name]).reshape(n, -1, HEAD_DIM)
            for name in ("attn_q", "attn_k", "attn_v")
        )
        q, k = reference.rope(q, angles), reference.rope(k, angles)
        if type_name != "F32":
            k, v = (a.astype(np.float16).astype(np.float32) for a in (k, v))
        attended = reference.attention(q, k, v).reshape(n, -1)
        x = x + product(attended, here["attn_output"])
        h = reference.rms_norm(x, here["ffn_norm"], EPSILON)
        gate, up = product(h, here["ffn_gate"]), product(h, here["ffn_up"])
        x = x + product(reference.activate(SILU, gate, up), here["ffn_down"])
    h = reference.rms_norm(x, w["output_norm"], EPSILON)
    return product(h, w.get("output", w["token_embd"]))


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("type_name", SMALL_FORMATS)
def test_every_format_tied_and_untied(tmp_path, type_name, tied):
    tensors = tensors_of(tied)
    write(tmp_path / "small.gguf", tensors, type_name)
    model = Model.load(tmp_path / "small.gguf", threads=2)
    found = model.forward(TOKENS, model.new_cache(), want="all")
    model.close()
    expected = forward(tensors, type_name)
    assert found.shape == (len(TOKENS), VOCABULARY)
    # An activation that tips to the next of its 255 steps moves a logit by about this much.
    assert np.sqrt(np.mean((found - expected) ** 2)) < 0.003 * np.ptp(expected)


def test_rope_factors_of_llama_3(tmp_path):
    tensors = tensors_of(tied=True)
    factors = np.linspace(1, 8, HEAD_DIM // 2).astype(np.float32)
    write(tmp_path / "small.gguf", tensors | {"rope_freqs.weight": factors}, "Q8_0")
    model = Model.load(tmp_path / "small.gguf", threads=1)
    found = model.forward(TOKENS, model.new_cache(), want="all")
    model.close()
    expected, without = forward(tensors, "Q8_0", factors), forward(tensors, "Q8_0")
    assert np.sqrt(np.mean((found - expected) ** 2)) < 0.003 * np.ptp(expected)
    assert np.sqrt(np.mean((found - without) ** 2)) > 0.02 * np.ptp(expected)


def test_a_tensor_that_the_program_would_ignore_is_refused(tmp_path):
    tensors = tensors_of(tied=True) | {"blk.0.attn_q.bias": np.ones(WIDTH, np.float32)}
    write(tmp_path / "small.gguf", tensors, "Q8_0")
    with pytest.raises(ModelFormatError, match=r"small\.gguf: tensor 'blk\.0\.attn_q\.bias'"):
        Model.load(tmp_path / "small.gguf")


def test_a_missing_and_a_misshapen_tensor(tmp_path):
    tensors = tensors_of(tied=True)
    del tensors["blk.1.ffn_up.weight"]
    write(tmp_path / "small.gguf", tensors, "Q8_0")
    with pytest.raises(ModelFormatError, match=r"'blk\.1\.ffn_up\.weight' is missing"):
        Model.load(tmp_path / "small.gguf")
    tensors["blk.1.ffn_up.weight"] = np.ones((FFN, 32), np.float32)
    write(tmp_path / "small.gguf", tensors, "Q8_0")
    with pytest.raises(ModelFormatError, match=r"\(96, 32\); \(96, 64\) is expected"):
        Model.load(tmp_path / "small.gguf")


@pytest.mark.parametrize("rotated", [7, 18])
def test_heads_that_cannot_be_rotated_are_refused(tmp_path, rotated):
    extra = [("llama.rope.dimension_count", rotated, "uint32")]
    write(tmp_path / "small.gguf", tensors_of(True), "Q8_0", extra)
    with pytest.raises(
        ModelFormatError, match=rf"dimension_count at offset \d+: {rotated} elements"
    ):
        Model.load(tmp_path / "small.gguf")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("hidden_activation", "swish", r"hidden_activation at offset \d+ is 'swish'; known: silu"),
        (
            "rope.scaling.type",
            "spiral",
            r"rope.scaling.type at offset \d+ is 'spiral'; known: none",
        ),
        (
            "rope.scaling.factor",
            -2.0,
            r"rope.scaling.factor at offset \d+ is -2.0; a number between",
        ),
        (
            "rope.scaling.attn_factor",
            float("nan"),
            r"attn_factor at offset \d+ is nan; a number between",
        ),
        ("expert_count", 4, r"expert_used_count .*offset \d+.* is missing"),
        ("attention.sliding_window", 9, "is 9; llama is known without windows only"),
        ("attention.head_count", 7, "7 heads cannot share 2 key-value heads"),
        ("attention.key_length", 24, "heads of 24 are not a multiple of 16"),
    ],
)
def test_metadata_that_makes_no_sense(tmp_path, key, value, message):
    add = {str: "string", int: "uint32", float: "float32"}[type(value)]
    extra = [("llama.rope.scaling.type", "linear", "string")] if "factor" in key else []
    extra.append((f"llama.{key}", value, add))
    write(tmp_path / "small.gguf", tensors_of(True), "Q8_0", extra)
    with pytest.raises(ModelFormatError, match=message):
        Model.load(tmp_path / "small.gguf")


def test_a_family_without_experts_refuses_them(tmp_path):
    extra = [("qwen2.expert_count", 4, "uint32")]
    write(tmp_path / "small.gguf", tensors_of(True), "Q8_0", extra, architecture="qwen2")
    with pytest.raises(ModelFormatError, match="qwen2 is known without experts only"):
        Model.load(tmp_path / "small.gguf")


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("rope_freqs.weight", np.ones(7, np.float32), r"F32 \(7,\); F32 \(8,\) is expected"),
        ("rope_freqs.weight", np.zeros(8, np.float32), "factors that are not positive"),
    ],
)
def test_rope_factors_that_cannot_be_used(tmp_path, name, values, message):
    write(tmp_path / "small.gguf", tensors_of(True) | {name: values}, "Q8_0")
    with pytest.raises(ModelFormatError, match=message):
        Model.load(tmp_path / "small.gguf")


@pytest.mark.parametrize(
    ("extra", "tensors", "message"),
    [
        (("general.name", "ProSparse Llama 2 7B", "string"), {}, "set activation to relu"),
        (("general.name", "TurboSparse-Mistral", "string"), {}, "drelu for"),
        (("powerinfer.sparse_threshold", 0.0, "float32"), {}, "PowerInfer's own form"),
        (None, {"blk.0.ffn_gate.0.weight": np.ones((FFN, DIM), np.float32)}, "experts one by one"),
    ],
)
def test_files_in_a_form_of_their_own_are_told_what_to_do(tmp_path, extra, tensors, message):
    keys = [extra] if extra else []
    write(tmp_path / "small.gguf", tensors_of(True) | tensors, "Q8_0", keys)
    with pytest.raises(ModelFormatError, match=message):
        Model.load(tmp_path / "small.gguf")


def test_a_name_of_relu_models_is_no_hindrance_once_it_is_said(tmp_path):
    extra = [("general.name", "ReluLLaMA 7B", "string")]
    write(tmp_path / "small.gguf", tensors_of(True), "Q8_0", extra)
    Model.load(tmp_path / "small.gguf", activation="relu").close()


def test_the_weights_of_bitnet_cpp_are_refused_by_name(tmp_path):
    write(tmp_path / "small.gguf", tensors_of(True), "F32")
    data = bytearray((tmp_path / "small.gguf").read_bytes())
    name = b"blk.0.attn_q.weight"
    kind = data.index(name) + len(name) + 4 + 2 * 8
    data[kind : kind + 4] = (36).to_bytes(4, "little")
    (tmp_path / "small.gguf").write_bytes(data)
    with pytest.raises(ModelFormatError, match=r"type I2_S of bitnet\.cpp .*TQ2_0"):
        Model.load(tmp_path / "small.gguf")


def test_a_family_is_one_file(tmp_path, monkeypatch):
    """As docs/adding-a-model.md says: the file is all that the engine needs to know."""
    source = (
        "from engine.architectures.family import Family\n"
        "FAMILY = Family(rope='halves', biases=('attn_q', 'attn_k', 'attn_v'))\n"
    )
    (tmp_path / "made_up_family.py").write_text(source)
    monkeypatch.setattr(families, "__path__", [*families.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, f"{families.__name__}.made_up_family", raising=False)
    found = families_by_name()
    assert set(found) - set(ARCHITECTURES) == {"made_up_family"}
    assert found["made_up_family"] == ARCHITECTURES["qwen2"]
