"""Which inputs of each matrix matter: mean squared activations over a text.

An error of a weight moves the output by the error times its input, so the weights of columns with
large inputs are the ones to keep exact (AWQ, Lin et al. 2023; llama.cpp's importance matrix). The
sums are taken by operations that stand in the forward pass itself.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.model import Model
from engine.tokenizer import Tokenizer

WINDOW = 512
"""Tokens that are read as one sequence."""
MAX_WINDOWS = 256
_LEAST_TOKENS = 64

Importance = dict[str, NDArray[np.float32]]
"""Tensor name → float32 (experts, inputs) of mean 1 for every expert; one expert for most."""


class SquaredInputs:
    """Sums that a forward pass adds to."""

    def __init__(self) -> None:
        self._sums: dict[str, NDArray[np.float32]] = {}
        self._totals: dict[str, NDArray[np.float64]] = {}

    def sums(self, name: str, experts: int, inputs: int) -> int:
        """Address of float32 (experts, inputs) for a matrix."""
        self._sums[name] = np.zeros((experts, inputs), np.float32)
        self._totals[name] = np.zeros((experts, inputs))
        return self._sums[name].ctypes.data

    def collect(self) -> None:
        """Take what a step has summed: a few thousand squares are exact enough in float32."""
        for name, sums in self._sums.items():
            self._totals[name] += sums
            sums[:] = 0

    def importance(self) -> Importance:
        """What has been collected. An expert that nobody chose is important everywhere alike."""
        found = {}
        for name, total in self._totals.items():
            mean = total.mean(axis=1, keepdims=True)
            scaled = np.divide(total, mean, out=np.ones_like(total), where=mean > 0)
            found[name] = scaled.astype(np.float32)
        return found


def measure(model: Model, tokens: NDArray[np.int32]) -> Importance:
    """The importance of every matrix of the layers for this text."""
    observer = SquaredInputs()
    show = model.observed(observer)
    window = min(WINDOW, model.config.context_length)
    for start in range(0, tokens.size, window):
        show(tokens[start : start + window])
        observer.collect()
    return observer.importance()


def importance_of_text(path: Path, text: Path, threads: int | None = None) -> Importance:
    """The importance of a model file's matrices for a UTF-8 text file.

    Of a long text the first 131 072 tokens count. Raises EngineError for a text that is too short,
    ModelFormatError or OSError.
    """
    words = text.read_text(encoding="utf-8", errors="replace")
    model = Model.load(path, context_length=WINDOW, threads=threads)
    try:
        tokenizer = Tokenizer(model.gguf.metadata)
        ids = tokenizer.encode(words, add_special=False)[: MAX_WINDOWS * WINDOW]
        if len(ids) < _LEAST_TOKENS:
            raise EngineError(
                f"{text.name} has {len(ids)} tokens; at least {_LEAST_TOKENS}, better thousands,"
                " are needed to tell what matters"
            )
        return measure(model, np.asarray(ids, np.int32))
    finally:
        model.close()
