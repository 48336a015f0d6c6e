"""Our logits beside llama.cpp's, of the same files: what its own converter would write loads there.

Needs llama-cpp-python (the extra `bench`): it is built from source, so CI has it not.
"""

import ctypes
import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from bench.families import CASES, TOKENS, VOCABULARY, random_model
from bench.gguf_files import random_adapter, write, write_adapter
from bench.model_table import theirs as transformers_logits
from engine.lora import AdapterFile
from engine.model import Model

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")

NOT_THERE = {
    "opt": "llama.cpp has no OPT",
    "bitnet-b1.58": "llama.cpp has no BitNet with squared ReLU",
    "drelu llama": "llama.cpp has no dReLU",
    "relu llama": "llama.cpp takes SiLU for every llama file",
}


AS_THERE = {
    # llama.cpp leaves Phi 3's window out, and takes SiLU for BitNet.
    "phi3": ({"sliding_window": None}, ("attention.sliding_window",)),
    "bitnet": ({"hidden_act": "silu"}, ("hidden_activation",)),
}
"""Cases that are another model there: sizes instead, and keys that are left out."""

TABLE_OF_HALVES = ("gemma", "gemma2", "gemma3")
"""llama.cpp looks GELU up in a table of half floats (ggml, ggml_vec_gelu_f32)."""


class TabledGelu(torch.nn.Module):
    """llama.cpp's GELU."""

    def forward(self, x):
        rounded = torch.nn.functional.gelu(x.half().float(), approximate="tanh").half().float()
        return torch.where(x <= -10, 0, torch.where(x >= 10, x, rounded))


@llama_cpp.llama_log_callback
def _quiet(level, text, data):
    """llama.cpp tells a page about every file."""


@pytest.fixture(scope="module", autouse=True)
def _library():
    llama_cpp.llama_log_set(_quiet, ctypes.c_void_p())
    llama_cpp.llama_backend_init()


def theirs(path: Path, adapter: tuple[Path, float] | None = None) -> np.ndarray:
    """llama.cpp's logits of TOKENS, in float32: its flash attention would round to halves."""
    model = llama_cpp.llama_model_load_from_file(
        str(path).encode(), llama_cpp.llama_model_default_params()
    )
    assert model, "llama.cpp does not load the file"
    options = llama_cpp.llama_context_default_params()
    options.n_ctx, options.n_batch, options.n_ubatch = 256, 256, 256
    options.n_threads = options.n_threads_batch = 2
    options.type_k = options.type_v = llama_cpp.GGML_TYPE_F32
    options.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
    context = llama_cpp.llama_init_from_model(model, options)
    if adapter is not None:
        loaded = llama_cpp.llama_adapter_lora_init(model, str(adapter[0]).encode())
        assert loaded, "llama.cpp does not load the adapter"
        set_adapters(context, loaded, adapter[1])
    batch = llama_cpp.llama_batch_init(TOKENS.size, 0, 1)
    batch.n_tokens = TOKENS.size
    for index, token in enumerate(TOKENS):
        batch.token[index], batch.pos[index] = int(token), index
        batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
        batch.logits[index] = 1
    assert llama_cpp.llama_decode(context, batch) == 0
    rows = [llama_cpp.llama_get_logits_ith(context, index) for index in range(TOKENS.size)]
    logits = np.stack([np.ctypeslib.as_array(row, (VOCABULARY,)).copy() for row in rows])
    llama_cpp.llama_batch_free(batch)
    llama_cpp.llama_free(context)
    llama_cpp.llama_model_free(model)
    return logits


def set_adapters(context, adapter, scale):
    adapters = (llama_cpp.llama_adapter_lora_p_ctypes * 1)(adapter)
    scales = (ctypes.c_float * 1)(scale)
    assert llama_cpp.llama_set_adapters_lora(context, adapters, 1, scales) == 0


def ours(path: Path, *adapters: AdapterFile) -> np.ndarray:
    model = Model.load(path, threads=2, adapters=adapters)
    try:
        return model.forward(TOKENS, model.new_cache(), want="all")
    finally:
        model.close()


def error_of(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("name", CASES)
def test_the_same_file_gives_the_same_logits(tmp_path, name):
    if name in NOT_THERE:
        pytest.skip(NOT_THERE[name])
    case = CASES[name]
    sizes, without = AS_THERE.get(name, ({}, ()))
    keys = {key: value for key, value in case.keys.items() if key not in without}
    case = dataclasses.replace(case, sizes=case.sizes | sizes, keys=keys)
    model = random_model(case)
    write(tmp_path / "m.gguf", case, model, "F32")
    found, expected = ours(tmp_path / "m.gguf"), theirs(tmp_path / "m.gguf")
    if name in TABLE_OF_HALVES:
        assert error_of(found, expected) < 1e-3
        assert error_of(found, transformers_logits(model)) < 1e-4
        for layer in model.model.layers:
            layer.mlp.act_fn = TabledGelu()
        found = transformers_logits(model)  # the same as ours, but for the table
    error = error_of(found, expected)
    assert error < 1e-4, f"relative error {error:.2e}"


def test_the_same_adapter_gives_the_same_logits(tmp_path):
    model = random_model(CASES["llama"])
    write(tmp_path / "m.gguf", CASES["llama"], model, "F32")
    _, tensors = random_adapter(CASES["llama"], model, 1)
    path = write_adapter(tmp_path / "a.gguf", tensors)
    found = ours(tmp_path / "m.gguf", AdapterFile(path, 0.7))
    error = error_of(found, theirs(tmp_path / "m.gguf", (path, 0.7)))
    assert error < 1e-4, f"relative error {error:.2e}"
    assert error_of(found, ours(tmp_path / "m.gguf")) > 0.1
