"""Texts to unit vectors: the client of the embedding worker. Knows nothing of documents."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from rag.errors import EmbedderError, WorkerError
from rag.worker import State, Worker

MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
BATCH = 8
"""Texts a request: 0.3 s of work, which is what a question may wait during an ingest."""
_BATCH_SECONDS = 60.0


class Embedder:
    """all-MiniLM-L6-v2 in a process of its own, started when needed and gone when idle.

    Must be made inside a running event loop's program and closed with ``close``.
    """

    model = MODEL
    dimension = DIMENSION

    def __init__(self, *, idle_seconds: float = 600.0) -> None:
        self._worker = Worker("rag.embed_worker", idle_seconds=idle_seconds)

    @property
    def state(self) -> State:
        """``stopped``, ``starting``, ``ready`` or ``busy``."""
        return self._worker.state

    async def start(self) -> None:
        """Load the model now (about 5 s), so that the first question need not wait.

        Raises:
            EmbedderError: the worker does not start.
        """
        try:
            await self._worker.start()
        except WorkerError as error:
            raise _explained(error) from error

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of ``texts``: float32 (len(texts), 384). Text past 256 tokens is not seen.

        Raises:
            EmbedderError: the worker failed twice on the same batch, or gave an unusable vector.
        """
        batches = [texts[i : i + BATCH] for i in range(0, len(texts), BATCH)]
        vectors = [await self._embed_batch(batch) for batch in batches]
        return np.concatenate(vectors) if vectors else np.empty((0, DIMENSION), np.float32)

    async def close(self) -> None:
        """End the worker process."""
        await self._worker.close()

    async def _embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        message = msgspec.msgpack.encode(list(texts))
        try:
            reply = await self._request_twice(message)
        except WorkerError as error:
            raise _explained(error) from error
        return checked(np.frombuffer(reply, dtype="<f4"), len(texts), DIMENSION)

    async def _request_twice(self, message: bytes) -> bytes:
        try:
            return await self._worker.request(message, time_limit=_BATCH_SECONDS)
        except WorkerError:
            return await self._worker.request(message, time_limit=_BATCH_SECONDS)


def checked(flat: NDArray[np.float32], rows: int, dimension: int) -> NDArray[np.float32]:
    """``flat`` as (rows, dimension), every row finite and of length 1.

    The check is here because sqlite-vec stores a NaN silently and sorts a zero vector nowhere.

    Raises:
        EmbedderError: wrong size, or a row that is not a unit vector.
    """
    if flat.size != rows * dimension:
        raise EmbedderError(f"the embedding worker sent {flat.size} numbers for {rows} texts")
    vectors = flat.astype(np.float32).reshape(rows, dimension)
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.all(np.abs(lengths - 1.0) < 1e-3):  # false for NaN as well
        raise EmbedderError("the embedding model gave a vector that is not of length 1")
    return vectors


def _explained(error: WorkerError) -> EmbedderError:
    return EmbedderError(
        f"the embedding worker failed: {error}. Try again; `hubd doctor` checks the installation"
    )
