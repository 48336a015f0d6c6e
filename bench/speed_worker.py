"""One engine with one model in a process of its own, told line by line what to do.

    python -m bench.speed_worker hubd|llama.cpp MODEL.gguf THREADS

First says what it knows of the model; then answers every line on standard input, a JSON object
such as {"prefill": 512, "decode": 32}, with the seconds that each part took. Both engines get the
same token ids and give the logits of the last one; there is no sampling, no text.
"""

import ctypes
import json
import sys
import time
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

CONTEXT = 1024
BATCH = 512
FIRST_TOKENS = 1000
"""Ids below this are taken: every vocabulary has them."""

Tokens = NDArray[np.int32]


class Engine(Protocol):
    """What both engines do."""

    about: dict[str, Any]

    def clear(self) -> None:
        """Forget the sequence."""

    def feed(self, tokens: Tokens) -> None:
        """Append to the sequence and compute the logits of the last token."""

    def limits(self) -> dict[str, float]:
        """What the machine does at most now, if this engine measures it."""


class Hubd:
    """Ours, at the level of its model."""

    def __init__(self, path: Path, threads: int) -> None:
        from bench.integer_peak import PeakMeter
        from engine.benchmarks._memory import MemoryMeter
        from engine.kernels.dispatch import choose_path
        from engine.model import Model

        self._memory, self._peak = MemoryMeter(threads), PeakMeter(threads)
        # Keys and values in the format that the daemon uses; llama.cpp's default is f16.
        self._model = Model.load(path, threads=threads, context_length=CONTEXT, kv_format="auto")
        self._cache = self._model.new_cache()
        self.about = {"kernels": choose_path(), "bytes_per_token": self._model.weight_bytes}

    def clear(self) -> None:
        self._cache.truncate(0)

    def feed(self, tokens: Tokens) -> None:
        self._model.forward(tokens, self._cache)

    def limits(self) -> dict[str, float]:
        return {"read": self._memory.bytes_per_s(), "peak": self._peak.operations_per_s()}


class LlamaCpp:
    """llama.cpp through its C interface, with its own choices for everything but the sizes."""

    def __init__(self, path: Path, threads: int) -> None:
        import llama_cpp

        self._api = api = llama_cpp
        self._silence = api.llama_log_callback(lambda level, text, data: None)
        api.llama_log_set(self._silence, ctypes.c_void_p(0))
        api.llama_backend_init()
        self._model = api.llama_model_load_from_file(
            str(path).encode(), api.llama_model_default_params()
        )
        wanted = api.llama_context_default_params()
        wanted.n_ctx, wanted.n_batch, wanted.n_ubatch = CONTEXT, BATCH, BATCH
        wanted.n_threads = wanted.n_threads_batch = threads
        self._context = api.llama_init_from_model(self._model, wanted)
        system = api.llama_print_system_info().decode()
        self.about = {"version": api.__version__, "system": system.strip(" |")}

    def clear(self) -> None:
        self._api.llama_memory_clear(self._api.llama_get_memory(self._context), True)

    def feed(self, tokens: Tokens) -> None:
        ids = (self._api.llama_token * len(tokens))(*tokens.tolist())
        if self._api.llama_decode(self._context, self._api.llama_batch_get_one(ids, len(ids))):
            raise SystemExit("llama_decode failed")
        self._api.llama_synchronize(self._context)

    def limits(self) -> dict[str, float]:
        return {}


def timed(engine: Engine, order: dict[str, int]) -> dict[str, Any]:
    """Seconds of prefill and of each decoded token, on an empty sequence."""
    tokens = np.random.default_rng(0).integers(3, FIRST_TOKENS, CONTEXT).astype(np.int32)
    prompt, decode = order["prefill"], order["decode"]
    engine.clear()
    marks = [time.perf_counter()]
    engine.feed(tokens[:prompt])
    marks.append(time.perf_counter())
    for index in range(prompt, prompt + decode):
        engine.feed(tokens[index : index + 1])
        marks.append(time.perf_counter())
    seconds = np.diff(marks).tolist()
    return {"prefill": seconds[0], "decode": seconds[1:], **engine.limits()}


def main() -> None:
    kind, path, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    engine: Engine = (Hubd if kind == "hubd" else LlamaCpp)(path, threads)
    print(json.dumps(engine.about), flush=True)
    for line in sys.stdin:
        print(json.dumps(timed(engine, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
