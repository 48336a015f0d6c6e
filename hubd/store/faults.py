"""What can be wrong with the disk under the database, in words that say what to do.

A fault of the disk is no fault of the request: it is told as such, and passes when its cause does.
"""

import contextlib
import os
from pathlib import Path
from typing import Literal

import apsw

from hubd.errors import HubError

State = Literal["ok", "locked", "full", "read_only", "damaged", "failed"]

LOW_BYTES = 32 * 2**20
"""Less than this is as good as none: a write-ahead log and a few answers need it."""
HINTS: dict[State, str] = {
    "locked": "Another program holds it: close what has hubd.db open.",
    "full": "Make room: nothing new is kept until then, and nothing old is lost.",
    "read_only": "Make the disk writable again; look at the system's log.",
    "damaged": "Stop hubd and start it again: it sets the file aside and names the newest backup.",
    "failed": "Look at the system's log: the disk may be failing.",
}
_KINDS: tuple[tuple[type[apsw.Error], State], ...] = (
    (apsw.BusyError, "locked"),
    (apsw.LockedError, "locked"),
    (apsw.FullError, "full"),
    (apsw.ReadOnlyError, "read_only"),
    (apsw.CorruptError, "damaged"),
    (apsw.NotADBError, "damaged"),
    (apsw.IOError, "failed"),
    (apsw.CantOpenError, "failed"),
)


class StorageError(HubError):
    """Something could not be kept, or read; it can be tried again when the cause is gone."""

    code = "storage"
    status = 503


def storage_error(error: BaseException) -> StorageError | None:
    """The error in words, if the disk is what failed."""
    state = next((state for kind, state in _KINDS if isinstance(error, kind)), None)
    if isinstance(error, OSError):
        state = {28: "full", 30: "read_only", 5: "failed"}.get(error.errno or 0)  # type: ignore[assignment]
    if state is None:
        return None
    return StorageError(f"The database cannot be used: {state.replace('_', ' ')}.", HINTS[state])


def look(connection: apsw.Connection, folder: Path) -> State:
    """How the database is now: whether a write would be kept. Nothing is changed."""
    disk = os.statvfs(folder)
    if disk.f_flag & os.ST_RDONLY or not os.access(folder, os.W_OK):
        return "read_only"
    if disk.f_bavail * disk.f_frsize < LOW_BYTES:
        return "full"
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("SELECT count(*) FROM schema_version").fetchall()
    except apsw.Error as error:
        return next((state for kind, state in _KINDS if isinstance(error, kind)), "failed")
    finally:
        with contextlib.suppress(apsw.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    return "ok"
