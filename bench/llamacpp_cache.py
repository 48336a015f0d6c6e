"""What a long prompt costs llama.cpp the second time: the counterpart of `hubd bench cache`.

    .venv/bin/python -m bench.llamacpp_cache [MODEL.gguf] [--threads 2] [--server] [--beside]

Through llama-cpp-python, in one process: the longest common beginning of a prompt stays (its
`cache_prompt`), and for a restart the whole state is saved to a file (its slot files), which a
second process reads. `--server` asks its server over HTTP, with its cache on disk for the restart.
Prompts of random tokens, or words of one token each; milliseconds to the first token. `--beside`
measures hubd over HTTP in the same minutes and prints both as the table of docs/performance.md: two
minutes on an idle machine.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import pickle
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

from hubd.benchmarks import cache

SYSTEM_TOKENS, NEW_TOKENS, ROUNDS = 2000, 30, 7
CONTEXT = 4096
VOCABULARY = range(1000, 20_000)
COMMON_WORDS = (
    "time year people way day man thing woman life child world school state family student group"
    " country problem hand part place case week company system program question work government"
    " number night point home water room mother area money story fact month lot right study book"
    " eye job word business issue side kind head house service friend father power hour game line"
)
"""A token each, with the space before it."""
START_LIMIT_S = 60.0


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


class Server:
    """llama-cpp-python's server in a process of its own, as a context.

    disk: whether it keeps the state of each prompt in a folder, which the next server finds.
    """

    def __init__(self, model: Path, threads: int, folder: Path, *, disk: bool = False) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{free.getsockname()[1]}"
        self._command = [
            *(sys.executable, "-m", "llama_cpp.server", "--model", str(model)),
            *("--n_ctx", str(CONTEXT), "--n_threads", str(threads), "--verbose", "false"),
            *("--n_threads_batch", str(threads), "--port", self.address.rpartition(":")[2]),
            *(("--cache", "true", "--cache_type", "disk") if disk else ()),
        ]
        self._folder = folder

    def __enter__(self) -> Self:
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            self._command, cwd=self._folder, stdout=quiet, stderr=quiet
        )
        deadline = time.monotonic() + START_LIMIT_S
        while True:
            with contextlib.suppress(urllib.error.URLError):
                urllib.request.urlopen(f"{self.address}/v1/models").close()
                return self
            if time.monotonic() > deadline or self._process.poll() is not None:
                self.__exit__()
                raise SystemExit("llama_cpp.server does not start: is its extra 'server' there?")
            time.sleep(0.05)

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def first_token(self, prompt: str) -> float:
        """Milliseconds until the first piece of a greedy answer arrives; the rest is read too."""
        body = {"prompt": prompt, "max_tokens": 2, "temperature": 0.0, "stream": True}
        request = urllib.request.Request(
            f"{self.address}/v1/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        began = time.perf_counter()
        with urllib.request.urlopen(request) as reply:
            reply.readline()
            took = time.perf_counter() - began
            reply.read()
        return 1000 * took


def words(chosen: random.Random, count: int) -> str:
    """Text of that many tokens in the vocabularies of the models that this is run with."""
    known = COMMON_WORDS.split()
    return "".join(f" {chosen.choice(known)}" for _ in range(count))


def through_the_server(model: Path, threads: int, folder: Path) -> dict[str, float]:
    """The same figures over HTTP. It has one slot, so prompts with the same beginning come one
    after the other: in turns with others each would find it gone."""
    chosen = random.Random(1)
    system = words(chosen, SYSTEM_TOKENS)
    with Server(model, threads, folder) as server:
        server.first_token(words(chosen, 2 * NEW_TOKENS))
        alone = [server.first_token(words(chosen, NEW_TOKENS)) for _ in range(ROUNDS)]
        cold = server.first_token(system + words(chosen, NEW_TOKENS))
        seen = [server.first_token(system + words(chosen, NEW_TOKENS)) for _ in range(ROUNDS)]
    with Server(model, threads, folder, disk=True) as server:
        server.first_token(system + words(chosen, NEW_TOKENS))
    restarts = []
    for _ in range(3):
        with Server(model, threads, folder, disk=True) as server:
            server.first_token(words(chosen, 2 * NEW_TOKENS))
            restarts.append(server.first_token(system + words(chosen, NEW_TOKENS)))
    return {
        "alone_ms": statistics.median(alone),
        "cold_ms": cold,
        "cached_ms": statistics.median(seen),
        "restart_ms": statistics.median(restarts),
    }


def through_the_library(model: Path, threads: int, folder: Path) -> dict[str, float]:
    """In one process, without a server."""
    state = folder / "state"
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        found = pool.apply(in_memory, (model, threads, state))
        restarts = [pool.apply(after_restart, (model, threads, state)) for _ in range(3)]
    return {**found, "restart_ms": statistics.median(restarts)}


def measure(model: Path, threads: int, *, server: bool) -> dict[str, float]:
    """All of it, in some seconds."""
    with tempfile.TemporaryDirectory() as folder:
        way = through_the_server if server else through_the_library
        found = way(model.resolve(), threads, Path(folder))
    for name in ("cached", "restart"):
        found[f"{name}_ratio"] = found[f"{name}_ms"] / found["alone_ms"]
    return {name: round(value, 2) for name, value in found.items()}


def of_hubd(model: Path, threads: int) -> dict[str, float]:
    """The figures of `hubd bench cache` under the same names."""
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(cache.measure(cache.Bench(model, threads, Path(folder))))
    return {
        "alone_ms": figures.ttft_alone_ms,
        "cold_ms": figures.ttft_cold_ms,
        "cached_ms": figures.ttft_cached_ms,
        "restart_ms": figures.ttft_restart_ms,
        "cached_ratio": figures.ttft_cached_ratio,
        "restart_ratio": figures.ttft_restart_ratio,
    }


def table(rows: dict[str, dict[str, float]]) -> str:
    """The figures of several engines, as Markdown."""
    lines = [
        "| time to the first token, ms | 30 alone | cold | seen | after a restart |",
        "|---|---|---|---|---|",
    ]
    for name, f in rows.items():
        lines.append(
            f"| {name} | {f['alone_ms']:.0f} | {f['cold_ms']:.0f}"
            f" | {f['cached_ms']:.0f} ({f['cached_ratio']:.2f} ×)"
            f" | {f['restart_ms']:.0f} ({f['restart_ratio']:.2f} ×) |"
        )
    return "\n".join(lines)


def main() -> None:
    """The command line."""
    default = Path("~/.local/share/hubd/models/SmolLM2-135M-Instruct.Q4_1.gguf").expanduser()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path, nargs="?", default=default)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--server", action="store_true", help="over HTTP")
    parser.add_argument("--beside", action="store_true", help="hubd's figures too, as a table")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = {"hubd, over HTTP": of_hubd(given.model, given.threads)} if given.beside else {}
    found = measure(given.model, given.threads, server=given.server)
    rows[f"llama.cpp, its {'server over HTTP' if given.server else 'library'}"] = found
    if given.beside:
        print(json.dumps(rows) if given.json else table(rows))
    elif given.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:14} {value:9.2f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
