"""What it is worth to skip what is zero, by share of zeros or for a model.

    hubd bench sparsity MODEL.gguf [--calibrated] [--text FILE] [--threads 2] [--json]
    hubd bench sparsity --shape 1b-gated|1b-ungated [--zeros 0.5 0.67 0.8 0.9 0.95] [--out FOLDER]

Dense and sparse take turns in one process, so that a noisy neighbour hits both; figures are
medians, and speed-ups medians of the turns' ratios. A shape is a model of random 8-bit weights, a
bias of whose gates makes as many of them negative as is wanted. With --out, the result and a plot
are written there.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from engine.benchmarks._blocks import biased, feed_forward, matrices, ratio, seconds
from engine.benchmarks._machine import Machine, this_machine
from engine.benchmarks._plot import Line, plot
from engine.benchmarks._predicted import (
    Biases,
    PredictedPoint,
    point,
    predicted_programs,
    write_random_predictor,
)
from engine.benchmarks._random_model import (
    FFN_DIM,
    GATE_DEVIATION,
    SHAPES,
    Shape,
    write_random_model,
)
from engine.calibration.measure import alternately, decode_seconds, perplexity, text_tokens
from engine.errors import EngineError
from engine.kernels.dispatch import choose_path
from engine.kernels.program import Program
from engine.model import Model
from engine.protocol import LayerActivity
from engine.sparsity.calibrated import Sparsity, calibrated

ZEROS = [0.5, 0.67, 0.8, 0.9, 0.95]


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A share of zeros; times in seconds, medians."""

    wanted_zeros: float
    zeros: float
    """As counted in the down projections' inputs."""
    ffn_dense_s: float
    ffn_sparse_s: float
    ffn_speedup: float
    ffn_ideal: float
    """If nothing but the bytes of weights took time."""
    token_dense_s: float
    token_sparse_s: float
    token_speedup: float
    predicted: PredictedPoint | None = None


class ShapeResult(msgspec.Struct, frozen=True, kw_only=True):
    """All shares of zeros of a shape."""

    shape: str
    layers: int
    machine: Machine
    kernels: str
    threads: int
    rounds: int
    points: list[Point]


class ModelResult(msgspec.Struct, frozen=True, kw_only=True):
    """A model with and without skipping."""

    model: str
    calibrated: bool
    machine: Machine
    kernels: str
    threads: int
    layers: list[LayerActivity]
    """Shares that decoded tokens needed."""
    ffn_bytes_dense: int
    """Of feed-forward weights that a token reads,"""
    ffn_bytes_sparse: float
    """and without what is skipped."""
    dense_tokens_per_s: float
    sparse_tokens_per_s: float
    token_speedup: float
    perplexity_dense: float | None = None
    perplexity_sparse: float | None = None


def measure_point(
    models: Sequence[Model],
    dense: Program,
    shape: Shape,
    zeros: float,
    given: argparse.Namespace,
) -> Point:
    """Dense and sparse, block and token, at one share of zeros.

    models: one, and the same with a predictor if there is one; dense: the first one's program.
    """
    model = models[0]
    assert model.alone is not None
    assert model.neurons is not None
    shift = statistics.NormalDist(0, GATE_DEVIATION).inv_cdf(zeros)
    bias, biases = np.full(FFN_DIM, -shift, np.float32), Biases(zeros)
    gates, lasts = matrices(model, shape.gate), matrices(model, "ffn_down")
    tokens = [biased(one, gates, bias.ctypes.data) for one in (dense, model.alone)]
    programs = [(model, (feed_forward(one, gates, lasts), one)) for one in tokens]
    programs += [(one, predicted_programs(one, biases)) for one in models[1:]]
    turns = [partial(seconds, m, pair[i], given.tokens) for i in (0, 1) for m, pair in programs]
    for one in models:
        assert one.neurons is not None
        one.neurons.forget_activity()
    times = alternately(turns, given.rounds)
    ffn, token = tuple(times[: len(programs)]), tuple(times[len(programs) :])
    active = statistics.mean(layer.columns for layer in model.neurons.activity())
    count = 3 if shape.gate == "ffn_gate" else 2
    median = statistics.median
    return Point(
        wanted_zeros=zeros,
        zeros=1 - active,
        ffn_dense_s=median(ffn[0]),
        ffn_sparse_s=median(ffn[1]),
        ffn_speedup=ratio(ffn[0], ffn[1]),
        ffn_ideal=count / (1 + (count - 1) * active),
        token_dense_s=median(token[0]),
        token_sparse_s=median(token[1]),
        token_speedup=ratio(token[0], token[1]),
        predicted=point(models[1], ffn, token) if models[1:] else None,
    )


