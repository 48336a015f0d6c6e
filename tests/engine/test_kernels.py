"""Every kernel against its NumPy twin, on every path that this CPU can run."""

import ctypes

import numpy as np
import pytest

from engine import reference
from engine.formats.packed import (
    SUPER,
    SUPER_BITS,
    Blocks,
    pack,
    packed_bytes,
    padded_rows,
    quantize_blocks,
    unpack,
)
from engine.kernels import (
    activations,
    columns,
    dispatch,
    elementwise,
    experts,
    floating,
    norms,
)
from engine.kernels import program as p
from engine.kernels import rows as rows_
from engine.kernels.matmul import LONG_BYTES, matmul
from engine.threads import ThreadPool
from tests.engine.kernel_runs import PATHS, RNG, aligned, float_bits, floats, run

BITS = [4, 5, 6, 8]
ALL_BITS = [*BITS, *SUPER_BITS]


@pytest.fixture(scope="module")
def pool():
    made = ThreadPool(2)
    yield made
    made.close()


def quantized(pool, x):
    """x (rows, inputs) as columns for the matrix kernels."""
    buffer = aligned(columns.column_buffer_bytes(*x.shape))
    operands = (x.ctypes.data, buffer.ctypes.data, x.shape[1], x.shape[1])
    run(pool, elementwise.quantize, operands, rows=len(x))
    return buffer


