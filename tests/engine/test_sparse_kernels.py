"""Skipping what is zero changes nothing: the sparse operations beside the dense ones."""

import numpy as np
import pytest

from engine.formats.packed import Blocks, pack, quantize_blocks, quants_and_scales
from engine.formats.packed import unpack as unpack_matrix
from engine.kernels import activations, dispatch, layer_slots, sparse
from engine.kernels.columns import SINGLE_BYTES, column_buffer_bytes
from engine.kernels.elementwise import quantize
from engine.kernels.matmul import matmul
from engine.kernels.program import ROWS, STEP_SLOTS, Program
from engine.kernels.sparse_vectors import CHUNK
from engine.sparsity import layout
from engine.threads import ThreadPool

PATHS = dispatch.available_paths()
BITS = [4, 5, 6, 8]
DIM, NEURONS, SHARES = 192, 160, 2
RNG = np.random.default_rng(23)


@pytest.fixture(scope="module")
def pool():
    made = ThreadPool(SHARES)
    yield made
    made.close()


def aligned(size):
    """uint8 (size,) on a cache line, filled with what would be NaN as floats."""
    room = np.full(size + 64, 0xFF, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + size]


def packed(bits, rows, columns):
    values = RNG.normal(size=(rows, columns)).astype(np.float32)
    if bits == 8:
        blocks = quantize_blocks(values)
    else:
        quants = RNG.integers(0, 1 << bits, (rows, columns // 32, 32), dtype=np.uint8)
        scales = RNG.normal(size=(rows, columns // 32, 2)).astype(np.float16)
        if bits == 6:
            blocks = Blocks(6, quants, scales)
        else:
            blocks = Blocks(bits, quants, scales[:, :, 0], scales[:, :, 1])
    data = pack(blocks)
    out = aligned(data.size)
    out[:] = data
    return out


def run(pool, path, *operations):
    program = Program()
    for operation, operands in operations:
        program.add(operation, *operands)
    step = np.zeros(STEP_SLOTS, np.int64)
    step[ROWS] = 1
    pool.run(program.table(lambda function: dispatch.compile_operation(function, path)), step)


class Layer:
    """Records of random matrices in a random order, as the operations want them."""

    def __init__(self, up_bits, down_bits, limit=NEURONS):
        self.up, self.down = packed(up_bits, NEURONS, DIM), packed(down_bits, DIM, NEURONS)
        rows = layout.rows_of(self.up, up_bits, NEURONS, DIM)
        columns, self.scales = layout.columns_of(self.down, down_bits, DIM, NEURONS)
        self.places = RNG.permutation(NEURONS).astype(np.int32)
        self.records = aligned(NEURONS * (rows.shape[1] + columns.shape[1])).reshape(NEURONS, -1)
        self.records[self.places] = np.concatenate([rows, columns], axis=1)
        self.slots = np.zeros(layer_slots.LAYER_SLOTS, np.int64)
        self.slots[layer_slots.RECORDS] = self.records.ctypes.data
        self.slots[layer_slots.RECORD_BYTES] = self.records.shape[1]
        self.slots[layer_slots.COLUMN] = rows.shape[1]
        self.slots[layer_slots.PLACES] = self.places.ctypes.data
        self.slots[layer_slots.SCALES] = self.scales.ctypes.data
        self.slots[layer_slots.LIMIT] = limit
        self.scratch_bytes = layout.lines(sparse.sparse_scratch_bytes(DIM, NEURONS))
        self.scratch = aligned(SHARES * self.scratch_bytes)

    def scratch_operands(self):
        return self.scratch.ctypes.data, self.scratch_bytes, self.slots.ctypes.data


def columns_of_row(pool, x, copies=1):
    """A row as columns, with a copy for each share."""
    buffer = aligned(column_buffer_bytes(1, x.size) + copies * x.size // 32 * SINGLE_BYTES)
    run(pool, None, (quantize, (x.ctypes.data, buffer.ctypes.data, x.size, x.size)))
    return buffer


def chosen(how_many):
    """Neurons, spread at random."""
    return RNG.permutation(NEURONS)[:how_many]


@pytest.mark.parametrize("bits", BITS)
def test_rows_and_columns_stand_for_the_same_weights(bits):
    data = packed(bits, DIM, NEURONS)
    quants, _ = quants_and_scales(data, bits, DIM, NEURONS)
    columns, by_block = layout.columns_of(data, bits, DIM, NEURONS)
    assert columns.shape == (NEURONS, layout.column_bytes(bits, DIM))
    assert by_block.nbytes == layout.scale_bytes(bits, NEURONS, DIM)
    weights = unpack_matrix(data, bits, DIM, NEURONS)
    for neuron, output in ((0, 0), (37, 1), (NEURONS - 1, DIM - 1), (64, 100)):
        chunk, inside = divmod(output, CHUNK)
        at = 16 * (inside % 16 // 4) + 4 * (inside // 16) + inside % 4
        size = CHUNK // 2 if bits == 4 else CHUNK
        stored = columns[neuron, chunk * size : (chunk + 1) * size]
        quant = stored[at % size] >> 4 * (at // size) & 15 if bits == 4 else stored[at]
        assert quant == quants[output, neuron]
        kinds = by_block.astype(np.float32)[neuron // 32, :, output]
        second = kinds[-1]
        if bits == 8:
            expected = kinds[0] * (np.float32(quant) - 128)
        elif bits == 6:
            expected = (second if neuron % 32 >= 16 else kinds[0]) * (np.float32(quant) - 32)
        else:
            expected = kinds[0] * quant + second
        assert np.isclose(weights[output, neuron], expected, rtol=1e-6)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("active", [0, 1, 15, 48, NEURONS - 1, NEURONS])
def test_down_of_active_is_the_dense_product(pool, path, bits, active):
    layer = Layer(8, bits)
    x = np.zeros(NEURONS, np.float32)
    where = chosen(active)
    signs = np.where(RNG.random(active) < 0.5, 1, -1)
    x[where] = signs * RNG.uniform(0.5, 4, active)  # none is rounded to zero
    columns, bias = columns_of_row(pool, x), RNG.normal(size=DIM).astype(np.float32)
    before = RNG.normal(size=DIM).astype(np.float32)
    dense, ours = before.copy(), before.copy()
    sizes = (NEURONS, DIM)
    fixed = (layer.down.ctypes.data, columns.ctypes.data, dense.ctypes.data, *sizes, DIM, 1, bits)
    run(pool, path, (matmul, (*fixed, 0, bias.ctypes.data)))
    weights = (layer.down.ctypes.data, bits, *layer.scratch_operands(), bias.ctypes.data)
    operands = (columns.ctypes.data, 0, ours.ctypes.data, *sizes, 1, *weights)
    run(pool, path, (sparse.down_of_active, operands))
    check_same(ours, dense, path, bits)
    assert layer.slots[layer_slots.ACTIVE_COLUMNS] == active
    assert layer.slots[layer_slots.STEPS] == 1


def check_same(ours, dense, path, bits):
    """To the last bit; the portable path adds two halves of 6 bits before the block's sum."""
    if path == "portable" and bits == 6:
        np.testing.assert_allclose(ours, dense, rtol=1e-5, atol=1e-5 * np.abs(dense).max())
    else:
        np.testing.assert_array_equal(ours, dense)


KINDS = [
    activations.RELU,
    activations.SQUARED_RELU,
    activations.DOUBLE_RELU,
    activations.PREDICTED_RELU,
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("bits", "kind"), [*((8, kind) for kind in KINDS), *((bits, KINDS[0]) for bits in BITS[:3])]
)
@pytest.mark.parametrize(("active", "limit"), [(0, 80), (1, 80), (33, 80), (80, 80), (150, 80)])
@pytest.mark.parametrize("biased", [False, True])
def test_up_of_active_is_the_dense_block(pool, path, bits, kind, active, limit, biased):
    """Also when more are active than pays: then everything is read."""
    layer = Layer(bits, 8, limit)
    x = RNG.normal(size=DIM).astype(np.float32)
    own, both = columns_of_row(pool, x, SHARES), np.full(2 * NEURONS, np.nan, np.float32)
    both[:NEURONS] = -RNG.random(NEURONS) - 0.1
    both[chosen(active)] = RNG.random(active) + 0.1
    dense, ours = both.copy(), both.copy()
    expected, made = (aligned(column_buffer_bytes(1, NEURONS)) for _ in range(2))
    up = dense.ctypes.data + 4 * NEURONS
    bias = RNG.normal(size=NEURONS).astype(np.float32)
    bias_address = bias.ctypes.data if biased else 0
    sizes = (DIM, NEURONS, 2 * NEURONS, 0, bits, 1, bias_address)
    multiply = (layer.up.ctypes.data, own.ctypes.data, up, *sizes)
    activate = (dense.ctypes.data, expected.ctypes.data, NEURONS, kind, 1)
    run(pool, path, (matmul, multiply), (activations.activate_quantize, activate))
    weights = (layer.up.ctypes.data, bits, *layer.scratch_operands(), bias_address)
    addresses = (ours.ctypes.data, own.ctypes.data, made.ctypes.data)
    run(pool, path, (sparse.up_of_active, (*addresses, DIM, NEURONS, kind, *weights)))
    np.testing.assert_array_equal(np.abs(ours[NEURONS:]), np.abs(dense[:NEURONS]))
    ours_, theirs = (
        one[: NEURONS // 32 * SINGLE_BYTES].reshape(-1, 64) for one in (made, expected)
    )
    np.testing.assert_array_equal(ours_[:, :48], theirs[:, :48])
    assert layer.slots[layer_slots.ACTIVE_GATES] == active
