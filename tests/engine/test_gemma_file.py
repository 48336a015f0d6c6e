"""A community file: Gemma 3 270M as llama.cpp quantized it to Q4_K_M."""

import time
from collections import Counter

import gguf
import numpy as np
import pytest

from engine.formats import FORMATS
from engine.formats.packed import pack, unpack
from engine.gguf import GGUFFile
from engine.quantize import layers_of, target_type

pytestmark = pytest.mark.download

ROWS = 256


@pytest.fixture(scope="module")
def file(gemma_path):
    with GGUFFile(gemma_path) as file:
        yield file


def matrices(file):
    """Every matrix's name, type, columns and first rows as bytes."""
    for name, info in file.tensors.items():
        if len(info.shape) == 2:
            rows, columns = info.shape
            size = info.size // rows * min(rows, ROWS)
            yield name, info.type_name, columns, file.tensor_bytes(name, 0, size)


def test_a_vocabulary_of_262144_words_opens_quickly(gemma_path):
    start = time.perf_counter()
    with GGUFFile(gemma_path) as file:
        elapsed = time.perf_counter() - start
        assert len(file.metadata["tokenizer.ggml.tokens"]) == 262_144
    assert elapsed < 1, "0.1 s on an idle core"


def test_the_file_mixes_formats(file):
    counts = Counter(info.type_name for info in file.tensors.values())
    assert counts == {"F32": 109, "Q5_0": 81, "Q4_K": 27, "Q8_0": 10, "Q6_K": 9}


def test_dequantize_bit_for_bit(file):
    for name, type_name, columns, data in matrices(file):
        kind = gguf.GGMLQuantizationType[type_name]
        expected = gguf.quants.dequantize(data, kind)
        found = FORMATS[type_name].dequantize(data, (expected.size,))
        assert (found.view(np.uint32) == expected.view(np.uint32)).all(), name
        assert 0.001 < found.std() < 1, name
        assert found.size % columns == 0


def test_quantize_mixes_formats_as_llama_cpp_did(file):
    layers = layers_of(file)
    assert layers == file.metadata["gemma3.block_count"]
    for name, info in file.tensors.items():
        assert target_type(info, "q4_k_m", layers) == info.type_name, name


def test_the_search_finds_what_llama_cpp_chose(file):
    """Quantized again, weights that llama.cpp quantized hardly change."""
    for name, type_name, columns, data in matrices(file):
        if type_name in ("Q4_K", "Q6_K"):
            format_ = FORMATS[type_name]
            _, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[type_name]]
            shape = (data.size // size * 256 // columns, columns)
            weights = format_.dequantize(data, shape)
            again = format_.dequantize(format_.quantize(weights), shape)
            assert np.mean(again == weights) > 0.995, name


def test_packing_adds_no_error(file):
    for name, type_name, columns, data in matrices(file):
        format_ = FORMATS[type_name]
        elements, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[type_name]]
        rows = data.size // size * elements // columns
        exact = format_.dequantize(data, (rows, columns))
        blocks = format_.to_blocks(data, rows, columns)
        packed = unpack(pack(blocks), blocks.bits, rows, columns)
        np.testing.assert_array_equal(packed, exact, name)
