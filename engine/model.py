"""A model that is ready to compute: configuration, packed weights, and forward.

Knows nothing of text: token ids in, logits out.
"""

import dataclasses
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from engine.architectures import architecture_of
from engine.architectures.config import ModelConfig, read_config
from engine.architectures.family import Family
from engine.architectures.forward import Observer, add_final_norm, add_head, build_body
from engine.architectures.rope import FACTORS, rope_angles, rope_factors
from engine.architectures.tensors import tensor_shapes
from engine.buffers import MAX_ROWS, Buffers
from engine.formats.packed import LANES
from engine.gguf import GGUFFile, ModelFormatError
from engine.kernels.dispatch import compile_operation
from engine.kernels.program import (
    CAPACITY,
    FIRST_OUTPUT,
    KEYS,
    LOGITS,
    OUTPUTS,
    POSITION,
    ROWS,
    STEP_SLOTS,
    TOKENS,
    VALUES,
    Program,
)
from engine.kv import KVCache
from engine.lora import AdapterFile, Adapters
from engine.threads import ThreadPool
from engine.weights import Progress, Weights

MAX_THREADS = 64


def _silent(stage: str, fraction: float) -> None:
    """Progress that nobody watches."""


class Model:
    """A loaded model. `forward` blocks and is for one thread at a time; it holds no GIL while it
    computes."""

    def __init__(
        self,
        gguf: GGUFFile,
        threads: int,
        context_length: int | None,
        cache_directory: Path | None,
        progress: Progress,
        adapters: Adapters,
    ) -> None:
        """Use `Model.load`."""
        self.gguf = gguf
        self.content_hash = adapters.content_hash(gguf.content_hash())
        name, family = architecture_of(gguf)
        self._family = family
        whole = read_config(gguf, name, family)
        self.config: ModelConfig = _with_context(whole, context_length)
        shapes = tensor_shapes(whole, family, gguf.tensors)
        names = _check_tensors(gguf, shapes)
        weights = Weights(gguf, names, self.content_hash, cache_directory, progress, adapters)
        self._weights = weights  # keeps the map alive that the programs point into
        self._angles = _angles(self.config, family, rope_factors(gguf, self.config))
        self._buffers = Buffers(self.config, threads, *(a.ctypes.data for a in self._angles))
        forwards = [build_body(family, self.config, weights, self._buffers) for _ in range(3)]
        add_head(forwards[1])
        add_final_norm(forwards[2])
        bodies = [forward.program for forward in forwards]
        _compile(bodies, progress)
        self._body, self._with_head, self._with_norm = [
            body.table(compile_operation) for body in bodies
        ]
        self._pool = ThreadPool(threads)
        progress("compiling kernels", 1.0)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        context_length: int | None = None,
        cache_directory: Path | None = None,
        progress: Progress | None = None,
        adapters: Sequence[AdapterFile] = (),
    ) -> Self:
        """Load a GGUF file.

        threads: default the cores that this process may use. context_length: positions of a
        sequence, default and at most what the model was trained for. cache_directory: where packed
        weights are kept; without it they are packed into memory. progress: told ("packing weights"
        | "compiling kernels", fraction). adapters: LoRA files to add to the weights. Raises OSError
        or ModelFormatError.
        """
        if threads is None:
            threads = len(os.sched_getaffinity(0))
        if not 1 <= threads <= MAX_THREADS:
            raise ValueError(f"threads is {threads}; 1 to {MAX_THREADS} are possible")
        gguf = GGUFFile(path)
        try:
            with closing(Adapters(adapters, gguf)) as opened:
                told = progress or _silent
                return cls(gguf, threads, context_length, cache_directory, told, opened)
        except ModelFormatError as error:
            gguf.close()
            raise ModelFormatError(f"{gguf.path.name}: {error}") from None
        except BaseException:
            gguf.close()
            raise

    @property
    def weight_bytes(self) -> int:
        """Bytes of packed weights that a decoded token reads."""
        c = self.config
        return self._weights.bytes_per_token(c.experts_used / c.experts if c.experts else 1.0)

    def new_cache(self) -> KVCache:
        """An empty KV cache for one sequence."""
        c = self.config
        return KVCache(
            c.layers, c.kv_heads, c.head_dim, c.context_length, exact=self._weights.exact
        )

    def forward(
        self,
        tokens: NDArray[np.int32],
        cache: KVCache,
        want: Literal["last", "all", "none"] = "last",
    ) -> NDArray[np.float32]:
        """Append tokens to the cache; float32 (rows, vocabulary) logits of the positions wanted.

        tokens: int32 (n,), n ≥ 1. Raises ContextFullError (the cache is then as before) and
        ValueError for an id that is not in the vocabulary.
        """
        tokens = self._checked(tokens)
        cache.reserve(tokens.size)
        rows = {"last": 1, "all": tokens.size, "none": 0}[want]
        width = (self.config.vocabulary + 15) // 16 * 16
        logits = np.empty((rows, width), np.float32)
        for start in range(0, tokens.size, MAX_ROWS):
            piece = tokens[start : start + MAX_ROWS]
            last = start + piece.size == tokens.size
            outputs = piece.size if want == "all" else int(want == "last" and last)
            table = self._with_head if outputs else self._body
            out = logits[start:] if want == "all" else logits
            self._step(table, piece, cache, outputs, out)
        return logits[:, : self.config.vocabulary]

    def hidden(
        self, tokens: NDArray[np.int32], cache: KVCache | None = None
    ) -> NDArray[np.float32]:
        """float32 (n, dim): the states after the final norm, for embeddings.

        Appends to the cache; without one the tokens are a sequence of their own.
        """
        tokens = self._checked(tokens)
        cache = cache or self.new_cache()
        cache.reserve(tokens.size)
        states = np.empty((tokens.size, self.config.dim), np.float32)
        for start in range(0, tokens.size, MAX_ROWS):
            piece = tokens[start : start + MAX_ROWS]
            self._step(self._with_norm, piece, cache, piece.size, states[start:])
        return states

    def observed(self, observer: Observer) -> Callable[[NDArray[np.int32]], None]:
        """A forward pass over a sequence of tokens that adds what matrices are multiplied with to
        the observer's sums."""
        body = build_body(self._family, self.config, self._weights, self._buffers, observer)
        table = body.program.table(compile_operation)

        def show(tokens: NDArray[np.int32]) -> None:
            tokens, cache = self._checked(tokens), self.new_cache()
            cache.reserve(tokens.size)
            nothing = np.empty((0, 16), np.float32)
            for start in range(0, tokens.size, MAX_ROWS):
                self._step(table, tokens[start : start + MAX_ROWS], cache, 0, nothing)

        return show

    def close(self) -> None:
        """End the threads and unmap the model file."""
        self._pool.close()
        self.gguf.close()

    def _checked(self, tokens: NDArray[np.int32]) -> NDArray[np.int32]:
        tokens = np.ascontiguousarray(tokens, np.int32)
        if tokens.ndim != 1 or tokens.size == 0:
            raise ValueError(f"tokens have shape {tokens.shape}; (n,) with n ≥ 1 is expected")
        if tokens.min() < 0 or tokens.max() >= self.config.vocabulary:
            raise ValueError(f"a token id outside 0..{self.config.vocabulary - 1}")
        return tokens

    def _step(
        self,
        table: NDArray[np.int64],
        tokens: NDArray[np.int32],
        cache: KVCache,
        outputs: int,
        out: NDArray[np.float32],
    ) -> None:
        """Run a program for at most MAX_ROWS tokens; results of the last `outputs` rows go to
        `out`."""
        step = np.zeros(STEP_SLOTS, np.int64)
        step[ROWS], step[POSITION], step[TOKENS] = tokens.size, cache.length, tokens.ctypes.data
        step[KEYS], step[VALUES] = cache.keys.ctypes.data, cache.values.ctypes.data
        step[CAPACITY] = cache.padded_capacity
        step[FIRST_OUTPUT], step[OUTPUTS] = tokens.size - outputs, outputs
        step[LOGITS] = out.ctypes.data
        self._pool.run(table, step)
        cache.advance(tokens.size)


