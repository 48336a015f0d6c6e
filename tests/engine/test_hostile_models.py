"""Model files whose header is sound but whose model is not: refused before anything is computed."""

import struct
import time

import numpy as np
import pytest

from engine.engine import Engine
from engine.gguf import ModelFormatError
from engine.gguf_writer import NewTensor, pair, write_gguf
from engine.model import Model

DIM, FFN, VOCABULARY = 64, 96, 40
LAYER = {
    "attn_norm": (DIM,),
    "attn_q": (DIM, DIM),
    "attn_k": (32, DIM),
    "attn_v": (32, DIM),
    "attn_output": (DIM, DIM),
    "ffn_norm": (DIM,),
    "ffn_gate": (FFN, DIM),
    "ffn_up": (FFN, DIM),
    "ffn_down": (DIM, FFN),
}
SHAPES = {"token_embd.weight": (VOCABULARY, DIM), "output_norm.weight": (DIM,)} | {
    f"blk.{layer}.{name}.weight": shape for layer in range(2) for name, shape in LAYER.items()
}
METADATA = {
    "general.architecture": "llama",
    "llama.block_count": 2,
    "llama.context_length": 32,
    "llama.embedding_length": DIM,
    "llama.feed_forward_length": FFN,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
}


def write(path, metadata, shapes):
    """A model of zeros; floats go in as float32, numbers over 32 bits as uint64."""
    pairs = []
    for key, value in metadata.items():
        if isinstance(value, list):
            kind, form = (8, None) if type(value[0]) is str else (5, "<i")
            items = [
                pair("", one)[12:] if form is None else struct.pack(form, one) for one in value
            ]
            count = struct.pack("<IIQ", 9, kind, len(value))
            raw = pair(key, 0)[:-8] + count + b"".join(items)
        elif isinstance(value, float):
            raw = pair(key, 0)[:-8] + struct.pack("<If", 6, value)
        elif isinstance(value, int) and not 0 <= value < 1 << 32:
            raw = pair(key, 0)[:-8] + struct.pack("<IQ", 10, value % (1 << 64))
        else:
            raw = pair(key, value)
        pairs.append(raw)
    tensors = [NewTensor(name, shape, "F32") for name, shape in shapes.items()]
    with path.open("wb") as file:
        write_gguf(file, pairs, tensors, ([np.zeros(t.shape, "<f4").tobytes()] for t in tensors))


def without(table, key):
    return {name: value for name, value in table.items() if name != key}


AT = r" at offset \d+"

