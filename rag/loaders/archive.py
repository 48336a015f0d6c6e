"""ZIP archives of documents (DOCX, ODT, EPUB, XLSX), opened only when they unpack sanely."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lxml.etree

from rag.errors import LoadError

UNPACKED_BYTES = 400 * 1024 * 1024
"""All parts together, pictures too."""
XML_BYTES = 100 * 1024 * 1024
"""The parts that are parsed: a tree in memory is several times their size."""
RATIO = 250
"""Unpacked over packed, above which a large part is taken for a bomb."""
_RATIO_FROM_BYTES = 10 * 1024 * 1024
PARTS = 10_000
_PARSED = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx")
_ENCRYPTED = 0x1


@contextmanager
def opened(path: Path, what: str) -> Iterator[zipfile.ZipFile]:
    """The archive of ``what`` ("the Word document"), after a look at its table of contents.

    Sizes are the archive's own word, and the reading process has a limit of memory besides:
    ``zipfile`` reads no more of a part than its table says.

    Raises:
        LoadError: no archive, damaged, encrypted, or of an unreasonable size.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check(archive.infolist(), what)
            yield archive
    except (LoadError, MemoryError, OSError):
        raise
    except Exception as error:  # zipfile and what reads from it raise whatever bad bytes lead to
        raise LoadError(f"{what} is damaged") from error


def xml(data: bytes) -> lxml.etree._Element:
    """The root of an XML part; entities and addresses in it are not followed.

    Raises:
        lxml.etree.XMLSyntaxError: it is not XML.
    """
    parser = lxml.etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    return lxml.etree.fromstring(data, parser)


def _check(parts: list[zipfile.ZipInfo], what: str) -> None:
    if any(part.flag_bits & _ENCRYPTED for part in parts):
        raise LoadError(f"{what} is protected by a password")
    parsed = sum(part.file_size for part in parts if part.filename.lower().endswith(_PARSED))
    bomb = any(
        part.file_size > _RATIO_FROM_BYTES and part.file_size > RATIO * max(1, part.compress_size)
        for part in parts
    )
    total = sum(part.file_size for part in parts)
    if bomb or len(parts) > PARTS or parsed > XML_BYTES or total > UNPACKED_BYTES:
        raise LoadError(f"it would unpack to {total / 1e6:,.0f} MB, which looks like a ZIP bomb")
