"""Finds out what a model's neurons do for a text: how often they fire, and what may be left out.

    hubd model calibrate MODEL [--target-sparsity P] [--max-perplexity-increase X] [--text FILE]

A model with zeros of its own (ReLU) only gets its neurons in order, which changes no answer. In
others small activations are made zero (TEAL, Liu et al. 2024): for each layer there is a magnitude
below which a share P of the inputs of its down projection lies. What that costs is measured on text
that nothing was chosen with, and a calibration that costs too much is not saved.
"""

import argparse
import os
import pydoc_data.topics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.architectures.family import Activation
from engine.buffers import MAX_ROWS
from engine.errors import EngineError
from engine.gguf import ModelFormatError
from engine.kernels.activations import activate_quantize
from engine.kernels.intrinsics import floats
from engine.kernels.program import ROWS, Program, share
from engine.kernels.sparse import activate_drop_quantize
from engine.model import Model
from engine.sparsity.calibrated import Calibration, CalibrationError, Sparsity, path_beside
from engine.sparsity.measure import WINDOW, Tokens, perplexity, text_tokens
from engine.sparsity.neurons import COLUMNS_BREAK_EVEN, can_skip, has_zeros

DEFAULT_BUDGET = 0.02
"""Of perplexity: what may be lost if nobody says."""
_WINDOWS = 24
"""Of the text: every third is for measuring what it costs, the others for choosing."""
_SAMPLE = 61
"""Every so manieth magnitude is looked at: primes do not beat against widths."""
_STEPS = 5
"""Halvings of the interval in which the largest affordable share of zeros is looked for."""


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


class Watcher:
    """Activations of every layer's neurons, as they go into the down projection."""

    def __init__(self, model: Model, program: Program) -> None:
        """program: one of the model's; what it computes is not changed."""
        self._model = model
        c = model.config
        self._values = np.zeros((c.layers, MAX_ROWS, c.ffn_dim), np.float32)
        self._program, layer = Program(), 0
        for operation, operands, barrier in program.steps():
            self._program.add(operation, *operands, barrier=barrier)
            if operation in (activate_quantize, activate_drop_quantize):
                target = self._values[layer].ctypes.data
                self._program.add(copy_rows, operands[0], 2 * c.ffn_dim, c.ffn_dim, target)
                layer += 1

    def watch(self, tokens: Tokens) -> NDArray[np.float32]:
        """float32 (layers, rows, neurons): a view that the next call writes over.

        tokens: a sequence of its own, at most MAX_ROWS.
        """
        before, skipped = self._model.program, self._model.skips
        self._model.use_program(self._program)
        try:
            self._model.forward(tokens, self._model.new_cache())
        finally:
            self._model.use_program(before)
            self._model.skips = skipped
        return self._values[:, : tokens.size]


def pieces(model: Model, tokens: Tokens) -> list[Tokens]:
    """The text in sequences that the model takes at once."""
    size = min(MAX_ROWS, model.config.context_length)
    return [tokens[start : start + size] for start in range(0, tokens.size, size)]


def magnitudes(model: Model, tokens: Tokens) -> NDArray[np.float32]:
    """A sample of the magnitudes of every layer's activations, sorted: float32 (layers, n)."""
    watcher = Watcher(model, model.program)
    samples = []
    for piece in pieces(model, tokens):
        values = watcher.watch(piece)
        samples.append(np.abs(values.reshape(len(values), -1)[:, ::_SAMPLE]))
    found: NDArray[np.float32] = np.sort(np.concatenate(samples, axis=1), axis=1)
    return found


def thresholds_at(samples: NDArray[np.float32], share: float) -> list[float]:
    """For each layer the magnitude below which this share of its activations lies."""
    index = min(int(share * samples.shape[1]), samples.shape[1] - 1)
    return [float(value) for value in samples[:, index]]


def firing(model: Model, tokens: Tokens, thresholds: Sequence[float] | None) -> NDArray[np.float64]:
    """float64 (layers, neurons): for what share of the tokens each neuron is not zero."""
    program = model.thresholded(thresholds) if thresholds else model.program
    watcher = Watcher(model, program)
    counts = np.zeros((model.config.layers, model.config.ffn_dim))
    for piece in pieces(model, tokens):
        counts += np.count_nonzero(watcher.watch(piece), axis=1)
    return counts / tokens.size


def split(tokens: Tokens) -> tuple[Tokens, Tokens]:
    """To choose with, and to measure with: every third window."""
    windows = [tokens[start : start + WINDOW] for start in range(0, tokens.size, WINDOW)]
    if len(windows) < 3:
        raise EngineError(
            f"the text has {tokens.size} tokens; at least {2 * WINDOW + 1} are needed, better ten"
            " times as many"
        )
    measured = windows[2::3]
    chosen = [window for index, window in enumerate(windows) if index % 3 != 2]
    return np.concatenate(chosen), np.concatenate(measured)


