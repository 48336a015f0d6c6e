"""The vectors of one embedding model: int8 in SQLite, and their signs in memory for the search.

The table holds the vectors of several models, so that a library can be embedded anew beside the
vectors in use. Behind ``Vectors``, so that something else may search them. Must not know of texts.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Literal, Protocol

import apsw
import msgspec
import numpy as np
from numpy.typing import NDArray

from rag.types import Visible
from rag.vectors import SignIndex, directions, quantized

RESCORED = 1024
"""Candidates by sign whose cosines are then computed. Of 100 000, 98 in 100 of the nearest 24 are
among them."""
_LOADED_AT_ONCE = 10_000

EmbedderState = Literal["serving", "coming", "old"]


class EmbedderRow(msgspec.Struct, frozen=True):
    """An embedding model that the database has vectors of."""

    id: int
    model: str
    dimension: int
    source: str
    """The folder that it is in; empty for the household's own."""
    state: EmbedderState
    """``serving``: searched, every chunk has its vector; ``coming``: being made; ``old``: to be
    deleted."""


def embedders(connection: apsw.Connection) -> list[EmbedderRow]:
    """The models that the database has vectors of, oldest first."""
    rows = connection.execute(
        "SELECT id, model, dimension, source, state FROM embedders ORDER BY id"
    )
    return [EmbedderRow(*row) for row in rows]


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
        self, vector: NDArray[np.float32], k: int, visible: Visible = None
    ) -> list[tuple[int, float]]:
        """The ``k`` nearest chunks of ``visible`` collections as (id, cosine), best first."""
        ...

    def of(self, ids: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """The unit vectors of these chunks; unknown ids are left out."""
        ...

    def reload(self) -> None:
        """What is remembered in memory may not be what is stored: after a change undone."""
        ...


_WITHOUT_VECTOR = (
    "NOT EXISTS (SELECT 1 FROM vectors WHERE chunk_id = chunks.id AND embedder_id = ?)"
)


class VectorTable:
    """``Vectors`` in the table ``vectors``, under the number of one row of ``embedders``."""

    def __init__(
        self, connection: apsw.Connection, model: str, dimension: int, source: str = ""
    ) -> None:
        """Take the vectors of ``model``, which becomes known to the database as coming.

        ``dimension`` may be 0 before the model was loaded: then it is for ``give_up_others`` alone.
        """
        self._connection = connection
        self.model = model
        self.dimension = dimension
        connection.execute(
            "INSERT INTO embedders (model, dimension, source) VALUES (?, ?, ?) "
            "ON CONFLICT (model) DO UPDATE SET "
            "source = coalesce(nullif(excluded.source, ''), source), "
            "dimension = coalesce(nullif(dimension, 0), excluded.dimension), "
            "state = iif(state = 'old', 'coming', state)",
            (model, dimension, source),
        )
        self._embedder, known = connection.execute(
            "SELECT id, dimension FROM embedders WHERE model = ?", (model,)
        ).fetchall()[0]
        if dimension and known != dimension:
            raise ValueError(f"{model} made vectors of {known} numbers, and now of {dimension}")
        self._signs: SignIndex | None = None
        self._seen_version = 0

    @property
    def serving(self) -> bool:
        """Whether these are the vectors that are searched: every chunk has one."""
        row = self._connection.execute(
            "SELECT state FROM embedders WHERE id = ?", (self._embedder,)
        ).fetchone()
        return row is not None and row[0] == "serving"

    def insert(self, ids: Sequence[int], document: int, vectors: NDArray[np.float32]) -> None:
        """As ``Vectors.insert``."""
        values = [quantized(vector, self.dimension) for vector in vectors]
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
        self, vector: NDArray[np.float32], k: int, visible: Visible = None
    ) -> list[tuple[int, float]]:
        """As ``Vectors.nearest``."""
        quantized(vector, self.dimension)  # refuses what is no vector
        allowed = None if visible is None else self._documents(visible)
        near = self._loaded().nearest(vector, max(k, RESCORED), allowed)
        return self.ranked(near.tolist(), vector, k)

    def ranked(
        self, ids: Sequence[int], vector: NDArray[np.float32], k: int
    ) -> list[tuple[int, float]]:
        """The ``k`` of these chunks that are nearest, as ``Vectors.nearest`` gives them."""
        found = self._values(ids)
        if not found:
            return []
        ids = list(found)
        cosines = directions(found.values(), self.dimension) @ (vector / np.linalg.norm(vector))
        best = np.argsort(-cosines, kind="stable")[:k]
        return [(ids[at], float(cosines[at])) for at in best]

    def of(self, ids: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """As ``Vectors.of``."""
        found = self._values(ids)
        return dict(zip(found, directions(found.values(), self.dimension), strict=True))

    def reload(self) -> None:
        """As ``Vectors.reload``."""
        self._signs = None

    def missing(self, count: int, after: int = 0) -> list[int]:
        """Up to ``count`` chunks with a number above ``after`` that this model has no vector of."""
        rows = self._connection.execute(
            f"SELECT id FROM chunks WHERE id > ? AND {_WITHOUT_VECTOR} ORDER BY id LIMIT ?",
            (after, self._embedder, count),
        )
        return [int(row[0]) for row in rows]

    def missing_count(self) -> int:
        """How many chunks this model has no vector of."""
        counted = f"SELECT count(*) FROM chunks WHERE {_WITHOUT_VECTOR}"
        return int(self._connection.execute(counted, (self._embedder,)).get)

    def serve(self) -> bool:
        """These vectors are searched from now on, if no chunk lacks one; says whether so.

        Those that were searched become old. Call it in a transaction.
        """
        if self.missing(1):
            return False
        self._connection.execute("UPDATE embedders SET state = 'old' WHERE state = 'serving'")
        self._connection.execute(
            "UPDATE embedders SET state = 'serving' WHERE id = ?", (self._embedder,)
        )
        return True

    def give_up_others(self) -> None:
        """What was being made of other models becomes old."""
        self._connection.execute(
            "UPDATE embedders SET state = 'old' WHERE state = 'coming' AND id <> ?",
            (self._embedder,),
        )

    def sweep(self, count: int) -> bool:
        """Delete up to ``count`` vectors of old models; says whether there may be more."""
        old = "SELECT id FROM embedders WHERE state = 'old'"
        self._connection.execute(
            "DELETE FROM vectors WHERE (chunk_id, embedder_id) IN (SELECT chunk_id, embedder_id "
            f"FROM vectors WHERE embedder_id IN ({old}) LIMIT ?)",
            (count,),
        )
        if self._connection.changes():
            return True
        self._connection.execute("DELETE FROM embedders WHERE state = 'old'")
        return False

    def _documents(self, visible: frozenset[str]) -> NDArray[np.int64]:
        """The numbers of the documents in these collections."""
        rows = self._connection.execute(
            "SELECT id FROM documents WHERE collection IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(sorted(visible)).decode(),),
        )
        return np.array([row[0] for row in rows], np.int64)

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
        index = SignIndex(self.dimension)
        cursor = self._connection.execute(
            "SELECT chunk_id, document_id, value "
            "FROM chunks INDEXED BY chunks_by_document "  # which holds no text
            "CROSS JOIN vectors ON chunk_id = chunks.id AND embedder_id = ?",
            (self._embedder,),
        )
        while rows := list(islice(cursor, _LOADED_AT_ONCE)):
            ids, documents, values = zip(*rows, strict=True)
            flat = np.frombuffer(b"".join(values), np.int8).reshape(-1, self.dimension)
            index.add(np.array(ids, np.int64), np.array(documents, np.int64), flat)
        return index


def _json(ids: Sequence[int]) -> str:
    return msgspec.json.encode(list(ids)).decode()
