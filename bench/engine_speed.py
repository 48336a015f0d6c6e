"""How fast the engine is on this machine: prefill and decode, and how near to memory speed.

    python bench/engine_speed.py MODEL.gguf [--threads 2] [--prompt 512] [--decode 64] [--json]

Prefill, decode and plain reading of memory take turns, so that a noisy neighbour hits all of them;
the figures are medians. A decoded token reads every weight once: the share of the bandwidth that
this takes says how much is left to win.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.kernels.dispatch import choose_path, compile_operation
from engine.kernels.intrinsics import integers
from engine.kernels.program import STEP_SLOTS, Program, share
from engine.model import Model
from engine.threads import ThreadPool

READ_BYTES = 256 << 20  # well beyond the last cache


def read_memory(operands: Any, step: Any, thread: int, threads: int) -> None:
    """Operation: sum `operands[1]` int32 from address `operands[0]` into the step."""
    first, last = share(operands[1], thread, threads)
    words = integers(operands[0] + 4 * first, last - first)
    total = np.int32(0)
    for i in range(words.size):
        total += words[i]
    step[thread] = total


def bandwidth_meter(threads: int) -> Callable[[], float]:
    """A function that reads a large array once with all threads and gives bytes/s."""
    pool, program = ThreadPool(threads), Program()
    memory = np.ones(READ_BYTES // 4, np.int32)
    program.add(read_memory, memory.ctypes.data, memory.size)
    table = program.table(compile_operation)

    def measure() -> float:
        start = time.perf_counter()
        pool.run(table, np.zeros(max(STEP_SLOTS, threads), np.int64))
        elapsed = time.perf_counter() - start
        return memory.nbytes / elapsed

    return measure


def measure(model: Model, threads: int, prompt: int, decode: int, runs: int) -> dict[str, Any]:
    """Medians over `runs` rounds of prefill, decode and reading."""
    tokens = np.random.default_rng(0).integers(0, model.config.vocabulary, prompt).astype(np.int32)
    read = bandwidth_meter(threads)
    model.forward(tokens[:8], model.new_cache())
    rounds: dict[str, list[float]] = {"prefill": [], "decode": [], "bandwidth": []}
    for _ in range(runs):
        cache = model.new_cache()
        start = time.perf_counter()
        model.forward(tokens, cache)
        rounds["prefill"].append(prompt / (time.perf_counter() - start))
        start = time.perf_counter()
        for index in range(decode):
            model.forward(tokens[index % prompt : index % prompt + 1], cache)
        rounds["decode"].append(decode / (time.perf_counter() - start))
        rounds["bandwidth"].append(read())
    middle = {name: statistics.median(values) for name, values in rounds.items()}
    return {
        "prefill_tokens_per_s": middle["prefill"],
        "decode_tokens_per_s": middle["decode"],
        "decode_bytes_per_s": middle["decode"] * model.weight_bytes,
        "read_bytes_per_s": middle["bandwidth"],
        "share_of_bandwidth": middle["decode"] * model.weight_bytes / middle["bandwidth"],
        "threads": threads,
        "prompt_tokens": prompt,
        "decoded_tokens": decode,
        "runs": runs,
        "kernels": choose_path(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=512, help="prompt tokens")
    parser.add_argument("--decode", type=int, default=64, help="decoded tokens")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    positions = options.prompt + options.decode
    model = Model.load(options.model, threads=options.threads, context_length=positions)
    result = measure(model, options.threads, options.prompt, options.decode, options.runs)
    result["model"] = options.model.name
    model.close()
    if options.json:
        print(json.dumps(result))
        return
    print(f"{result['model']}, {options.threads} threads, {result['kernels']} kernels")
    print(f"prefill  {result['prefill_tokens_per_s']:8.0f} tokens/s  ({options.prompt} tokens)")
    print(f"decode   {result['decode_tokens_per_s']:8.0f} tokens/s  ({options.decode} tokens)")
    share_text = (
        f"{100 * result['share_of_bandwidth']:.0f} % of {result['read_bytes_per_s'] / 1e9:.1f}"
    )
    print(
        f"weights  {result['decode_bytes_per_s'] / 1e9:8.1f} GB/s while decoding, {share_text} GB/s"
    )


if __name__ == "__main__":
    main()
