"""How fast the engine is with a model, how near to the memory limit, and where the time goes.

    hubd bench engine MODEL.gguf [--threads 2] [--prompt 512] [--decode 64] [--seconds 20] [--json]

Prefill, decode and plain reading of memory take turns, so that a noisy neighbour hits all of them;
the figures are medians. A decoded token reads every weight once: the share of the read bandwidth
that this takes says how much is left to win. Tokens are random, and nothing is sampled.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

import msgspec
import numpy as np

from engine.benchmarks._between import Between, all_between
from engine.benchmarks._command import command, tell
from engine.benchmarks._machine import Machine, this_machine
from engine.benchmarks._memory import MemoryMeter, ProcessMemory, process_memory
from engine.benchmarks._operations import OperationTime, Stopwatch
from engine.buffers import MAX_ROWS
from engine.kernels.dispatch import choose_path
from engine.model import Model

_STOPWATCH_STEPS = 15


class Result(msgspec.Struct, kw_only=True):
    """Everything that is measured. Times in seconds."""

    model: str
    machine: Machine
    kernels: str
    threads: int
    rounds: int
    prompt_tokens: int
    decoded_tokens: int
    prefill_tokens_per_s: float
    prefill_operations_per_s: float
    """Multiplications and additions of the matrix products."""
    decode_tokens_per_s: float
    decode_bytes_per_s: float
    """Of weights."""
    read_bytes_per_s: float
    """What this machine reads at most with these threads."""
    share_of_limit: float
    """Decode over the memory limit."""
    weight_bytes: int
    """That a token reads."""
    imported_s: float
    """From the start of the process until Python had the modules."""
    load_s: float
    """Model file to ready: mapping or packing weights, kernels from the cache or compiled."""
    loaded: ProcessMemory
    worked: ProcessMemory
    """After the measurements, without the array that the bandwidth is measured with."""
    decode_step_s: float
    """One token while the operations are timed."""
    decode_operations: list[OperationTime]
    prefill_step_s: float
    """One step of `prefill_step_tokens` tokens while the operations are timed."""
    prefill_step_tokens: int
    prefill_operations: list[OperationTime]
    between_steps: list[Between]
    """What a scheduler does between two decoded tokens, while the threads have nothing to do."""


def seconds_since_start() -> float:
    """Since this process was started (proc_pid_stat(5))."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started


def operations_of(model: Model, tokens: int) -> int:
    """Of the matrix products of a prefill: two a weight and token; the head's, and those of the
    last layer behind its keys and values, for one token.

    Attention, which has no weights, is not counted.
    """
    c = model.config
    inputs = c.dim * (c.heads + 2 * c.kv_heads) * c.head_dim
    behind = c.heads * c.head_dim * c.dim + 3 * c.dim * c.ffn_dim * max(1, c.experts_used)
    of_all = c.layers * inputs + (c.layers - 1) * behind
    return 2 * (of_all * tokens + behind + c.vocabulary * c.dim)


class Speed(msgspec.Struct):
    """Tokens/s and bytes/s of the rounds."""

    prefill: list[float]
    decode: list[float]
    read: list[float]


def measure_speed(model: Model, meter: MemoryMeter, given: argparse.Namespace) -> Speed:
    """Rounds of prefill, decode and reading."""
    tokens = random_tokens(model, given.prompt)
    cache = model.new_cache()
    model.forward(tokens, cache)  # the first touches of memory and code do not count
    speed = Speed([], [], [])
    end = time.perf_counter() + given.seconds
    while len(speed.prefill) < 3 or time.perf_counter() < end:
        cache.truncate(0)
        start = time.perf_counter()
        model.forward(tokens, cache)
        speed.prefill.append(given.prompt / (time.perf_counter() - start))
        start = time.perf_counter()
        for index in range(given.decode):
            model.forward(tokens[index % given.prompt :][:1], cache)
        speed.decode.append(given.decode / (time.perf_counter() - start))
        speed.read.append(meter.bytes_per_s())
    return speed


def random_tokens(model: Model, count: int) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    """Token ids of the model's vocabulary, the same in every run."""
    return np.random.default_rng(0).integers(0, model.config.vocabulary, count).astype(np.int32)


def time_operations(model: Model, context: int, tokens: int) -> tuple[float, list[OperationTime]]:
    """Seconds of a step of so many tokens behind a context, and of its operations.

    The fastest of some steps: in others, somebody else's work is part of an operation's time.
    """
    ids = random_tokens(model, max(context, tokens, 1))
    cache = model.new_cache()
    model.forward(ids[:context], cache)
    watch = Stopwatch(model)
    steps = []
    for _ in range(_STOPWATCH_STEPS):
        cache.truncate(context)
        start = time.perf_counter()
        model.forward(ids[:tokens], cache)
        steps.append((time.perf_counter() - start, watch.read()))
    watch.remove()
    seconds, operations = min(steps, key=lambda step: step[0])
    inside = sum(one.seconds for one in operations)
    operations.append(OperationTime("outside the program", 1, seconds - inside, 0))
    return seconds, operations


