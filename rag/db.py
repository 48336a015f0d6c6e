"""The one place that chooses and configures the SQLite driver.

``apsw``, because the standard library's sqlite3 cannot load extensions on every Python build.
Every connection has sqlite-vec and FTS5, write-ahead logging, and full fsync: an acknowledged write
survives a power cut. A connection belongs to one thread at a time.
"""

import asyncio
import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

import apsw
import sqlite_vec

from rag.errors import DatabaseError

__all__ = ["DatabaseError", "DatabaseThread", "connect", "migrate", "transaction"]

BUSY_TIMEOUT_MS = 10_000


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class DatabaseThread:
    """The one thread that a connection belongs to; the event loop awaits it and never SQLite."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(
        self,
        function: Callable[Parameters, Result],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:
        """``function(*args, **kwargs)`` on the thread; cancelling the caller does not stop it."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._executor, functools.partial(function, *args, **kwargs)
        )

    async def close(self) -> None:
        """End the thread after what it has in hand."""
        await asyncio.to_thread(self._executor.shutdown)


def connect(path: Path) -> apsw.Connection:
    """Open (or create, mode 0600) the database at ``path`` with extensions and pragmas set.

    Raises:
        DatabaseError: the file is not a database, or cannot be opened.
    """
    path.touch(mode=0o600, exist_ok=True)
    try:
        connection = apsw.Connection(str(path))
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
    except apsw.Error as error:
        raise DatabaseError(f"cannot open the database {path}: {error}") from error
    return connection


@contextlib.contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """All statements inside, or none; waits for another writer at the beginning.

    In place of apsw's own ``with connection``, which holds the GIL while it waits for the lock and
    while it commits: an event loop on another thread was seen to stand still for 240 ms.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def migrate(connection: apsw.Connection, room: str, steps: Sequence[str]) -> bool:
    """Bring the tables of ``room`` to version ``len(steps)``, each step in its own transaction.

    Steps are SQL scripts and only ever appended to. Rooms share one file, each with its own steps.
    A file that holds something is copied before it is changed, to ``FILE.before-ROOM-VERSION``;
    returns whether that was so.

    Raises:
        DatabaseError: the file was written by a newer version of the program, or cannot be copied.
    """
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_version "
        "(room TEXT PRIMARY KEY, version INTEGER NOT NULL)"
    )
    row = connection.execute(
        "SELECT version FROM schema_version WHERE room = ?", (room,)
    ).fetchone()
    version = row[0] if row else 0
    if version > len(steps):
        raise DatabaseError(
            f"the database was written by a newer hubd ({room} is at version {version}, "
            f"this program knows {len(steps)}): install that version again, or restore a backup"
        )
    changes = 0 < version < len(steps)
    if changes:
        _copy(connection, Path(f"{connection.filename}.before-{room}-{len(steps)}"))
    for number, script in enumerate(steps[version:], start=version + 1):
        with transaction(connection):
            connection.execute(script)
            connection.execute(
                "INSERT INTO schema_version VALUES (?, ?) "
                "ON CONFLICT (room) DO UPDATE SET version = excluded.version",
                (room, number),
            )
    return changes


def _copy(connection: apsw.Connection, path: Path) -> None:
    """A consistent copy of the database, readable by its owner alone; an older one gives way."""
    try:
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        connection.execute("VACUUM INTO ?", (str(path),))
    except (apsw.Error, OSError) as error:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise DatabaseError(
            f"the database is to be changed for this version, and cannot be copied to {path}"
            f" before: {error}; make room, or move other files away"
        ) from error
