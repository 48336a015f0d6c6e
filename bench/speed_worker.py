"""One engine with one model in a process of its own, told line by line what to do.

    python -m bench.speed_worker hubd|llama.cpp MODEL.gguf THREADS

First says what it knows of the model; then answers every line on standard input with the seconds
that each part took: {"prefill": 512, "decode": 32} reads a prompt and decodes behind it,
{"behind": [64, 4096], "decode": 8} decodes behind so many positions. Both engines get the same
token ids and give the logits of the last one; there is no sampling, no text.
"""

import ctypes
import json
import sys
import time
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

BATCH = 512
FIRST_TOKENS = 1000
"""Ids below this are taken: every vocabulary has them."""

Tokens = NDArray[np.int32]


class Sequence(Protocol):
    """Tokens with their keys and values."""

    def truncate(self, length: int) -> None:
        """Forget what comes behind so many tokens."""

    def feed(self, tokens: Tokens) -> None:
        """Append, and compute the logits of the last token."""


class Engine(Protocol):
    """What both engines do."""

    about: dict[str, Any]

    def sequence(self, positions: int) -> Sequence:
        """An empty one with room for so many tokens."""

    def limits(self) -> dict[str, float]:
        """What the machine does at most now, if this engine measures it."""


class Hubd:
    """Ours, at the level of its model."""

    def __init__(self, path: Path, threads: int) -> None:
        from bench.integer_peak import PeakMeter
        from engine.benchmarks._memory import MemoryMeter
        from engine.kernels.dispatch import choose_path
        from engine.kernels.kv_layout import BLOCK_TOKENS
        from engine.model import Model

        self._memory, self._peak = MemoryMeter(threads), PeakMeter(threads)
        # Keys and values in the format that the daemon uses; llama.cpp's default is f16.
        self._model = model = Model.load(path, threads=threads, kv_format="auto")
        self.about = {
            "kernels": choose_path(),
            "bytes_per_token": model.weight_bytes,
            "bytes_per_position": model.kv_layout.read_bytes / BLOCK_TOKENS,
        }

    def sequence(self, positions: int) -> Sequence:
        return HubdSequence(self._model, positions)

    def limits(self) -> dict[str, float]:
        return {"read": self._memory.bytes_per_s(), "peak": self._peak.operations_per_s()}


class HubdSequence:
    """Blocks of keys and values."""

    def __init__(self, model: Any, positions: int) -> None:
        from engine.kernels.kv_layout import blocks_for
        from engine.kv import BlockPool, KVSequence

        self._model = model
        self._cache = KVSequence(BlockPool(model.kv_layout, blocks_for(positions)), positions)

    def truncate(self, length: int) -> None:
        self._cache.truncate(length)

    def feed(self, tokens: Tokens) -> None:
        self._model.forward(tokens, self._cache)


class LlamaCpp:
    """llama.cpp through its C interface, with its own choices for everything but the sizes."""

    def __init__(self, path: Path, threads: int) -> None:
        import llama_cpp

        self._api = api = llama_cpp
        self._threads = threads
        self._silence = api.llama_log_callback(lambda level, text, data: None)
        api.llama_log_set(self._silence, ctypes.c_void_p(0))
        api.llama_backend_init()
        self._model = api.llama_model_load_from_file(
            str(path).encode(), api.llama_model_default_params()
        )
        system = api.llama_print_system_info().decode()
        self.about = {"version": api.__version__, "system": system.strip(" |")}

    def sequence(self, positions: int) -> Sequence:
        wanted = self._api.llama_context_default_params()
        wanted.n_ctx, wanted.n_batch, wanted.n_ubatch = positions, BATCH, BATCH
        wanted.n_threads = wanted.n_threads_batch = self._threads
        return LlamaCppSequence(self._api, self._api.llama_init_from_model(self._model, wanted))

    def limits(self) -> dict[str, float]:
        return {}


class LlamaCppSequence:
    """A context of its own."""

    def __init__(self, api: Any, context: Any) -> None:
        self._api, self._context = api, context

    def truncate(self, length: int) -> None:
        memory = self._api.llama_get_memory(self._context)
        if not self._api.llama_memory_seq_rm(memory, 0, length, -1):
            raise SystemExit("llama_memory_seq_rm failed")

    def feed(self, tokens: Tokens) -> None:
        for start in range(0, len(tokens), BATCH):
            piece = tokens[start : start + BATCH]
            ids = (self._api.llama_token * len(piece))(*piece.tolist())
            if self._api.llama_decode(self._context, self._api.llama_batch_get_one(ids, len(ids))):
                raise SystemExit("llama_decode failed")
        self._api.llama_synchronize(self._context)


def seconds_of(sequence: Sequence, pieces: list[Tokens]) -> list[float]:
    """Seconds that each piece takes behind those before it."""
    marks = [time.perf_counter()]
    for piece in pieces:
        sequence.feed(piece)
        marks.append(time.perf_counter())
    return [float(each) for each in np.diff(marks)]


class Sequences:
    """The sequences of an engine, which stay from order to order."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sequences: dict[str, Sequence] = {}

    def prompt(self, prefill: int, decode: int) -> dict[str, Any]:
        """Seconds of a prompt on an empty sequence, and of each token behind it."""
        if (sequence := self._sequences.get("prompt")) is None:
            sequence = self._sequences["prompt"] = self._engine.sequence(2 * BATCH)
        sequence.truncate(0)
        ids = random_tokens(prefill + decode)
        first, *rest = seconds_of(sequence, np.split(ids, range(prefill, prefill + decode)))
        return {"prefill": first, "decode": rest}

    def context(self, behind: list[int], decode: int) -> dict[str, Any]:
        """Seconds of each token behind so many positions, which are read once."""
        found = {}
        for depth in behind:
            ids = random_tokens(depth + decode)
            if (sequence := self._sequences.get(f"behind {depth}")) is None:
                sequence = self._sequences[f"behind {depth}"] = self._engine.sequence(len(ids))
                sequence.feed(ids[:depth])
            sequence.truncate(depth)
            found[depth] = seconds_of(sequence, np.split(ids[depth:], decode))
        return {"behind": found}

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        """What one line asks for, and the limits of the machine in the same moment."""
        asked = self.context if "behind" in order else self.prompt
        return {**asked(**order), **self._engine.limits()}


def random_tokens(count: int) -> Tokens:
    """The same ids in every process."""
    return np.random.default_rng(0).integers(3, FIRST_TOKENS, count).astype(np.int32)


def main() -> None:
    kind, path, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    engine: Engine = (Hubd if kind == "hubd" else LlamaCpp)(path, threads)
    print(json.dumps(engine.about), flush=True)
    sequences = Sequences(engine)
    for line in sys.stdin:
        print(json.dumps(sequences.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
