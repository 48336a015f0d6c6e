"""Gates that are read by halves are those of the dense product, or negative as these are."""

import numpy as np
import pytest

from engine.formats.packed import Blocks, pack, quantize_blocks, unpack
from engine.kernels import dispatch, layer_slots
from engine.kernels.columns import SINGLE_BYTES, column_buffer_bytes
from engine.kernels.elementwise import quantize
from engine.kernels.gates import (
    PAUSE,
    PIECE,
    decide_on_halves,
    gate_scratch_bytes,
    gates_by_halves,
    settle_gates,
)
from engine.kernels.matmul import matmul
from engine.kernels.program import ROWS, STEP_SLOTS, Program
from engine.sparsity import layout
from engine.threads import ThreadPool

PATHS = dispatch.available_paths()
DIM, NEURONS, SHARES = 320, PIECE + 160, 2
RNG = np.random.default_rng(41)


@pytest.fixture(scope="module")
def pool():
    made = ThreadPool(SHARES)
    yield made
    made.close()


def aligned(size):
    room = np.full(size + 64, 0xFF, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + size]


def kept(data):
    out = aligned(data.nbytes)
    out[:] = data.reshape(-1).view(np.uint8)
    return out


class Gates:
    """A random gate with all that its operations need."""

    def __init__(self, blocks, shift):
        self.whole = kept(pack(blocks))
        upper, deviations = layout.upper_halves(self.whole, NEURONS, DIM)
        self.upper, self.deviations = kept(upper), deviations
        self.rows = kept(layout.rows_of(self.whole, 8, NEURONS, DIM))
        self.bias = (RNG.normal(size=NEURONS) * 0.1 - shift).astype(np.float32)
        self.slots = np.zeros(layer_slots.LAYER_SLOTS, np.int64)
        self.slots[layer_slots.UPPER] = self.upper.ctypes.data
        self.slots[layer_slots.GATE_ROWS] = self.rows.ctypes.data
        self.slots[layer_slots.GATE_ROW_BYTES] = layout.row_bytes(8, DIM)
        self.slots[layer_slots.DEVIATIONS] = self.deviations.ctypes.data
        self.slots[layer_slots.OPEN_LIMIT] = NEURONS
        self.size = layout.lines(gate_scratch_bytes(DIM))
        self.scratch = aligned(SHARES * self.size)

    def made(self, pool, path, x, *operations):
        """float32 (neurons,): what the operations, those of halves unless told, leave."""
        columns = aligned(column_buffer_bytes(1, DIM) + SHARES * DIM // 32 * SINGLE_BYTES)
        gate = np.full(NEURONS, np.nan, np.float32)
        program, step = Program(), np.zeros(STEP_SLOTS, np.int64)
        step[ROWS] = 1
        program.add(quantize, x.ctypes.data, columns.ctypes.data, DIM, DIM)
        addresses = (columns.ctypes.data, gate.ctypes.data)
        read = (self.whole.ctypes.data, self.bias.ctypes.data, self.slots.ctypes.data)
        for operation in operations or (gates_by_halves, settle_gates):
            if operation is matmul:
                sizes = (DIM, NEURONS, NEURONS, 0, 8, 1, self.bias.ctypes.data)
                program.add(matmul, read[0], *addresses, *sizes)
            else:
                scratch = (self.scratch.ctypes.data, self.size)
                program.add(operation, *addresses, DIM, NEURONS, *read, *scratch)
        pool.run(program.table(lambda function: dispatch.compile_operation(function, path)), step)
        return gate


def random_gates(shift):
    values = RNG.normal(size=(NEURONS, DIM)) / np.sqrt(DIM)
    return Gates(quantize_blocks(values.astype(np.float32)), shift)


def row():
    return RNG.normal(size=DIM).astype(np.float32)


def test_upper_halves_stand_for_the_weights_but_for_their_deviation():
    gates = random_gates(0)
    weights = unpack(gates.whole, 8, NEURONS, DIM)
    left = weights - unpack(gates.upper, 4, NEURONS, DIM)
    np.testing.assert_allclose(gates.deviations, np.sqrt(np.square(left).mean(axis=1)), rtol=1e-4)
    assert np.abs(left).max() < 15 * np.abs(weights).max() / 127
    by_block = left.reshape(NEURONS, -1, 32).mean(axis=2)
    assert np.abs(by_block).max() < 0.05 * gates.deviations.mean()  # nothing is left in the mean


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("shift", [-9.0, 0.0, 1.3, 9.0])
def test_what_may_be_positive_has_the_bits_of_the_dense_product(pool, path, shift):
    gates, x = random_gates(shift), row()
    dense, ours = gates.made(pool, path, x, matmul), gates.made(pool, path, x)
    settled = ours == dense
    assert settled[dense > 0].all()
    assert (ours[~settled] < 0).all()
    assert gates.slots[layer_slots.OPEN] >= settled.sum() - 1  # one may have come out the same
    assert gates.slots[layer_slots.STRAYED] == 0
    if shift == 9.0:  # all of them are far below zero: that is known by their halves
        assert gates.slots[layer_slots.OPEN] == 0
    if shift == -9.0:
        assert gates.slots[layer_slots.OPEN] == NEURONS


@pytest.mark.parametrize("path", PATHS)
def test_gates_that_are_read_whole_are_the_dense_product(pool, path):
    gates, x = random_gates(1.3), row()
    gates.slots[layer_slots.WHOLE] = 3
    np.testing.assert_array_equal(gates.made(pool, path, x), gates.made(pool, path, x, matmul))
    assert gates.slots[layer_slots.OPEN] == 0


def test_no_activations_no_gate_but_the_bias(pool):
    gates = random_gates(0)
    ours = gates.made(pool, None, np.zeros(DIM, np.float32))
    np.testing.assert_array_equal(ours, gates.bias)


def test_remainders_that_go_with_the_input_are_noticed(pool):
    """Lower halves that are no random numbers, and an input that they all agree with."""
    signs = np.where(RNG.random(DIM) < 0.5, 1, -1)
    lower = np.where(signs > 0, 15, 0)
    upper = RNG.integers(-7, 7, (NEURONS, DIM))
    quants = (16 * upper + lower).reshape(NEURONS, -1, 32).astype(np.int8)
    scales = np.full((NEURONS, DIM // 32), 0.01, np.float16)
    gates = Gates(Blocks(8, quants, scales), 0)
    gates.made(pool, None, signs.astype(np.float32))
    assert gates.slots[layer_slots.STRAYED] == 1
    decide_on_halves(gates.slots)
    assert gates.slots[layer_slots.WHOLE] == layer_slots.ALWAYS
    for _ in range(2 * PAUSE):
        decide_on_halves(gates.slots)
    assert gates.slots[layer_slots.WHOLE] == layer_slots.ALWAYS


def test_a_layer_whose_gates_are_mostly_open_is_tried_again_after_a_pause(pool):
    gates = random_gates(0)
    gates.slots[layer_slots.OPEN_LIMIT] = NEURONS // 10
    gates.made(pool, None, row())
    assert gates.slots[layer_slots.OPEN] > NEURONS // 10
    decide_on_halves(gates.slots)
    assert gates.slots[layer_slots.WHOLE] == PAUSE
    for _ in range(PAUSE):
        assert gates.slots[layer_slots.WHOLE] > 0
        decide_on_halves(gates.slots)
    assert gates.slots[layer_slots.WHOLE] == 0
    assert gates.slots[layer_slots.HALVED] == 1
    assert gates.slots[layer_slots.OPENED] > NEURONS // 10