def run(given: argparse.Namespace) -> Result:
    """Load the model and measure."""
    machine, imported = this_machine(), seconds_since_start()
    start = time.perf_counter()
    positions = max(given.prompt + given.decode, 2 * MAX_ROWS)
    model = Model.load(
        given.model,
        threads=given.threads,
        context_length=positions,
        cache_directory=given.cache_directory,
        kv_format="auto",  # as the daemon loads it
    )
    load, loaded = time.perf_counter() - start, process_memory()
    meter = MemoryMeter(model.threads)
    speed = measure_speed(model, meter, given)
    meter.close()
    worked = process_memory()
    context = min(given.prompt, positions - 1)
    decode_step, decode_operations = time_operations(model, context, 1)
    prefill_step, prefill_operations = time_operations(model, MAX_ROWS, MAX_ROWS)
    model.close()
    prefill, decode, read = map(statistics.median, (speed.prefill, speed.decode, speed.read))
    return Result(
        model=given.model.name,
        machine=machine,
        kernels=choose_path(),
        threads=model.threads,
        rounds=len(speed.prefill),
        prompt_tokens=given.prompt,
        decoded_tokens=given.decode,
        prefill_tokens_per_s=prefill,
        prefill_operations_per_s=operations_of(model, given.prompt) * prefill / given.prompt,
        decode_tokens_per_s=decode,
        decode_bytes_per_s=decode * model.weight_bytes,
        read_bytes_per_s=read,
        share_of_limit=decode * model.weight_bytes / read,
        weight_bytes=model.weight_bytes,
        imported_s=imported,
        load_s=load,
        loaded=loaded,
        worked=worked,
        decode_step_s=decode_step,
        decode_operations=decode_operations,
        prefill_step_s=prefill_step,
        prefill_step_tokens=MAX_ROWS,
        prefill_operations=prefill_operations,
        between_steps=all_between(
            given.model, given.threads, given.cache_directory, max(given.decode, 8)
        ),
    )


def breakdown(title: str, seconds: float, operations: list[OperationTime]) -> list[str]:
    """A table of operations: milliseconds, share, and GB/s of the weights they read."""
    lines = [f"{title}: {1000 * seconds:.2f} ms"]
    for one in operations:
        speed = one.weight_bytes / one.seconds / 1e9 if one.seconds > 0 else 0.0
        rate = f"{speed:6.1f} GB/s" if one.weight_bytes else " " * 11
        part = f"{1000 * one.seconds:8.3f} ms {one.seconds / seconds:5.1%} {rate}"
        lines.append(f"{part}  {one.count:3} x {one.name}")
    return lines


def report(r: Result) -> str:
    """For people."""
    lines = [
        f"{r.model}: {r.threads} threads, {r.kernels} kernels, {r.rounds} rounds",
        str(r.machine),
        "",
        f"prefill  {r.prefill_tokens_per_s:7.0f} tokens/s  {r.prompt_tokens} tokens,"
        f" {r.prefill_operations_per_s / 1e9:.0f} GOP/s",
        f"decode   {r.decode_tokens_per_s:7.1f} tokens/s  behind them,"
        f" {r.decode_bytes_per_s / 1e9:.1f} GB/s of weights:"
        f" {r.share_of_limit:.0%} of the limit of {r.read_bytes_per_s / 1e9:.1f} GB/s",
        f"start    {r.imported_s:7.2f} s to import, {r.load_s:.2f} s to load",
        f"memory   {r.loaded.private / 1e6:7.0f} MB private, {r.loaded.resident / 1e6:.0f} MB"
        f" resident when loaded; {r.worked.private / 1e6:.0f} and {r.worked.resident / 1e6:.0f} MB"
        " after the work",
        "",
    ]
    title = f"one token behind {r.prompt_tokens}"
    lines += breakdown(title, r.decode_step_s, r.decode_operations)
    title = f"a step of {r.prefill_step_tokens} tokens behind {r.prefill_step_tokens}"
    lines += ["", *breakdown(title, r.prefill_step_s, r.prefill_operations)]
    lines += ["", *map(str, r.between_steps)]
    return "\n".join(lines)


def main() -> int:
    """The command line; gives the exit code."""
    parser = command("engine", __doc__)
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--prompt", type=int, default=512, help="prompt tokens")
    parser.add_argument("--decode", type=int, default=64, help="decoded tokens a round")
    parser.add_argument("--seconds", type=float, default=10, help="of measuring")
    given = parser.parse_args()
    if given.prompt < 1 or given.decode < 1:
        parser.error("--prompt and --decode are at least 1")
    return tell(lambda: run(given), report, json=given.json)


if __name__ == "__main__":
    sys.exit(main())
