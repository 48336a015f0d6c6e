"""Makes a predictor of which neurons will be positive, out of a text that the model reads.

For a layer with W · x + b before the activation, it is the W of a low rank whose error over the
text's x is least: reduced-rank regression (Izenman 1975), in closed form. With C the covariance of
x, and U the first `rank` left singular vectors of N = √C · Wᵀ,

    Win = Uᵀ · C^(-1/2),    Wout = (Uᵀ · N)ᵀ.

What is left out of a neuron's sum has a deviation that follows from the same. Scores are sums in
units of that, raised by as much as it takes to find the wanted part of the neurons that fire.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.calibration.measure import Tokens
from engine.calibration.watching import BlockWatcher, Floats
from engine.formats import q8_0
from engine.formats.packed import BLOCK, unpack
from engine.gguf_writer import NewTensor, pair, write_gguf
from engine.model import Model
from engine.sparsity.predictor import CONTENT_HASH, Predictor, highest_rank, tensor_names

RECALLS = (0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
"""Parts of the neurons that fire, one of which is to be found; loosest first."""
_RIDGE = 1e-3
"""Of the mean variance, added to each: a short text does not span all directions."""
_LEAST, _TINY = 1e-4, 1e-12
"""A deviation is at least a hundredth of what it is of, and no zero: scores stay in half floats."""
_SAMPLE = 7
"""Every so manieth token's scores are looked at."""


class Moments(NamedTuple):
    """Of the inputs of a layer's feed-forward block."""

    mean: Floats
    """(dim,)"""
    covariance: Floats
    """(dim, dim)"""


class Fit(NamedTuple):
    """score = outer · (inner · x) + bias + slack of the layer."""

    inner: Floats
    """(rank, dim)"""
    outer: Floats
    """(neurons, rank)"""
    bias: Floats
    """(neurons,)"""


class Point(NamedTuple):
    """What a fit does on text that it was not made with."""

    slack: float
    """By how much scores are raised,"""
    recall: float
    """for this part of the neurons that fire to be found;"""
    listed: float
    """this part of all neurons is then expected to fire."""


def moments(model: Model, tokens: Tokens) -> list[Moments]:
    """Of every layer, over a text."""
    c = model.config
    sums = np.zeros((c.layers, c.dim))
    squares = np.zeros((c.layers, c.dim, c.dim), np.float32)
    count = 0
    for seen in BlockWatcher(model, model.program, ["inputs"]).read(tokens):
        inputs = seen["inputs"]
        sums += inputs.sum(axis=1)
        for square, x in zip(squares, inputs, strict=True):
            square += x.T @ x
        count += inputs.shape[1]
    means = (sums / count).astype(np.float32)
    return [
        Moments(mean, square / np.float32(count) - np.outer(mean, mean))
        for mean, square in zip(means, squares, strict=True)
    ]


def up_projection(model: Model, layer: int) -> tuple[Floats, Floats]:
    """float32 (neurons, dim) and the bias (neurons,)."""
    c, name = model.config, f"blk.{layer}.ffn_up"
    bits = model.weights.matrix(f"{name}.weight").bits
    weights = unpack(model.weights.packed(f"{name}.weight"), bits, c.ffn_dim, c.dim)
    if f"{name}.bias" not in model.weights:
        return weights, np.zeros(c.ffn_dim, np.float32)
    return weights, model.weights.packed(f"{name}.bias").view(np.float32)


def fit(about: Moments, weights: Floats, bias: Floats, ranks: Sequence[int]) -> list[Fit]:
    """The best predictor of each rank for W · x + b; weights: (neurons, dim)."""
    size = len(about.mean)
    ridge = _RIDGE * np.trace(about.covariance) / size
    variances, axes = np.linalg.eigh(about.covariance + ridge * np.eye(size, dtype=np.float32))
    root = np.sqrt(np.maximum(variances, ridge)).astype(np.float32)
    whole = (axes * root) @ (axes.T @ weights.T)  # N
    _, vectors = np.linalg.eigh(whole @ whole.T)
    total = np.square(whole).sum(axis=0)
    fits = []
    for rank in ranks:
        chosen = vectors[:, ::-1][:, :rank]
        inner = chosen.T @ (axes / root) @ axes.T
        outer = (chosen.T @ whole).T
        left = np.sqrt(np.maximum(total - np.square(outer).sum(axis=1), _LEAST * total + _TINY))
        bias_left = weights @ about.mean + bias - outer @ (inner @ about.mean)
        fits.append(Fit(inner, outer / left[:, None], bias_left / left))
    return fits


