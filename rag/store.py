"""Documents, pages, chunks, full-text index and vectors in SQLite. Synchronous; one thread's.

The plain ``chunks`` table holds text, offsets and the vector as a blob; ``chunk_text`` (FTS5) and
``chunk_vectors`` (sqlite-vec) are indexes that ``rebuild`` makes again from it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import apsw
import msgspec
import numpy as np
from numpy.typing import NDArray

from rag.db import migrate, transaction
from rag.language import terms
from rag.loaders.page import PlacedLine
from rag.types import Visible

MAX_K = 4096
"""The most neighbours that sqlite-vec returns."""
DIMENSION = 384

_MIGRATIONS = (
    """
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        path TEXT NOT NULL UNIQUE,
        type TEXT NOT NULL,
        reason TEXT NOT NULL,      -- why it was skipped; empty when it is ready
        bytes INTEGER NOT NULL,
        stamp TEXT NOT NULL,       -- size and times: equal means not changed, without reading
        sha256 TEXT NOT NULL,
        made_by TEXT NOT NULL,     -- version of reader and encoder: another one reads again
        paged INTEGER NOT NULL,
        ingested_at TEXT NOT NULL
    );
    CREATE TABLE pages (
        document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        number INTEGER NOT NULL,
        text TEXT NOT NULL,
        UNIQUE (document_id, number)
    );
    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY,
        document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        page INTEGER NOT NULL,
        start INTEGER NOT NULL,
        end INTEGER NOT NULL,
        heading TEXT NOT NULL,
        text TEXT NOT NULL,
        embedding BLOB NOT NULL    -- float32, little-endian, length 1
    );
    CREATE INDEX chunks_by_document ON chunks (document_id);
    """,
    f"""
    CREATE VIRTUAL TABLE chunk_text USING fts5 (
        context, text, content = '', contentless_delete = 1,
        tokenize = 'porter unicode61 remove_diacritics 2'
    );
    CREATE VIRTUAL TABLE chunk_vectors USING vec0 (
        embedding float[{DIMENSION}] distance_metric=cosine
    );
    """,
    """
    ALTER TABLE documents ADD COLUMN collection TEXT NOT NULL DEFAULT '';
    ALTER TABLE documents ADD COLUMN device INTEGER NOT NULL DEFAULT 0;  -- of the file system
    ALTER TABLE pages ADD COLUMN lines TEXT NOT NULL DEFAULT '';         -- of a recognised page
    CREATE TABLE unfinished (          -- work on files that are not stored yet: survives a kill
        sha256 TEXT NOT NULL,
        piece TEXT NOT NULL,
        value BLOB NOT NULL,
        PRIMARY KEY (sha256, piece)
    ) WITHOUT ROWID;
    """,
)

_CHUNK_COLUMNS = """
    chunks.id, documents.name, CASE WHEN documents.paged THEN chunks.page END,
    chunks.start, chunks.end, chunks.text, chunks.heading
"""

_VISIBLE_CHUNKS = """
    SELECT chunks.id FROM chunks JOIN documents ON documents.id = document_id
    WHERE collection IN (SELECT value FROM json_each(?))
"""


class Chunk(msgspec.Struct, frozen=True):
    """A chunk as stored; ``page`` is None for a format without pages."""

    id: int
    document: str
    page: int | None
    start: int
    end: int
    text: str
    heading: str


class NewChunk(msgspec.Struct, frozen=True):
    """A chunk to store; ``page`` counts from 1 for every format."""

    page: int
    start: int
    end: int
    text: str
    heading: str
    vector: NDArray[np.float32]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of a file, read or skipped."""

    name: str
    path: str
    type: str
    bytes: int
    stamp: str
    sha256: str
    made_by: str
    ingested_at: str
    reason: str = ""
    paged: bool = False
    collection: str = ""
    device: int = 0
    """The number of the file system that the file was on (``st_dev``)."""


class Listing(msgspec.Struct, frozen=True):
    """A record with the number of its pages and chunks."""

    record: Record
    pages: int
    chunks: int


_RECORD_COLUMNS = ", ".join(Record.__struct_fields__)


