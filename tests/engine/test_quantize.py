"""Quantizing model files: what the `gguf` package reads back, and what the engine makes of it."""

import os
import struct
import subprocess
import sys

import gguf
import numpy as np
import pytest

from engine.formats import FORMATS
from engine.gguf import GGUFFile, ModelFormatError, TensorInfo
from engine.gguf_writer import NewTensor, pair, write_gguf
from engine.model import Model
from engine.quantize import FILE_TYPES, QuantizeError, quantize_file, target_type

RNG = np.random.default_rng(8)
TENSORS = {
    "token_embd.weight": RNG.normal(size=(70, 64)).astype(np.float16),
    "blk.0.attn_q.weight": RNG.normal(size=(48, 64)).astype(np.float16),
    "blk.0.attn_q.bias": RNG.normal(size=(48,)).astype(np.float32),
    "blk.0.attn_norm.weight": RNG.normal(size=(64,)).astype(np.float32),
    "blk.0.ffn_gate_inp.weight": RNG.normal(size=(4, 64)).astype(np.float32),
    "blk.0.ffn_up_exps.weight": RNG.normal(size=(3, 8, 64)).astype(np.float16),
    "blk.0.odd.weight": RNG.normal(size=(8, 40)).astype(np.float32),
}


def silent(name, fraction):
    assert 0 <= fraction <= 1


def write(path, tensors=None, alignment=None, **options):
    writer = gguf.GGUFWriter(path, "llama", **options)
    writer.add_string("greeting", "grüß dich")
    writer.add_array("words", ["a", "bc"])
    writer.add_float64("ratio", 0.1)
    writer.add_int8("small", -3)
    writer.add_file_type(1)
    if alignment:
        writer.add_custom_alignment(alignment)
    for name, values in (tensors or TENSORS).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def fields_of(path):
    """Metadata by the `gguf` package: key → types and value."""
    reader = gguf.GGUFReader(path)
    own = ("GGUF.version", "GGUF.tensor_count", "GGUF.kv_count")
    return {
        key: (field.types, field.contents())
        for key, field in reader.fields.items()
        if key not in own
    }


@pytest.mark.parametrize("to", FILE_TYPES)
@pytest.mark.parametrize("alignment", [None, 64])
def test_the_gguf_package_reads_it_back(tmp_path, to, alignment):
    write(tmp_path / "in.gguf", alignment=alignment)
    before, after = quantize_file(tmp_path / "in.gguf", tmp_path / "out.gguf", to, silent)
    assert after < before
    small = "Q5_0" if to == "q4_k_m" else to.upper()  # rows of 64 have no blocks of 256
    found = {tensor.name: tensor for tensor in gguf.GGUFReader(tmp_path / "out.gguf").tensors}
    assert list(found) == list(TENSORS)
    for name, values in TENSORS.items():
        kind = found[name].tensor_type
        assert kind.name == {
            "token_embd.weight": "Q8_0",
            "blk.0.attn_q.weight": small,
            "blk.0.ffn_up_exps.weight": small,
        }.get(name, "F32")
        expected = gguf.quants.quantize(values.astype(np.float32), kind)
        assert (found[name].data.view(np.uint8) == expected.view(np.uint8)).all(), name
        assert found[name].data_offset % (alignment or 32) == 0


def test_the_metadata_is_copied_with_its_types(tmp_path):
    write(tmp_path / "in.gguf")
    quantize_file(tmp_path / "in.gguf", tmp_path / "out.gguf", "q5_0", silent)
    before, after = fields_of(tmp_path / "in.gguf"), fields_of(tmp_path / "out.gguf")
    assert after.pop("general.file_type")[1] == gguf.LlamaFileType.MOSTLY_Q5_0
    assert after.pop("general.quantization_version")[1] == gguf.GGML_QUANT_VERSION
    del before["general.file_type"]
    assert after == before


@pytest.mark.parametrize("to", FILE_TYPES)
def test_file_types_are_those_of_llama_cpp(to):
    assert FILE_TYPES[to] == gguf.LlamaFileType[f"MOSTLY_{to.upper()}"]


def test_a_split_model_becomes_one_file(tmp_path):
    write(tmp_path / "m.gguf", split_max_tensors=3)
    write(tmp_path / "whole.gguf")
    quantize_file(tmp_path / "m-00001-of-00003.gguf", tmp_path / "a.gguf", "q8_0", silent)
    quantize_file(tmp_path / "whole.gguf", tmp_path / "b.gguf", "q8_0", silent)
    with GGUFFile(tmp_path / "a.gguf") as a, GGUFFile(tmp_path / "b.gguf") as b:
        assert a.metadata == b.metadata
        for name in TENSORS:
            np.testing.assert_array_equal(a.tensor_bytes(name), b.tensor_bytes(name))


def test_quantized_files_are_quantized_again_only_if_asked(tmp_path):
    write(tmp_path / "in.gguf")
    quantize_file(tmp_path / "in.gguf", tmp_path / "q8.gguf", "q8_0", silent)
    with pytest.raises(QuantizeError, match=r"'blk\.0\.attn_q\.weight' is Q8_0.*--requantize"):
        quantize_file(tmp_path / "q8.gguf", tmp_path / "q4.gguf", "q4_1", silent)
    assert not (tmp_path / "q4.gguf").exists()
    quantize_file(tmp_path / "q8.gguf", tmp_path / "q4.gguf", "q4_1", silent, again=True)
    with GGUFFile(tmp_path / "q4.gguf") as file:
        assert file.tensors["blk.0.attn_q.weight"].type_name == "Q4_1"