def read_columns(buffer, rows, inputs):
    """Quants, scales, scaled sums, offset sums and first sums out of a column buffer."""
    width, size = (1, columns.SINGLE_BYTES) if rows == 1 else (8, columns.RECORD_BYTES)
    groups, blocks = -(-rows // width), inputs // 32
    records = buffer[: groups * blocks * size].reshape(groups, blocks, size)

    def field(start, kind):
        raw = np.ascontiguousarray(records[:, :, start * width : (start + 4) * width]).view(kind)
        return raw.transpose(0, 2, 1).reshape(groups * width, blocks)[:rows]

    quants = np.ascontiguousarray(records[:, :, : 32 * width]).view(np.int8)
    quants = quants.reshape(groups, blocks, 8, width, 4).transpose(0, 3, 1, 2, 4)
    quants = quants.reshape(groups * width, blocks, 32)[:rows]
    found = [field(columns.SCALE, np.float32), field(columns.SCALED_SUM, np.float32)]
    return quants, *found, field(columns.OFFSET_SUM, np.int32), field(columns.FIRST_SUM, np.int32)


def packed_matrix(bits, outputs, inputs):
    weights = aligned(packed_bytes(bits, outputs, inputs))
    weights[:] = pack(random_matrix(bits, outputs, inputs))
    return weights


def random_matrix(bits, outputs, inputs):
    if bits == 32:
        return Blocks(32, floats(outputs, inputs // 32, 32))
    if bits == 8:
        return quantize_blocks(floats(outputs, inputs))
    quants = RNG.integers(0, 1 << bits % SUPER, (outputs, inputs // 32, 32), dtype=np.uint8)
    if bits >= SUPER:
        return in_super_blocks(bits, quants)
    if bits == 6:
        return Blocks(6, quants, RNG.normal(size=(outputs, inputs // 32, 2)).astype(np.float16))
    scales = RNG.random((outputs, inputs // 32)).astype(np.float16)
    middle = -(1 << bits) / 2
    minimums = scales * RNG.normal(middle, 2, scales.shape)
    return Blocks(bits, quants, scales, minimums.astype(np.float16))


def in_super_blocks(bits, quants):
    """With random factors, the highest and the lowest among them."""
    count = (len(quants), quants.shape[1] // 8)
    scales = (RNG.random(count) / 64).astype(np.float16)
    if bits == SUPER + 6:
        factors = RNG.integers(-128, 128, (*count, 16)).astype(np.int8)
        return Blocks(bits, quants, scales, factors=factors)
    minimums = (RNG.normal(-8, 2, count) / 64).astype(np.float16)
    factors = RNG.integers(0, 256, (*count, 12), dtype=np.uint8)
    return Blocks(bits, quants, scales, minimums, factors)


@pytest.mark.parametrize("rows", [1, 7, 8, 19])
def test_quantize(pool, rows):
    x = floats(rows, 96)
    x[0, :32] = 0
    quants, scales, sums, offsets, firsts = read_columns(quantized(pool, x), rows, 96)
    expected, expected_scales = reference.quantize_activations(x)
    np.testing.assert_array_equal(quants, expected)
    np.testing.assert_allclose(scales, expected_scales, rtol=1e-6)
    np.testing.assert_array_equal(offsets, -128 * expected.sum(axis=2, dtype=np.int32))
    np.testing.assert_array_equal(firsts, -32 * expected[:, :, :16].sum(axis=2, dtype=np.int32))
    np.testing.assert_allclose(sums, expected_scales * expected.sum(axis=2), rtol=1e-5, atol=1e-6)


def test_quantize_rounds_to_nearest_not_down(pool):
    x = np.zeros((1, 32), np.float32)
    x[0, :5] = [127, 0.6, -0.6, 99.51, -99.51]
    quants = read_columns(quantized(pool, x), 1, 32)[0]
    assert quants[0, 0, :5].tolist() == [127, 1, -1, 100, -100]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("bits", ALL_BITS)
@pytest.mark.parametrize("rows", [1, 2, 4, 5, 8, 70])
def test_matmul(pool, path, bits, rows):
    """All column counts, outputs that do not fill a tile, an odd number of blocks, adding."""
    outputs, inputs = 40, 96 if bits < SUPER else 3 * SUPER
    weights = packed_matrix(bits, outputs, inputs)
    x = floats(rows, inputs)
    stride = padded_rows(outputs) + 5
    before = floats(rows, stride)
    y = before.copy()
    buffer = quantized(pool, x)
    fixed = (weights.ctypes.data, buffer.ctypes.data, y.ctypes.data, inputs, padded_rows(outputs))
    expected = reference.matmul(x, unpack(weights, bits, outputs, inputs))
    tolerance = 1e-5 * np.abs(expected).max()

    run(pool, matmul, (*fixed, stride, 0, bits), path, rows=rows)
    np.testing.assert_allclose(y[:, :outputs], expected, atol=tolerance)
    np.testing.assert_array_equal(y[:, padded_rows(outputs) :], before[:, padded_rows(outputs) :])
    bias = floats(padded_rows(outputs))
    run(pool, matmul, (*fixed, stride, 1, bits, 1, bias.ctypes.data), path, rows=rows)
    np.testing.assert_allclose(y[:, :outputs], 2 * expected + bias[:outputs], atol=2 * tolerance)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("bits", ALL_BITS)
def test_one_row_is_computed_like_many(pool, path, bits):
    """To the last bit, so that a prompt gives the same logits however it is cut into steps."""
    inputs = 160 if bits < SUPER else 2 * SUPER
    weights, x = packed_matrix(bits, 48, inputs), floats(9, inputs)
    found = np.zeros((2, 9, 48), np.float32)
    sizes = (inputs, 48, 48, 0, bits)
    buffer = quantized(pool, x)
    addresses = (weights.ctypes.data, buffer.ctypes.data, found[0].ctypes.data)
    run(pool, matmul, (*addresses, *sizes), path, rows=9)
    for row in range(9):
        buffer = quantized(pool, x[row : row + 1])
        addresses = (weights.ctypes.data, buffer.ctypes.data, found[1, row].ctypes.data)
        run(pool, matmul, (*addresses, *sizes), path, rows=1)
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("path", PATHS)
def test_a_long_product_is_shared_in_pieces(pool, path):
    """A single row and 5 MB of weights; the last piece is a smaller one."""
    outputs, inputs = 16 * 201, 1600
    weights, x = packed_matrix(8, outputs, inputs), floats(1, inputs)
    assert weights.size > LONG_BYTES
    y, buffer = np.zeros((1, outputs), np.float32), quantized(pool, x)
    addresses = (weights.ctypes.data, buffer.ctypes.data, y.ctypes.data)
    run(pool, matmul, (*addresses, inputs, outputs, outputs, 0, 8), path, rows=1)
    expected = reference.matmul(x, unpack(weights, 8, outputs, inputs))
    np.testing.assert_allclose(y, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("path", PATHS)
def test_matmul_of_extreme_values_does_not_overflow(pool, path):
    """The largest products that a block can have: 255 · 127 · 32 in int32."""
    x = np.full((8, 64), 1, np.float32)
    for weight in (127, -127, -128):
        blocks = Blocks(8, np.full((16, 2, 32), weight, np.int8), np.ones((16, 2), np.float16))
        weights = aligned(packed_bytes(8, 16, 64))
        weights[:] = pack(blocks)
        y, buffer = np.zeros((8, 16), np.float32), quantized(pool, x)
        addresses = (weights.ctypes.data, buffer.ctypes.data, y.ctypes.data)
        run(pool, matmul, (*addresses, 64, 16, 16, 0, 8), path, rows=8)
        np.testing.assert_allclose(y, weight * 64.0, rtol=1e-5)


def test_rms_norm_quantize(pool):
    x, weight, y = floats(5, 96), floats(96), np.zeros((5, 96), np.float32)
    buffer = aligned(columns.column_buffer_bytes(5, 96))
    epsilon = float_bits(1e-5)
    addresses = [a.ctypes.data for a in (x, weight, y, buffer)]
    run(pool, elementwise.rms_norm_quantize, (*addresses, 96, epsilon), rows=5)
    np.testing.assert_allclose(y, reference.rms_norm(x, weight, 1e-5), rtol=1e-5)
    np.testing.assert_array_equal(
        read_columns(buffer, 5, 96)[0], reference.quantize_activations(y)[0]
    )


def test_rms_norm_output(pool):
    x, weight, y = floats(3, 64), floats(64), np.zeros((3, 64), np.float32)
    epsilon = float_bits(1e-5)
    operands = (x.ctypes.data, weight.ctypes.data, 64, epsilon)
    run(pool, elementwise.rms_norm_output, operands, rows=3, logits=y.ctypes.data)
    np.testing.assert_allclose(y, reference.rms_norm(x, weight, 1e-5), rtol=1e-5)


@pytest.mark.parametrize("kind", range(7))
def test_activate_quantize(pool, kind):
    both = 4 * floats(9 * 2, 2, 64)
    expected = reference.activate(kind, both[:, 0], both[:, 1])
    buffer = aligned(columns.column_buffer_bytes(18, 64))
    operands = (both.ctypes.data, buffer.ctypes.data, 64, kind, 2)
    run(pool, activations.activate_quantize, operands, rows=9)
    np.testing.assert_allclose(both[:, 0], expected, rtol=2e-5, atol=1e-5)
    np.testing.assert_array_equal(
        read_columns(buffer, 18, 64)[0], reference.quantize_activations(both[:, 0])[0]
    )


def test_quantize_rows_that_lie_apart(pool):
    x = floats(3, 96)
    buffer = aligned(columns.column_buffer_bytes(3, 64))
    run(pool, elementwise.quantize, (x.ctypes.data, buffer.ctypes.data, 64, 96), rows=3)
    expected = reference.quantize_activations(np.ascontiguousarray(x[:, :64]))[0]
    np.testing.assert_array_equal(read_columns(buffer, 3, 64)[0], expected)


def test_rms_norm_in_place(pool):
    """Two of three vectors in each row."""
    x, weight = floats(5, 3, 16), floats(16)
    expected = x.copy()
    expected[:, :2] = reference.rms_norm(x[:, :2], weight, 1e-5)
    operands = (x.ctypes.data, 48, 2, 16, weight.ctypes.data, float_bits(1e-5))
    run(pool, norms.rms_norm, operands, rows=5)
    np.testing.assert_allclose(x, expected, rtol=1e-5)


def test_layer_norm(pool):
    x, weight, bias, y = 3 + floats(5, 96), floats(96), floats(96), np.zeros((5, 96), np.float32)
    expected = reference.layer_norm(x, weight, bias, 1e-5)
    buffer = aligned(columns.column_buffer_bytes(5, 96))
    addresses = [a.ctypes.data for a in (x, weight, bias, y, buffer)]
    run(pool, norms.layer_norm_quantize, (*addresses, 96, float_bits(1e-5)), rows=5)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(
        read_columns(buffer, 5, 96)[0], reference.quantize_activations(y)[0]
    )
    y[:] = 0
    operands = (*addresses[:3], 96, float_bits(1e-5))
    run(pool, norms.layer_norm_output, operands, rows=5, logits=y.ctypes.data)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def test_operations_on_rows(pool):
    x, y, weight = floats(5, 32), floats(5, 32), floats(32)
    expected = x + np.float32(0.3) * y
    operands = (x.ctypes.data, y.ctypes.data, 32, float_bits(0.3))
    run(pool, rows_.add_scaled, operands, rows=5)
    np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-6)
    expected = x + np.float32(0.3) * reference.rms_norm(y, weight, 1e-5)
    bits = (float_bits(1e-5), float_bits(0.3))
    operands = (x.ctypes.data, y.ctypes.data, 32, weight.ctypes.data, *bits)
    run(pool, norms.add_normed, operands, rows=5)
    np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-6)
    expected = np.float32(1.7) * x
    run(pool, rows_.scale, (x.ctypes.data, 32, float_bits(1.7)), rows=5)
    np.testing.assert_allclose(x, expected, rtol=1e-6)


@pytest.mark.parametrize("cap", [0, 3])
def test_scale_logits(pool, cap):
    logits = 5 * floats(3, 32)
    expected = reference.scale_logits(logits, 0.5, cap)
    operands = (32, float_bits(0.5), float_bits(cap))
    run(pool, rows_.scale_logits, operands, rows=3, logits=logits.ctypes.data)
    np.testing.assert_allclose(logits, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("bits", [*BITS, 32])
def test_add_positions(pool, bits):
    table = packed_matrix(bits, 20, 64)
    x, room = floats(5, 64), floats(5, 64)
    expected = x + unpack(table, bits, 20, 64)[[9, 10, 11, 2, 6]]
    operands = (table.ctypes.data, bits, 2, x.ctypes.data, room.ctypes.data, 64)
    run(pool, rows_.add_positions, operands, rows=5, positions=np.array([7, 8, 9, 0, 4], np.int32))
    np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("used", [1, 3, 6])
def test_choose_and_add_experts(pool, used):
    scores, x = floats(9, 16), floats(9, 32)
    choices, shares = np.zeros((9, used), np.int32), np.zeros((9, used), np.float32)
    addresses = (choices.ctypes.data, shares.ctypes.data)
    run(pool, experts.choose_experts, (scores.ctypes.data, 16, 6, used, *addresses), rows=9)
    expected, expected_shares = reference.choose_experts(scores[:, :6], used)
    np.testing.assert_array_equal(choices, expected)
    np.testing.assert_allclose(shares, expected_shares, rtol=1e-5)
    y = floats(9, used, 32)
    expected = x + (shares[:, :, None] * y).sum(axis=1)
    operands = (x.ctypes.data, y.ctypes.data, 32, shares.ctypes.data, used)
    run(pool, experts.add_experts, operands, rows=9)
    np.testing.assert_allclose(x, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("bits", [*ALL_BITS, 32])
@pytest.mark.parametrize(("rows", "own"), [(1, False), (1, True), (11, False), (11, True)])
def test_matmul_experts(pool, path, bits, rows, own):
    """Few and many items, x of the row and of the item, unread experts full of NaN."""
    count, used, outputs, inputs = 7, 2, 112, SUPER if bits in SUPER_BITS else 96
    weights = packed_matrix(bits, count * outputs, inputs)
    exact = unpack(weights, bits, count * outputs, inputs).reshape(count, outputs, inputs)
    choices = np.stack([RNG.choice(count - 1, used, replace=False) for _ in range(rows)])
    choices = choices.astype(np.int32)
    weights.reshape(count, -1)[count - 1] = 0xFF
    x, y = floats(rows * (used if own else 1), inputs), floats(rows, used, outputs + 3)
    source = x if bits == 32 else quantized(pool, x)
    fixed = (weights.ctypes.data, source.ctypes.data, y.ctypes.data, inputs, outputs, outputs + 3)
    chosen = (choices.ctypes.data, count, used, 1 if own else used, inputs)
    run(pool, experts.matmul_experts, (*fixed, bits, *chosen), path, rows=rows)
    product = reference.matmul_float if bits == 32 else reference.matmul
    for row in range(rows):
        for slot in range(used):
            mine = x[row * used + slot] if own else x[row]
            expected = product(mine[None], exact[choices[row, slot]])[0]
            np.testing.assert_allclose(y[row, slot, :outputs], expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("rows", [1, 6])
def test_matmul_float(pool, rows):
    """Rows of x that lie apart, outputs that do not fill a tile, adding."""
    weights, x, y = packed_matrix(32, 40, 96), floats(rows, 128), floats(rows, 53)
    before = y.copy()
    expected = reference.matmul_float(x[:, :96], unpack(weights, 32, 40, 96))
    fixed = (weights.ctypes.data, x.ctypes.data, y.ctypes.data, 96, 48, 53)
    run(pool, floating.matmul_float, (*fixed, 0, 128), rows=rows)
    np.testing.assert_allclose(y[:, :40], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(y[:, 48:], before[:, 48:])
    run(pool, floating.matmul_float, (*fixed, 1, 128), rows=rows)
    np.testing.assert_allclose(y[:, :40], 2 * expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("bits", [*ALL_BITS, 32])
def test_embed(pool, bits):
    dim = 2 * SUPER if bits in SUPER_BITS else 96
    weights = packed_matrix(bits, 50, dim)
    tokens = np.array([0, 49, 17, 16, 17], np.int32)
    x = np.zeros((5, dim), np.float32)
    operands = (weights.ctypes.data, bits, x.ctypes.data, dim)
    run(pool, elementwise.embed, operands, rows=5, tokens=tokens.ctypes.data)
    np.testing.assert_allclose(x, unpack(weights, bits, 50, dim)[tokens], rtol=1e-6, atol=1e-6)


def test_keep_rows(pool):
    x, attended = floats(6, 32), floats(6, 48)
    kept = np.array([1, 3, 5], np.int32)
    expected = x[kept], attended[kept]
    operands = (x.ctypes.data, 32, attended.ctypes.data, 48)
    step = run(pool, elementwise.keep_rows, operands, rows=6, kept_rows=kept, outputs=3)
    np.testing.assert_array_equal(x[:3], expected[0])
    np.testing.assert_array_equal(attended[:3], expected[1])
    assert step[p.ROWS] == 3


def test_unknown_kernels_are_refused(monkeypatch):
    monkeypatch.setenv("HUBD_KERNELS", "abacus")
    with pytest.raises(dispatch.EngineError, match=r"'abacus'; this machine can run: .*portable"):
        dispatch.choose_path()


def test_portable_is_always_there():
    assert PATHS[-1] == "portable"
    assert ctypes.sizeof(ctypes.c_void_p) == 8, "operands are int64 addresses"