NUMBERS = [key for key in METADATA if key != "general.architecture"]
BAD = {
    "no architecture": (without(METADATA, "general.architecture"), SHAPES, "general.architecture"),
    "unknown architecture": (
        METADATA | {"general.architecture": "abacus"},
        SHAPES,
        f"general.architecture{AT} is 'abacus'; known: .*llama",
    ),
    "architecture of a number": (
        METADATA | {"general.architecture": 7},
        SHAPES,
        f"general.architecture{AT} is 7",
    ),
    **{
        f"no {key}": (without(METADATA, key), SHAPES, rf"{key} .*offset \d+.* is missing")
        for key in NUMBERS
        if key != "llama.attention.head_count_kv"
    },
    **{f"{key} 0": (METADATA | {key: 0}, SHAPES, f"{key}{AT} is 0") for key in NUMBERS},
    **{f"{key} text": (METADATA | {key: "2"}, SHAPES, f"{key}{AT} is '2'") for key in NUMBERS},
    **{f"{key} 2^63": (METADATA | {key: 1 << 63}, SHAPES, f"{key}{AT} is 9") for key in NUMBERS},
    "10 000 blocks": (
        METADATA | {"llama.block_count": 10_000},
        SHAPES,
        f"block_count{AT} is 10000",
    ),
    "2^24 blocks": (
        METADATA | {"llama.block_count": 1 << 24},
        SHAPES,
        f"block_count{AT} is 16777216",
    ),
    "3 blocks": (
        METADATA | {"llama.block_count": 3},
        SHAPES,
        f"'blk.2.attn_norm.weight' is missing in the list{AT}",
    ),
    "1 block": (METADATA | {"llama.block_count": 1}, SHAPES, f"'blk.1.*{AT} is not one that this"),
    "3 heads for 2": (
        METADATA | {"llama.attention.head_count": 3, "llama.attention.key_length": 16},
        SHAPES,
        f"head_count{AT}: 3 heads cannot share",
    ),
    "5 heads": (METADATA | {"llama.attention.head_count": 5}, SHAPES, f"head_count{AT}: 5 heads"),
    "heads of 1": (
        METADATA | {"llama.attention.head_count": 64},
        SHAPES,
        r"key_length .*offset \d+.*: heads of 1 are not",
    ),
    "more heads than dimensions": (
        METADATA | {"llama.attention.head_count": 65},
        SHAPES,
        r"attention.key_length .*offset \d+.* is 0",
    ),
    "NaN epsilon": (
        METADATA | {"llama.attention.layer_norm_rms_epsilon": float("nan")},
        SHAPES,
        f"rms_epsilon{AT} is nan",
    ),
    "infinite RoPE base": (
        METADATA | {"llama.rope.freq_base": float("inf")},
        SHAPES,
        f"rope.freq_base{AT} is inf",
    ),
    "negative RoPE factor": (
        METADATA | {"llama.rope.scaling.factor": -1.0},
        SHAPES,
        f"rope.scaling.factor{AT} is -1.0",
    ),
    "no embedding": (METADATA, without(SHAPES, "token_embd.weight"), f"'token_embd.weight' .*{AT}"),
    "embedding of one dimension": (
        METADATA,
        SHAPES | {"token_embd.weight": (DIM,)},
        rf"'token_embd.weight'{AT} has shape \(64,\)",
    ),
    "no norm": (METADATA, without(SHAPES, "output_norm.weight"), f"'output_norm.weight' .*{AT}"),
    "wide key": (
        METADATA,
        SHAPES | {"blk.0.attn_k.weight": (DIM, DIM)},
        rf"'blk.0.attn_k.weight'{AT} has shape \(64, 64\)",
    ),
    "three dimensions": (
        METADATA,
        SHAPES | {"blk.0.attn_k.weight": (2, 16, DIM)},
        f"'blk.0.attn_k.weight'{AT} has shape",
    ),
    "one tensor too many": (METADATA, SHAPES | {"blk.7.x": (32,)}, f"'blk.7.x'{AT} is not one"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_models_are_refused_by_field(tmp_path, name):
    metadata, shapes, message = BAD[name]
    write(tmp_path / "m.gguf", metadata, shapes)
    start = time.perf_counter()
    with pytest.raises(ModelFormatError, match=rf"^m\.gguf: .*{message}"):
        Model.load(tmp_path / "m.gguf", threads=1, cache_directory=tmp_path)
    assert time.perf_counter() - start < 1
    assert [path.name for path in tmp_path.iterdir()] == ["m.gguf"]


def test_the_model_that_they_are_made_of_is_good(tmp_path):
    write(tmp_path / "m.gguf", METADATA, SHAPES)
    model = Model.load(tmp_path / "m.gguf", threads=1)
    logits = model.forward(np.arange(3, dtype=np.int32), model.new_cache(), want="all")
    model.close()
    assert logits.shape == (3, VOCABULARY)
    assert (logits == 0).all()


TOKENS = [f"<0x{byte:02X}>" for byte in range(VOCABULARY - 2)] + ["▁", "x"]
TOKENIZER = METADATA | {
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.scores": [0] * VOCABULARY,
    "tokenizer.ggml.token_type": [6] * (VOCABULARY - 2) + [1, 1],
}
BAD_TOKENIZERS = {
    "an unknown kind": ({"model": "t5"}, f"model{AT} is 't5'"),
    "no kind": ({"model": None}, "model .*offset"),
    "no tokens": ({"tokens": None}, r"tokens .*offset \d+.* is missing"),
    "numbers for tokens": ({"tokens": [1] * VOCABULARY}, f"tokens{AT} is missing or is no list"),
    "one text for tokens": ({"tokens": "abc"}, f"tokens{AT} is missing or is no list"),
    "words for types": ({"token_type": ["a"] * VOCABULARY}, f"token_type{AT} is no list of numb"),
    "words for scores": ({"scores": ["a"] * VOCABULARY}, f"scores{AT} is no list of numbers"),
    "too few types": ({"token_type": [1]}, f"token_type{AT} has 1 entries for {VOCABULARY}"),
    "too few scores": ({"scores": [1]}, f"scores{AT} has 1 entries for {VOCABULARY} tokens"),
    "no scores": ({"scores": None}, r"scores .*offset \d+.* is missing"),
    "no such end": ({"eos_token_id": VOCABULARY}, f"eos_token_id{AT} is {VOCABULARY}, outside"),
    "a text for an end": ({"eos_token_id": "x"}, f"eos_token_id{AT} is x, outside"),
    "a byte of two": ({"tokens": ["<0x001>", *TOKENS[1:]]}, f"tokens{AT}: the byte token '<0x001"),
    "a byte with a sign": ({"tokens": ["<0x+1>", *TOKENS[1:]]}, f"tokens{AT}: the byte token"),
    "no merges": ({"model": "gpt2", "pre": "gpt-2"}, r"merges .*offset \d+.* is missing"),
    "wrong merges": (
        {"model": "gpt2", "pre": "gpt-2", "merges": ["a b"]},
        f"merges{AT} do not fit",
    ),
    "an unknown cut": ({"model": "gpt2", "pre": "lost"}, f"pre{AT} is 'lost'; this engine knows"),
    "no unknown word": ({"model": "bert"}, r"unknown_token_id .*offset \d+.* is missing"),
}


def load_with(path, changes):
    metadata = TOKENIZER | {f"tokenizer.ggml.{key}": value for key, value in changes.items()}
    write(path, {key: value for key, value in metadata.items() if value is not None}, SHAPES)
    return Engine.load(path, threads=1)


@pytest.mark.parametrize("name", BAD_TOKENIZERS)
def test_bad_tokenizers_are_refused_by_field(tmp_path, name):
    changes, message = BAD_TOKENIZERS[name]
    start = time.perf_counter()
    with pytest.raises(ModelFormatError, match=rf"^m\.gguf: tokenizer\.ggml\.{message}"):
        load_with(tmp_path / "m.gguf", changes)
    assert time.perf_counter() - start < 1


def test_the_tokenizer_that_they_are_made_of_is_good(tmp_path):
    engine = load_with(tmp_path / "m.gguf", {})
    assert engine.tokenizer.decode(engine.tokenizer.encode("x", add_special=False)) == "x"
    engine.close()
