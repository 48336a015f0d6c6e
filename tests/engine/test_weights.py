"""Packing a model's tensors: piece by piece the same, and nothing that cannot be computed with."""

import mmap
import os
import re
from pathlib import Path

import gguf
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import weights
from engine.formats import FORMATS
from engine.formats.packed import SUPER, unpack
from engine.gguf import TENSOR_TYPES, GGUFFile, ModelFormatError
from engine.model import Model
from engine.weights import Weights

COLUMNS = 256
BLOCKS = {name: (number, elements, size) for number, (name, elements, size) in TENSOR_TYPES.items()}
UNSUPPORTED = [name for name in BLOCKS if name.startswith("IQ") and name not in FORMATS]


def write(path, name, type_name, data):
    """A file of one tensor: a float32 vector, or uint8 blocks in rows of COLUMNS weights."""
    number, elements, size = BLOCKS[type_name]
    writer = gguf.GGUFWriter(path, "llama")
    if data.dtype == np.uint8:
        data = data.reshape(-1, COLUMNS // elements * size)
    writer.add_tensor(name, data, raw_dtype=gguf.GGMLQuantizationType(number))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def load(path):
    with GGUFFile(path) as file:
        return Weights(file, list(file.tensors), "0" * 64, None, lambda *_: None)


def quantized(values, type_name):
    if type_name == "F32":
        return values.view(np.uint8)
    return FORMATS[type_name].quantize(values)


@pytest.mark.parametrize("type_name", ["F32", "Q4_1", "Q8_0", "Q4_K", "Q6_K"])
def test_pieces_make_the_same_matrix(tmp_path, monkeypatch, type_name):
    values = np.random.default_rng(0).normal(size=(75, COLUMNS)).astype(np.float32)
    data = quantized(values, type_name)
    write(tmp_path / "m.gguf", "m", type_name, data)
    whole = load(tmp_path / "m.gguf")
    monkeypatch.setattr(weights, "_PIECE_WEIGHTS", 32 * COLUMNS)
    pieces = load(tmp_path / "m.gguf")
    np.testing.assert_array_equal(whole._data[4096:], pieces._data[4096:])
    bits = FORMATS[type_name].bits
    found = unpack(pieces._data[4096:], bits, 75, COLUMNS)
    expected = FORMATS[type_name].dequantize(data.reshape(-1), values.shape)
    assert np.abs(found - expected).max() < 0.02


@pytest.mark.parametrize("type_name", ["Q4_K", "Q5_K", "Q6_K"])
def test_what_is_read_by_neuron_has_no_super_blocks(tmp_path, type_name):
    """Its scales are rounded to half floats: by at most 2⁻¹¹ of each part of a weight."""
    elements, size = BLOCKS[type_name][1:]
    data = np.random.default_rng(0).integers(0, 256, (32 * COLUMNS // elements, size), np.uint8)
    for at in (208,) if type_name == "Q6_K" else (0, 2):
        data[:, at : at + 2] = np.array([0.01], "<f2").view(np.uint8)
    write(tmp_path / "m.gguf", "m", type_name, data)
    with GGUFFile(tmp_path / "m.gguf") as file:
        where = ("0" * 64, None, lambda *_: None)
        weights = Weights(file, ["m"], *where, by_neuron=frozenset(["m"]))
    bits = FORMATS[type_name].bits
    assert weights.matrix("m").bits == bits - SUPER
    found = unpack(weights.packed("m"), bits - SUPER, 32, COLUMNS)
    expected = FORMATS[type_name].dequantize(data.reshape(-1), (32, COLUMNS))
    assert 0 < np.abs(found - expected).max() <= 2 * 2.0**-11 * np.abs(expected).max()
    unpacked = unpack(load(tmp_path / "m.gguf").packed("m"), bits, 32, COLUMNS)
    np.testing.assert_array_equal(unpacked, expected)


@pytest.mark.parametrize("type_name", UNSUPPORTED)
def test_formats_that_are_not_supported_are_refused_by_name(tmp_path, type_name):
    _, elements, size = BLOCKS[type_name]
    write(tmp_path / "m.gguf", "m", type_name, np.zeros(COLUMNS // elements * size, np.uint8))
    with pytest.raises(ModelFormatError, match=rf"tensor 'm' at offset \d+ has type {type_name}, "):
        load(tmp_path / "m.gguf")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("type_name", "offset", "what"),
    [
        ("Q8_0", 0, "scales"),
        ("Q4_1", 2, "minimums"),
        ("Q4_K", 2, "minimums"),
        ("Q6_K", 208, "scal"),
    ],
)
def test_scales_must_be_finite(tmp_path, type_name, offset, what, bad):
    _, elements, size = BLOCKS[type_name]
    data = np.ones((20 * COLUMNS // elements, size), np.uint8)
    data[-1, offset : offset + 2] = np.array([bad], "<f2").view(np.uint8)
    write(tmp_path / "m.gguf", "m", type_name, data)
    with pytest.raises(ModelFormatError, match=rf"tensor 'm' at offset \d+: the {what}.* finite"):
        load(tmp_path / "m.gguf")


def test_a_norm_must_be_finite(tmp_path):
    values = np.ones(COLUMNS, np.float32)
    values[17] = np.nan
    write(tmp_path / "m.gguf", "m", "F32", values)
    with pytest.raises(ModelFormatError, match="the weights are not all finite"):
        load(tmp_path / "m.gguf")


def test_a_file_cut_short_while_it_is_packed(tmp_path):
    write(tmp_path / "m.gguf", "m", "F32", np.ones(4 * COLUMNS, np.float32).view(np.uint8))
    with GGUFFile(tmp_path / "m.gguf") as file:
        os.truncate(tmp_path / "m.gguf", file.tensors["m"].offset + 100)
        with pytest.raises(ModelFormatError, match=r"tensor 'm' .*cut short"):
            Weights(file, ["m"], "0" * 64, tmp_path, lambda *_: None)
    assert [path.name for path in tmp_path.iterdir()] == ["m.gguf"]


@settings(max_examples=30, deadline=None)
@given(at=st.integers(0, 1 << 20), bit=st.integers(0, 7))
def test_a_packed_file_that_was_damaged_is_packed_again(tmp_path_factory, at, bit):
    folder = tmp_path_factory.mktemp("damaged")
    write(folder / "m.gguf", "m", "F32", np.ones(16 * COLUMNS, np.float32).view(np.uint8))

    def packed_bytes():
        with GGUFFile(folder / "m.gguf") as file:
            weights = Weights(file, ["m"], "0" * 64, folder, lambda *_: None)
            return weights.packed("m").tobytes()

    right = packed_bytes()
    (path,) = folder.glob("*.packed")
    sound = path.read_bytes()
    damaged = bytearray(sound)
    damaged[at % len(damaged)] ^= 1 << bit
    path.write_bytes(damaged)
    assert packed_bytes() == right
    assert path.read_bytes() == sound


def mapping(path):
    """Bytes of a mapped file that this process holds, and those of them that it has changed."""
    of_file = Path("/proc/self/smaps").read_text().partition(str(path))[2].partition("VmFlags")[0]
    found = {name: 1024 * int(kib) for name, kib in re.findall(r"(\w+): +(\d+) kB", of_file)}
    return found["Rss"], found["Private_Dirty"] + found["Anonymous"]


def test_packed_weights_can_be_evicted_at_any_time(model_path, tmp_path):
    model = Model.load(model_path, threads=1, context_length=64, cache_directory=tmp_path)
    tokens = np.arange(100, 110, dtype=np.int32)
    before = model.forward(tokens, model.new_cache())
    (packed,) = tmp_path.glob("*.packed")
    resident, changed = mapping(packed)
    assert resident > packed.stat().st_size // 2
    assert changed == 0
    model.weights._data.base.obj.madvise(mmap.MADV_DONTNEED)  # what the kernel does without asking
    assert mapping(packed)[0] == 0
    assert np.array_equal(model.forward(tokens, model.new_cache()), before)
    model.close()
