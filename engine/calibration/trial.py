"""Whether a predictor pays for a model on this machine: made, and measured before it is kept.

It has to cost no more perplexity than is allowed, to read less than it saves, and to decode faster
than leaving out zeros alone does.
"""

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from engine.calibration.measure import Tokens, alternately, decode_seconds, perplexity, silent
from engine.calibration.prediction import (
    RECALLS,
    Fit,
    Moments,
    Point,
    as_computed,
    bytes_read,
    fit,
    moments,
    ranks_for,
    survey,
    up_projection,
    write_predictor,
)
from engine.model import Model
from engine.sparsity.calibrated import Calibration, Prediction, Sparsity
from engine.sparsity.predictor import Predictor

Load = Callable[[Sparsity], Model]

LEAST_SPEEDUP = 1.03
"""Less than that is not to be told from noise."""
_TOKENS, _ROUNDS = 32, 9


class Candidate(NamedTuple):
    """A predictor that is within what may be lost of perplexity."""

    predictor: Predictor
    perplexity: float
    recall: list[float]
    listed: list[float]
    read: float
    """Bytes, against those of all up projections."""


class Tried(NamedTuple):
    """What came of it."""

    prediction: Prediction | None
    """None if it does not pay."""
    perplexity: float | None
    told: str
    """The figures, for people."""


def candidate(
    model: Model, tokens: tuple[Tokens, Tokens], dense: float, budget: float, path: Path
) -> Candidate | str:
    """The predictor that reads least of those that are affordable, written to `path`; or why there
    is none.

    tokens: to choose with and to measure with; dense: perplexity without it; budget: by which part
    that may rise.
    """
    two_thirds = tokens[0].size * 2 // 3
    about = moments(model, tokens[0][:two_thirds])
    surveyed = survey(model, about, tokens[0][two_thirds:])
    ranks, cost = ranks_for(model), 0.0
    for index, recall in enumerate(RECALLS):
        reads = [
            bytes_read(model, rank, [layer[at][index].listed for layer in surveyed])
            for at, rank in enumerate(ranks)
        ]
        at = int(np.argmin(reads))
        if reads[at] >= 1:
            return (
                f"to find {recall:.1%} of the neurons that fire it would have to read"
                f" {reads[at]:.2f} of what all rows take"
            )
        chosen = [layer[at][index] for layer in surveyed]
        write_predictor(path, model, _fits(model, about, ranks[at], chosen))
        where = (model.config, model.content_hash, None, silent)
        predictor = Predictor(path, *where)
        found = perplexity(model, tokens[1], predictor=predictor)
        cost = found / dense - 1
        if cost <= budget:
            found_there, listed = as_computed(model, predictor, tokens[1])
            read = bytes_read(model, ranks[at], listed)
            return Candidate(predictor, found, found_there, listed, read)
    return f"even at {RECALLS[-1]:.1%} recall it costs {cost:.1%} of perplexity"


def _fits(model: Model, about: Sequence[Moments], rank: int, chosen: Sequence[Point]) -> list[Fit]:
    """Of every layer, with the scores raised as was chosen."""
    fits = []
    for layer, (one, point) in enumerate(zip(about, chosen, strict=True)):
        (found,) = fit(one, *up_projection(model, layer), [rank])
        fits.append(found._replace(bias=found.bias + np.float32(point.slack)))
    return fits


def speedup(load: Load, calibration: Calibration, predictor: Path) -> float:
    """Decoded tokens/s of a model with a predictor over those without, in turns."""
    models: list[Model] = []
    try:
        for sparsity in (Sparsity(True, calibration), Sparsity(True, calibration, predictor)):
            models.append(load(sparsity))
        turns = [partial(decode_seconds, model, True, _TOKENS) for model in models]
        alternately(turns, 1)
        without, with_it = alternately(turns, _ROUNDS)
    finally:
        for model in models:
            model.close()
    return statistics.median(a / b for a, b in zip(without, with_it, strict=True))


def tried(
    model: Model,
    calibration: Calibration,
    tokens: tuple[Tokens, Tokens],
    budget: float,
    path: Path,
    load: Load,
) -> Tried:
    """Make a predictor for a model, try it, and say what came of it.

    calibration, tokens: the model's, and the text in two parts, to choose with and to measure with;
    budget: by which part perplexity may rise; path: where to write the predictor; load: the same
    model as it is to be used.
    """
    dense = calibration.perplexity_dense
    found = candidate(model, tokens, dense, budget, path)
    if isinstance(found, str):
        return Tried(None, None, f"no predictor: {found}")
    gain = speedup(load, calibration, path)
    told = (
        f"rank {found.predictor.rank}, recall {_shares(found.recall)}, neurons listed"
        f" {_shares(found.listed)}; it reads {found.read:.2f} of what all rows take; perplexity"
        f" {dense:.3f} to {found.perplexity:.3f} ({found.perplexity / dense - 1:+.2%}); decoding is"
        f" {gain:.2f} times as fast as without it"
    )
    if gain < LEAST_SPEEDUP:
        return Tried(None, None, f"no predictor, it does not pay here: {told}")
    made = Prediction(
        content_hash=found.predictor.content_hash,
        rank=found.predictor.rank,
        recall=found.recall,
        listed=found.listed,
        speedup=gain,
    )
    return Tried(made, found.perplexity, f"predictor: {told}")


def with_prediction(calibration: Calibration, result: Tried) -> Calibration:
    """The calibration with what was found."""
    if result.prediction is None or result.perplexity is None:
        return calibration
    return msgspec.structs.replace(
        calibration, predictor=result.prediction, perplexity_sparse=result.perplexity
    )


def _shares(values: Sequence[float]) -> str:
    return " ".join(f"{value:.1%}" for value in values)
