"""Loading and forward on the real model: batching, contexts, limits, packed weights, threads."""

import dataclasses
import os
import resource
import shutil
import subprocess
import sys
import time

import gguf
import numpy as np
import pytest

from bench.families import CASES, random_model
from bench.gguf_files import write
from bench.model_table import quantized
from engine.gguf import ModelFormatError
from engine.kernels.dispatch import available_paths
from engine.kernels.kv_layout import BYTE, FLOAT_BYTES, HALF_BYTES
from engine.kv import ContextFullError
from engine.model import Model

TOKENS = np.random.default_rng(1).integers(0, 49152, 90).astype(np.int32)


def in_pieces(model, tokens, size):
    """Logits of every position, computed in steps of `size` tokens."""
    cache = model.new_cache()
    pieces = [
        model.forward(tokens[start : start + size], cache, want="all")
        for start in range(0, len(tokens), size)
    ]
    assert cache.length == len(tokens)
    return np.concatenate(pieces)


@pytest.mark.parametrize("size", [1, 7])
def test_batches_give_the_same_logits(model, size):
    whole = in_pieces(model, TOKENS, len(TOKENS))
    pieces = in_pieces(model, TOKENS, size)
    assert np.abs(whole - pieces).max() < 1e-3 * np.ptp(whole)


def test_keys_and_values_of_8_bits(model, model_path):
    """Half the memory; logits near those of f16, and the same bits however a prompt is cut."""
    other = Model.load(model_path, threads=2, context_length=600, kv_format="int8")
    try:
        assert other.kv_layout.block_bytes < 0.54 * model.kv_layout.block_bytes
        assert other.kv_identity != model.kv_identity
        tokens = np.random.default_rng(3).integers(0, 49152, 300).astype(np.int32)
        expected, cache = model.forward(tokens, model.new_cache()), other.new_cache()
        whole = other.forward(tokens, cache)
        cut = other.new_cache()
        for start in range(0, 300, 77):
            last = other.forward(tokens[start : start + 77], cut)
        np.testing.assert_array_equal(whole, last)
        spread = expected.max() - expected.min()
        assert np.abs(whole - expected).max() < 0.05 * spread
        one_by_one = [other.forward(tokens[i : i + 1], cut)[0] for i in range(12)]
        np.testing.assert_array_equal(one_by_one, other.forward(tokens[:12], cache, want="all"))
        alone = other.new_cache()
        one_by_one = [other.forward(tokens[i : i + 1], alone)[0] for i in range(33)]
        for count in (2, 3, 4, 5, 6, 7, 8, 9, 11, 15, 31, 33):
            together = other.forward(tokens[:count], other.new_cache(), want="all")
            np.testing.assert_array_equal(one_by_one[:count], together)
    finally:
        other.close()


def test_the_format_of_keys_and_values_that_a_model_can_have(model_path, tmp_path):
    """auto: bytes, but for heads that are no multiple of 32 numbers, and exact models."""
    kinds = {HALF_BYTES: "Q8_0", FLOAT_BYTES: "F32"}
    case, paths = CASES["llama"], {BYTE: model_path}
    tiny = random_model(case)
    for size, kind in kinds.items():
        paths[size] = tmp_path / f"{kind}.gguf"
        raw = quantized(case, tiny, kind) if kind != "F32" else None
        write(paths[size], case, tiny, kind, raw=raw)
    for size, path in paths.items():
        one = Model.load(path, threads=1, context_length=64, kv_format="auto")
        try:
            assert one.kv_layout.number_bytes == size
        finally:
            one.close()
    with pytest.raises(ValueError, match="a multiple of 32 numbers; this model's have 16: use f16"):
        Model.load(paths[HALF_BYTES], threads=1, kv_format="int8")


@pytest.mark.parametrize(("context", "rows"), [(500, 1), (500, 3), (255, 3)])
def test_a_long_context_is_split_among_threads(model, model_path, context, rows):
    """Rows behind a context that is computed in parts: the same bits as with one thread."""
    alone = Model.load(model_path, threads=1, context_length=512)
    tokens = np.random.default_rng(5).integers(0, 49152, context + rows).astype(np.int32)
    found = []
    try:
        for one in (model, alone):
            cache = one.new_cache()
            one.forward(tokens[:context], cache, want="none")
            found.append(one.forward(tokens[context:], cache, want="all"))
    finally:
        alone.close()
    np.testing.assert_array_equal(*found)


def test_more_tokens_than_one_step_holds(model):
    tokens = np.resize(TOKENS, 270)
    whole = in_pieces(model, tokens, 270)
    assert np.abs(whole - in_pieces(model, tokens, 135)).max() < 1e-3 * np.ptp(whole)


def test_last_and_none(model):
    every = model.forward(TOKENS, model.new_cache(), want="all")
    last = model.forward(TOKENS, model.new_cache(), want="last")
    assert every.shape == (90, model.config.vocabulary)
    np.testing.assert_array_equal(last, every[-1:])
    cache = model.new_cache()
    assert model.forward(TOKENS, cache, want="none").shape == (0, model.config.vocabulary)
    assert cache.length == 90


def test_truncated_cache_takes_another_continuation(model):
    cache = model.new_cache()
    model.forward(TOKENS, cache)
    cache.truncate(51)
    again = model.forward(TOKENS[:50], cache)
    fresh = model.forward(np.concatenate([TOKENS[:51], TOKENS[:50]]), model.new_cache())
    np.testing.assert_allclose(again, fresh, atol=1e-3 * np.ptp(fresh))