def stored(found: Fit) -> Fit:
    """With the weights as the file will have them."""
    inner, outer = (
        q8_0.dequantize(q8_0.quantize(part), part.shape) for part in (found.inner, found.outer)
    )
    return Fit(inner, outer, found.bias)


def points(found: Fit, inputs: Floats, fires: NDArray[np.bool_]) -> list[Point]:
    """What a fit finds at each of RECALLS, of a layer's inputs (tokens, dim) that it was not made
    with; fires: (tokens, neurons)."""
    scores = inputs @ found.inner.T @ found.outer.T + found.bias
    firing = scores[fires]
    made = []
    for recall in RECALLS:
        slack = -float(np.quantile(firing, 1 - recall)) if firing.size else 0.0
        listed = scores > -slack
        part = np.count_nonzero(listed & fires) / max(1, firing.size)
        made.append(Point(slack, part, float(listed.mean())))
    return made


def ranks_for(model: Model) -> list[int]:
    """Ranks that are tried: a 16th of the width to a quarter, in whole blocks."""
    wanted = (model.config.dim // part // BLOCK * BLOCK for part in (16, 8, 4))
    return sorted({min(max(BLOCK, rank), highest_rank(model.config)) for rank in wanted})


def survey(model: Model, about: Sequence[Moments], tokens: Tokens) -> list[list[list[Point]]]:
    """For each layer, rank and recall what could be had, on tokens that `about` is not of."""
    watcher = BlockWatcher(model, model.program, ["inputs", "gates"])
    inputs, fires = [], []
    for seen in watcher.read(tokens):
        inputs.append(seen["inputs"][:, ::_SAMPLE].copy())
        fires.append(seen["gates"][:, ::_SAMPLE] > 0)
    x, fired = np.concatenate(inputs, axis=1), np.concatenate(fires, axis=1)
    ranks = ranks_for(model)
    return [
        [
            points(stored(one), x[layer], fired[layer])
            for one in fit(about[layer], *up_projection(model, layer), ranks)
        ]
        for layer in range(model.config.layers)
    ]


def bytes_read(model: Model, rank: int, listed: Sequence[float]) -> float:
    """Bytes that the predictor and the rows that it lists take of a token, against those of all up
    projections."""
    c = model.config
    sizes = [model.weights.packed(f"blk.{i}.ffn_up.weight").size for i in range(c.layers)]
    own = (c.dim + c.ffn_dim) * rank * (1 + 2 / BLOCK) + 4 * c.ffn_dim
    rows = sum(size * share for size, share in zip(sizes, listed, strict=True))
    return float((own * c.layers + rows) / sum(sizes))


def write_predictor(path: Path, model: Model, fits: Sequence[Fit]) -> None:
    """The file of a predictor, of weights in 8 bits."""
    tensors, data = [], []
    for layer, one in enumerate(fits):
        inner, outer, bias = tensor_names(layer)
        for name, values in ((inner, one.inner), (outer, one.outer)):
            tensors.append(NewTensor(name, values.shape, "Q8_0"))
            data.append([q8_0.quantize(np.ascontiguousarray(values, np.float32)).tobytes()])
        tensors.append(NewTensor(bias, one.bias.shape, "F32"))
        data.append([one.bias.astype("<f4").tobytes()])
    pairs = [pair("general.architecture", "predictor"), pair(CONTENT_HASH, model.content_hash)]
    with path.open("wb") as file:
        write_gguf(file, pairs, tensors, data)


def as_computed(
    model: Model, predictor: Predictor, tokens: Tokens
) -> tuple[list[float], list[float]]:
    """Of each layer, recall and the share of neurons listed, as the kernels compute them."""
    c = model.config
    listed, fired, both = (np.zeros(c.layers) for _ in range(3))
    count = 0
    program = model.with_zeros(None, predictor)
    for seen in BlockWatcher(model, program, ["gates", "ups"]).read(tokens):
        expected, fires = seen["gates"] > 0, seen["ups"] > 0
        listed += np.count_nonzero(expected, axis=(1, 2))
        fired += np.count_nonzero(fires, axis=(1, 2))
        both += np.count_nonzero(expected & fires, axis=(1, 2))
        count += expected.shape[1] * c.ffn_dim
    return (both / np.maximum(fired, 1)).tolist(), (listed / count).tolist()
