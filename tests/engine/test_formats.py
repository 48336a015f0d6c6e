"""Weight formats: bit for bit what the `gguf` package reads, and what packing costs each.

The `gguf` package knows every format but Q8_1 and Q8_K, which are read here by `struct`.
"""

import struct

import gguf
import numpy as np
import pytest

from engine.formats import FORMATS
from engine.formats.packed import (
    SUPER,
    Blocks,
    pack,
    packed_bytes,
    padded_rows,
    quantize_blocks,
    unpack,
    without_super_blocks,
)
from engine.gguf import TENSOR_TYPES

ROWS, COLUMNS = 37, 768
SIZES = {name: (elements, size) for name, elements, size in TENSOR_TYPES.values()}
FLOATS = ("F32", "F16", "BF16")
HALVES = {
    "Q4_0": (0,),
    "Q4_1": (0, 2),
    "Q5_0": (0,),
    "Q5_1": (0, 2),
    "Q8_0": (0,),
    "Q8_1": (0, 2),
    "Q2_K": (80, 82),
    "Q3_K": (108,),
    "Q4_K": (0, 2),
    "Q5_K": (0, 2),
    "Q6_K": (208,),
    "IQ4_NL": (0,),
    "IQ4_XS": (0,),
    "TQ1_0": (52,),
    "TQ2_0": (64,),
}
"""Where a block has half floats; every other byte may be anything."""

EXACT = tuple(name for name in HALVES if name not in ("Q2_K", "IQ4_XS"))
"""Formats whose weights the kernels' layout holds as they are."""

QUANTIZED_BY_THE_PACKAGE = (
    "BF16",
    "Q4_0",
    "Q4_1",
    "Q5_0",
    "Q5_1",
    "Q8_0",
    "TQ1_0",
    "TQ2_0",
    "MXFP4",
)


def random_bytes(name, rows=ROWS, columns=COLUMNS):
    """Blocks of random bytes with scales of a model's size: flat uint8."""
    rng = np.random.default_rng(11)
    elements, size = SIZES[name]
    count = rows * columns // elements
    if name in FLOATS:
        values = rng.normal(size=(rows, columns)).astype(np.float32)
        kind = gguf.GGMLQuantizationType[name]
        return gguf.quants.quantize(values, kind).view(np.uint8).reshape(-1)
    blocks = rng.integers(0, 256, (count, size), np.uint8)
    for offset in HALVES.get(name, ()):
        scales = rng.normal(scale=0.01, size=count).astype("<f2")
        scales[::7] = 0
        scales[1::7] *= np.float16(0.001)  # a subnormal half float
        blocks[:, offset : offset + 2] = scales.view(np.uint8).reshape(-1, 2)
    if name == "Q8_K":
        blocks[:, :4] = rng.normal(size=count).astype("<f4").view(np.uint8).reshape(-1, 4)
    if name == "MXFP4":
        blocks[:, 0] = rng.integers(104, 140, count)
    return blocks.reshape(-1)


def by_struct(name, data):
    """Q8_1 and Q8_K as ggml-common.h declares them, block by block."""
    layout = {"Q8_1": "<e2x32b", "Q8_K": "<f256b32x"}[name]
    weights = []
    for scale, *quants in struct.iter_unpack(layout, data.tobytes()):
        weights += [np.float32(scale) * np.float32(quant) for quant in quants]
    return np.array(weights, np.float32)


