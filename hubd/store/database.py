"""The hub's side of the one SQLite file: a thread of its own, and the tables.

The connection never leaves its thread, so that the event loop never waits on the disk. What the
rows mean is known by the modules beside this one.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import apsw

from rag.db import DatabaseThread, connect, migrate, transaction

T = TypeVar("T")

MIGRATIONS = (
    """
    CREATE TABLE conversation (
        id TEXT PRIMARY KEY,
        started_at TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE turn (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
        at TEXT NOT NULL,
        utterance TEXT NOT NULL,
        answer TEXT NOT NULL,
        outcome TEXT NOT NULL
    );
    CREATE INDEX turn_by_conversation ON turn (conversation, id);
    CREATE TABLE plugin_storage (
        plugin TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (plugin, key)
    ) WITHOUT ROWID;
    CREATE TABLE job (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        plugin TEXT NOT NULL,
        key TEXT NOT NULL,
        due TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        UNIQUE (plugin, key)
    );
    """,
    """
    ALTER TABLE turn ADD COLUMN person TEXT NOT NULL DEFAULT 'owner';
    """,
    """
    UPDATE plugin_storage SET plugin = 'reminders' WHERE plugin = 'alarms';
    UPDATE job SET plugin = 'reminders' WHERE plugin = 'alarms';
    """,
)


WEBHOOK_MIGRATIONS = (
    """
    CREATE TABLE webhook (
        name TEXT PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        action TEXT NOT NULL,
        callback TEXT NOT NULL,
        created_at TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE webhook_call (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        webhook TEXT NOT NULL,
        remote TEXT NOT NULL,
        method TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        scheme TEXT NOT NULL,
        status INTEGER NOT NULL,
        outcome TEXT NOT NULL
    );
    CREATE TABLE webhook_delivery (
        webhook TEXT NOT NULL,
        key TEXT NOT NULL,
        digest TEXT NOT NULL,
        at TEXT NOT NULL,
        status INTEGER NOT NULL,
        answer BLOB NOT NULL,
        PRIMARY KEY (webhook, key)
    ) WITHOUT ROWID;
    """,
)


OUTBOX_MIGRATIONS = (
    """
    CREATE TABLE outbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        data TEXT NOT NULL
    );
    """,
)


CONVERSATION_MIGRATIONS = (
    """
    ALTER TABLE conversation ADD COLUMN title TEXT NOT NULL DEFAULT '';
    ALTER TABLE conversation ADD COLUMN deleted_at TEXT;
    ALTER TABLE turn ADD COLUMN passages TEXT NOT NULL DEFAULT '[]';
    """,
    """
    ALTER TABLE turn ADD COLUMN reranking TEXT NOT NULL DEFAULT 'null';
    """,
)


AUDIT_MIGRATIONS = (
    """
    CREATE TABLE audit (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        person TEXT NOT NULL,
        provenance TEXT NOT NULL,
        outcome TEXT NOT NULL,
        text TEXT NOT NULL
    );
    """,
)


ACCESS_MIGRATIONS = (
    """
    CREATE TABLE person (
        name TEXT PRIMARY KEY,
        role TEXT NOT NULL,
        areas TEXT,
        tools TEXT,
        created_at TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE token (
        id TEXT PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        person TEXT NOT NULL,
        scopes TEXT NOT NULL,
        areas TEXT,
        tools TEXT,
        created_at TEXT NOT NULL,
        used_on TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
)


class Database:
    """The connection and its thread. Open with ``Database.open``, end with ``close``."""

    def __init__(self, connection: apsw.Connection, thread: DatabaseThread) -> None:
        self._connection = connection
        self._thread = thread
        self._locks: dict[str, asyncio.Lock] = {}

    @classmethod
    async def open(cls, path: Path) -> "Database":
        """Open (or create) the file and bring the hub's tables up to date.

        Raises:
            rag.errors.DatabaseError: the file cannot be used; the message says why.
        """
        thread = DatabaseThread("hub")
        try:
            connection = await thread.run(_open, path)
        except BaseException:
            await thread.close()
            raise
        return cls(connection, thread)

    async def run(self, work: Callable[[apsw.Connection], T]) -> T:
        """``work(connection)`` as one transaction on the database thread.

        It is on the disk when this returns. Cancelling the caller does not cancel the transaction.
        """
        return await self._thread.run(self._transact, work)

    async def look(self, work: Callable[[apsw.Connection], T]) -> T:
        """``work(connection)`` on the database thread, outside of any transaction."""
        return await self._thread.run(work, self._connection)

    def lock_of(self, name: str) -> asyncio.Lock:
        """The lock of that name, one for everybody who works with this database."""
        return self._locks.setdefault(name, asyncio.Lock())

    async def close(self) -> None:
        """Close after the work that was already handed over."""
        await self._thread.run(self._connection.close)
        await self._thread.close()

    def _transact(self, work: Callable[[apsw.Connection], T]) -> T:
        result: list[T] = []
        with transaction(self._connection):
            result.append(work(self._connection))
        return result[0]


def _open(path: Path) -> apsw.Connection:
    connection = connect(path)
    migrate(connection, "hub", MIGRATIONS)
    migrate(connection, "conversations", CONVERSATION_MIGRATIONS)
    migrate(connection, "audit", AUDIT_MIGRATIONS)
    migrate(connection, "webhooks", WEBHOOK_MIGRATIONS)
    migrate(connection, "outbox", OUTBOX_MIGRATIONS)
    migrate(connection, "access", ACCESS_MIGRATIONS)
    return connection
