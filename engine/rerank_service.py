"""The cross-encoder of an engine process: as its encoder is, with scores in place of vectors."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.cross_encoder import CrossEncoder
from engine.embed import TextEncoder
from engine.embed_service import EmbedService


class RerankService(EmbedService):
    """One cross-encoder for the whole process. All methods but ``close`` are for the event loop."""

    def __init__(
        self,
        path: Path,
        adapter: Path,
        *,
        name: str | None = None,
        threads: int | None = None,
        cache_directory: Path | None = None,
        idle_seconds: float = 600.0,
    ) -> None:
        """As an ``EmbedService`` of the encoder; adapter: what makes a cross-encoder of it."""
        super().__init__(
            path,
            name=name or adapter.stem,
            threads=threads,
            cache_directory=cache_directory,
            idle_seconds=idle_seconds,
        )
        self._adapter = adapter

    async def rerank(self, query: str, documents: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """float32 (documents,), log odds that each answers, and how many tokens that took.

        Cancelling takes effect between slices. Raises as ``embed`` does.
        """
        encoder = await self._loaded()
        assert isinstance(encoder, CrossEncoder)
        pairs = await asyncio.to_thread(encoder.pairs, query, documents)
        vectors, tokens = await self.embed(pairs)
        return encoder.scores(vectors), tokens

    def _load(self) -> TextEncoder:
        return CrossEncoder.load_adapted(
            self._path, self._adapter, threads=self._threads, cache_directory=self._cache
        )
