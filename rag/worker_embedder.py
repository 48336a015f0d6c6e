"""Any sentence-transformers model as an embedder, in a worker process.

The process is started when needed and gone when idle; loading takes about 5 s and 450 MB. Knows
nothing of documents.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from rag.embed import BATCH, DIMENSION, MODEL, checked
from rag.errors import EmbedderError, WorkerError
from rag.worker import State, Worker

_BATCH_SECONDS = 60.0
_HASHED = 65_536
"""Bytes at each end of a file of weights that tell it from others."""
_WEIGHTS = (".safetensors", ".bin")


class WorkerEmbedder:
    """A model of sentence-transformers: all-MiniLM-L6-v2, or the one in a folder."""

    def __init__(
        self,
        folder: Path | None = None,
        model: str = MODEL,
        dimension: int = DIMENSION,
        *,
        idle_seconds: float = 600.0,
    ) -> None:
        """``model`` of a folder is its ``model_name``; ``dimension`` may be 0 until ``start``."""
        self.model, self.dimension = model, dimension
        arguments = () if folder is None else (str(folder),)
        self._worker = Worker("rag.embed_worker", *arguments, idle_seconds=idle_seconds)

    @property
    def state(self) -> State:
        """``stopped``, ``starting``, ``ready`` or ``busy``."""
        return self._worker.state

    async def start(self) -> None:
        """As ``Embedder.start``; the dimension is known then."""
        try:
            await self._worker.start()
        except WorkerError as error:
            raise _explained(error) from error
        if not self.dimension:
            self.dimension = len(await self._ask(["how long is it?"])) // 4

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As ``Embedder.embed``."""
        batches = [texts[i : i + BATCH] for i in range(0, len(texts), BATCH)]
        vectors = [await self._embed_batch(batch) for batch in batches]
        return np.concatenate(vectors) if vectors else np.empty((0, self.dimension), np.float32)

    async def close(self) -> None:
        """End the worker process."""
        await self._worker.close()

    async def _embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        reply = await self._ask(texts)
        return checked(np.frombuffer(reply, dtype="<f4"), len(texts), self.dimension)

    async def _ask(self, texts: Sequence[str]) -> bytes:
        """Float32 vectors, row after row. A worker that failed is started again once."""
        message = msgspec.msgpack.encode(list(texts))
        try:
            try:
                return await self._worker.request(message, time_limit=_BATCH_SECONDS)
            except WorkerError:
                return await self._worker.request(message, time_limit=_BATCH_SECONDS)
        except WorkerError as error:
            raise _explained(error) from error


def model_name(folder: Path) -> str:
    """The folder's name, and a few digits that tell its weights from others.

    Raises:
        EmbedderError: there is no model of sentence-transformers in it.
    """
    digest = hashlib.sha256()
    try:
        if not (folder / "modules.json").is_file():
            raise EmbedderError(
                f"{folder} holds no model of sentence-transformers (no modules.json)"
            )
        for path in sorted(folder.rglob("*")):
            if path.suffix in _WEIGHTS or path.name in ("modules.json", "config.json"):
                with path.open("rb") as file:
                    size = file.seek(0, 2)
                    for place in (0, max(0, size - _HASHED)):
                        file.seek(place)
                        digest.update(file.read(_HASHED))
                    digest.update(f"{path.relative_to(folder)}:{size}".encode())
    except OSError as error:
        raise EmbedderError(f"{folder} cannot be read: {error.strerror or error}") from error
    return f"{folder.name}@{digest.hexdigest()[:8]}"


def _explained(error: WorkerError) -> EmbedderError:
    return EmbedderError(
        f"the embedding worker failed: {error}. Try again; `hubd doctor` checks the installation"
    )