def run_shape(given: argparse.Namespace) -> ShapeResult:
    """Write a random model, measure it, and leave nothing behind."""
    machine, shape = this_machine(), SHAPES[given.shape]
    points, models = [], []
    with tempfile.TemporaryDirectory(dir=given.cache_directory) as name:
        folder = Path(name)
        write_random_model(folder / "random.gguf", shape, given.layers)

        def load(sparsity: Sparsity) -> Model:
            return Model.load(
                folder / "random.gguf",
                threads=given.threads,
                context_length=256,
                cache_directory=folder,
                sparsity=sparsity,
            )

        try:
            models.append(load(Sparsity()))
            if given.predictor is not None:
                write_random_predictor(folder / "predictor.gguf", models[0], given.predictor)
                models.append(load(Sparsity(predictor=folder / "predictor.gguf")))
            dense = models[0].program
            for zeros in given.zeros:
                points.append(measure_point(models, dense, shape, zeros, given))
                print(report_point(points[-1]), file=sys.stderr, flush=True)
        finally:
            for model in models:
                model.close()
    return ShapeResult(
        shape=given.shape,
        layers=given.layers,
        machine=machine,
        kernels=choose_path(),
        threads=given.threads,
        rounds=given.rounds,
        points=points,
    )


def run_model(given: argparse.Namespace) -> ModelResult:
    """Measure a model file."""
    machine = this_machine()
    sparsity = calibrated(given.model) if given.calibrated else Sparsity()
    model = Model.load(
        given.model,
        threads=given.threads,
        context_length=1024,
        cache_directory=given.cache_directory,
        sparsity=sparsity,
    )
    try:
        if model.neurons is None:
            raise EngineError(
                f"{given.model.name} has no zeros to skip: its activation is"
                f" {model.config.activation.name}; see `hubd model calibrate`"
            )
        turns = [partial(decode_seconds, model, skips, given.tokens) for skips in (False, True)]
        decode_seconds(model, True, 4)
        model.neurons.forget_activity()
        dense, sparse = alternately(turns, given.rounds)
        layers, read = model.neurons.activity(), model.neurons.bytes_per_token()
        result = ModelResult(
            model=given.model.name,
            calibrated=given.calibrated,
            machine=machine,
            kernels=choose_path(),
            threads=model.threads,
            layers=layers,
            ffn_bytes_dense=model.neurons.dense_bytes(),
            ffn_bytes_sparse=read,
            dense_tokens_per_s=1 / statistics.median(dense),
            sparse_tokens_per_s=1 / statistics.median(sparse),
            token_speedup=ratio(dense, sparse),
        )
        if given.text is None:
            return result
        return with_perplexity(result, model, given.text)
    finally:
        model.close()


def with_perplexity(result: ModelResult, model: Model, text: Path) -> ModelResult:
    """The result with what skipping costs on a text: nothing, unless small things are skipped."""
    tokens = text_tokens(model, text)
    dense = perplexity(model, tokens)
    sparse = perplexity(model, tokens, model.sparsity.thresholds, model.predictor)
    return msgspec.structs.replace(result, perplexity_dense=dense, perplexity_sparse=sparse)


def report_point(p: Point) -> str:
    """A line for people."""
    line = (
        f"{p.zeros:6.1%} zeros: block {1000 * p.ffn_dense_s:7.2f} to {1000 * p.ffn_sparse_s:7.2f}"
        f" ms, {p.ffn_speedup:.2f} x (ideal {p.ffn_ideal:.2f}); token"
        f" {1000 * p.token_dense_s:7.2f} to {1000 * p.token_sparse_s:7.2f} ms,"
        f" {p.token_speedup:.2f} x"
    )
    if (g := p.predicted) is None:
        return line
    return (
        f"{line}; with a predictor that lists {g.listed:.1%}: block {g.ffn_speedup:.2f} x,"
        f" {g.ffn_speedup_over_sparse:.2f} x sparse, token {g.token_speedup:.2f} x,"
        f" {g.token_speedup_over_sparse:.2f} x sparse"
    )