def test_context_is_full_and_the_cache_unharmed(model):
    cache = model.new_cache()
    model.forward(np.resize(TOKENS, 1020), cache, want="none")
    with pytest.raises(ContextFullError, match="1020 positions are taken and 5 more"):
        model.forward(TOKENS[:5], cache)
    assert cache.length == 1020
    model.forward(TOKENS[:4], cache)
    assert cache.length == cache.capacity == 1024


@pytest.mark.parametrize("bad", [[], [49152], [-1], [[1, 2]]])
def test_bad_tokens(model, bad):
    with pytest.raises(ValueError, match="token"):
        model.forward(np.array(bad, np.int32), model.new_cache())


def test_hidden_states_are_what_the_head_sees(model):
    """Logits are the hidden states times the head: the two paths agree."""
    states = model.hidden(TOKENS)
    assert states.shape == (90, model.config.dim)
    logits = model.forward(TOKENS, model.new_cache(), want="all")
    info = model.gguf.tensors["token_embd.weight"]
    head = gguf.quants.dequantize(
        model.gguf.tensor_bytes("token_embd.weight").reshape(info.shape[0], -1),
        gguf.GGMLQuantizationType[info.type_name],
    )
    assert np.corrcoef((states @ head.T).ravel(), logits.ravel())[0, 1] > 0.9995


def test_one_and_three_threads_agree(model, model_path):
    expected = model.forward(TOKENS, model.new_cache())
    for threads in (1, 3):
        other = Model.load(model_path, threads=threads, context_length=256)
        np.testing.assert_array_equal(other.forward(TOKENS, other.new_cache()), expected)
        other.close()


def test_idle_threads_use_no_cpu(model):
    model.forward(TOKENS, model.new_cache())
    before = resource.getrusage(resource.RUSAGE_SELF)
    time.sleep(0.5)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.1


def test_packed_weights_are_written_once_and_repaired(model, model_path, tmp_path):
    def load():
        stages = set()
        loaded = Model.load(
            model_path,
            threads=1,
            context_length=64,
            cache_directory=tmp_path,
            progress=lambda stage, fraction: stages.add(stage) if 0 <= fraction <= 1 else None,
        )
        logits = loaded.forward(TOKENS[:8], loaded.new_cache())
        loaded.close()
        return "packing weights" in stages, logits

    packed, expected = load()
    (file,) = tmp_path.iterdir()
    sound = file.stat()
    assert packed
    assert load()[0] is False
    damages = {
        "truncated": lambda: os.truncate(file, sound.st_size - 1),
        "emptied": lambda: os.truncate(file, 0),
        "foreign": lambda: shutil.copy(model_path, file),
        "header": lambda: file.write_bytes(b"X" + file.read_bytes()[1:]),
    }
    for name, damage in damages.items():
        damage()
        packed, logits = load()
        assert packed, name
        np.testing.assert_array_equal(logits, expected)
        assert [f.name for f in tmp_path.iterdir()] == [file.name], "no leftovers"
        assert file.stat().st_size == sound.st_size


def test_a_cache_directory_that_cannot_be_written_is_not_fatal(model_path, tmp_path):
    occupied = tmp_path / "file"
    occupied.write_text("not a directory")
    loaded = Model.load(model_path, threads=1, context_length=64, cache_directory=occupied)
    assert loaded.forward(TOKENS[:4], loaded.new_cache()).shape == (1, 49152)
    loaded.close()


def test_config(model):
    expected = {"architecture": "llama", "layers": 30, "dim": 576, "heads": 9, "kv_heads": 3}
    config = dataclasses.asdict(model.config)
    assert expected.items() <= config.items()
    assert config["context_length"] == 1024


@pytest.mark.parametrize(("name", "message"), [("mamba", "'mamba'; known: .*llama"), ("llama", "")])
def test_models_that_cannot_run_are_refused_by_name(tmp_path, name, message):
    path = tmp_path / "odd.gguf"
    writer = gguf.GGUFWriter(path, name)
    writer.add_tensor("token_embd.weight", np.zeros((64, 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(
        ModelFormatError, match=message or "attention.head_count .*offset 69.* is missing"
    ):
        Model.load(path)


@pytest.mark.parametrize("path", available_paths()[1:])
def test_other_kernels_in_a_process_of_their_own(model, model_path, tmp_path, path):
    """HUBD_KERNELS gives the same logits, up to the rounding of float32 sums."""
    script = (
        "import sys, numpy as np; from engine.model import Model\n"
        "m = Model.load(sys.argv[1], threads=1, context_length=64)\n"
        "x = np.arange(100, 116, dtype=np.int32)\n"
        "np.save(sys.argv[2], m.forward(x, m.new_cache(), want='all'))\n"
    )
    target = tmp_path / "logits.npy"
    environment = os.environ | {"HUBD_KERNELS": path}
    command = [sys.executable, "-c", script, str(model_path), str(target)]
    subprocess.run(command, env=environment, check=True, timeout=120)
    found = np.load(target)
    tokens = np.arange(100, 116, dtype=np.int32)
    expected = model.forward(tokens, model.new_cache(), want="all")
    # A sum that rounds differently may tip an activation to the next of its 255 steps.
    assert np.sqrt(np.mean((found - expected) ** 2)) < 0.005 * np.ptp(expected)
