"""The vectors of one embedding model: int8 in SQLite, and their signs in memory for the search.

The table holds the vectors of several models, so that a library can be embedded anew beside the
vectors in use. Behind ``Vectors``, so that something else may search them. Must not know of texts.
"""

import contextlib
from collections.abc import Sequence
from itertools import islice
from typing import Literal, Protocol, cast

import apsw
import msgspec
import numpy as np
from numpy.typing import NDArray

from rag.elsewhere import MakeElsewhere
from rag.errors import IndexAwayError
from rag.types import Visible
from rag.vectors import Embedded, Ids, Int8s, SignIndex, directions, likeness, quantized

RESCORED = 1024
"""Candidates by sign whose cosines are then computed. Of 100 000, 98 in 100 of the nearest 24 are
among them."""
_LOADED_AT_ONCE = 10_000

ELSEWHERE = 4
"""Candidates asked of an index elsewhere for each that is wanted: its vectors are the same."""
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

    def insert(self, ids: Sequence[int], document: int, made: Sequence[Embedded]) -> None:
        """Keep what was made of chunks of a document, instead of what there was of them.

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

    def nearest_sentences(
        self, vector: NDArray[np.float32], ids: Sequence[int]
    ) -> dict[int, float]:
        """About the cosine of each chunk's nearest sentence; without chunks that have none."""
        ...

    def reload(self) -> None:
        """What is remembered in memory may not be what is stored: after a change undone."""
        ...


_WITHOUT_VECTOR = (
    "NOT EXISTS (SELECT 1 FROM vectors WHERE chunk_id = chunks.id AND embedder_id = ? "
    "AND sentences IS NOT NULL)"
)