def _with_context(config: ModelConfig, context_length: int | None) -> ModelConfig:
    """The configuration with a shorter context, if one is asked for."""
    if context_length is None:
        return config
    if context_length < 1:
        raise ValueError(f"context_length is {context_length}; at least 1 is needed")
    return dataclasses.replace(config, context_length=min(context_length, config.context_length))


def _check_tensors(gguf: GGUFFile, shapes: dict[str, tuple[int, ...]]) -> list[str]:
    """Names of the tensors to pack; ModelFormatError if one is missing, misshapen or unknown.

    A tensor that the program would not use means that the model computes something else.
    """
    for name, shape in shapes.items():
        if name not in gguf.tensors:
            raise ModelFormatError(f"tensor {name!r} is missing")
        if gguf.tensors[name].shape != shape:
            found = gguf.tensors[name].shape
            raise ModelFormatError(f"tensor {name!r} has shape {found}; {shape} is expected")
    unknown = sorted(set(gguf.tensors) - set(shapes) - set(FACTORS))
    if unknown:
        raise ModelFormatError(f"tensor {unknown[0]!r} is not one that this architecture has")
    return list(shapes)


def _angles(
    config: ModelConfig, family: Family, factors: NDArray[np.float32] | None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Rotary angles of layers that see everything, and of those with a window."""
    positions = (config.context_length + LANES - 1) // LANES * LANES
    angles = rope_angles(config, positions, factors)
    if family.local_rope_base is None:
        return angles, angles
    return angles, rope_angles(config, positions, None, base=family.local_rope_base)


def _compile(programs: list[Program], progress: Progress) -> None:
    """Compile every operation in use, telling how far it is."""
    functions = list(dict.fromkeys(f for program in programs for f in program.functions()))
    for index, function in enumerate(functions):
        progress("compiling kernels", index / (len(functions) + 1))
        compile_operation(function)
