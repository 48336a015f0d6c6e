"""What a predictor would be worth for a shape, if it listed little more than what fires.

Its matrices are random, as the model's are: it lists LISTED times as many neurons as are to fire,
and a bias makes the others of these negative. Says nothing of whether a real one could be so good;
`hubd model calibrate` tells that of a model.
"""

import statistics
from pathlib import Path

import msgspec
import numpy as np

from engine.benchmarks._blocks import biased, feed_forward, matrices, ratio
from engine.benchmarks._random_model import DIM, FFN_DIM, GATE_DEVIATION
from engine.calibration.prediction import Fit, write_predictor
from engine.kernels.program import Program
from engine.model import Model

LISTED = 1.3
"""Neurons listed for one that fires: two trained models list 0.9 to 1.2 at a recall of 90 %."""


class PredictedPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A share of zeros with a predictor; speed-ups are medians of the turns' ratios."""

    rank: int
    listed: float
    """Share of all neurons, as counted."""
    ffn_speedup: float
    """Over dense,"""
    ffn_speedup_over_sparse: float
    """and over leaving out zeros alone."""
    token_speedup: float
    token_speedup_over_sparse: float


def write_random_predictor(path: Path, model: Model, rank: int) -> None:
    """Scores of deviation 1 for inputs that are normed."""
    random = np.random.default_rng(1)
    inner = random.normal(0, DIM**-0.5, (rank, DIM)).astype(np.float32)
    outer = random.normal(0, rank**-0.5, (FFN_DIM, rank)).astype(np.float32)
    one = Fit(inner, outer, np.zeros(FFN_DIM, np.float32))
    write_predictor(path, model, [one] * model.config.layers)


class Biases:
    """Biases that make a model with a random predictor list and fire as wanted."""

    def __init__(self, zeros: float) -> None:
        """zeros: share of the neurons that shall not fire."""
        normal, listed = statistics.NormalDist(), min(0.999, LISTED * (1 - zeros))
        fires = (1 - zeros) / listed
        self.scores = np.full(FFN_DIM, normal.inv_cdf(listed), np.float32)
        self.sums = np.full(FFN_DIM, GATE_DEVIATION * normal.inv_cdf(fires), np.float32)


def predicted_programs(model: Model, biases: Biases) -> tuple[Program, Program]:
    """Block and token of a model with a predictor."""
    assert model.alone is not None
    assert model.predictor is not None
    guesses = [model.predictor.guess(layer) for layer in range(model.config.layers)]
    token = biased(model.alone, matrices(model, "ffn_up"), biases.sums.ctypes.data)
    token = biased(token, [one.outer.address for one in guesses], biases.scores.ctypes.data)
    firsts, lasts = [one.inner.address for one in guesses], matrices(model, "ffn_down")
    return feed_forward(token, firsts, lasts), token


def point(
    model: Model, ffn: tuple[list[float], ...], token: tuple[list[float], ...]
) -> PredictedPoint:
    """ffn, token: seconds of the turns of dense, sparse and predicted."""
    assert model.neurons is not None
    assert model.predictor is not None
    return PredictedPoint(
        rank=model.predictor.rank,
        listed=statistics.mean(layer.rows for layer in model.neurons.activity()),
        ffn_speedup=ratio(ffn[0], ffn[2]),
        ffn_speedup_over_sparse=ratio(ffn[1], ffn[2]),
        token_speedup=ratio(token[0], token[2]),
        token_speedup_over_sparse=ratio(token[1], token[2]),
    )