class VectorTable:
    """``Vectors`` in the table ``vectors``, under the number of one row of ``embedders``."""

    def __init__(
        self,
        connection: apsw.Connection,
        model: str,
        dimension: int,
        source: str = "",
        make_elsewhere: MakeElsewhere | None = None,
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
        row = connection.execute(
            "SELECT id, dimension FROM embedders WHERE model = ?", (model,)
        ).fetchall()[0]
        self._embedder, known = cast(tuple[int, int], row)
        if dimension and known != dimension:
            raise ValueError(f"{model} made vectors of {known} numbers, and now of {dimension}")
        self.elsewhere = make_elsewhere(model, known) if make_elsewhere else None
        self._signs: SignIndex | None = None
        self._seen_version = 0

    @property
    def serving(self) -> bool:
        """Whether these are the vectors that are searched: every chunk has one."""
        return self._is("state = 'serving'")

    @property
    def complete(self) -> bool:
        """Whether they are searched, and every chunk's sentences have theirs too."""
        return self._is("state = 'serving' AND with_sentences")

    def _is(self, condition: str) -> bool:
        found = self._connection.execute(
            f"SELECT 1 FROM embedders WHERE id = ? AND {condition}", (self._embedder,)
        )
        return found.fetchone() is not None

    def insert(self, ids: Sequence[int], document: int, made: Sequence[Embedded]) -> None:
        """As ``Vectors.insert``."""
        values = [quantized(one.vector, self.dimension) for one in made]
        known = self._values(ids)
        self._connection.executemany(
            "INSERT OR REPLACE INTO vectors (chunk_id, embedder_id, value, sentences) "
            "VALUES (?, ?, ?, ?)",
            (
                (number, self._embedder, value.tobytes(), one.sentences)
                for number, value, one in zip(ids, values, made, strict=True)
            ),
        )
        new = [at for at, number in enumerate(ids) if number not in known]
        if not new:
            return
        numbers = np.array([ids[at] for at in new], np.int64)
        documents = np.full(len(new), document, np.int64)
        added = np.stack([values[at] for at in new])
        if self._signs is not None:
            self._signs.add(numbers, documents, added)
        if self.elsewhere is not None:
            with contextlib.suppress(IndexAwayError):  # the next comparison finds them missing
                self.elsewhere.add(numbers, documents, added)

    def remove(self, documents: Sequence[int]) -> None:
        """As ``Vectors.remove``; the rows of all models go."""
        self._connection.execute(
            "DELETE FROM vectors WHERE chunk_id IN (SELECT id FROM chunks WHERE document_id IN "
            "(SELECT value FROM json_each(?)))",
            (_json(documents),),
        )
        if not documents:
            return
        if self._signs is not None:
            self._signs.remove(np.array(documents, np.int64))
        if self.elsewhere is not None:
            with contextlib.suppress(IndexAwayError):
                self.elsewhere.remove(np.array(documents, np.int64))

    def nearest(
        self, vector: NDArray[np.float32], k: int, visible: Visible = None
    ) -> list[tuple[int, float]]:
        """As ``Vectors.nearest``."""
        quantized(vector, self.dimension)  # refuses what is no vector
        allowed = None if visible is None else self._documents(visible)
        near = self._candidates(vector, k, allowed).tolist()
        found = self._values(near if allowed is None else self._of_documents(near, allowed))
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

    def made_of(self, ids: Sequence[int]) -> dict[int, Embedded]:
        """All that is kept of these chunks; those that lack something are left out."""
        rows = self._connection.execute(
            "SELECT chunk_id, value, sentences FROM vectors WHERE embedder_id = ? "
            "AND chunk_id IN (SELECT value FROM json_each(?)) AND sentences IS NOT NULL",
            (self._embedder, _json(ids)),
        ).fetchall()
        units = directions((cast(bytes, row[1]) for row in rows), self.dimension)
        return {
            cast(int, number): Embedded(unit, cast(bytes, sentences))
            for (number, _, sentences), unit in zip(rows, units, strict=True)
        }

    def nearest_sentences(
        self, vector: NDArray[np.float32], ids: Sequence[int]
    ) -> dict[int, float]:
        """As ``Vectors.nearest_sentences``."""
        rows = self._connection.execute(
            "SELECT chunk_id, sentences FROM vectors WHERE embedder_id = ? "
            "AND chunk_id IN (SELECT value FROM json_each(?)) AND sentences <> x''",
            (self._embedder, _json(ids)),
        ).fetchall()
        if not rows:
            return {}
        signs = [cast(bytes, row[1]) for row in rows]
        row_bytes = -(-self.dimension // 8)
        starts = np.cumsum([0, *(len(one) // row_bytes for one in signs[:-1])])
        unit = vector / np.linalg.norm(vector)
        nearest = np.maximum.reduceat(likeness(b"".join(signs), unit), starts)
        numbers = [cast(int, row[0]) for row in rows]
        return dict(zip(numbers, nearest.tolist(), strict=True))

    def reload(self) -> None:
        """As ``Vectors.reload``."""
        self._signs = None

    def catch_up(self) -> bool:
        """One step towards a complete copy elsewhere; says whether it is.

        Raises:
            rag.errors.IndexAwayError: it does not answer.
        """
        if self.elsewhere is None or self.elsewhere.complete:
            return True
        if self.elsewhere.catch_up(self._stored_after, lambda ids: set(self._values(ids))):
            self._signs = None  # not needed while that lasts
            return True
        return False

    def missing(self, count: int, after: int = 0) -> list[int]:
        """Up to ``count`` chunks, numbered above ``after``, that lack a vector of this model.

        Or those of their sentences: versions up to 5 made none.
        """
        rows = self._connection.execute(
            f"SELECT id FROM chunks WHERE id > ? AND {_WITHOUT_VECTOR} ORDER BY id LIMIT ?",
            (after, self._embedder, count),
        )
        return [int(row[0]) for row in rows]

    def missing_count(self) -> int:
        """How many chunks lack a vector of this model, or of their sentences."""
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
            "UPDATE embedders SET state = 'serving', with_sentences = 1 WHERE id = ?",
            (self._embedder,),
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

    def _candidates(self, vector: NDArray[np.float32], k: int, allowed: Ids | None) -> Ids:
        if self.elsewhere is not None:
            with contextlib.suppress(IndexAwayError):
                return self.elsewhere.nearest(vector, ELSEWHERE * k, allowed)
        return self._loaded().nearest(vector, max(k, RESCORED), allowed)

    def _of_documents(self, ids: Sequence[int], documents: Ids) -> list[int]:
        """Those of the chunks that are in these documents: a copy elsewhere may be out of date."""
        rows = self._connection.execute(
            "SELECT id FROM chunks WHERE id IN (SELECT value FROM json_each(?)) "
            "AND document_id IN (SELECT value FROM json_each(?))",
            (_json(ids), _json(documents.tolist())),
        )
        return [int(row[0]) for row in rows]

    def _stored_after(self, number: int, count: int) -> tuple[Ids, Ids, Int8s]:
        """The vectors of chunks above ``number``: ids, documents, int8 (n, dimension)."""
        rows = self._connection.execute(
            "SELECT chunk_id, document_id, value FROM vectors JOIN chunks ON chunks.id = chunk_id "
            "WHERE chunk_id > ? AND embedder_id = ? ORDER BY chunk_id LIMIT ?",
            (number, self._embedder, count),
        ).fetchall()
        flat = np.frombuffer(b"".join(cast(bytes, row[2]) for row in rows), np.int8)
        return (
            np.array([row[0] for row in rows], np.int64),
            np.array([row[1] for row in rows], np.int64),
            flat.reshape(-1, self.dimension),
        )

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
