"""Uploaded files: kept under the hash of their content, never under the name they came with."""

import hashlib
import os
import re
import tempfile
import unicodedata
from pathlib import Path, PurePosixPath

from rag.loaders import check_size

_NAME_CHARACTERS = 120
_COPY_BYTES = 1024 * 1024
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

    Raises:
        LoadError: of no known type, empty, or too large; nothing is kept.
    """
    check_size(Path(name), data.stat().st_size)
    uploads.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    descriptor, temporary = tempfile.mkstemp(dir=uploads, prefix=".incoming-")
    try:
        with os.fdopen(descriptor, "wb") as copy, data.open("rb") as source:
            while piece := source.read(_COPY_BYTES):
                digest.update(piece)
                copy.write(piece)
            copy.flush()
            os.fsync(copy.fileno())
        kept = uploads / (digest.hexdigest() + PurePosixPath(name).suffix.lower())
        Path(temporary).replace(kept)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return kept
