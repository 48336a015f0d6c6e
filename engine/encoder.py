"""An encoder that is ready to compute: configuration, packed weights, and encode.

Knows nothing of text: token ids in, vectors out.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.encoders.config import TABLES, EncoderConfig, EncoderFile, tensor_shapes
from engine.encoders.forward import EncoderBuffers, build
from engine.errors import ModelFormatError
from engine.kernels.compiling import fill_cache
from engine.kernels.dispatch import compile_operation
from engine.kernels.encoder import POSITIONS, SEQUENCES, STARTS
from engine.kernels.program import ROWS, STEP_SLOTS, TOKENS
from engine.lora import Adapters
from engine.threads import ThreadPool
from engine.weights import Progress, Weights

STEP_ROWS = 256
"""Tokens that go through the layers at once; more would push activations out of the L2 cache."""


class Encoder:
    """A loaded encoder. `encode` blocks and is for one thread at a time; it holds no GIL while it
    computes."""

    def __init__(
        self,
        file: EncoderFile,
        threads: int | None,
        cache_directory: Path | None,
        progress: Progress,
        adapters: Adapters | None = None,
    ) -> None:
        """threads: default the cores that this process may use. Without a cache directory weights
        are packed into memory. adapters: opened for this file. Raises ModelFormatError."""
        self.config: EncoderConfig = file.config
        c = file.config
        threads = len(os.sched_getaffinity(0)) if threads is None else threads
        names = list(tensor_shapes(c))
        adapters = adapters or Adapters()
        content = adapters.content_hash(file.content_hash)
        self._weights = Weights(file.tensors, names, content, cache_directory, progress, adapters)
        self._positions = _position_table(file)
        self.step_rows = max(STEP_ROWS, c.max_tokens)
        """Tokens that `encode` takes at once, of all texts together."""
        self._buffers = EncoderBuffers(c, self.step_rows, threads)
        program = build(c, self._weights, self._buffers, self._positions.ctypes.data)
        functions = list(dict.fromkeys(program.functions()))
        fill_cache(functions, lambda fraction: progress("compiling kernels", fraction))
        for function in functions:
            compile_operation(function)
        self._table = program.table(compile_operation)
        self._pool = ThreadPool(threads)

    def encode(self, texts: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """float32 (texts, dim): one vector of length 1 for each text.

        texts: token ids, each of 1 to `max_tokens`, together at most `step_rows`. A vector does not
        depend on the texts beside it. Raises ValueError for texts out of these bounds.
        """
        lengths = np.array([len(text) for text in texts], np.int32)
        self._check(lengths)
        tokens = np.concatenate([np.asarray(text, np.int32) for text in texts])
        if tokens.min() < 0 or tokens.max() >= self.config.vocabulary:
            raise ValueError(f"a token id outside 0..{self.config.vocabulary - 1}")
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        positions = np.arange(tokens.size, dtype=np.int32) - np.repeat(starts[:-1], lengths)
        positions += np.int32(self.config.first_position)
        step = np.zeros(STEP_SLOTS, np.int64)
        step[ROWS], step[TOKENS] = tokens.size, tokens.ctypes.data
        step[POSITIONS], step[STARTS] = positions.ctypes.data, starts.ctypes.data
        step[SEQUENCES] = lengths.size
        self._pool.run(self._table, step)
        return self._pooled(starts)

    def close(self) -> None:
        """End the threads."""
        self._pool.close()

    def _check(self, lengths: NDArray[np.int32]) -> None:
        most = self.config.max_tokens
        if lengths.size == 0 or lengths.min() < 1 or lengths.max() > most:
            raise ValueError(f"texts of {lengths.tolist()} tokens; 1 to {most} each are possible")
        if lengths.sum() > self.step_rows:
            raise ValueError(f"{lengths.sum()} tokens; {self.step_rows} at once are possible")

    def _pooled(self, starts: NDArray[np.int32]) -> NDArray[np.float32]:
        """One unit vector a text of the last layer's states."""
        states = self._buffers.states[: starts[-1]]
        if self.config.pooling == "cls":
            sums = states[starts[:-1]]
        else:
            sums = np.add.reduceat(states, starts[:-1], axis=0)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)  # the mean has the sum's direction
        vectors: NDArray[np.float32] = sums / np.maximum(norms, np.float32(1e-12))
        return vectors


def _position_table(file: EncoderFile) -> NDArray[np.float32]:
    """float32 (positions, dim): what is added to every embedding, the first token type included.

    Raises ModelFormatError for one that is not finite.
    """
    positions, types = TABLES
    table = file.tensors.floats(positions)
    if types in file.tensors.tensors:
        table = table + file.tensors.floats(types)[0]
    if not np.isfinite(table).all():
        raise ModelFormatError(f"tensor {positions!r}: the positions are not all finite numbers")
    return np.ascontiguousarray(table, np.float32)
