"""Documents, pages, chunks and the full-text index in SQLite; vectors behind ``rag.vector_table``.

Synchronous; one thread's. The index is made again by ``rebuild``.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import cast

import apsw
import msgspec
import numpy as np
from numpy.typing import NDArray

from rag.db import transaction
from rag.elsewhere import MakeElsewhere
from rag.embed import DIMENSION, MODEL, Embedder
from rag.language import terms
from rag.loaders.page import PlacedLine
from rag.schema import bring_up_to_date, packed, unpacked
from rag.section import Placed, around
from rag.types import Passage, Visible
from rag.vector_table import EmbedderRow, VectorTable, embedders
from rag.vectors import Embedded

_CHUNK_COLUMNS = """
    chunks.id, documents.name, CASE WHEN documents.paged THEN chunks.page END,
    chunks.start, chunks.end, chunks.text, chunks.heading
"""

_VISIBLE_CHUNKS = """
    SELECT chunks.id FROM chunks JOIN documents ON documents.id = document_id
    WHERE collection IN (SELECT value FROM json_each(?))
"""


MadeWith = Callable[[EmbedderRow], Embedder | None]
"""The embedder that the vectors of a library were made with; None where it cannot be had."""


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
    embedded: Embedded


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

    def __init__(
        self,
        connection: apsw.Connection,
        model: str = MODEL,
        dimension: int = DIMENSION,
        make_elsewhere: MakeElsewhere | None = None,
    ) -> None:
        """Bring the tables up to date, and take the vectors of ``model``.

        Raises:
            rag.errors.DatabaseError: the file was written by a newer version.
        """
        self._connection = connection
        bring_up_to_date(connection)
        self._make_elsewhere = make_elsewhere
        self.table = VectorTable(connection, model, dimension, "", make_elsewhere)
        if not self.table.serving and not self.chunk_count():
            self.switch(self.table)

    def search_text(
        self,
        fts_query: str,
        k: int,
        visible: Visible = None,
        among: Sequence[int] | None = None,
    ) -> list[tuple[int, float]]:
        """The ``k`` best chunks by BM25 as (id, score), best first; a higher score is better.

        ``fts_query`` is an FTS5 expression from ``rag.language.fts_query``; empty finds nothing.
        Only chunks of the collections in ``visible``, and with these ids, are looked at.
        """
        if not fts_query.strip():
            return []
        # By bm25() and not by FTS5's own column rank, which sorts all matches and keeps where each
        # word stands: 32 ms instead of 24 for the 20 000 matches of a question among 100 000.
        allowed = "" if visible is None else f"AND rowid IN ({_VISIBLE_CHUNKS})"
        these = "" if among is None else "AND rowid IN (SELECT value FROM json_each(?))"
        ids = () if among is None else (msgspec.json.encode(list(among)).decode(),)
        rows = self._connection.execute(
            "SELECT rowid, -bm25(chunk_text) AS score FROM chunk_text "
            f"WHERE chunk_text MATCH ? {allowed} {these} ORDER BY score DESC, rowid LIMIT ?",
            (fts_query, *_listed(visible), *ids, k),
        )
        return [(int(row), float(score)) for row, score in rows]

    def chunk_ids(self, documents: Collection[str], visible: Visible = None) -> list[int]:
        """Of all chunks of these documents, as far as they are ``visible``."""
        allowed = "" if visible is None else "AND collection IN (SELECT value FROM json_each(?))"
        rows = self._connection.execute(
            "SELECT chunks.id FROM chunks JOIN documents ON documents.id = document_id WHERE "
            f"documents.name IN (SELECT value FROM json_each(?)) {allowed} ORDER BY chunks.id",
            (msgspec.json.encode(sorted(documents)).decode(), *_listed(visible)),
        )
        return [int(row) for (row,) in rows]

    def search_vector(
        self, vector: NDArray[np.float32], k: int, visible: Visible = None
    ) -> list[tuple[int, float]]:
        """The ``k`` nearest chunks as (id, cosine similarity), best first.

        ``vector``: float32 of the model's dimension, not zero. ``visible`` as for ``search_text``.
        Nothing while chunks lack a vector of the model: they must not lose for that.
        """
        return self.table.nearest(vector, k, visible) if self.table.serving else []

    def chunks(self, ids: Sequence[int]) -> dict[int, Chunk]:
        """The chunks with these ids; an unknown id is left out."""
        rows = self._connection.execute(
            f"SELECT {_CHUNK_COLUMNS} FROM chunks JOIN documents ON documents.id = document_id "
            "WHERE chunks.id IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(list(ids)).decode(),),
        )
        found = {}
        for number, document, page, start, end, text, heading in rows:
            found[number] = Chunk(number, document, page, start, end, unpacked(text), heading)
        return found

    def nearest_sentences(
        self, vector: NDArray[np.float32], ids: Sequence[int]
    ) -> dict[int, float]:
        """About the cosine of each of these chunks' nearest sentence, for those that have any."""
        return self.table.nearest_sentences(vector, ids)

    def vectors(self, ids: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """The unit vectors of the chunks with these ids, float32, within .0001 of what was put."""
        return self.table.of(ids)

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
        return (unpacked(row[0]), row[1]) if row else None

    def section_of(self, passage: Passage) -> Passage:
        """The section around a passage; itself where its document has changed meanwhile."""
        number = passage.page or 1
        page = self.page(passage.document, number)
        rows = self._connection.execute(
            "SELECT start, end, heading FROM chunks JOIN documents ON documents.id = document_id "
            "WHERE name = ? AND page = ? ORDER BY start",
            (passage.document, number),
        )
        return around(passage, page[0], [Placed(*row) for row in rows]) if page else passage

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
        with self._change():
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
                    (document_id, number, packed(text), of_page)
                    for number, (text, of_page) in enumerate(zip(pages, placed, strict=True), 1)
                ),
            )
            self._insert(document_id, record.name, chunks)

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

    def chunks_of(self, path: str) -> list[tuple[str, str, Embedded]]:
        """(heading, text, what was made of it) of the chunks of the document at ``path``."""
        rows = self._connection.execute(
            "SELECT chunks.id, heading, text FROM chunks "
            "JOIN documents ON documents.id = document_id WHERE path = ?",
            (path,),
        )
        chunks = [cast(tuple[int, str, bytes], row) for row in rows]
        made = self.table.made_of([number for number, _, _ in chunks])
        return [(h, unpacked(t), made[number]) for number, h, t in chunks if number in made]

    def remove(self, name: str) -> bool:
        """Forget the document called ``name``; False if there is none."""
        with self._change():
            deleted = self._delete("name = ?", name)
        return deleted > 0

    def rebuild(self) -> None:
        """Make the full-text index again from the ``chunks`` table, in one transaction."""
        with transaction(self._connection):
            self._connection.execute("INSERT INTO chunk_text (chunk_text) VALUES ('delete-all')")
            rows = self._connection.execute(
                "SELECT chunks.id, name, heading, text "
                "FROM chunks JOIN documents ON documents.id = document_id"
            )
            for row in rows:
                number, name, heading, text = cast(tuple[int, str, str, bytes], row)
                self._index(number, name, heading, unpacked(text))

    def embedders(self) -> list[EmbedderRow]:
        """The models that there are vectors of, oldest first."""
        return embedders(self._connection)

    def coming(self, model: str, dimension: int, source: str) -> VectorTable:
        """The vectors of ``model``, to be made beside those in use; of no other any more.

        Raises:
            ValueError: it made vectors of another dimension before.
        """
        if model == self.table.model:
            table = self.table
        else:
            table = VectorTable(self._connection, model, dimension, source, self._make_elsewhere)
        table.give_up_others()
        return table

    def switch(self, table: VectorTable) -> bool:
        """Search ``table`` from now on, if it has a vector of every chunk; says whether so."""
        with transaction(self._connection):
            complete = table.serve()
        if complete and table is not self.table:
            if self.table.elsewhere is not None:
                self.table.elsewhere.drop()
            self.table = table
        return complete

    def without_vector(self, table: VectorTable, count: int, after: int = 0) -> list[Chunk]:
        """Up to ``count`` chunks numbered above ``after`` that ``table`` lacks, in order."""
        found = self.chunks(table.missing(count, after))
        return [found[number] for number in sorted(found)]

    def add_vectors(self, table: VectorTable, ids: Sequence[int], made: Sequence[Embedded]) -> None:
        """Keep what was made of stored chunks in ``table``."""
        with self._change(table):
            rows = self._connection.execute(
                "SELECT id, document_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
                (msgspec.json.encode(list(ids)).decode(),),
            )
            documents = {int(number): int(document) for number, document in rows}
            for number, one in zip(ids, made, strict=True):
                if number in documents:  # else it went away meanwhile
                    table.insert([number], documents[number], [one])

    @contextlib.contextmanager
    def _change(self, table: VectorTable | None = None) -> Iterator[None]:
        """A transaction; what is in memory is read again when it is undone."""
        try:
            with transaction(self._connection):
                yield
        except BaseException:
            (table or self.table).reload()
            raise

    def _insert(self, document_id: int, name: str, chunks: Sequence[NewChunk]) -> None:
        ids = []
        for chunk in chunks:
            self._connection.execute(
                "INSERT INTO chunks (document_id, page, start, end, heading, text) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (
                    document_id,
                    chunk.page,
                    chunk.start,
                    chunk.end,
                    chunk.heading,
                    packed(chunk.text),
                ),
            )
            ids.append(self._connection.last_insert_rowid())
            self._index(ids[-1], name, chunk.heading, chunk.text)
        if chunks:
            self.table.insert(ids, document_id, [chunk.embedded for chunk in chunks])

    def _index(self, chunk_id: int, name: str, heading: str, text: str) -> None:
        self._connection.execute(
            "INSERT INTO chunk_text (rowid, context, text) VALUES (?, ?, ?)",
            (chunk_id, terms(f"{name} {heading}"), terms(text)),
        )

    def _delete(self, where: str, *values: str) -> int:
        """Delete documents and all that is theirs. ``where`` is a constant of this module."""
        rows = self._connection.execute(f"SELECT id FROM documents WHERE {where}", values)
        documents = [int(row[0]) for row in rows]
        self.table.remove(documents)
        listed = (msgspec.json.encode(documents).decode(),)
        theirs = "SELECT id FROM chunks WHERE document_id IN (SELECT value FROM json_each(?))"
        self._connection.execute(f"DELETE FROM chunk_text WHERE rowid IN ({theirs})", listed)
        self._connection.execute(
            "DELETE FROM documents WHERE id IN (SELECT value FROM json_each(?))", listed
        )
        return len(documents)

    def _records(self, clause: str, *values: str) -> Iterator[Record]:
        rows = self._connection.execute(f"SELECT {_RECORD_COLUMNS} FROM documents {clause}", values)
        return (_record(row) for row in rows.fetchall())


def open_store(
    connection: apsw.Connection,
    embedder: Embedder,
    made_with: MadeWith | None,
    make_elsewhere: MakeElsewhere | None,
) -> tuple[Embedder, Store]:
    """The tables with the vectors that are searched, and what made these, or ``embedder``."""
    bring_up_to_date(connection)
    for row in embedders(connection):
        if row.state == "serving" and row.model != embedder.model and made_with:
            embedder = made_with(row) or embedder
    return embedder, Store(connection, embedder.model, embedder.dimension, make_elsewhere)


def _listed(visible: Visible) -> tuple[str, ...]:
    """The argument of ``_VISIBLE_CHUNKS``, where it is used."""
    return () if visible is None else (msgspec.json.encode(sorted(visible)).decode(),)


def _record(row: Sequence[object]) -> Record:
    return msgspec.convert(
        dict(zip(Record.__struct_fields__, row, strict=True)), Record, strict=False
    )
