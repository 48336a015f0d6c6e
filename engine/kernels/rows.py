"""Small operations on rows of floats: scales, caps, learned positions.

Each is an operation of `kernels.program`; rows are shared among threads.
"""

from typing import Any

import numpy as np

from engine.formats.packed import BLOCK
from engine.kernels.arithmetic import hyperbolic_tangent
from engine.kernels.intrinsics import bits_to_float, floats, integers
from engine.kernels.program import LOGITS, POSITIONS, ROWS, share
from engine.kernels.unpacking import unpack_row


def add_scaled(operands: Any, step: Any, part: int, parts: int) -> None:
    """x += factor · y.

    operands: address of x and of y float32 (rows, dim), dim, bits of the float32 factor.
    """
    rows, dim = step[ROWS], operands[2]
    factor = bits_to_float(np.int32(operands[3]))
    x, y = floats(operands[0], rows * dim), floats(operands[1], rows * dim)
    first, last = share(rows * dim, part, parts)
    for i in range(first, last):
        x[i] += factor * y[i]


def scale(operands: Any, step: Any, part: int, parts: int) -> None:
    """x *= factor.

    operands: address of x float32 (rows, dim), dim, bits of the float32 factor.
    """
    size, factor = step[ROWS] * operands[1], bits_to_float(np.int32(operands[2]))
    x = floats(operands[0], size)
    first, last = share(size, part, parts)
    for i in range(first, last):
        x[i] *= factor


def scale_logits(operands: Any, step: Any, part: int, parts: int) -> None:
    """logits = cap · tanh(factor · logits / cap), or factor · logits without a cap (0).

    operands: floats of a row of logits, bits of the float32 factor, of the float32 cap.
    """
    size = step[ROWS] * operands[0]
    factor, cap = bits_to_float(np.int32(operands[1])), bits_to_float(np.int32(operands[2]))
    logits = floats(step[LOGITS], size)
    first, last = share(size, part, parts)
    for i in range(first, last):
        logits[i] *= factor
        if cap > np.float32(0.0):
            logits[i] = cap * hyperbolic_tangent(logits[i] / cap)


def add_positions(operands: Any, step: Any, part: int, parts: int) -> None:
    """x[row] += the embedding of the row's position.

    operands: address of the packed table, its bits, its row for position 0, address of x float32
    (rows, dim), of room for as much, dim.
    """
    rows, dim = step[ROWS], operands[5]
    x, room = floats(operands[3], (rows, dim)), floats(operands[4], (rows, dim))
    positions = integers(step[POSITIONS], rows)
    first, last = share(rows, part, parts)
    for row in range(first, last):
        entry = operands[2] + positions[row]
        unpack_row(operands[0], operands[1], dim // BLOCK, entry, room[row])
        for i in range(dim):
            x[row, i] += room[row, i]