def test_weights_that_are_not_finite_leave_nothing_behind(tmp_path):
    bad = TENSORS["blk.0.attn_q.weight"].copy()
    bad[3, 3] = np.inf
    write(tmp_path / "in.gguf", TENSORS | {"blk.0.attn_q.weight": bad})
    with pytest.raises(ModelFormatError, match=r"'blk\.0\.attn_q\.weight' at offset \d+: .*finite"):
        quantize_file(tmp_path / "in.gguf", tmp_path / "out.gguf", "q8_0", silent)
    assert [path.name for path in tmp_path.iterdir()] == ["in.gguf"]


def test_version_1_is_refused(tmp_path):
    (tmp_path / "in.gguf").write_bytes(b"GGUF" + struct.pack("<III", 1, 0, 0))
    with pytest.raises(QuantizeError, match=r"in\.gguf is GGUF version 1"):
        quantize_file(tmp_path / "in.gguf", tmp_path / "out.gguf", "q8_0", silent)


def test_the_source_is_never_overwritten(tmp_path):
    write(tmp_path / "in.gguf")
    (tmp_path / "link.gguf").symlink_to(tmp_path / "in.gguf")
    with pytest.raises(QuantizeError, match="is the file that is read"):
        quantize_file(tmp_path / "in.gguf", tmp_path / "link.gguf", "q8_0", silent)


def type_of(name, shape=(256, 256), to="q4_0"):
    return target_type(TensorInfo(name, shape, "F16", 0, 0), to, layers=16)


def test_the_head_keeps_8_bits():
    assert type_of("output.weight") == "Q8_0"
    assert type_of("blk.3.attn_output.weight") == "Q4_0"
    assert type_of("blk.3.attn_output.weight", (64, 48)) == "F16"


def test_the_mix_of_q4_k_m():
    types = [type_of(f"blk.{layer}.ffn_down.weight", to="q4_k_m") for layer in range(16)]
    more = [layer for layer, type_name in enumerate(types) if type_name == "Q6_K"]
    assert more == [0, 1, 4, 7, 10, 13, 14, 15]
    assert set(types) == {"Q4_K", "Q6_K"}
    assert type_of("blk.0.ffn_up.weight", to="q4_k_m") == "Q4_K"
    assert type_of("token_embd.weight", to="q4_k_m") == "Q6_K"
    assert type_of("token_embd.weight", (256, 640), to="q4_k_m") == "Q8_0"
    assert type_of("blk.0.ffn_up.weight", (256, 640), to="q4_k_m") == "Q5_0"


def test_q4_k_m_of_whole_blocks(tmp_path):
    tensors = {
        "token_embd.weight": RNG.normal(size=(40, 256)).astype(np.float32),
        "blk.0.attn_q.weight": RNG.normal(size=(48, 512)).astype(np.float32),
    }
    write(tmp_path / "in.gguf", tensors)
    quantize_file(tmp_path / "in.gguf", tmp_path / "out.gguf", "q4_k_m", silent)
    embedding, q = gguf.GGUFReader(tmp_path / "out.gguf").tensors
    assert (embedding.tensor_type.name, q.tensor_type.name) == ("Q6_K", "Q4_K")
    for found, values in zip((embedding, q), tensors.values(), strict=True):
        weights = gguf.quants.dequantize(found.data, found.tensor_type)
        assert np.corrcoef(weights.ravel(), values.ravel())[0, 1] > 0.99


def test_the_writer_refuses_pieces_that_do_not_fit(tmp_path):
    tensor = NewTensor("t", (2, 32), "Q8_0")
    with (
        (tmp_path / "x.gguf").open("wb") as file,
        pytest.raises(ValueError, match="t has 34 bytes; 68 are announced"),
    ):
        write_gguf(file, [pair("k", "v")], [tensor], [[b"\0" * 34]])


def test_the_engine_runs_what_it_quantized(model, model_path, tmp_path):
    """8 bits lose next to nothing of a model of 4."""
    quantize_file(model_path, tmp_path / "m.gguf", "q8_0", silent, again=True)
    tokens = np.random.default_rng(1).integers(0, 49152, 90).astype(np.int32)
    small = Model.load(tmp_path / "m.gguf", threads=2, cache_directory=tmp_path)
    found = small.forward(tokens, small.new_cache(), want="all")
    small.close()
    expected = model.forward(tokens, model.new_cache(), want="all")
    assert np.sqrt(np.mean((found - expected) ** 2)) < 0.01 * np.ptp(expected)  # 0.007


def test_the_command_line(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "engine.quantize", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=os.environ)

    write(tmp_path / "in.gguf")
    done = run(tmp_path / "in.gguf", tmp_path / "out.gguf", "--to", "q4_0")
    assert (done.returncode, done.stderr) == (0, "")
    assert "MB of weights" in done.stdout
    with GGUFFile(tmp_path / "out.gguf") as file:
        info = file.tensors["blk.0.attn_q.weight"]
        data = file.tensor_bytes(info.name)
    weights = FORMATS["Q4_0"].dequantize(data, info.shape)
    assert np.corrcoef(weights.ravel(), TENSORS[info.name].ravel())[0, 1] > 0.99
    failed = run(tmp_path / "out.gguf", tmp_path / "x.gguf", "--to", "q8_0")
    assert failed.returncode == 1
    assert failed.stderr.count("\n") == 1
    assert "Traceback" not in failed.stderr
