"""Uploaded files: kept under the hash of their content, never under the name they came with.

A file whose document is about to come or to go is marked until that is settled, so that after a
crash the next start finds what belongs to nobody. Files without a mark are never deleted for
having no document: the database may have been lost and the backup of it still to come.
"""

import hashlib
import os
import re
import tempfile
import unicodedata
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from rag.loaders import check_size

_NAME_CHARACTERS = 120
_COPY_BYTES = 1024 * 1024
INCOMING = ".incoming-"
"""Copies that are not complete begin like this."""
_MARK = ".in-question-"
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe_name(name: str) -> str:
    """``name`` as a browser gave it, as a plain file name: no folders, no control characters."""
    name = unicodedata.normalize("NFC", name.replace("\\", "/")).rsplit("/", 1)[-1]
    name = _UNSAFE.sub("", name).strip().lstrip(".").strip()
    path = PurePosixPath(name or "upload")
    suffix = path.suffix[:16]
    return path.stem[: _NAME_CHARACTERS - len(suffix)].rstrip() + suffix


def keep(uploads: Path, name: str, data: Path) -> Path:
    """Copy ``data`` into ``uploads`` (mode 0600) as ``<sha256><extension>``; returns that path.

    The copy is marked as in question; ``settle`` it when its document is stored, or is not to be.

    Raises:
        LoadError: of no known type, empty, or too large; nothing is kept.
    """
    check_size(Path(name), data.stat().st_size)
    uploads.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    descriptor, temporary = tempfile.mkstemp(dir=uploads, prefix=INCOMING)
    try:
        with os.fdopen(descriptor, "wb") as copy, data.open("rb") as source:
            while piece := source.read(_COPY_BYTES):
                digest.update(piece)
                copy.write(piece)
            copy.flush()
            os.fsync(copy.fileno())
        kept = uploads / (digest.hexdigest() + PurePosixPath(name).suffix.lower())
        mark([kept])
        Path(temporary).replace(kept)
        _sync(uploads)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return kept


def mark(kept: Sequence[Path]) -> None:
    """Note of these uploads that their document is about to be stored or removed."""
    for path in kept:
        _mark_of(path).touch(mode=0o600)


def settle(kept: Path, *, used: bool) -> None:
    """Take the mark from an upload; without a document it is deleted."""
    if not used:
        kept.unlink(missing_ok=True)
    _mark_of(kept).unlink(missing_ok=True)


def cut_off(uploads: Path) -> list[Path]:
    """The uploads still marked when nothing is under way; half copies are deleted."""
    for half in uploads.glob(f"{INCOMING}*"):
        half.unlink(missing_ok=True)
    return [path.with_name(path.name[len(_MARK) :]) for path in uploads.glob(f"{_MARK}*")]


def _mark_of(kept: Path) -> Path:
    return kept.with_name(_MARK + kept.name)


def _sync(folder: Path) -> None:
    """Names, too, are on the disk before an upload is acknowledged."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