class Store:
    """The room's tables over one connection. Every change is one transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        """Bring the tables up to date.

        Raises:
            rag.errors.DatabaseError: the file was written by a newer version.
        """
        self._connection = connection
        migrate(connection, "rag", _MIGRATIONS)

    def search_text(
        self, fts_query: str, k: int, visible: Visible = None
    ) -> list[tuple[int, float]]:
        """The ``k`` best chunks by BM25 as (id, score), best first; a higher score is better.

        ``fts_query`` is an FTS5 expression from ``rag.language.fts_query``; empty finds nothing.
        Only chunks of the collections in ``visible`` are looked at.
        """
        if not fts_query.strip():
            return []
        allowed = "" if visible is None else f"AND rowid IN ({_VISIBLE_CHUNKS})"
        rows = self._connection.execute(
            f"SELECT rowid, -rank FROM chunk_text WHERE chunk_text MATCH ? {allowed} "
            "ORDER BY rank LIMIT ?",
            (fts_query, *_listed(visible), k),
        )
        return [(int(row), float(score)) for row, score in rows]

    def search_vector(
        self, vector: NDArray[np.float32], k: int, visible: Visible = None
    ) -> list[tuple[int, float]]:
        """The ``k`` (at most 4096) nearest chunks as (id, cosine similarity), best first.

        ``vector``: float32 of shape (384,), not zero. ``visible`` as for ``search_text``.
        """
        allowed = "" if visible is None else f"AND rowid IN ({_VISIBLE_CHUNKS})"
        rows = self._connection.execute(
            "SELECT rowid, distance FROM chunk_vectors WHERE embedding MATCH ? AND k = ? "
            f"{allowed} ORDER BY distance",
            (_blob(vector), min(k, MAX_K), *_listed(visible)),
        )
        return [(int(row), 1.0 - float(distance)) for row, distance in rows]

    def chunks(self, ids: Sequence[int]) -> dict[int, Chunk]:
        """The chunks with these ids; an unknown id is left out."""
        rows = self._connection.execute(
            f"SELECT {_CHUNK_COLUMNS} FROM chunks JOIN documents ON documents.id = document_id "
            "WHERE chunks.id IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(list(ids)).decode(),),
        )
        return {row[0]: Chunk(*row) for row in rows}

    def vectors(self, ids: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """The unit vectors of the chunks with these ids, float32 of shape (384,)."""
        rows = self._connection.execute(
            "SELECT id, embedding FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(list(ids)).decode(),),
        )
        return {row: np.frombuffer(blob, dtype="<f4") for row, blob in rows}

    def chunk_count(self) -> int:
        """How many chunks there are in all."""
        return int(self._connection.execute("SELECT count(*) FROM chunks").get)

    def record(self, path: str) -> Record | None:
        """What is known of the file at ``path``."""
        return next(self._records("WHERE path = ?", path), None)

    def record_named(self, name: str) -> Record | None:
        """What is known of the document called ``name``."""
        return next(self._records("WHERE name = ?", name), None)

    def records(self) -> list[Record]:
        """All documents, read or skipped, by name."""
        return list(self._records("ORDER BY name"))

    def listings(self) -> list[Listing]:
        """All documents with their number of pages and chunks, by name."""
        rows = self._connection.execute(
            f"SELECT {_RECORD_COLUMNS}, "
            "(SELECT count(*) FROM pages WHERE document_id = documents.id), "
            "(SELECT count(*) FROM chunks WHERE document_id = documents.id) "
            "FROM documents ORDER BY name"
        )
        return [Listing(_record(row[:-2]), row[-2], row[-1]) for row in rows]

    def page(self, name: str, number: int) -> tuple[str, int] | None:
        """The text of a page (from 1) and how many pages there are; None if there is none."""
        row = self._connection.execute(
            "SELECT text, (SELECT count(*) FROM pages WHERE document_id = documents.id) "
            "FROM pages JOIN documents ON documents.id = document_id "
            "WHERE name = ? AND number = ?",
            (name, number),
        ).fetchone()
        return (row[0], row[1]) if row else None

    def page_lines(self, name: str, number: int) -> list[PlacedLine]:
        """Where the lines of a recognised page stand; empty for every other page."""
        row = self._connection.execute(
            "SELECT lines FROM pages JOIN documents ON documents.id = document_id "
            "WHERE name = ? AND number = ? AND lines <> ''",
            (name, number),
        ).fetchone()
        return msgspec.json.decode(row[0], type=list[PlacedLine]) if row else []

    def replace(
        self,
        record: Record,
        pages: Sequence[str],
        chunks: Sequence[NewChunk],
        *,
        lines: Sequence[Sequence[PlacedLine]] = (),
        instead_of: str = "",
    ) -> None:
        """Store a document in place of what was at its path, under its name, or at ``instead_of``.

        ``lines``: of each page, where it was recognised.
        """
        placed = [msgspec.json.encode(one).decode() if one else "" for one in lines]
        placed += [""] * (len(pages) - len(placed))
        with transaction(self._connection):
            self._delete("path IN (?, ?) OR name = ?", record.path, instead_of, record.name)
            self._connection.execute("DELETE FROM unfinished WHERE sha256 = ?", (record.sha256,))
            values = [getattr(record, field) for field in Record.__struct_fields__]
            marks = ", ".join("?" * len(values))
            self._connection.execute(
                f"INSERT INTO documents ({_RECORD_COLUMNS}) VALUES ({marks})", values
            )
            document_id = self._connection.last_insert_rowid()
            self._connection.executemany(
                "INSERT INTO pages (document_id, number, text, lines) VALUES (?, ?, ?, ?)",
                (
                    (document_id, number, text, of_page)
                    for number, (text, of_page) in enumerate(zip(pages, placed, strict=True), 1)
                ),
            )
            for chunk in chunks:
                self._insert(document_id, record.name, chunk)

    def touch(self, path: str, stamp: str, device: int) -> None:
        """Remember that the file at ``path`` has new times or another disk, the same content."""
        self._connection.execute(
            "UPDATE documents SET stamp = ?, device = ? WHERE path = ?", (stamp, device, path)
        )

    def unfinished(self, sha256: str) -> dict[str, bytes]:
        """What was done of a file before an ingest was cut off, by piece."""
        rows = self._connection.execute(
            "SELECT piece, value FROM unfinished WHERE sha256 = ?", (sha256,)
        )
        return {str(piece): cast(bytes, value) for piece, value in rows}

    def keep_unfinished(self, sha256: str, pieces: Mapping[str, bytes]) -> None:
        """Keep work on the file with this content until it is stored."""
        with transaction(self._connection):
            self._connection.executemany(
                "INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?)",
                ((sha256, piece, value) for piece, value in pieces.items()),
            )

    def drop_unfinished(self) -> None:
        """Nothing is under way any more."""
        self._connection.execute("DELETE FROM unfinished")

    def chunks_of(self, path: str) -> list[tuple[str, str, NDArray[np.float32]]]:
        """(heading, text, unit vector) of the chunks of the document at ``path``."""
        rows = self._connection.execute(
            "SELECT heading, text, embedding FROM chunks "
            "JOIN documents ON documents.id = document_id WHERE path = ?",
            (path,),
        )
        return [(h, t, np.frombuffer(blob, dtype="<f4")) for h, t, blob in rows]

    def remove(self, name: str) -> bool:
        """Forget the document called ``name``; False if there is none."""
        with transaction(self._connection):
            deleted = self._delete("name = ?", name)
        return deleted > 0

    def rebuild(self) -> None:
        """Make both indexes again from the ``chunks`` table, in one transaction."""
        with transaction(self._connection):
            self._connection.execute("DELETE FROM chunk_vectors")
            self._connection.execute("INSERT INTO chunk_text (chunk_text) VALUES ('delete-all')")
            rows = self._connection.execute(
                "SELECT chunks.id, name, heading, text, embedding "
                "FROM chunks JOIN documents ON documents.id = document_id"
            )
            for row in rows:
                self._index(*cast(tuple[int, str, str, str, bytes], row))

    def _insert(self, document_id: int, name: str, chunk: NewChunk) -> None:
        blob = _blob(chunk.vector)
        self._connection.execute(
            "INSERT INTO chunks (document_id, page, start, end, heading, text, embedding) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (document_id, chunk.page, chunk.start, chunk.end, chunk.heading, chunk.text, blob),
        )
        chunk_id = self._connection.last_insert_rowid()
        self._index(chunk_id, name, chunk.heading, chunk.text, blob)

    def _index(self, chunk_id: int, name: str, heading: str, text: str, blob: bytes) -> None:
        self._connection.execute(
            "INSERT INTO chunk_text (rowid, context, text) VALUES (?, ?, ?)",
            (chunk_id, terms(f"{name} {heading}"), terms(text)),
        )
        self._connection.execute(
            "INSERT INTO chunk_vectors (rowid, embedding) VALUES (?, ?)", (chunk_id, blob)
        )

    def _delete(self, where: str, *values: str) -> int:
        """Delete documents and all that is theirs. ``where`` is a constant of this module."""
        theirs = (
            f"SELECT id FROM chunks WHERE document_id IN (SELECT id FROM documents WHERE {where})"
        )
        for index in ("chunk_text", "chunk_vectors"):
            self._connection.execute(f"DELETE FROM {index} WHERE rowid IN ({theirs})", values)
        self._connection.execute(f"DELETE FROM documents WHERE {where}", values)
        return self._connection.changes()

    def _records(self, clause: str, *values: str) -> Iterator[Record]:
        rows = self._connection.execute(f"SELECT {_RECORD_COLUMNS} FROM documents {clause}", values)
        return (_record(row) for row in rows.fetchall())


def _listed(visible: Visible) -> tuple[str, ...]:
    """The argument of ``_VISIBLE_CHUNKS``, where it is used."""
    return () if visible is None else (msgspec.json.encode(sorted(visible)).decode(),)


def _record(row: Sequence[object]) -> Record:
    return msgspec.convert(
        dict(zip(Record.__struct_fields__, row, strict=True)), Record, strict=False
    )


def _blob(vector: NDArray[np.float32]) -> bytes:
    """The vector's bytes, after the checks that sqlite-vec does not make.

    Raises:
        ValueError: not of shape (384,), or not of finite, non-zero length.
    """
    length = float(np.linalg.norm(vector))
    if vector.shape != (DIMENSION,) or not 0.0 < length < float("inf"):
        raise ValueError(f"not a usable vector: shape {vector.shape}, length {length}")
    return np.asarray(vector / length, dtype="<f4").tobytes()
