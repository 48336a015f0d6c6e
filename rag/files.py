"""Which files an ingest is about: walks folders and judges by name and file status.

Synchronous; called in a thread. Opens a file only to hash it. Links may not lead out of the folder.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
MISSING = "no such file or folder (is the disk mounted?); nothing was removed"
AWAY = "its disk is not there; what is known of it stays until you remove it"


class FoundFile(msgspec.Struct, frozen=True):
    """A file to ingest, or a reason why it cannot be."""

    path: Path
    names: list[str]
    """What the document may be called, best first; the last is taken even if another has it."""
    bytes: int = 0
    stamp: str = ""
    """Size and times: while it is equal, the file has not changed."""
    reason: str = ""
    device: int = 0
    """The number of the file system it is on."""


class Found(msgspec.Struct, frozen=True):
    """Everything under the given paths."""

    files: list[FoundFile]
    missing: list[Path]
    folders: list[Path]
    """The folders that were walked, absolute."""
    unreadable: list[Path]
    """Folders below them that could not be opened."""


def find(paths: Sequence[Path]) -> Found:
    """The files at and below ``paths``, each once, sorted; hidden ones are left out."""
    found = Found([], [], [], [])
    files: dict[Path, FoundFile] = {}
    for path in paths:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links are judged, not followed
        if absolute.is_dir():
            root = absolute.resolve()
            found.folders.append(root)
            for file in _walk(root, found.unreadable):
                files.setdefault(file, inspect(file, root))
        elif os.path.lexists(absolute):
            file = absolute.parent.resolve() / absolute.name
            files.setdefault(file, inspect(file, None))
        else:
            found.missing.append(absolute)
    found.files.extend(files.values())
    return found


class Remembered(Protocol):
    """What is known of a file that was read before."""

    @property
    def path(self) -> str: ...
    @property
    def device(self) -> int: ...


Known = TypeVar("Known", bound=Remembered)


def vanished(known: Iterable[Known], found: Found) -> list[Known]:
    """Those whose files were in a folder that was walked, and are no longer."""
    present = {printable(str(file.path)) for file in found.files}
    return [
        one
        for one in known
        if one.path not in present
        and any(Path(one.path).is_relative_to(folder) for folder in found.folders)
        and not any(Path(one.path).is_relative_to(folder) for folder in found.unreadable)
    ]


def is_away(known: Remembered, found: Found) -> bool:
    """Whether a vanished file's disk is not mounted, so that it may not be deleted at all.

    That is so when its place is on another file system now, and none of the files that are there is
    on the one it was on. (A file system's number may change with a reboot: then the files that are
    there have the new one, and it is the folder's.)
    """
    place = Path(known.path).parent
    while not place.exists():
        place = place.parent
    device = place.stat().st_dev
    if known.device in (0, device) or any(file.device == known.device for file in found.files):
        return False
    beside = [file for file in found.files if file.path.is_relative_to(place) and not file.reason]
    return not any(file.device == device for file in beside)


def inspect(path: Path, root: Path | None) -> FoundFile:
    """The file as the file system describes it. ``root``: the folder it may not lead out of."""
    names = candidate_names(path, root)
    try:
        if root and path.is_symlink() and not path.resolve().is_relative_to(root):
            return FoundFile(path, names, reason="a link that leads out of the folder")
        status = path.stat()
    except OSError as error:
        reason = "a broken link" if path.is_symlink() else error.strerror or str(error)
        return FoundFile(path, names, reason=reason)
    stamp = f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
    reason = ""
    if stat.S_ISDIR(status.st_mode):
        reason = "a link to a folder; ingest that folder itself"
    elif not stat.S_ISREG(status.st_mode):
        reason = "not a regular file"
    elif not _is_utf8(path):
        reason = "its name is not valid UTF-8; rename it"
    return FoundFile(path, names, status.st_size, stamp, reason, status.st_dev)


def candidate_names(path: Path, root: Path | None) -> list[str]:
    """The path below ``root`` (or the bare name), then with more and more parents in front."""
    start = len((root or path.parent).parts)
    parts = path.parts
    names = ["/".join(parts[first:]) for first in range(start, 0, -1)] + [str(path)]
    return [_CONTROL.sub("\ufffd", printable(name)) for name in names]


def printable(name: str) -> str:
    """``name`` as valid Unicode: bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(name).decode(errors="replace")


def sha256(path: Path) -> str:
    """The hash of the file's content, in hexadecimal.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _walk(root: Path, unreadable: list[Path]) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        unreadable.append(Path(os.fsdecode(error.filename)))

    for folder, subfolders, files in os.walk(root, onerror=failed):
        linked = [name for name in subfolders if Path(folder, name).is_symlink()]
        subfolders[:] = sorted(n for n in subfolders if not n.startswith(".") and n not in linked)
        for name in sorted([*files, *linked]):
            if not name.startswith("."):
                yield Path(folder, name)


def _is_utf8(path: Path) -> bool:
    return str(path) == printable(str(path))
