"""Where the time of a step goes, operation by operation.

Between the operations of a program, others are put that write down the time. What lies between two
of them is what threads do in a decoded token without waiting for each other: one operation or
several.
"""

import re
from typing import Any

import msgspec
import numpy as np
from numba import types

from engine.kernels.elementwise import embed
from engine.kernels.program import BARRIER, Program
from engine.model import Model

_MONOTONIC = 1  # CLOCK_MONOTONIC; a call takes about 25 ns
_clock = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.int64))


def write_time(operands: Any, step: Any, thread: int, threads: int) -> None:
    """Operation: the time, as seconds and nanoseconds, to address `operands[0]`."""
    if thread == 0:
        _clock(np.int32(_MONOTONIC), operands[0])


class OperationTime(msgspec.Struct):
    """One kind of operation in one step: all layers together."""

    name: str
    """The operations, and in brackets the tensors that they take, without their layers."""
    count: int
    seconds: float
    weight_bytes: int
    """Bytes of matrices that it reads once, in the layout of the kernels."""


class Stopwatch:
    """Makes a model write down when each operation of a step with logits has ended."""

    def __init__(self, model: Model) -> None:
        self._model, self._whole = model, model.program
        self._groups: list[tuple[str, int]] = []
        steps = self._whole.steps()
        self._times = np.zeros((len(steps) + 1, 2), np.int64)
        program = Program()
        program.add(write_time, self._times.ctypes.data)
        group: list[tuple[Any, list[int]]] = []
        for operation, operands, barrier in steps:
            program.add(operation, *operands, barrier=barrier)
            group.append((operation, operands))
            if barrier == BARRIER:
                self._groups.append(self._describe(group))
                program.add(write_time, self._times[len(self._groups)].ctypes.data)
                group = []
        model.use_program(program)

    def read(self) -> list[OperationTime]:
        """Of the last step, slowest first; together they are the step."""
        moments = self._times[:, 0] * 1_000_000_000 + self._times[:, 1]
        found: dict[str, OperationTime] = {}
        for index, (name, size) in enumerate(self._groups):
            one = found.setdefault(name, OperationTime(name, 0, 0.0, 0))
            one.count += 1
            one.seconds += float(moments[index + 1] - moments[index]) / 1e9
            one.weight_bytes += size
        return sorted(found.values(), key=lambda one: -one.seconds)

    def remove(self) -> None:
        """Let the model compute as before."""
        self._model.use_program(self._whole)
        self._model.skips = True

    def _describe(self, group: list[tuple[Any, list[int]]]) -> tuple[str, int]:
        """Name of operations that run together, and the bytes of the matrices among them."""
        names, tensors, size = [], [], 0
        for operation, operands in group:
            names.append(operation.__name__)
            for operand in operands:
                tensor = self._model.weights.tensor_at(operand)
                if tensor is None:
                    continue
                tensors.append(re.sub(r"^blk\.\d+\.|\.weight$", "", tensor[0]))
                if operation is not embed:  # that reads a row of it
                    size += tensor[1]
        brackets = f" ({', '.join(tensors)})" if tensors else ""
        return " + ".join(dict.fromkeys(names)) + brackets, size
