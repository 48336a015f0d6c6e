"""Watched folders: what is put in, changed, moved or deleted there is so in the library soon after.

Each folder is walked when its watch begins, after every change (once it has been quiet for a
moment), and from time to time, for some file systems do not tell. Knows nothing of documents.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
from watchfiles import Change, awatch

from rag.errors import LibraryClosedError, RagError
from rag.types import FileReport

QUIET_MS = 800
"""A folder has to be quiet for so long, or changes for ``AT_MOST_MS``, before it is walked."""
AT_MOST_MS = 5_000
WALK_AGAIN_S = 300.0
LOOK_AGAIN_S = 15.0
"""So often it is looked whether the folder is still (or again) there; and after a failed ingest."""

log = logging.getLogger(__name__)


class Folder(msgspec.Struct, frozen=True):
    """A folder to watch, and the collection that its documents are in."""

    path: Path
    collection: str = ""


Ingest = Callable[[Folder], Awaitable[list[FileReport]]]


async def watch(
    folders: Sequence[Folder],
    ingest: Ingest,
    *,
    walk_again: float = WALK_AGAIN_S,
    look_again: float = LOOK_AGAIN_S,
) -> None:
    """Keep the library in line with ``folders`` until cancelled; ``ingest`` walks one of them."""
    async with asyncio.TaskGroup() as group:
        for folder in folders:
            group.create_task(_watch(folder, ingest, walk_again, look_again))


async def _watch(folder: Folder, ingest: Ingest, walk_again: float, look_again: float) -> None:
    while True:
        try:
            here = await asyncio.to_thread(_identity, folder.path)
            await ingest(folder)  # a missing folder too: what is known of it is told to be away
            if here is not None:
                await _follow(folder, here, ingest, walk_again, look_again)
        except LibraryClosedError:
            return
        except (RagError, OSError) as error:
            log.warning("watched folder not read folder=%s: %s", folder.path, error)
        await asyncio.sleep(look_again)


async def _follow(
    folder: Folder, here: tuple[int, int], ingest: Ingest, walk_again: float, look_again: float
) -> None:
    """Walk the folder when it changes, until it is no longer the directory ``here``: unmounted,
    mounted over or replaced, of which the watch need not hear, and after which it hears nothing."""
    walked = time.monotonic()
    async for changes in awatch(
        folder.path,
        watch_filter=_is_no_hidden_file,
        debounce=AT_MOST_MS,
        step=QUIET_MS,
        rust_timeout=int(min(look_again, walk_again) * 1000),
        yield_on_timeout=True,
        ignore_permission_denied=True,
    ):
        moved = await asyncio.to_thread(_identity, folder.path) != here
        if changes or moved or time.monotonic() - walked >= walk_again:
            await ingest(folder)
            walked = time.monotonic()
        if moved:
            return


def _is_no_hidden_file(_: Change, path: str) -> bool:
    return not Path(path).name.startswith(".")


def _identity(path: Path) -> tuple[int, int] | None:
    """Which directory is there now; None for none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
