"""Programs of a random model changed for measuring: as many zeros as are wanted, blocks alone."""

import statistics
import time
from collections.abc import Collection, Sequence

import numpy as np

from engine.kernels.gates import gates_by_halves, settle_gates
from engine.kernels.matmul import matmul
from engine.kernels.program import Program
from engine.kernels.sparse import up_of_active
from engine.model import Model

_BIAS = {matmul: (0, 9), gates_by_halves: (4, 5), settle_gates: (4, 5), up_of_active: (6, 11)}
"""Operation → which of its operands are the matrix, and the bias."""
_CONTEXT = 16


def biased(program: Program, matrices: Collection[int], bias: int) -> Program:
    """The program with a bias float32 at an address in the product of each of these matrices."""
    made = Program()
    for operation, operands, barrier in program.steps():
        matrix, place = _BIAS.get(operation, (0, 0))
        if place and operands[matrix] in matrices:
            operands = [*operands[:place], bias, *operands[place + 1 :]]
        made.add(operation, *operands, barrier=barrier)
    return made


def feed_forward(program: Program, firsts: Sequence[int], lasts: Sequence[int]) -> Program:
    """What a program does from the norm before each layer's block to its last product.

    firsts, lasts: of each layer, addresses of the block's first matrix and of its last. Each token
    is embedded before: blocks that went on from their own results would settle on another share of
    zeros.
    """
    made, steps = Program(), program.steps()
    embed, operands, barrier = steps[0]
    made.add(embed, *operands, barrier=barrier)
    at = 0
    for first, last in zip(firsts, lasts, strict=True):
        while first not in steps[at + 1][1]:
            at += 1
        while True:
            operation, operands, barrier = steps[at]
            made.add(operation, *operands, barrier=barrier)
            at += 1
            if last in operands:
                break
    return made


def matrices(model: Model, name: str) -> list[int]:
    """Addresses of a matrix of each layer."""
    return [model.weights.matrix(f"blk.{i}.{name}.weight").address for i in layers_of(model)]


def layers_of(model: Model) -> range:
    """Numbers of its layers."""
    return range(model.config.layers)


def seconds(model: Model, program: Program, tokens: int) -> float:
    """Of a token, decoded with a program."""
    model.use_program(program)
    cache = model.new_cache()
    ids = np.arange(1, tokens + _CONTEXT + 1, dtype=np.int32)
    for one in ids[:2]:
        model.forward(one[None], cache)  # first touches do not count
    start = time.perf_counter()
    for one in ids[:tokens]:
        model.forward(one[None], cache)
    return (time.perf_counter() - start) / tokens


def ratio(slow: Sequence[float], fast: Sequence[float]) -> float:
    """The median of the turns' ratios."""
    return statistics.median(s / f for s, f in zip(slow, fast, strict=True))
