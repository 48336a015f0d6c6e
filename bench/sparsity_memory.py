"""Decoding with less memory than the model takes, dense and sparse.

    python -m bench.sparsity_memory FOLDER [--limits 1 0.8 0.6 0.5] [--threads 2] [--out FOLDER]

A model of random 8-bit weights in the shape of Llama 3.2 1B, gated; biases of the gates keep 90 %
of its neurons off, and a quarter of them makes half of what fires, as in the trained model of
tests/data. A process in a memory cgroup (this needs root) decodes with it, page cache included:
`limit` times the bytes of the packed weights, and what the process itself takes. Every turn begins
with none of the model in memory. The first tokens do not count. The model is kept in FOLDER (3.2
GB), so that another run begins at once.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.benchmarks._blocks import biased, matrices
from engine.benchmarks._machine import Machine, this_machine
from engine.benchmarks._plot import Line, plot
from engine.benchmarks._random_model import FFN_DIM, GATE_DEVIATION, SHAPES, write_random_model
from engine.errors import EngineError
from engine.model import Model
from engine.sparsity.calibrated import Calibration, Sparsity

OFF, HOT, HOT_ON = 0.9, 0.25, 0.2
"""Share of neurons that are off; share that is hot; how often these are on."""
LAYERS = 16
_WARM_UP, _MOST_SECONDS = 3, 20.0
_PROCESS_BYTES = 160_000_000
"""Besides the weights: Python, kernels, activations, the KV cache."""
_V1, _V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What a process in the cgroup measured."""

    tokens: int
    tokens_per_s: float
    disk_bytes_per_token: float
    """Read from the disk (proc_pid_io(5))."""
    zeros: float | None
    locked: bool
    """Whether what every token reads was locked in memory."""
    weight_bytes: int
    anonymous_bytes: int
    """Of the process, with nothing of the model in it."""


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """Dense and sparse with the same memory."""

    share: float
    """Of the packed weights' bytes."""
    limit_bytes: int
    dense: Turn
    sparse: Turn
    speedup: float


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """All limits."""

    machine: Machine
    threads: int
    limits: list[Limit]


def gate_bias() -> NDArray[np.float32]:
    """float32 (neurons,): the hot neurons are spread at random."""
    normal = statistics.NormalDist(0, GATE_DEVIATION)
    seldom = (1 - OFF - HOT * HOT_ON) / (1 - HOT)
    bias = np.full(FFN_DIM, normal.inv_cdf(seldom), np.float32)
    hottest = np.random.default_rng(7).permutation(FFN_DIM)[: int(HOT * FFN_DIM)]
    bias[hottest] = normal.inv_cdf(HOT_ON)
    return bias


def loaded(folder: Path, threads: int, skips: bool) -> Model:
    """The model, dense or with neurons in the order in which they fire."""
    path = folder / "random.gguf"

    def load(sparsity: Sparsity) -> Model:
        return Model.load(
            path, threads=threads, context_length=256, cache_directory=folder, sparsity=sparsity
        )

    dense = load(Sparsity(zeros=False))
    if not skips:
        return dense
    content = dense.content_hash
    dense.close()
    calibration = Calibration(
        content_hash=content,
        thresholds=[],
        order=[np.argsort(-gate_bias(), kind="stable").tolist()] * LAYERS,
        tokens=0,
        zeros=[],
        perplexity_dense=1.0,
        perplexity_sparse=1.0,
    )
    return load(Sparsity(True, calibration))


def field(path: str, name: str) -> int:
    """A number out of a file of /proc/self with a line a name."""
    lines = (line.split(":") for line in Path(path).read_text().splitlines())
    return next(int(value.split()[0]) for key, value in lines if key == name)


def turn(folder: Path, which: str, tokens: int, threads: int) -> Turn:
    """Decode in this process, which is in the cgroup already."""
    model = loaded(folder, threads, which == "sparse")
    try:
        neurons, bias = model.neurons, gate_bias()
        program = model.alone or model.program
        gates = matrices(model, SHAPES["1b-gated"].gate)
        model.use_program(biased(program, gates, bias.ctypes.data))
        cache = model.new_cache()
        ids = np.random.default_rng(1).integers(1, 1000, _WARM_UP + tokens).astype(np.int32)
        for one in ids[:_WARM_UP]:
            model.forward(one[None], cache)
        if neurons is not None:
            neurons.forget_activity()
        before, start = field("/proc/self/io", "read_bytes"), time.perf_counter()
        done, elapsed = 0, 0.0
        while done < tokens and elapsed < _MOST_SECONDS:
            model.forward(ids[_WARM_UP + done][None], cache)
            done, elapsed = done + 1, time.perf_counter() - start
        activity = neurons.activity() if neurons is not None else []
        return Turn(
            tokens=done,
            tokens_per_s=done / elapsed,
            disk_bytes_per_token=(field("/proc/self/io", "read_bytes") - before) / done,
            zeros=1 - statistics.mean(layer.columns for layer in activity) if activity else None,
            locked=neurons is not None and neurons.locked,
            weight_bytes=model.weight_bytes,
            anonymous_bytes=1024 * field("/proc/self/status", "RssAnon"),
        )
    finally:
        model.close()


