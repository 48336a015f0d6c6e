"""The GGUF reader about good files; bad ones are in test_hostile_files.py."""

import os
import struct
import time

import gguf
import numpy as np
import pytest

from engine.gguf import GGUFFile, ModelFormatError

TENSOR = np.arange(96, dtype=np.float32).reshape(3, 32)


def write_sample(path):
    """A small file with every kind of value, made by the `gguf` package."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("count", 7)
    writer.add_int64("negative", -(1 << 40))
    writer.add_float32("ratio", 0.5)
    writer.add_bool("flag", True)
    writer.add_string("greeting", "grüß dich")
    writer.add_array("words", ["a", "", "ĠĠ", "długie słowo"])
    writer.add_array("numbers", [1, -2, 3])
    writer.add_array("ratios", [0.25, 4.0])
    writer.add_tensor("first", TENSOR)
    quantized = gguf.quants.quantize(TENSOR, gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("second", quantized, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return write_sample(tmp_path_factory.mktemp("gguf") / "sample.gguf")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("scratch") / "file.gguf"


def read(scratch, data):
    """Open, look at every tensor, close: what a mutated file must not break."""
    scratch.write_bytes(data)
    with GGUFFile(scratch) as file:
        for name, info in file.tensors.items():
            assert file.tensor_bytes(name).size == info.size
            int(file.tensor_bytes(name).sum())
        file.content_hash()
        return file.metadata, dict(file.tensors)


def test_reads_what_the_gguf_package_wrote(sample, scratch):
    metadata, tensors = read(scratch, sample)
    assert metadata == {
        "general.architecture": "llama",
        "count": 7,
        "negative": -(1 << 40),
        "ratio": 0.5,
        "flag": True,
        "greeting": "grüß dich",
        "words": ["a", "", "ĠĠ", "długie słowo"],
        "numbers": [1, -2, 3],
        "ratios": [0.25, 4.0],
    }
    assert metadata["flag"] is True
    assert tensors["first"].shape == (3, 32)
    assert tensors["second"].type_name == "Q8_0"
    with GGUFFile(scratch) as file:
        np.testing.assert_array_equal(file.tensor_bytes("first").view(np.float32), TENSOR.ravel())


def test_versions_1_and_2(sample, scratch):
    """Version 1 has 32-bit counts and lengths."""

    def short(text):
        return struct.pack("<I", len(text)) + text.encode()

    words = short("words") + struct.pack("<III", 9, 8, 2) + short("a") + short("bc")
    one = b"GGUF" + struct.pack("<III", 1, 1, 1) + words
    one += short("t") + struct.pack("<IIIQ", 1, 8, 0, 0)
    one += b"\0" * (-len(one) % 32) + np.arange(8, dtype=np.float32).tobytes()
    metadata, tensors = read(scratch, one)
    assert metadata == {"words": ["a", "bc"]}
    assert tensors["t"].shape == (8,)
    assert read(scratch, sample.replace(b"GGUF\x03", b"GGUF\x02")) == read(scratch, sample)


def test_a_part_of_a_tensor(sample, scratch):
    scratch.write_bytes(sample)
    with GGUFFile(scratch) as file:
        part = file.tensor_bytes("first", 128, 256).view(np.float32)
        np.testing.assert_array_equal(part, TENSOR.ravel()[32:])
        with pytest.raises(ValueError, match="bytes 128 to 392 of a tensor of 384"):
            file.tensor_bytes("first", 128, 264)


def test_a_file_cut_short_while_it_is_open(sample, scratch):
    scratch.write_bytes(sample)
    with GGUFFile(scratch) as file:
        where = file.tensors["second"].offset
        os.truncate(scratch, where + 10)
        assert file.tensor_bytes("first").size == TENSOR.nbytes
        with pytest.raises(ModelFormatError, match=f"tensor 'second' at offset {where}: .*short"):
            file.tensor_bytes("second")


def test_content_hash_follows_the_content_alone(sample, tmp_path):
    def hash_of(name, data):
        (tmp_path / name).write_bytes(data)
        with GGUFFile(tmp_path / name) as file:
            return file.content_hash()

    assert hash_of("a", sample) == hash_of("b", sample)
    assert hash_of("c", sample[:-1] + b"\x55") != hash_of("a", sample)
    assert hash_of("d", sample + b"\0") != hash_of("a", sample)


def test_a_vocabulary_of_49152_words_is_read_quickly(model_path):
    start = time.perf_counter()
    with GGUFFile(model_path) as file:
        elapsed = time.perf_counter() - start
        assert len(file.metadata["tokenizer.ggml.tokens"]) == 49152
    assert elapsed < 0.3, "0.07 s on an idle core"
