"""What goes on in a model's feed-forward blocks while it reads a text."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.buffers import MAX_ROWS
from engine.calibration.measure import Tokens
from engine.kernels.activations import activate_quantize
from engine.kernels.elementwise import keep_rows
from engine.kernels.intrinsics import floats
from engine.kernels.program import ROWS, Program, share
from engine.kernels.sparse import activate_drop_quantize
from engine.model import Model

Floats = NDArray[np.float32]


def copy_rows(operands: Any, step: Any, part: int, parts: int) -> None:
    """Operation: target[row] = x[row].

    operands: address of x float32, floats from a row of x to the next, inputs, address of the
    target float32 (rows, inputs).
    """
    rows, inputs = step[ROWS], operands[2]
    target = floats(operands[3], (rows, inputs))
    first, last = share(rows, part, parts)
    for row in range(first, last):
        x = floats(operands[0] + 4 * row * operands[1], inputs)
        for i in range(inputs):
            target[row, i] = x[i]


def pieces(model: Model, tokens: Tokens) -> list[Tokens]:
    """The text in sequences that the model takes at once."""
    size = min(MAX_ROWS, model.config.context_length)
    return [tokens[start : start + size] for start in range(0, tokens.size, size)]


def read_with(model: Model, program: Program, tokens: Tokens) -> None:
    """Have the model read tokens, a sequence of its own and at most MAX_ROWS, with a program."""
    before, skipped = model.program, model.skips
    model.use_program(program)
    try:
        model.forward(tokens, model.new_cache())
    finally:
        model.use_program(before)
        model.skips = skipped


def operations_on_all_rows(program: Program) -> Iterator[tuple[Any, list[int], int]]:
    """The operations of a program with what follows them, but for the one that drops rows whose
    results nobody wants."""
    return (step for step in program.steps() if step[0] is not keep_rows)


class Watcher:
    """Activations of every layer's neurons, as they go into the down projection."""

    def __init__(self, model: Model, program: Program) -> None:
        """program: one of the model's; what it computes is not changed."""
        self._model = model
        c = model.config
        self._values = np.zeros((c.layers, MAX_ROWS, c.ffn_dim), np.float32)
        self._program, layer = Program(), 0
        for operation, operands, barrier in operations_on_all_rows(program):
            self._program.add(operation, *operands, barrier=barrier)
            if operation in (activate_quantize, activate_drop_quantize):
                target = self._values[layer].ctypes.data
                self._program.add(copy_rows, operands[0], 2 * c.ffn_dim, c.ffn_dim, target)
                layer += 1
                if layer == c.layers:
                    break  # there is room for the results of wanted rows only

    def watch(self, tokens: Tokens) -> Floats:
        """float32 (layers, rows, neurons): a view that the next call writes over.

        tokens: a sequence of its own, at most MAX_ROWS.
        """
        read_with(self._model, self._program, tokens)
        return self._values[:, : tokens.size]


class BlockWatcher:
    """What every layer's feed-forward block has before its activation, in models whose blocks begin
    with a norm: "inputs" (dim,), "gates" (neurons,) and "ups" (neurons,).

    Without a gate, "gates" are what the up projection gives; with a predictor they are its scores.
    """

    def __init__(self, model: Model, program: Program, wanted: Sequence[str]) -> None:
        """program: one of the model's; what it computes is not changed."""
        self._model, c = model, model.config
        sizes = {"inputs": c.dim, "gates": c.ffn_dim, "ups": c.ffn_dim}
        self._seen = {
            name: np.zeros((c.layers, MAX_ROWS, sizes[name]), np.float32) for name in wanted
        }
        self._program, layer = Program(), 0
        for operation, operands, barrier in operations_on_all_rows(program):
            if operation is activate_quantize:
                sources = {
                    "inputs": (model.block_inputs, c.dim),
                    "gates": (operands[0], 2 * c.ffn_dim),
                    "ups": (operands[0] + 4 * c.ffn_dim, 2 * c.ffn_dim),
                }
                for name, target in self._seen.items():
                    self._program.add(
                        copy_rows, *sources[name], sizes[name], target[layer].ctypes.data
                    )
                layer += 1
                if layer == c.layers:
                    break  # there is room for the results of wanted rows only
            self._program.add(operation, *operands, barrier=barrier)

    def read(self, tokens: Tokens) -> Iterator[dict[str, Floats]]:
        """What was wanted, piece by piece of the text: float32 (layers, tokens, …), views that the
        next piece writes over."""
        for piece in pieces(self._model, tokens):
            if piece.size > 1:  # of a row alone each thread has inputs of its own
                read_with(self._model, self._program, piece)
                yield {name: seen[:, : piece.size] for name, seen in self._seen.items()}
