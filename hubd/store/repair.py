"""A database that cannot be read is set aside, so that the hub lives, and the newest backup named.

Looked at only where there is a reason: the file does not open, or its last daemon did not end well.
"""

import contextlib
import logging
from datetime import UTC, datetime
from pathlib import Path

import apsw

from hubd.paths import Paths
from hubd.store.backup import backups_in

log = logging.getLogger(__name__)

EXAMINED_BYTES = 256 * 2**20
"""Of a larger file only its head is read: the whole would take longer than a start may."""
PARTS = ("", "-wal", "-shm")


def set_aside_if_damaged(paths: Paths) -> Path | None:
    """Where the damaged database is now; ``None`` where there was nothing wrong, or none."""
    database = paths.database
    if not database.is_file() or not _is_damaged(database):
        return None
    aside = database.with_name(f"{database.name}.damaged-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}")
    for part in PARTS:
        with contextlib.suppress(FileNotFoundError):
            Path(f"{database}{part}").replace(f"{aside}{part}")
    log.error("%s", told(aside, newest_backup(paths)))
    return aside


def told(aside: Path, backup: Path | None) -> str:
    """What happened and what to do, for the person who runs the box."""
    offer = (
        f"To have the newest backup instead, stop the hub and run `hubd restore {backup}`."
        if backup
        else "There is no backup of it: `hubd backup` makes one."
    )
    return f"The database was damaged and is now {aside}; the hub began an empty one. {offer}"


def newest_backup(paths: Paths) -> Path | None:
    """The newest of those that `hubd backup` and the nightly timer make."""
    return next(iter(backups_in(paths.data / "backups")), None)


def _is_damaged(database: Path) -> bool:
    """Whether SQLite finds anything wrong; a file that is locked or denied is not damaged."""
    log_file = Path(f"{database}-wal")
    ended_badly = log_file.is_file() and log_file.stat().st_size > 0
    try:
        with contextlib.closing(apsw.Connection(str(database))) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            if ended_badly and database.stat().st_size <= EXAMINED_BYTES:
                found = connection.execute("PRAGMA quick_check(1)").fetchall()
                return found != [("ok",)]
    except (apsw.CorruptError, apsw.NotADBError):
        return True
    except apsw.Error:
        return False
    return False
