"""Files to pages of text: the table of types, and ``load``.

Runs in the loading worker, because the files are anyone's: every check here assumes a hostile file.
Adding a type is one module with ``read(path) -> LoadedDocument`` and one line in ``TYPES``.
"""

import importlib
from pathlib import Path

import msgspec

from rag.errors import LoadError
from rag.loaders.page import LoadedDocument

__all__ = ["TYPES", "LoadedDocument", "check_size", "load", "type_of"]

MEBIBYTE = 1024 * 1024
TEXT_BYTES = 50 * MEBIBYTE
FILE_BYTES = 200 * MEBIBYTE
PICTURE_BYTES = 50 * MEBIBYTE
TEXT_CHARACTERS = 50_000_000
"""Limit of the text taken out of one document, whatever the size of its file."""
_HEAD_BYTES = 1024


class FileType(msgspec.Struct, frozen=True):
    """A type of document: which module reads it, how large it may be, whether it has pages."""

    name: str
    module: str
    max_bytes: int
    signatures: tuple[bytes, ...] = ()
    """One of these must occur near the start; none for text."""


_MARKDOWN = FileType("md", "rag.loaders.markdown", TEXT_BYTES)
_HTML = FileType("html", "rag.loaders.html", TEXT_BYTES)
_JPEG = FileType("jpg", "rag.loaders.picture", PICTURE_BYTES, (b"\xff\xd8\xff",))
_TIFF = FileType("tif", "rag.loaders.picture", PICTURE_BYTES, (b"II*\x00", b"MM\x00*"))

TYPES: dict[str, FileType] = {
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".txt": FileType("txt", "rag.loaders.text", TEXT_BYTES),
    ".html": _HTML,
    ".htm": _HTML,
    ".pdf": FileType("pdf", "rag.loaders.pdf", FILE_BYTES, (b"%PDF-",)),
    ".docx": FileType("docx", "rag.loaders.docx", FILE_BYTES, (b"PK\x03\x04",)),
    ".odt": FileType("odt", "rag.loaders.odt", FILE_BYTES, (b"PK\x03\x04",)),
    ".epub": FileType("epub", "rag.loaders.epub", FILE_BYTES, (b"PK\x03\x04",)),
    ".xlsx": FileType("xlsx", "rag.loaders.table", TEXT_BYTES, (b"PK\x03\x04",)),
    ".csv": FileType("csv", "rag.loaders.table", TEXT_BYTES),
    ".tsv": FileType("tsv", "rag.loaders.table", TEXT_BYTES),
    ".eml": FileType("eml", "rag.loaders.mail", TEXT_BYTES),
    ".ics": FileType("ics", "rag.loaders.calendar", TEXT_BYTES),
    ".vcf": FileType("vcf", "rag.loaders.contacts", TEXT_BYTES),
    ".png": FileType("png", "rag.loaders.picture", PICTURE_BYTES, (b"\x89PNG\r\n\x1a\n",)),
    ".jpg": _JPEG,
    ".jpeg": _JPEG,
    ".tif": _TIFF,
    ".tiff": _TIFF,
    ".webp": FileType("webp", "rag.loaders.picture", PICTURE_BYTES, (b"RIFF",)),
}

_SIGNATURES = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a ZIP archive or an Office document",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Office document, or one protected by a password",
    b"\x89PNG\r\n\x1a\n": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"\x7fELF": "a program",
    b"MZ\x90\x00": "a Windows program",
    b"SQLite format 3\x00": "an SQLite database",
    b"{\\rtf": "an RTF document",
}


def type_of(path: Path) -> FileType:
    """The type by the file's extension.

    Raises:
        LoadError: no document type has it.
    """
    kind = TYPES.get(path.suffix.lower())
    if kind is None:
        named = f"the type {path.suffix}" if path.suffix else "a file without an extension"
        raise LoadError(f"cannot read {named}: save it as PDF, a picture as JPEG")
    return kind


def check_size(path: Path, size: int) -> None:
    """Refuse a file by its ``size`` in bytes before anything of it is read.

    Raises:
        LoadError: empty, of no known type, or too large for its type.
    """
    if size > FILE_BYTES:
        raise LoadError(_too_large(size, FILE_BYTES))
    kind = type_of(path)
    if size == 0:
        raise LoadError("the file is empty")
    if size > kind.max_bytes:
        raise LoadError(_too_large(size, kind.max_bytes))


def load(path: Path) -> LoadedDocument:
    """Read a document into pages of text with their structure; scans are still without text.

    Raises:
        LoadError: with the reason, in words for the person who owns the file.
    """
    try:
        check_size(path, path.stat().st_size)
        kind = type_of(path)
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        _check_content(kind, head)
        document: LoadedDocument = importlib.import_module(kind.module).read(path)
    except FileNotFoundError as error:
        raise LoadError("the file is gone") from error
    except PermissionError as error:
        raise LoadError("no permission to read the file") from error
    except OSError as error:
        raise LoadError(f"the file cannot be read: {error.strerror or error}") from error
    characters = sum(len(page.text) for page in document.pages)
    if characters > TEXT_CHARACTERS:
        raise LoadError(f"too much text: {characters:,} characters, at most {TEXT_CHARACTERS:,}")
    if not any(page.text.strip() or page.is_scan for page in document.pages):
        raise LoadError("there is no text in it")
    return document


def _check_content(kind: FileType, head: bytes) -> None:
    if kind.signatures:
        if any(signature in head for signature in kind.signatures):
            return
        found = _recognise(head)
        raise LoadError(
            f"named .{kind.name}, but the content is {found or f'not a {kind.name} document'}"
        )
    if found := _recognise(head):
        raise LoadError(f"named as text (.{kind.name}), but the content is {found}")


def _recognise(head: bytes) -> str:
    return next((what for mark, what in _SIGNATURES.items() if head.startswith(mark)), "")


def _too_large(size: int, limit: int) -> str:
    return f"too large: {size / MEBIBYTE:,.0f} MB, at most {limit // MEBIBYTE} MB for this type"
