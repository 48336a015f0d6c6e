"""OpenDocument text: headings by outline level, lists, tables as rows, in body order."""

from pathlib import Path

import lxml.etree

from rag.errors import LoadError
from rag.loaders import archive
from rag.loaders.page import LoadedDocument, PageBuilder

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_WHAT = "the OpenDocument text"
_DEPTH = 200
_SPACES = 100
_LEFT_OUT = frozenset(
    {f"{_TEXT}{name}" for name in ("tracked-changes", "note", "table-of-content")}
    | {f"{_OFFICE}annotation"}
)


def read(path: Path) -> LoadedDocument:
    """The document as one page of text.

    Raises:
        LoadError: damaged, encrypted, no OpenDocument text, or of an unreasonable size.
    """
    with archive.opened(path, _WHAT) as parts:
        names = set(parts.namelist())
        if "content.xml" not in names:
            raise LoadError("named .odt, but the content is a ZIP archive, not OpenDocument")
        manifest = "META-INF/manifest.xml"
        if manifest in names and b"encryption-data" in parts.read(manifest):
            raise LoadError(f"{_WHAT} is protected by a password")
        body = archive.xml(parts.read("content.xml")).find(f"{_OFFICE}body/{_OFFICE}text")
        if body is None:
            raise LoadError("named .odt, but it is another kind of OpenDocument")
        builder = PageBuilder()
        _add(builder, body, 0)
    return LoadedDocument("odt", [builder.build()])


def _add(builder: PageBuilder, parent: lxml.etree._Element, depth: int, lists: int = 0) -> None:
    """Everything below ``parent``; ``lists``: how many lists it is in."""
    if depth > _DEPTH:
        raise LoadError(f"{_WHAT} is nested too deeply")
    for element in parent:
        tag = element.tag
        if tag in _LEFT_OUT:
            continue
        if tag == f"{_TEXT}h":
            level = element.get(f"{_TEXT}outline-level", "1")
            builder.heading(_words(element), min(9, int(level)) if level.isdecimal() else 1)
        elif tag == f"{_TEXT}p":
            text = _words(element).strip()
            if lists:
                builder.item(text, min(8, lists - 1))
            else:
                builder.paragraph(text)
        elif tag == f"{_TABLE}table-row":
            cells = element.iter(f"{_TABLE}table-cell")
            builder.row([" ".join(_words(p) for p in cell.iter(f"{_TEXT}p")) for cell in cells])
        elif isinstance(tag, str):
            _add(builder, element, depth + 1, lists + (tag == f"{_TEXT}list"))


def _words(element: lxml.etree._Element) -> str:
    """The text of a paragraph; tabs, line breaks and repeated spaces are elements."""
    parts = []
    for event, part in lxml.etree.iterwalk(element, events=("start", "end")):
        if event == "end":
            if part is not element:
                parts.append(part.tail or "")
            continue
        if part.tag == f"{_TEXT}s":
            count = part.get(f"{_TEXT}c", "1")
            parts.append(" " * min(_SPACES, int(count) if count.isdecimal() else 1))
        elif part.tag in (f"{_TEXT}tab", f"{_TEXT}line-break"):
            parts.append("\t" if part.tag.endswith("tab") else "\n")
        parts.append(part.text or "")
    return "".join(parts)
