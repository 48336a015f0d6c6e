"""What tests of kernels share: memory, random numbers, and one operation run on all threads."""

import numpy as np

from engine.kernels import dispatch
from engine.kernels import program as p
from engine.kernels.program import STEP_SLOTS, Program

PATHS = dispatch.available_paths()
RNG = np.random.default_rng(11)


def aligned(size):
    """uint8 (size,) on a cache line, filled with what would be NaN as floats."""
    room = np.full(size + 64, 0xFF, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + size]


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def run(pool, operation, operands, path=None, **slots):
    """Run one operation on all threads of the pool; of an array in a slot, its address."""
    program = Program()
    program.add(operation, *operands)
    step = np.zeros(STEP_SLOTS, np.int64)
    for name, value in slots.items():
        address = value.ctypes.data if isinstance(value, np.ndarray) else value
        step[getattr(p, name.upper())] = address
    pool.run(program.table(lambda function: dispatch.compile_operation(function, path)), step)
    return step


def float_bits(value):
    return int(np.float32(value).view(np.int32))
