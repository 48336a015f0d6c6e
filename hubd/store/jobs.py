"""The table of wake-ups. When they run is known by ``hubd.schedule``."""

from datetime import UTC, datetime

import apsw
import msgspec

from hubd.store.database import Database


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One wake-up. ``id`` is new each time a key is set again, so an old run cannot delete it."""

    id: int
    plugin: str
    key: str
    due: datetime
    """Aware, UTC."""
    attempts: int
    """How often it was begun, counted before it runs."""


async def put(database: Database, plugin: str, key: str, due: datetime) -> Job:
    """Keep a job, in place of the one with the same key."""
    at = due.astimezone(UTC)

    def replace(connection: apsw.Connection) -> Job:
        connection.execute("DELETE FROM job WHERE plugin = ? AND key = ?", (plugin, key))
        connection.execute(
            "INSERT INTO job (plugin, key, due) VALUES (?, ?, ?)", (plugin, key, at.isoformat())
        )
        return Job(id=connection.last_insert_rowid(), plugin=plugin, key=key, due=at, attempts=0)

    return await database.run(replace)


async def delete(database: Database, plugin: str, key: str) -> bool:
    """Forget a job; whether there was one."""

    def remove(connection: apsw.Connection) -> bool:
        connection.execute("DELETE FROM job WHERE plugin = ? AND key = ?", (plugin, key))
        return connection.changes() > 0

    return await database.run(remove)


async def begin(database: Database, job: int) -> Job | None:
    """Count an attempt and return the job, or ``None`` if it was cancelled or set again since."""

    def count(connection: apsw.Connection) -> Job | None:
        row = connection.execute(
            "UPDATE job SET attempts = attempts + 1 WHERE id = ? "
            "RETURNING id, plugin, key, due, attempts",
            (job,),
        ).fetchone()
        return _job(row) if row else None

    return await database.run(count)


async def finish(database: Database, job: int) -> None:
    """Forget a job that ran. One of the same key that was set meanwhile stays."""

    def remove(connection: apsw.Connection) -> None:
        connection.execute("DELETE FROM job WHERE id = ?", (job,))

    await database.run(remove)


async def pending(database: Database) -> list[Job]:
    """All jobs, the most overdue first."""

    def select(connection: apsw.Connection) -> list[Job]:
        rows = connection.execute("SELECT id, plugin, key, due, attempts FROM job ORDER BY due, id")
        return [_job(row) for row in rows]

    return await database.run(select)


def _job(row: tuple[object, ...]) -> Job:
    names = ("id", "plugin", "key", "due", "attempts")
    return msgspec.convert(dict(zip(names, row, strict=True)), Job)
