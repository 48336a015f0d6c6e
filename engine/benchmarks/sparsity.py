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
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from engine.benchmarks._machine import Machine, this_machine
from engine.benchmarks._plot import Line, plot
from engine.benchmarks._random_model import (
    FFN_DIM,
    GATE_DEVIATION,
    SHAPES,
    Shape,
    write_random_model,
)
from engine.errors import EngineError
from engine.kernels.dispatch import choose_path
from engine.kernels.matmul import matmul
from engine.kernels.program import Program
from engine.model import Model
from engine.protocol import LayerActivity
from engine.sparsity.calibrated import Sparsity, read_calibration
from engine.sparsity.measure import perplexity, text_tokens

ZEROS = [0.5, 0.67, 0.8, 0.9, 0.95]
_BIAS = 9  # of the operands of a matrix product
_CONTEXT = 16


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


def biased(program: Program, model: Model, gate: str, bias: int) -> Program:
    """The program with a bias in every gate's product."""
    made = Program()
    gates = {model.weights.matrix(f"blk.{i}.{gate}.weight").address for i in _layers(model)}
    for operation, operands, barrier in program.steps():
        if operation is matmul and operands[0] in gates:
            operands = [*operands[:_BIAS], bias]
        made.add(operation, *operands, barrier=barrier)
    return made


def feed_forward(program: Program, model: Model, gate: str) -> Program:
    """What a program does from each layer's second norm to its down projection.

    Each token is embedded before: blocks that went on from their own results would settle on
    another share of zeros.
    """
    made, steps = Program(), program.steps()
    embed, operands, barrier = steps[0]
    made.add(embed, *operands, barrier=barrier)
    at = 0
    for layer in _layers(model):
        first = model.weights.matrix(f"blk.{layer}.{gate}.weight").address
        last = model.weights.matrix(f"blk.{layer}.ffn_down.weight").address
        while first not in steps[at + 1][1]:
            at += 1
        while True:
            operation, operands, barrier = steps[at]
            made.add(operation, *operands, barrier=barrier)
            at += 1
            if last in operands:
                break
    return made


def _layers(model: Model) -> range:
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


def alternately(turns: Sequence[Callable[[], float]], rounds: int) -> list[list[float]]:
    """Seconds of each of some functions, which take turns."""
    found: list[list[float]] = [[] for _ in turns]
    for _ in range(rounds):
        for times, turn in zip(found, turns, strict=True):
            times.append(turn())
    return found


def ratio(dense: list[float], sparse: list[float]) -> float:
    """The median of the turns' ratios."""
    return statistics.median(d / s for d, s in zip(dense, sparse, strict=True))


def measure_point(
    model: Model, dense: Program, shape: Shape, zeros: float, given: argparse.Namespace
) -> Point:
    """Dense and sparse, block and token, at one share of zeros; dense: the model's program."""
    assert model.alone is not None
    assert model.neurons is not None
    shift = statistics.NormalDist(0, GATE_DEVIATION).inv_cdf(zeros)
    bias = np.full(FFN_DIM, -shift, np.float32)
    tokens = [biased(one, model, shape.gate, bias.ctypes.data) for one in (dense, model.alone)]
    blocks = [feed_forward(one, model, shape.gate) for one in tokens]
    turns = [partial(seconds, model, one, given.tokens) for one in (*blocks, *tokens)]
    model.neurons.forget_activity()
    ffn_dense, ffn_sparse, token_dense, token_sparse = alternately(turns, given.rounds)
    active = statistics.mean(layer.columns for layer in model.neurons.activity())
    matrices = 3 if shape.gate == "ffn_gate" else 2
    median = statistics.median
    return Point(
        wanted_zeros=zeros,
        zeros=1 - active,
        ffn_dense_s=median(ffn_dense),
        ffn_sparse_s=median(ffn_sparse),
        ffn_speedup=ratio(ffn_dense, ffn_sparse),
        ffn_ideal=matrices / (1 + (matrices - 1) * active),
        token_dense_s=median(token_dense),
        token_sparse_s=median(token_sparse),
        token_speedup=ratio(token_dense, token_sparse),
    )


def run_shape(given: argparse.Namespace) -> ShapeResult:
    """Write a random model, measure it, and leave nothing behind."""
    machine, shape = this_machine(), SHAPES[given.shape]
    with tempfile.TemporaryDirectory(dir=given.cache_directory) as folder:
        path = Path(folder) / "random.gguf"
        write_random_model(path, shape, given.layers)
        model = Model.load(
            path, threads=given.threads, context_length=256, cache_directory=Path(folder)
        )
        try:
            dense = model.program
            points = []
            for zeros in given.zeros:
                points.append(measure_point(model, dense, shape, zeros, given))
                print(report_point(points[-1]), file=sys.stderr, flush=True)
        finally:
            model.close()
    return ShapeResult(
        shape=given.shape,
        layers=given.layers,
        machine=machine,
        kernels=choose_path(),
        threads=model.threads,
        rounds=given.rounds,
        points=points,
    )


def run_model(given: argparse.Namespace) -> ModelResult:
    """Measure a model file."""
    machine = this_machine()
    sparsity = Sparsity(True, read_calibration(given.model) if given.calibrated else None)
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


def decode_seconds(model: Model, skips: bool, tokens: int) -> float:
    """Of a token that follows the most likely one."""
    model.skips = skips
    cache = model.new_cache()
    logits = model.forward(np.arange(1, _CONTEXT + 1, dtype=np.int32), cache)
    start = time.perf_counter()
    for _ in range(tokens):
        logits = model.forward(logits.argmax(axis=1).astype(np.int32), cache)
    return (time.perf_counter() - start) / tokens


def with_perplexity(result: ModelResult, model: Model, text: Path) -> ModelResult:
    """The result with what skipping costs on a text: nothing, unless small things are skipped."""
    tokens = text_tokens(model, text)
    thresholds = model.sparsity.thresholds
    dense = perplexity(model, tokens)
    sparse = perplexity(model, tokens, thresholds) if thresholds else dense
    return msgspec.structs.replace(result, perplexity_dense=dense, perplexity_sparse=sparse)


def report_point(p: Point) -> str:
    """A line for people."""
    return (
        f"{p.zeros:6.1%} zeros: block {1000 * p.ffn_dense_s:7.2f} to {1000 * p.ffn_sparse_s:7.2f}"
        f" ms, {p.ffn_speedup:.2f} x (ideal {p.ffn_ideal:.2f}); token"
        f" {1000 * p.token_dense_s:7.2f} to {1000 * p.token_sparse_s:7.2f} ms,"
        f" {p.token_speedup:.2f} x"
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
