"""Weight formats: bit for bit what the `gguf` package reads, and packing loses nothing."""

import gguf
import numpy as np
import pytest

from engine.formats import FORMATS
from engine.formats.packed import (
    Blocks,
    pack,
    packed_bytes,
    padded_rows,
    quantize_blocks,
    unpack,
)
from engine.gguf import TENSOR_TYPES

ROWS, COLUMNS = 37, 96


def random_tensor(name, rows=ROWS, columns=COLUMNS):
    """Random weights in a format, as the `gguf` package quantizes them: flat uint8."""
    values = np.random.default_rng(7).normal(size=(rows, columns)).astype(np.float32)
    values[3, 32:64] = 0  # a block whose scale is zero
    return gguf.quants.quantize(values, gguf.GGMLQuantizationType[name]).view(np.uint8).reshape(-1)


def oracle(name, data, rows=ROWS, columns=COLUMNS):
    kind = gguf.GGMLQuantizationType[name]
    block, size = gguf.GGML_QUANT_SIZES[kind]
    return gguf.quants.dequantize(data.reshape(rows, columns // block * size), kind)


@pytest.mark.parametrize("name", FORMATS)
def test_dequantize_bit_for_bit(name):
    data = random_tensor(name)
    found = FORMATS[name].dequantize(data, (ROWS, COLUMNS))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, oracle(name, data).view(np.float32))


@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "Q8_0"])
def test_quantized_formats_survive_packing_exactly(name):
    data = random_tensor(name)
    blocks = FORMATS[name].to_blocks(data, ROWS, COLUMNS)
    assert blocks.bits == FORMATS[name].bits
    packed = pack(blocks)
    assert packed.size == packed_bytes(blocks.bits, ROWS, COLUMNS)
    np.testing.assert_array_equal(unpack(packed, blocks.bits, ROWS, COLUMNS), oracle(name, data))


def test_f32_stays_as_it_is():
    data = random_tensor("F32")
    packed = pack(FORMATS["F32"].to_blocks(data, ROWS, COLUMNS))
    assert packed.size == packed_bytes(32, ROWS, COLUMNS)
    np.testing.assert_array_equal(unpack(packed, 32, ROWS, COLUMNS), oracle("F32", data))


@pytest.mark.parametrize("name", ["F16"])
def test_float_formats_are_rounded_to_8_bits(name):
    data = random_tensor(name)
    exact = oracle(name, data).astype(np.float32)
    packed = pack(FORMATS[name].to_blocks(data, ROWS, COLUMNS))
    found = unpack(packed, 8, ROWS, COLUMNS)
    largest = np.abs(exact.reshape(ROWS, -1, 32)).max(axis=2).repeat(32, axis=1)
    assert (np.abs(found - exact) <= largest * (0.5 / 127 + 1e-3)).all()


def test_quantize_blocks_rounds_to_nearest():
    values = np.zeros((1, 32), np.float32)
    values[0, :4] = [127, 0.6, -0.6, 2.4]
    assert quantize_blocks(values).quants[0, 0, :4].tolist() == [127, 1, -1, 2]


def test_rows_are_padded_with_zeros():
    blocks = quantize_blocks(np.ones((5, 32), np.float32))
    packed = pack(blocks)
    everything = unpack(packed, 8, padded_rows(5), 32)
    assert (everything[:5] == everything[0, 0]).all()
    assert (everything[5:] == 0).all()


def test_layout_of_a_4_bit_tile():
    """The documented position of one weight: row 5, weight 18 is a high nibble of group 0."""
    quants = np.zeros((16, 1, 32), np.uint8)
    quants[5, 0, 18] = 9
    scales = np.arange(16, dtype=np.float16).reshape(16, 1)
    tile = pack(Blocks(4, quants, scales, -scales))
    assert tile[:32].view(np.float16).tolist() == list(range(16))
    assert tile[32:64].view(np.float16).tolist() == [-i for i in range(16)]
    assert np.flatnonzero(tile[64:]).tolist() == [5 * 4 + 2]
    assert tile[64 + 5 * 4 + 2] == 9 << 4


def test_block_sizes_agree_with_the_gguf_package():
    for number, (name, elements, size) in TENSOR_TYPES.items():
        kind = gguf.GGMLQuantizationType(number)
        assert kind.name == name
        if kind.name != "Q8_1":  # the package counts float32 scales that no file ever had
            assert gguf.GGML_QUANT_SIZES[kind] == (elements, size)
