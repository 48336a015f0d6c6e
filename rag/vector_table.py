"""The vectors of one embedding model: int8 in SQLite, and their signs in memory for the search.

The table holds the vectors of several models, so that a library can be embedded anew beside the
vectors in use. Behind ``Vectors``, so that something else may keep them. Must not know of texts.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Protocol

import apsw
import msgspec
import numpy as np
from numpy.typing import NDArray

from rag.vectors import SignIndex, directions, quantized

RESCORED = 1024
"""Candidates by sign whose cosines are then computed. Of 100 000, 98 in 100 of the nearest 24 are
among them."""
_LOADED_AT_ONCE = 10_000


class Vectors(Protocol):
    """What keeps the vectors of chunks. All of it can be made again from the chunks' texts."""

    def insert(self, ids: Sequence[int], document: int, vectors: NDArray[np.float32]) -> None:
        """Keep the vectors, (n, dimension), of new chunks of a document.

        Raises:
            ValueError: one is of another dimension, not finite, or zero.
        """
        ...

    def remove(self, documents: Sequence[int]) -> None:
        """Forget the vectors of all chunks of these documents."""
        ...

    def nearest(
        self, vector: NDArray[np.float32], k: int, documents: Sequence[int] | None
    ) -> list[tuple[int, float]]:
        """The ``k`` nearest chunks as (id, cosine), best first, of ``documents`` alone."""
        ...

    def of(self, ids: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """The unit vectors of these chunks; unknown ids are left out."""
        ...

    def reload(self) -> None:
        """What is remembered in memory may not be what is stored: after a change undone."""
        ...


class VectorTable:
    """``Vectors`` in the table ``vectors``, under the number of one row of ``embedders``."""

    def __init__(self, connection: apsw.Connection, model: str, dimension: int) -> None:
        """Take the vectors of ``model``, which becomes known to the database."""
        self._connection = connection
        self._dimension = dimension
        connection.execute(
            "INSERT OR IGNORE INTO embedders (model, dimension) VALUES (?, ?)", (model, dimension)
        )
        self._embedder, known = connection.execute(
            "SELECT id, dimension FROM embedders WHERE model = ?", (model,)
        ).fetchall()[0]
        if known != dimension:
            raise ValueError(f"{model} made vectors of {known} numbers, and now of {dimension}")
        self._signs: SignIndex | None = None
        self._seen_version = 0

    def insert(self, ids: Sequence[int], document: int, vectors: NDArray[np.float32]) -> None:
        """As ``Vectors.insert``."""
        values = [quantized(vector, self._dimension) for vector in vectors]
        self._connection.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
            (
                (number, self._embedder, value.tobytes())
                for number, value in zip(ids, values, strict=True)
            ),
        )
        if self._signs is not None and values:
            documents = np.full(len(ids), document, np.int64)
            self._signs.add(np.array(ids, np.int64), documents, np.stack(values))

    def remove(self, documents: Sequence[int]) -> None:
        """As ``Vectors.remove``; the rows of all models go."""
        self._connection.execute(
            "DELETE FROM vectors WHERE chunk_id IN (SELECT id FROM chunks WHERE document_id IN "
            "(SELECT value FROM json_each(?)))",
            (_json(documents),),
        )
        if self._signs is not None and documents:
            self._signs.remove(np.array(documents, np.int64))

    def nearest(
        self, vector: NDArray[np.float32], k: int, documents: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """As ``Vectors.nearest``."""
        quantized(vector, self._dimension)  # refuses what is no vector
        allowed = None if documents is None else np.array(documents, np.int64)
        near = self._loaded().nearest(vector, max(k, RESCORED), allowed)
        found = self._values(near.tolist())
        if not found:
            return []
        ids = list(found)
        cosines = directions(found.values(), self._dimension) @ (vector / np.linalg.norm(vector))
        best = np.argsort(-cosines, kind="stable")[:k]
        return [(ids[at], float(cosines[at])) for at in best]

    def of(self, ids: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """As ``Vectors.of``."""
        found = self._values(ids)
        return dict(zip(found, directions(found.values(), self._dimension), strict=True))

    def reload(self) -> None:
        """As ``Vectors.reload``."""
        self._signs = None

    def missing(self, count: int) -> list[int]:
        """Up to ``count`` chunks that this model has no vector of."""
        rows = self._connection.execute(
            "SELECT id FROM chunks WHERE id NOT IN "
            "(SELECT chunk_id FROM vectors WHERE embedder_id = ?) ORDER BY id LIMIT ?",
            (self._embedder, count),
        )
        return [int(row[0]) for row in rows]

    def covers(self, chunks: int) -> bool:
        """Whether all of that many chunks have a vector of this model."""
        return len(self._loaded()) >= chunks

    def drop_older(self) -> None:
        """Forget the vectors of the models that were here before this one."""
        self._connection.execute("DELETE FROM vectors WHERE embedder_id < ?", (self._embedder,))
        self._connection.execute("DELETE FROM embedders WHERE id < ?", (self._embedder,))

    def _values(self, ids: Sequence[int]) -> dict[int, bytes]:
        rows = self._connection.execute(
            "SELECT chunk_id, value FROM vectors WHERE embedder_id = ? "
            "AND chunk_id IN (SELECT value FROM json_each(?))",
            (self._embedder, _json(ids)),
        )
        return {int(number): bytes(value) for number, value in rows}

    def _loaded(self) -> SignIndex:
        """The signs, read again when another process has changed the file."""
        version = int(self._connection.execute("PRAGMA data_version").get)
        if self._signs is None or version != self._seen_version:
            self._signs, self._seen_version = self._load(), version
        return self._signs

    def _load(self) -> SignIndex:
        index = SignIndex(self._dimension)
        cursor = self._connection.execute(
            "SELECT chunk_id, document_id, value "
            "FROM chunks INDEXED BY chunks_by_document "  # which holds no text
            "CROSS JOIN vectors ON chunk_id = chunks.id AND embedder_id = ?",
            (self._embedder,),
        )
        while rows := list(islice(cursor, _LOADED_AT_ONCE)):
            ids, documents, values = zip(*rows, strict=True)
            flat = np.frombuffer(b"".join(values), np.int8).reshape(-1, self._dimension)
            index.add(np.array(ids, np.int64), np.array(documents, np.int64), flat)
        return index


def _json(ids: Sequence[int]) -> str:
    return msgspec.json.encode(list(ids)).decode()