def report_model(r: ModelResult) -> str:
    """For people."""
    rows = " ".join(f"{1 - layer.rows:.0%}" for layer in r.layers)
    columns = " ".join(f"{1 - layer.columns:.0%}" for layer in r.layers)
    lines = [
        f"{r.model}: {r.threads} threads, {r.kernels} kernels",
        str(r.machine),
        "",
        f"rows skipped, by layer:    {rows}",
        f"columns skipped, by layer: {columns}",
        f"feed-forward weights read by a token: {r.ffn_bytes_sparse / 1e6:.1f} MB of"
        f" {r.ffn_bytes_dense / 1e6:.1f}",
        f"decode {r.dense_tokens_per_s:.1f} tokens/s dense, {r.sparse_tokens_per_s:.1f} sparse:"
        f" {r.token_speedup:.2f} x",
    ]
    if r.perplexity_dense is not None and r.perplexity_sparse is not None:
        cost = r.perplexity_sparse / r.perplexity_dense - 1
        lines.append(f"perplexity {r.perplexity_dense:.3f}, {r.perplexity_sparse:.3f}: {cost:+.2%}")
    return "\n".join(lines)


def picture(r: ShapeResult) -> str:
    """Speed over the share of zeros."""
    matrices = 3 if SHAPES[r.shape].gate == "ffn_gate" else 2
    shares = [i / 50 for i in range(51)]
    ideal = [(z, matrices / (1 + (matrices - 1) * (1 - z))) for z in shares]
    lines = [
        Line("block, bytes alone", ideal, "#8c959f", dashed=True),
        Line("block", [(p.zeros, p.ffn_speedup) for p in r.points], "#1f6feb"),
        Line("whole token", [(p.zeros, p.token_speedup) for p in r.points], "#1a7f37"),
    ]
    title = f"{r.shape}, {r.threads} threads: sparse over dense"
    return plot(title, "zeros among the neurons", lines, 3.0)


def main() -> int:
    """The command line; gives the exit code. An error is one line, never a traceback."""
    parser = argparse.ArgumentParser(
        prog="hubd bench sparsity", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("model", type=Path, nargs="?", help="a GGUF file")
    parser.add_argument("--shape", choices=SHAPES, help="random weights in place of a model")
    parser.add_argument("--calibrated", action="store_true", help="skip what calibration allows")
    parser.add_argument("--text", type=Path, help="UTF-8 text for perplexity")
    parser.add_argument("--zeros", type=float, nargs="+", default=ZEROS, help="shares, 0 to 1")
    parser.add_argument("--layers", type=int, default=16, help="of a shape")
    parser.add_argument("--predictor", type=int, metavar="RANK", help="of 1b-ungated, also tried")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--tokens", type=int, default=6, help="of a turn")
    parser.add_argument("--rounds", type=int, default=7, help="turns of dense and of sparse")
    parser.add_argument("--out", type=Path, help="folder for the result and the plot")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--cache-directory", type=Path, help="where packed weights are kept")
    given = parser.parse_args()
    if (given.model is None) == (given.shape is None):
        parser.error("a model file or --shape is needed, not both")
    if not all(0 < share < 1 for share in given.zeros) or min(given.rounds, given.tokens) < 1:
        parser.error("--zeros are between 0 and 1, --rounds and --tokens at least 1")
    if given.predictor is not None and given.shape != "1b-ungated":
        parser.error("--predictor is for --shape 1b-ungated")
    try:
        result = run_shape(given) if given.shape else run_model(given)
    except (EngineError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    text = msgspec.json.encode(result).decode()
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        name = f"sparsity-{given.shape or given.model.stem}"
        (given.out / f"{name}.json").write_text(msgspec.json.format(text) + "\n")
        if isinstance(result, ShapeResult):
            (given.out / f"{name}.svg").write_text(picture(result))
    if given.json:
        print(text)
    elif isinstance(result, ModelResult):
        print(report_model(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
