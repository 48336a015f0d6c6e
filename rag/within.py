"""A store of which only some documents are searched: the one that the last answer was from.

Must not know of conversations.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag.store import Chunk, Store
from rag.types import Visible


class Within:
    """What ``rag.retrieve`` searches, for the documents of these names alone."""

    def __init__(self, store: Store, documents: Collection[str], visible: Visible = None) -> None:
        self._store = store
        self._ids = store.chunk_ids(documents, visible)

    def search_text(
        self, fts_query: str, k: int, visible: Visible = None
    ) -> list[tuple[int, float]]:
        """As ``Store.search_text``."""
        return self._store.search_text(fts_query, k, visible, self._ids)

    def search_vector(
        self, vector: NDArray[np.float32], k: int, visible: Visible = None
    ) -> list[tuple[int, float]]:
        """The ``k`` nearest chunks as (id, cosine similarity), best first; none while some lack a
        vector."""
        if not self._store.table.serving:
            return []
        found = self._store.vectors(self._ids)
        unit = vector / np.linalg.norm(vector)
        near = [(number, float(one @ unit)) for number, one in found.items()]
        return sorted(near, key=lambda one: (-one[1], one[0]))[:k]

    def nearest_sentences(
        self, vector: NDArray[np.float32], ids: Sequence[int]
    ) -> Mapping[int, float]:
        """As ``Store.nearest_sentences``."""
        return self._store.nearest_sentences(vector, ids)

    def chunks(self, ids: Sequence[int]) -> Mapping[int, Chunk]:
        """As ``Store.chunks``."""
        return self._store.chunks(ids)
