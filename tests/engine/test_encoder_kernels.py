"""The kernels that encoders have besides, against their NumPy twins."""

import ctypes

import numpy as np
import pytest

from engine import reference
from engine.kernels import columns, dispatch, elementwise, encoder, heads
from engine.kernels.program import ROWS, STEP_SLOTS, Program
from engine.threads import ThreadPool

PATHS = dispatch.available_paths()
RNG = np.random.default_rng(5)


@pytest.fixture(scope="module")
def pool():
    made = ThreadPool(2)
    yield made
    made.close()


def room(size):
    """uint8 (size,) on a cache line, filled with what would be NaN as floats."""
    space = np.full(size + 64, 0xFF, np.uint8)
    start = -space.ctypes.data % 64
    return space[start : start + size]


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def bits(value):
    return int(np.float32(value).view(np.int32))


def run(pool, operation, operands, slots, path=None):
    program = Program()
    program.add(operation, *operands)
    step = np.zeros(STEP_SLOTS, np.int64)
    for slot, value in slots.items():
        step[slot] = value
    pool.run(program.table(lambda function: dispatch.compile_operation(function, path)), step)


def call(kernel, *arguments):
    dispatch.compile_function(kernel.py_func)(*arguments)


@pytest.mark.parametrize(("rows", "dim"), [(1, 16), (17, 48), (32, 32)])
def test_heads_are_gathered_bit_for_bit(rows, dim):
    """As NumPy rounds: ties to even, subnormal halves, zeros of both signs; more than the largest
    half becomes that."""
    every = RNG.integers(0, 1 << 16, (rows, 3 * dim), np.uint16).view(np.float16)
    every = np.where(np.abs(every) < 60000, every, 0).astype(np.float16)  # not those without end
    after = np.nextafter(every, np.float16(np.inf)).astype(np.float32)
    share = RNG.choice([0, 0.25, 0.5, 0.75], every.shape).astype(np.float32)
    x = every.astype(np.float32) * (1 - share) + after * share
    x[0, dim : dim + 3] = [1e9, -1e9, 1e-9]
    mine, width = x[:, dim : 2 * dim], -(-rows // 16) * 16
    expected = np.clip(mine, -65504, 65504).astype(np.float16).view(np.uint16)
    keys, values = np.zeros((dim, width), np.uint16), np.zeros((rows, dim), np.uint16)
    source, stride = x.ctypes.data + 4 * dim, x.strides[0]
    call(heads.gather_keys, source, stride, rows, width, dim, keys.ctypes.data)
    call(heads.gather_values, source, stride, rows, dim, values.ctypes.data)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(keys[:, :rows], expected.T)
    np.testing.assert_array_equal(keys[:, rows:], expected[-1:].T.repeat(width - rows, axis=1))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("lengths", "heads", "head_dim"),
    [([1], 1, 16), ([5, 16, 1, 33], 3, 32), ([100, 17], 2, 64), ([256], 1, 48)],
)
def test_attention_within_texts(pool, path, lengths, heads, head_dim):
    rows = sum(lengths)
    qkv = 2 * floats(rows, 3, heads, head_dim)
    out = np.full((rows, heads, head_dim), np.nan, np.float32)
    starts = np.cumsum([0, *lengths]).astype(np.int32)
    size = encoder.attention_scratch_bytes(max(lengths), head_dim)
    scratch = room(2 * size)
    operands = (qkv.ctypes.data, out.ctypes.data, heads, head_dim, scratch.ctypes.data, size)
    slots = {ROWS: rows, encoder.SEQUENCES: len(lengths), encoder.STARTS: starts.ctypes.data}
    run(pool, encoder.attend_within, (*operands, bits(head_dim**-0.5)), slots, path)
    k, v = (qkv[:, i].astype(np.float16).astype(np.float32) for i in (1, 2))  # as they are kept
    expected = reference.attention_within(qkv[:, 0], k, v, lengths)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


def test_attention_of_very_different_scores_is_finite(pool):
    qkv = np.zeros((20, 3, 1, 16), np.float32)
    qkv[:, 0], qkv[:, 1], qkv[:, 2] = 100.0, RNG.choice([-100.0, 100.0], (20, 1, 16)), 1.0
    out, scratch = np.empty((20, 16), np.float32), room(2 * 65536)
    starts = np.array([0, 20], np.int32)
    operands = (qkv.ctypes.data, out.ctypes.data, 1, 16, scratch.ctypes.data, 65536, bits(0.25))
    slots = {ROWS: 20, encoder.SEQUENCES: 1, encoder.STARTS: starts.ctypes.data}
    run(pool, encoder.attend_within, operands, slots)
    np.testing.assert_allclose(out, 1.0, rtol=1e-3)


def test_gelu_quantize(pool):
    x, bias = 3 * floats(11, 96), floats(96)
    expected = reference.exact_gelu(x + bias)
    wide = np.concatenate([np.linspace(-20, 20, 95), [1e30]]).astype(np.float32)
    x[3] = wide - bias
    expected[3] = reference.exact_gelu(x[3:4] + bias)[0]
    found, twice = (room(columns.column_buffer_bytes(11, 96)) for _ in range(2))
    operands = (x.ctypes.data, bias.ctypes.data, found.ctypes.data, 96)
    run(pool, encoder.gelu_quantize, operands, {ROWS: 11})
    np.testing.assert_allclose(x, expected, rtol=1e-5, atol=2e-6)
    run(pool, elementwise.quantize, (x.ctypes.data, twice.ctypes.data, 96, 96), {ROWS: 11})
    assert ctypes.string_at(found.ctypes.data, found.size) == twice.tobytes()


def test_positions_of_texts(pool):
    table, x = floats(9, 64), floats(7, 64)
    positions = np.array([0, 1, 2, 0, 8, 0, 1], np.int32)
    expected = x + table[positions]
    slots = {ROWS: 7, encoder.POSITIONS: positions.ctypes.data}
    run(pool, encoder.add_positions_of_texts, (table.ctypes.data, x.ctypes.data, 64), slots)
    np.testing.assert_array_equal(x, expected)