def oracle(name, data, rows=ROWS, columns=COLUMNS):
    if name in ("Q8_1", "Q8_K"):
        return by_struct(name, data).reshape(rows, columns)
    elements, size = SIZES[name]
    kind = gguf.GGMLQuantizationType[name]
    return gguf.quants.dequantize(data.reshape(rows, columns // elements * size), kind)


def same_bits(found, expected):
    np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("name", FORMATS)
def test_dequantize_bit_for_bit(name):
    data = random_bytes(name)
    found = FORMATS[name].dequantize(data, (ROWS, COLUMNS))
    assert found.dtype == np.float32
    same_bits(found, oracle(name, data))


@pytest.mark.parametrize("name", QUANTIZED_BY_THE_PACKAGE)
def test_dequantize_what_the_gguf_package_quantized(name):
    values = np.random.default_rng(7).normal(size=(ROWS, COLUMNS)).astype(np.float32)
    values[3, 256:512] = 0  # a block whose scale is zero
    kind = gguf.GGMLQuantizationType[name]
    data = gguf.quants.quantize(values, kind).view(np.uint8).reshape(-1)
    found = FORMATS[name].dequantize(data, (ROWS, COLUMNS))
    same_bits(found, oracle(name, data))
    assert (
        np.corrcoef(found.ravel(), values.ravel())[0, 1] > 0.7
    )  # ternary; the others are above 0.99


@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"])
def test_quantize_as_the_gguf_package_does(name):
    rng = np.random.default_rng(5)
    values = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32) * rng.lognormal(size=(ROWS, 1))
    values[3, 256:512] = 0
    values[4, :64] = 0.25  # all the same
    values[5] = rng.integers(-9, 9, COLUMNS) / 2  # many halves to round
    values = values.astype(np.float32)
    expected = gguf.quants.quantize(values, gguf.GGMLQuantizationType[name]).view(np.uint8)
    np.testing.assert_array_equal(FORMATS[name].quantize(values), expected.reshape(-1))


@pytest.mark.parametrize(
    ("name", "normal", "laplace"), [("Q4_K", 0.073, 0.087), ("Q6_K", 0.0182, 0.0224)]
)
def test_quantize_by_search(name, normal, laplace):
    """Relative errors (RMS); Q4_1, with more bits than Q4_K, has 0.078 and 0.092."""
    rng = np.random.default_rng(5)
    for draw, most in ((rng.normal, normal), (rng.laplace, laplace)):
        values = draw(size=(ROWS, COLUMNS)).astype(np.float32) * np.float32(0.02)
        data = FORMATS[name].quantize(values)
        assert data.size == values.size // 256 * SIZES[name][1]
        error = oracle(name, data) - values
        assert np.sqrt(np.mean(error**2) / np.mean(values**2)) < most


@pytest.mark.parametrize("name", ["Q4_K", "Q6_K"])
@pytest.mark.parametrize("value", [0, 1e-42, 0.25, -0.25, 3e4])
def test_search_in_blocks_of_one_value(name, value):
    values = np.full((ROWS, COLUMNS), value, np.float32)
    values[:, ::256] = 0
    found = oracle(name, FORMATS[name].quantize(values))
    assert np.abs(found - values).max() <= 0.01 * abs(value) + 1e-41


def test_search_where_all_weights_have_one_sign():
    values = np.random.default_rng(2).uniform(3, 4, (ROWS, COLUMNS)).astype(np.float32)
    for sign in (1, -1):
        for name, most in (("Q4_K", 0.09), ("Q6_K", 0.036)):
            found = oracle(name, FORMATS[name].quantize(sign * values))
            assert np.sqrt(np.mean((found - sign * values) ** 2)) < most, (name, sign)


def through_packing(name, data):
    """What the kernels see of a matrix."""
    blocks = FORMATS[name].to_blocks(data, ROWS, COLUMNS)
    assert blocks.bits == FORMATS[name].bits
    assert name == "F32" or blocks.scales.dtype == np.float16
    packed = pack(blocks)
    assert packed.size == packed_bytes(blocks.bits, ROWS, COLUMNS)
    return unpack(packed, blocks.bits, ROWS, COLUMNS)


@pytest.mark.parametrize("name", [*EXACT, "MXFP4", "F32"])
def test_formats_that_survive_packing_exactly(name):
    data = random_bytes(name)
    np.testing.assert_array_equal(through_packing(name, data), oracle(name, data))


@pytest.mark.parametrize("name", ["Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS", "Q8_K"])
def test_scales_rounded_to_half_floats(name):
    """A weight moves by 2⁻¹¹ of its scaled quant and of its minimum, or what a subnormal loses."""
    data = random_bytes(name)
    expected = oracle(name, data)
    largest = np.abs(expected.reshape(ROWS, -1, 32)).max(axis=2).repeat(32, axis=1)
    blocks = without_super_blocks(FORMATS[name].to_blocks(data, ROWS, COLUMNS))
    assert blocks.bits < SUPER
    moved = np.abs(unpack(pack(blocks), blocks.bits, ROWS, COLUMNS) - expected)
    assert moved.max() > 0
    assert (moved <= 3 * 2.0**-11 * largest + 127 * 2.0**-25).all()


@pytest.mark.parametrize("name", ["F16", "BF16", "Q2_K"])
def test_formats_that_are_quantized_anew(name):
    """A weight moves by at most half of the 127th part of its block's largest."""
    data = random_bytes(name)
    exact = oracle(name, data)
    largest = np.abs(exact.reshape(ROWS, -1, 32)).max(axis=2).repeat(32, axis=1)
    moved = np.abs(through_packing(name, data) - exact)
    assert (moved <= largest * (0.5 / 127 + 1e-3) + 127 * 2.0**-25).all()


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


@pytest.mark.parametrize(
    ("name", "bits"), [("Q4_K", 4.5), ("Q5_K", 5.5), ("Q6_K", 6.625), ("Q3_K", 6.625)]
)
def test_super_blocks_take_what_they_take_in_the_file(name, bits):
    """Q6_K 32 bytes of 3 360 more, so that its quants begin on a cache line."""
    assert 8 * packed_bytes(FORMATS[name].bits, 16, 1024) == bits * 16 * 1024


def test_layout_of_a_super_block():
    """The documented position of a scale, a minimum and a factor: row 5, block 6."""
    factors = np.zeros((16, 1, 12), np.uint8)
    factors[5, 0, 10] = 0x9C  # low four bits of the scale and of the minimum of block 6
    scales = np.arange(16, dtype=np.float16).reshape(16, 1)
    tile = pack(Blocks(SUPER + 4, np.ones((16, 8, 32), np.uint8), scales, -scales, factors))
    assert tile[:32].view(np.float16).tolist() == list(range(16))
    assert tile[32:64].view(np.float16).tolist() == [-i for i in range(16)]
    assert np.flatnonzero(tile[64:256]).tolist() == [2 * 64 + 5 * 4 + 2]
    weights = unpack(tile, SUPER + 4, 16, SUPER)
    assert np.flatnonzero(weights.any(axis=1)).tolist() == [5]
    assert weights[5].reshape(8, 32)[6].tolist() == [5 * 12 - 5 * 9] * 32


def test_block_sizes_agree_with_the_gguf_package():
    for number, (name, elements, size) in TENSOR_TYPES.items():
        kind = gguf.GGMLQuantizationType(number)
        assert kind.name == name
        if kind.name != "Q8_1":  # the package still counts the float32 scales of older files
            assert gguf.GGML_QUANT_SIZES[kind] == (elements, size)
