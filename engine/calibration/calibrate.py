"""Finds out what a model's neurons do for a text: how often they fire, and what may be left out.

    hubd model calibrate MODEL [--target-sparsity P] [--max-perplexity-increase X] [--text FILE]

A model with zeros of its own (ReLU) only gets its neurons in order, which changes no answer. In
others small activations are made zero (TEAL, Liu et al. 2024): for each layer there is a magnitude
below which a share P of the inputs of its down projection lies. What that costs is measured on text
that nothing was chosen with, and a calibration that costs too much is not saved. For models with
plain ReLU and no gate a predictor is made and tried besides (see `engine.calibration.trial`).
"""

import argparse
import os
import pydoc_data.topics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.architectures.family import Activation
from engine.calibration.measure import WINDOW, Tokens, perplexity, text_tokens
from engine.calibration.trial import tried, with_prediction
from engine.calibration.watching import Watcher, pieces
from engine.errors import EngineError
from engine.gguf import ModelFormatError
from engine.model import Model
from engine.sparsity.calibrated import (
    Calibration,
    CalibrationError,
    Sparsity,
    path_beside,
    predictor_beside,
)
from engine.sparsity.neurons import COLUMNS_BREAK_EVEN, can_skip, has_zeros
from engine.sparsity.predictor import can_predict

DEFAULT_BUDGET = 0.02
"""Of perplexity: what may be lost if nobody says."""
_WINDOWS = 24
"""Of the text: every third is for measuring what it costs, the others for choosing."""
_SAMPLE = 61
"""Every so manieth magnitude is looked at: primes do not beat against widths."""
_STEPS = 5
"""Halvings of the interval in which the largest affordable share of zeros is looked for."""


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
    program = model.with_zeros(thresholds) if thresholds else model.program
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


def save(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def save_calibration(calibration: Calibration, model: Path) -> Path:
    """Write it beside the model file; gives where. Without a predictor, an older one goes."""
    path = path_beside(model)
    save(path, msgspec.json.encode(calibration))
    if calibration.predictor is None:
        predictor_beside(model).unlink(missing_ok=True)
    return path


def run(given: argparse.Namespace) -> str:
    """Calibrate a model file and save what was found; gives the report."""
    model = _load(given, Sparsity(zeros=False), None)
    try:
        with tempfile.TemporaryDirectory() as folder:
            text = given.text or Path(folder) / "text"
            if given.text is None:
                text.write_text("\n\n".join(pydoc_data.topics.topics.values()), encoding="utf-8")
            tokens = text_tokens(model, text, _WINDOWS * WINDOW)
        found = calibrate(model, tokens, given.target_sparsity, given.max_perplexity_increase)
        about = [f"zeros by layer: {' '.join(f'{share:.0%}' for share in found.zeros)}"]
        if can_predict(model.config, model.family, model.weights):
            found, told = _with_predictor(given, model, found, tokens)
            about.append(told)
    finally:
        model.close()
    path = save_calibration(found, given.model)
    cost = found.perplexity_sparse / found.perplexity_dense - 1
    about += [
        f"perplexity: {found.perplexity_dense:.3f} dense, {found.perplexity_sparse:.3f} with them"
        f" ({cost:+.2%})",
        f"saved: {path}",
        'use it: set sparsity = "calibrated" under [engine]',
    ]
    return "\n".join(about)


def _load(given: argparse.Namespace, sparsity: Sparsity, folder: Path | None) -> Model:
    return Model.load(
        given.model,
        threads=given.threads,
        context_length=WINDOW,
        cache_directory=folder,
        activation=given.activation,
        sparsity=sparsity,
    )


def _with_predictor(
    given: argparse.Namespace, model: Model, found: Calibration, tokens: Tokens
) -> tuple[Calibration, str]:
    """The calibration with a predictor, saved beside the model, if one pays; and what was tried.

    The models that decode in turns share their packed weights in a folder beside the model.
    """
    with tempfile.TemporaryDirectory(dir=given.model.parent, prefix=".calibrate-") as name:
        made = Path(name) / "predictor.gguf"
        both, budget = split(tokens), given.max_perplexity_increase

        def load(sparsity: Sparsity) -> Model:
            return _load(given, sparsity, Path(name))

        result = tried(model, found, both, budget, made, load)
        if result.prediction is not None:
            save(predictor_beside(given.model), made.read_bytes())
    return with_prediction(found, result), result.told


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
