"""What goes into matrix products, summed up: squares of activations by input column.

Operations of `kernels.program` that only look on; they stand before a product whose inputs are
wanted. Columns are shared among threads.
"""

from typing import Any

from engine.kernels.intrinsics import floats, integers
from engine.kernels.program import ROWS, share


def add_squares(operands: Any, step: Any, part: int, parts: int) -> None:
    """total[i] += Σ over rows of x[row, i]².

    operands: address of x float32, floats from a row of x to the next, inputs, address of the
    total float32 (inputs,), whether each share has a row of its own if it is a single one.
    """
    inputs, rows = operands[2], step[ROWS]
    start = operands[0] + (4 * operands[1] * part if rows == 1 and operands[4] != 0 else 0)
    total = floats(operands[3], inputs)
    first, last = share(inputs, part, parts)
    for row in range(rows):
        x = floats(start + 4 * row * operands[1], inputs)
        for i in range(first, last):
            total[i] += x[i] * x[i]


def add_squares_of_chosen(operands: Any, step: Any, part: int, parts: int) -> None:
    """total[expert, i] += Σ over the items that chose the expert of x[i]².

    operands: as of `add_squares`, the total float32 (experts, inputs); address of the choices,
    experts, experts used, items that share a row of x (see kernels.experts).
    """
    inputs, used, sharing = operands[2], operands[6], operands[7]
    total = floats(operands[3], (operands[5], inputs))
    choices = integers(operands[4], step[ROWS] * used)
    first, last = share(inputs, part, parts)
    for item in range(step[ROWS] * used):
        x = floats(operands[0] + 4 * (item // sharing) * operands[1], inputs)
        expert = choices[item]
        for i in range(first, last):
            total[expert, i] += x[i] * x[i]
