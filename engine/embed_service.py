"""The encoder of an engine process: loaded when first asked for, gone when idle.

Its work goes in slices to whoever computes: the scheduler's one thread beside a language model, a
thread of its own without one.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.embed import Kind, TextEncoder
from engine.errors import EngineError, InvalidRequestError, NotReadyError

log = logging.getLogger(__name__)

Vectors = NDArray[np.float32]
Compute = Callable[[Callable[[], Vectors]], "Future[Vectors]"]
"""Runs a function on the thread that may compute now. Raises QueueFullError, EngineClosedError."""
State = Literal["stopped", "loading", "ready", "busy"]

SLICE_SECONDS = 0.06
"""Aim for a slice: what an answer that is being written waits between two tokens."""
MEASURED_TOKENS = 64
"""A slice of fewer says little about the speed of this box."""


class EmbedService:
    """One encoder for the whole process. All methods but ``close`` are for the event loop."""

    def __init__(
        self,
        path: Path,
        *,
        name: str | None = None,
        threads: int | None = None,
        cache_directory: Path | None = None,
        idle_seconds: float = 600.0,
    ) -> None:
        """path: a folder or a GGUF file. name: what it is called, default the file's own name.

        idle_seconds: after so many without a request it is unloaded.
        """
        self.name = name or (path.resolve().name if path.is_dir() else path.stem)
        self._path, self._threads, self._cache = path, threads, cache_directory
        self._idle_seconds = idle_seconds
        self._encoder: TextEncoder | None = None
        self._loading = asyncio.Lock()
        self._active = 0
        self._idle: asyncio.TimerHandle | None = None
        self._rate = 0.0  # tokens/s of the last slice that says something
        self._own_thread: ThreadPoolExecutor | None = None
        self._one_at_a_time = threading.Lock()
        self.compute: Compute = self._compute_alone
        """Where slices run. To be replaced by the scheduler's when a language model is there."""

    @property
    def state(self) -> State:
        if self._loading.locked():
            return "loading"
        if self._encoder is None:
            return "stopped"
        return "busy" if self._active else "ready"

    @property
    def active(self) -> int:
        """Requests in hand."""
        return self._active

    async def embed(
        self, inputs: Sequence[str | list[int]], kind: Kind | None = None
    ) -> tuple[Vectors, int]:
        """float32 (inputs, dim), vectors of length 1, and how many tokens that took.

        inputs: texts, cut to what the model sees, or token ids. Cancelling takes effect between
        slices. Raises NotReadyError, InvalidRequestError, QueueFullError, EngineClosedError.
        """
        self._active += 1
        self._keep()
        try:
            encoder = await self._loaded()
            tokens = await asyncio.to_thread(_tokens, encoder, inputs, kind)
            vectors = np.empty((len(tokens), encoder.config.dim), np.float32)
            for chosen in encoder.slices(tokens, self._slice_tokens):
                texts = [tokens[number] for number in chosen]
                vectors[chosen] = await self._encode(encoder, texts)
            return vectors, sum(map(len, tokens))
        finally:
            self._active -= 1
            self._rest()

    async def close(self) -> None:
        """Unload."""
        self._keep()
        async with self._loading:
            encoder, self._encoder = self._encoder, None
            if encoder is not None:
                await asyncio.to_thread(self._end, encoder)
        if self._own_thread is not None:
            self._own_thread.shutdown(wait=False, cancel_futures=True)

    def _load(self) -> TextEncoder:
        """Read the files, in a thread. Raises OSError, EngineError."""
        return TextEncoder.load(self._path, threads=self._threads, cache_directory=self._cache)

    async def _loaded(self) -> TextEncoder:
        async with self._loading:
            if self._encoder is None:
                began = time.perf_counter()
                try:
                    self._encoder = await asyncio.to_thread(self._load)
                except (EngineError, OSError) as error:
                    log.error("cannot load %s: %s", self._path, error)
                    text = f"the embedding model {self.name} cannot be loaded: {error}"
                    raise NotReadyError(text) from error
                log.info("encoder %s loaded in %.2f s", self.name, time.perf_counter() - began)
            return self._encoder

    async def _encode(self, encoder: TextEncoder, texts: list[list[int]]) -> Vectors:
        def encode() -> Vectors:
            with self._one_at_a_time:  # the last slice of the own thread may still run
                began = time.perf_counter()
                vectors = encoder.encoder.encode(texts)
                count = sum(map(len, texts))
                if count >= MEASURED_TOKENS:
                    self._rate = count / (time.perf_counter() - began)
                return vectors

        return await asyncio.wrap_future(self.compute(encode))

    def _slice_tokens(self) -> int:
        """As many tokens as this box does in the time for a slice; a single text may have more."""
        return int(self._rate * SLICE_SECONDS) or MEASURED_TOKENS

    def _compute_alone(self, function: Callable[[], Vectors]) -> "Future[Vectors]":
        if self._own_thread is None:
            self._own_thread = ThreadPoolExecutor(1, thread_name_prefix="engine-encoder")
        return self._own_thread.submit(function)

    def _keep(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _rest(self) -> None:
        if self._active == 0 and self._encoder is not None:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._idle_seconds, self._unload)

    def _unload(self) -> None:
        """Nobody has asked for long. The threads sleep, so ending them takes no time."""
        self._idle = None
        if self._active == 0 and self._encoder is not None:
            encoder, self._encoder = self._encoder, None
            self._end(encoder)
            log.info("encoder %s unloaded", self.name)

    def _end(self, encoder: TextEncoder) -> None:
        with self._one_at_a_time:
            encoder.close()


def _tokens(
    encoder: TextEncoder, inputs: Sequence[str | list[int]], kind: Kind | None
) -> list[list[int]]:
    c = encoder.config
    tokens: list[list[int]] = []
    for number, entry in enumerate(inputs):
        if isinstance(entry, str):
            tokens += encoder.tokens([entry], kind)
        elif not 0 < len(entry) <= c.max_tokens:
            raise InvalidRequestError(
                f"input {number} has {len(entry)} token ids; 1 to {c.max_tokens} are possible",
                param="input",
            )
        elif min(entry) < 0 or max(entry) >= c.vocabulary:
            raise InvalidRequestError(
                f"input {number} has a token id outside 0..{c.vocabulary - 1}", param="input"
            )
        else:
            tokens.append(entry)
    return tokens