def own_group() -> tuple[Path, str]:
    """The memory cgroup of this process (cgroups(7)), and what its files' limit is called."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "memory":
            return _V1 / path.lstrip("/"), "memory.limit_in_bytes"
    return _V2 / path.lstrip("/"), "memory.max"


def in_memory_of(limit: int, command: list[str]) -> bytes:
    """What a command prints that runs in a memory cgroup of its own, below ours."""
    parent, name = own_group()
    group = parent / f"hubd-bench-{os.getpid()}"
    try:
        group.mkdir()
        (group / name).write_text(str(limit))
    except OSError as error:
        raise EngineError(f"no memory cgroup {group} ({error.strerror}): run it as root") from None

    def enter() -> None:
        (group / "cgroup.procs").write_text(str(os.getpid()))

    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, preexec_fn=enter, check=False)
    finally:
        group.rmdir()
    if done.returncode != 0:
        raise EngineError(f"a turn ended with {done.returncode}: too little memory?")
    return done.stdout


def limited_turn(which: str, given: argparse.Namespace, limit: int) -> Turn:
    """A turn in a process with so much memory, none of the model's files in the page cache."""
    for path in given.folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    command = [sys.executable, "-m", "bench.sparsity_memory", str(given.folder), "--turn", which]
    command += ["--threads", str(given.threads), "--tokens", str(given.tokens)]
    return msgspec.json.decode(in_memory_of(limit, command), type=Turn)


def run(given: argparse.Namespace) -> Result:
    """Write the model and pack it without a limit, then measure with each."""
    machine = this_machine()
    path = given.folder / "random.gguf"
    given.folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        write_random_model(path.with_suffix(".part"), SHAPES["1b-gated"], LAYERS)
        path.with_suffix(".part").rename(path)
    model = loaded(given.folder, given.threads, skips=True)
    size = model.weight_bytes
    model.close()
    limits = []
    for share in given.limits:
        limit = int(share * size) + _PROCESS_BYTES
        dense, sparse = (limited_turn(which, given, limit) for which in ("dense", "sparse"))
        speedup = sparse.tokens_per_s / dense.tokens_per_s
        limits.append(
            Limit(share=share, limit_bytes=limit, dense=dense, sparse=sparse, speedup=speedup)
        )
        print(report(limits[-1]), file=sys.stderr, flush=True)
    return Result(machine=machine, threads=given.threads, limits=limits)


def report(one: Limit) -> str:
    """A line for people."""
    dense, sparse = one.dense, one.sparse
    return (
        f"{one.share:4.0%} of the weights: dense {dense.tokens_per_s:6.2f} tokens/s,"
        f" {dense.disk_bytes_per_token / 1e6:6.1f} MB from the disk a token; sparse"
        f" {sparse.tokens_per_s:6.2f}, {sparse.disk_bytes_per_token / 1e6:6.1f} MB;"
        f" {one.speedup:.1f} x"
    )


def picture(r: Result) -> str:
    """Speed over memory."""
    dense = [(one.share, one.dense.tokens_per_s) for one in r.limits]
    sparse = [(one.share, one.sparse.tokens_per_s) for one in r.limits]
    fastest = max(speed for _, speed in dense + sparse)
    lines = [Line("sparse", sparse, "#1f6feb"), Line("dense", dense, "#8c959f")]
    title = f"1b-gated, 90 % zeros, {r.threads} threads: tokens/s"
    return plot(title, "memory, of the packed weights", lines, fastest * 1.1, 5)


def main() -> int:
    """The command line; gives the exit code. An error is one line, never a traceback."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the model is kept")
    parser.add_argument("--limits", type=float, nargs="+", default=[1, 0.8, 0.6, 0.5])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--tokens", type=int, default=40, help="of a turn, or 20 seconds")
    parser.add_argument("--out", type=Path, help="folder for the result and the plot")
    parser.add_argument("--turn", choices=("dense", "sparse"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    try:
        if given.turn is not None:
            found = turn(given.folder, given.turn, given.tokens, given.threads)
            sys.stdout.write(msgspec.json.encode(found).decode())
            return 0
        result = run(given)
    except (EngineError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    text = msgspec.json.format(msgspec.json.encode(result)).decode()
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "sparsity-memory.json").write_text(text + "\n", encoding="utf-8")
        (given.out / "sparsity-memory.svg").write_text(picture(result), encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