def choose(
    model: Model, tokens: tuple[Tokens, Tokens], target: float | None, budget: float, dense: float
) -> tuple[list[float], float]:
    """Thresholds that cost no more than the budget, and the perplexity with them.

    tokens: to choose with and to measure with; target: the share of zeros that is wanted, None for
    as many as can be afforded. Raises CalibrationError if it cannot be afforded.
    """
    samples = magnitudes(model, tokens[0])

    def at(share: float) -> tuple[list[float], float]:
        thresholds = thresholds_at(samples, share)
        return thresholds, perplexity(model, tokens[1], thresholds)

    if target is not None:
        found = at(target)
        _require_affordable(found[1], dense, budget, target)
        return found
    low, high = 1 - COLUMNS_BREAK_EVEN, 0.95  # with fewer zeros than that nothing is faster
    found = at(low)
    _require_affordable(found[1], dense, budget, low)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        tried = at(middle)
        if tried[1] <= dense * (1 + budget):
            low, found = middle, tried
        else:
            high = middle
    return found


def _require_affordable(sparse: float, dense: float, budget: float, share: float) -> None:
    cost = sparse / dense - 1
    if cost > budget:
        raise CalibrationError(
            f"zeros of {share:.0%} would cost {cost:.1%} of perplexity ({dense:.2f} to"
            f" {sparse:.2f}), more than the {budget:.1%} allowed: nothing is saved. Ask for fewer"
            f" with --target-sparsity (with less than {1 - COLUMNS_BREAK_EVEN:.0%} nothing is"
            " faster), or allow more with --max-perplexity-increase"
        )


def calibrate(
    model: Model, tokens: Tokens, target: float | None = None, budget: float = DEFAULT_BUDGET
) -> Calibration:
    """Watch a model that skips nothing read a text.

    target: the share of zeros, None for as many as the budget allows; budget: by which part
    perplexity may rise. A model with zeros of its own keeps them and gets no others. Raises
    CalibrationError if it would cost too much, or if there is nothing to skip.
    """
    if model.sparsity.zeros:
        raise ValueError("a model that is loaded to skip nothing is expected")
    zeros = has_zeros(model.config)
    if not can_skip(model.config, model.weights, thresholds=True):
        raise CalibrationError(
            "this model has nothing that could be skipped: it is a mixture of experts, has float32"
            " weights, or a width that is no multiple of 64"
        )
    if zeros and target is not None:
        raise CalibrationError(
            f"this model has zeros of its own ({Activation(model.config.activation).name}):"
            " calibrate it without --target-sparsity"
        )
    chosen, measured = split(tokens)
    dense = perplexity(model, measured)
    thresholds: list[float] = []
    sparse = dense
    if not zeros:
        thresholds, sparse = choose(model, (chosen, measured), target, budget, dense)
    rates = firing(model, chosen, thresholds)
    return Calibration(
        content_hash=model.content_hash,
        thresholds=thresholds,
        order=[np.argsort(-rate, kind="stable").tolist() for rate in rates],
        tokens=int(chosen.size),
        zeros=[float(1 - rate.mean()) for rate in rates],
        perplexity_dense=dense,
        perplexity_sparse=sparse,
    )


def save(calibration: Calibration, model: Path) -> Path:
    """Write it beside the model file, whole or not at all; gives where."""
    path = path_beside(model)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(calibration))
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def run(given: argparse.Namespace) -> str:
    """Calibrate a model file and save what was found; gives the report."""
    dense = Sparsity(zeros=False)
    model = Model.load(
        given.model,
        threads=given.threads,
        context_length=WINDOW,
        activation=given.activation,
        sparsity=dense,
    )
    try:
        with tempfile.TemporaryDirectory() as folder:
            text = given.text or Path(folder) / "text"
            if given.text is None:
                text.write_text("\n\n".join(pydoc_data.topics.topics.values()), encoding="utf-8")
            tokens = text_tokens(model, text, _WINDOWS * WINDOW)
        found = calibrate(model, tokens, given.target_sparsity, given.max_perplexity_increase)
    finally:
        model.close()
    path = save(found, given.model)
    cost = found.perplexity_sparse / found.perplexity_dense - 1
    zeros = " ".join(f"{share:.0%}" for share in found.zeros)
    return (
        f"zeros by layer: {zeros}\n"
        f"perplexity: {found.perplexity_dense:.3f} dense, {found.perplexity_sparse:.3f} with them"
        f" ({cost:+.2%})\n"
        f'saved: {path}\nuse it: set sparsity = "calibrated" under [engine]'
    )


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def main() -> int:
    """The command line; gives the exit code. An error is one line, never a traceback."""
    parser = argparse.ArgumentParser(
        prog="hubd model calibrate", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--target-sparsity", type=_share, help="share of zeros, 0 to 1")
    parser.add_argument(
        "--max-perplexity-increase",
        type=_share,
        default=DEFAULT_BUDGET,
        help=f"part by which perplexity may rise (default: {DEFAULT_BUDGET})",
    )
    parser.add_argument("--text", type=Path, help="UTF-8 text (default: Python's documentation)")
    parser.add_argument("--activation", help="as [engine] activation")
    parser.add_argument("--threads", type=int, help="compute threads (default: all cores)")
    try:
        print(run(parser.parse_args()))
    except (EngineError, ModelFormatError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
