"""EPUB books: the chapters in the order of the book's spine, as one text."""

import posixpath
from pathlib import Path
from urllib.parse import unquote
from zipfile import ZipFile

from rag.errors import LoadError
from rag.loaders import archive
from rag.loaders.html import add_page
from rag.loaders.page import LoadedDocument, PageBuilder
from rag.loaders.text import decode

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_OPF = "{http://www.idpf.org/2007/opf}"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_WHAT = "the EPUB book"
CHAPTERS = 5_000


def read(path: Path) -> LoadedDocument:
    """The book as one page of text, its title as the outermost heading.

    Raises:
        LoadError: damaged, copy-protected, no EPUB, or of an unreasonable size.
    """
    with archive.opened(path, _WHAT) as parts:
        names = set(parts.namelist())
        if _CONTAINER not in names:
            raise LoadError("named .epub, but the content is a ZIP archive, not a book")
        title, chapters = _spine(parts)
        if _ENCRYPTION in names and _is_protected(parts, chapters):
            raise LoadError(f"{_WHAT} is copy-protected")
        builder = PageBuilder()
        if title:
            builder.heading(title, 0)
        for chapter in chapters:
            if chapter in names:
                add_page(builder, decode(parts.read(chapter)), with_title=False)
    return LoadedDocument("epub", [builder.build()])


def _spine(parts: ZipFile) -> tuple[str, list[str]]:
    """The book's title, and the names of its chapters in the archive, in reading order."""
    container = archive.xml(parts.read(_CONTAINER))
    package_name = container.find(".//{*}rootfile").get("full-path", "")  # type: ignore[union-attr]
    package = archive.xml(parts.read(package_name))
    folder = posixpath.dirname(package_name)
    files = {
        item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        for item in package.iter(f"{_OPF}item")
    }
    order = [files.get(item.get("idref")) for item in package.iter(f"{_OPF}itemref")]
    title = package.findtext(f".//{_DUBLIN_CORE}title") or ""
    return title, [name for name in order if name][:CHAPTERS]


def _is_protected(parts: ZipFile, chapters: list[str]) -> bool:
    """Whether chapters are encrypted; fonts often are, and do not matter."""
    encrypted = archive.xml(parts.read(_ENCRYPTION)).iter("{*}CipherReference")
    return bool({unquote(one.get("URI", "")) for one in encrypted} & set(chapters))
