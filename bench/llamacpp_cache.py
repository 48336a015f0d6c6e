"""What a long prompt costs llama.cpp the second time: the counterpart of `hubd bench cache`.

    .venv/bin/python bench/llamacpp_cache.py [MODEL.gguf] [--threads 2] [--json]

Through llama-cpp-python in one process, without a server: the longest common beginning of a prompt
stays (its `cache_prompt`), and for a restart the whole state is saved to a file (its slot files),
which a second process reads. Prompts of random tokens; milliseconds to the first token.
"""

import argparse
import json
import multiprocessing
import pickle
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

SYSTEM_TOKENS, NEW_TOKENS, ROUNDS = 2000, 30, 7
CONTEXT = 4096
VOCABULARY = range(1000, 20_000)


def loaded(model: Path, threads: int) -> Any:
    """The model with its own choices for everything but the sizes."""
    from llama_cpp import Llama

    return Llama(
        str(model), n_ctx=CONTEXT, n_threads=threads, n_threads_batch=threads, verbose=False
    )


def first_token(llama: Any, prompt: list[int]) -> float:
    """Milliseconds until the first token of a greedy answer."""
    began = time.perf_counter()
    next(llama.generate(prompt, temp=0.0))
    return 1000 * (time.perf_counter() - began)


def tokens(chosen: random.Random, count: int) -> list[int]:
    """Random ids that every vocabulary has."""
    return [chosen.choice(VOCABULARY) for _ in range(count)]


def in_memory(model: Path, threads: int, state: Path) -> dict[str, float]:
    """The new tokens alone, and behind the system prompt: cold, then seen; saves the state."""
    chosen = random.Random(1)
    system = tokens(chosen, SYSTEM_TOKENS)
    llama = loaded(model, threads)
    first_token(llama, tokens(chosen, 2 * NEW_TOKENS))
    alone = [first_token(llama, tokens(chosen, NEW_TOKENS)) for _ in range(ROUNDS)]
    cold = first_token(llama, [*system, *tokens(chosen, NEW_TOKENS)])
    seen = [first_token(llama, [*system, *tokens(chosen, NEW_TOKENS)]) for _ in range(ROUNDS)]
    state.write_bytes(pickle.dumps(llama.save_state()))
    return {
        "alone_ms": statistics.median(alone),
        "cold_ms": cold,
        "cached_ms": statistics.median(seen),
        "state_mb": state.stat().st_size / 1e6,
    }


def after_restart(model: Path, threads: int, state: Path) -> float:
    """Milliseconds to read the state back and give the first token, in a process of its own."""
    chosen = random.Random(1)
    system = tokens(chosen, SYSTEM_TOKENS)
    llama = loaded(model, threads)
    chosen.seed(2)
    first_token(llama, tokens(chosen, 2 * NEW_TOKENS))
    began = time.perf_counter()
    llama.load_state(pickle.loads(state.read_bytes()))
    read = 1000 * (time.perf_counter() - began)
    return read + first_token(llama, [*system, *tokens(chosen, NEW_TOKENS)])


def measure(model: Path, threads: int) -> dict[str, float]:
    """All of it, in some seconds."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            found = pool.apply(in_memory, (model, threads, state))
            restarts = [pool.apply(after_restart, (model, threads, state)) for _ in range(3)]
    found["restart_ms"] = statistics.median(restarts)
    for name in ("cached", "restart"):
        found[f"{name}_ratio"] = found[f"{name}_ms"] / found["alone_ms"]
    return {name: round(value, 2) for name, value in found.items()}


def main() -> None:
    """The command line."""
    default = Path("~/.local/share/hubd/models/SmolLM2-135M-Instruct.Q4_1.gguf").expanduser()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path, nargs="?", default=default)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.model, given.threads)
    if given.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:14} {value:9.2f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
