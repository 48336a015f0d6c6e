"""Watched folders and collections, as ``[rag] folders`` and ``[rag] private`` say.

``folders`` names what is watched: ``PATH``, or ``COLLECTION=PATH``. ``private`` names who may see a
collection: ``COLLECTION: NAME, NAME``. A collection that is not private is for everyone; the owner
sees them all.
"""

from pathlib import Path

import msgspec

from hubd.events import NoticeBoard
from hubd.policy import Person
from hubd.settings import Rag
from rag.library import Library
from rag.types import FileReport, Visible, WaitUntilIdle
from rag.watch import Folder, watch

CHANGES = ("added", "replaced", "removed")
ANNOUNCED = 200
"""Files a notice; the list of documents has them all."""


def watched(settings: Rag) -> list[Folder]:
    """The folders to watch, absolute."""
    folders = []
    for entry in settings.folders:
        collection, separator, path = entry.partition("=")
        if not separator or "/" in collection:
            collection, path = "", entry
        folders.append(Folder(Path(path.strip()).expanduser().absolute(), collection.strip()))
    return folders


def visible_to(person: Person, settings: Rag) -> Visible:
    """The collections whose documents ``person`` may see; ``None`` for all of them.

    One that the configuration does not know any more is the owner's alone.
    """
    if person.role == "owner":
        return None
    private = dict(readers(entry) for entry in settings.private)
    known = {"", *(folder.collection for folder in watched(settings)), *private}
    name = person.name.casefold()
    return frozenset(one for one in known if one not in private or name in private[one])


def readers(entry: str) -> tuple[str, frozenset[str]]:
    """``parents: Ann, Ben`` as the collection and the names of those who may see it."""
    collection, _, names = entry.partition(":")
    return collection.strip(), frozenset(
        name.strip().casefold() for name in names.split(",") if name.strip()
    )


def is_private(collection: str, settings: Rag) -> bool:
    """Whether not everyone may see it."""
    return collection in dict(readers(entry) for entry in settings.private)


async def keep_reading(
    library: Library, settings: Rag, board: NoticeBoard, wait: WaitUntilIdle
) -> None:
    """Keep the library in line with the folders until cancelled; pages hear that it changed."""
    folders = watched(settings)
    library.watched = [folder.path.resolve() for folder in folders]

    async def ingest(folder: Folder) -> list[FileReport]:
        gone = library.activity.gone
        reports = await library.ingest(
            [folder.path], wait_until_idle=wait, collection=folder.collection
        )
        changed = [report for report in reports if report.action in CHANGES]
        if changed or gone != library.activity.gone:
            told = [] if is_private(folder.collection, settings) else changed[:ANNOUNCED]
            board.publish("documents", {"files": msgspec.to_builtins(told)})
        return reports

    await watch(folders, ingest)
