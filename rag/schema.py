"""The tables of the room, and how those of an older version become them.

``chunks`` holds what is searched, ``pages`` what is shown; the texts of both are packed;
``chunk_text`` (FTS5) is an index that ``Store.rebuild`` makes again.
"""

import contextlib
import zlib
from typing import Any, cast

import apsw
import numpy as np

from rag.db import migrate
from rag.vectors import quantized

MIGRATIONS = (
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
    """
    CREATE VIRTUAL TABLE chunk_text USING fts5 (
        context, text, content = '', contentless_delete = 1,
        tokenize = 'porter unicode61 remove_diacritics 2'
    );
    CREATE VIRTUAL TABLE chunk_vectors USING vec0 (
        embedding float[384] distance_metric=cosine
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
    """
    CREATE TABLE embedders (
        id INTEGER PRIMARY KEY,
        model TEXT NOT NULL UNIQUE,
        dimension INTEGER NOT NULL
    );
    INSERT INTO embedders SELECT 1, 'all-MiniLM-L6-v2', 384 WHERE EXISTS (SELECT 1 FROM chunks);
    CREATE TABLE vectors (
        chunk_id INTEGER NOT NULL,
        embedder_id INTEGER NOT NULL REFERENCES embedders,
        value BLOB NOT NULL,           -- int8, the largest part at 127
        PRIMARY KEY (chunk_id, embedder_id)
    ) WITHOUT ROWID;
    INSERT INTO vectors SELECT id, 1, as_int8(embedding) FROM chunks ORDER BY id;
    DROP TABLE chunk_vectors;
    ALTER TABLE chunks DROP COLUMN embedding;
    UPDATE pages SET text = packed(text);
    UPDATE documents SET made_by = substr(made_by, 1, instr(made_by || ',', ',') - 1);
    """,
    """
    ALTER TABLE embedders ADD COLUMN source TEXT NOT NULL DEFAULT '';
        -- the folder that it is in; empty for the household's own
    ALTER TABLE embedders ADD COLUMN state TEXT NOT NULL DEFAULT 'coming';
        -- 'serving': searched, every chunk has a vector; 'coming': being made; 'old': to be deleted
    UPDATE embedders SET state = 'serving' WHERE id = (
        SELECT max(id) FROM embedders WHERE NOT EXISTS (
            SELECT 1 FROM chunks WHERE NOT EXISTS (
                SELECT 1 FROM vectors WHERE chunk_id = chunks.id AND embedder_id = embedders.id
            )
        )
    );
    """,
    """
    ALTER TABLE vectors ADD COLUMN sentences BLOB;
        -- the signs of the chunk's sentences; NULL: not made yet
    ALTER TABLE embedders ADD COLUMN with_sentences INTEGER NOT NULL DEFAULT 1;
        -- 0: some of its vectors lack them
    UPDATE embedders SET with_sentences = 0;
    UPDATE chunks SET text = packed(text);
    """,
)


def bring_up_to_date(connection: apsw.Connection) -> None:
    """Create the tables, or change those of an older version; what that frees is given back.

    Raises:
        rag.errors.DatabaseError: the file was written by a newer version.
    """
    for name, function in (("as_int8", _as_int8), ("packed", packed)):
        connection.create_scalar_function(name, cast(Any, function), 1)
    if migrate(connection, "rag", MIGRATIONS):
        with contextlib.suppress(apsw.Error):  # no room for it: the file stays large, and works
            connection.execute("VACUUM")


def packed(text: str) -> bytes:
    """A text as it is stored."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def unpacked(stored: bytes) -> str:
    """A stored text."""
    return zlib.decompress(stored).decode("utf-8", "surrogatepass")


def _as_int8(float32: bytes) -> bytes:
    """A vector as versions up to 3 kept it, in today's form."""
    vector = np.frombuffer(float32, "<f4")
    return quantized(vector, len(vector)).tobytes()
