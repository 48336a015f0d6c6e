"""Word documents through python-docx: headings by style, lists, tables as rows, in body order."""

import re
import zipfile
from pathlib import Path

import docx
from docx.table import Table
from docx.text.paragraph import Paragraph

from rag.errors import LoadError
from rag.loaders.page import LoadedDocument, PageBuilder

UNPACKED_BYTES = 400 * 1024 * 1024
"""All parts together, pictures too."""
XML_BYTES = 100 * 1024 * 1024
"""The parts that are parsed: a tree in memory is several times their size."""
RATIO = 250
"""Unpacked over packed, above which a large part is taken for a bomb."""
_RATIO_FROM_BYTES = 10 * 1024 * 1024
PARTS = 10_000
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)


def read(path: Path) -> LoadedDocument:
    """The document as one page of text.

    Raises:
        LoadError: it is damaged, not a Word document, or unpacks to an unreasonable size.
    """
    try:
        _check_archive(path)
        document = docx.Document(str(path))
        builder = PageBuilder()
        for block in document.iter_inner_content():
            if isinstance(block, Table):
                _add_table(builder, block)
            else:
                _add_paragraph(builder, block)
    except (LoadError, MemoryError, OSError):
        raise
    except Exception as error:  # python-docx has no common exception for damaged files
        raise LoadError("the Word document is damaged") from error
    return LoadedDocument("docx", [builder.build()])


def _check_archive(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except zipfile.BadZipFile as error:
        raise LoadError("the Word document is damaged (its ZIP archive cannot be read)") from error
    names = {part.filename for part in parts}
    if "[Content_Types].xml" not in names or not any(n.startswith("word/") for n in names):
        raise LoadError("named .docx, but the content is a ZIP archive, not a Word document")
    xml = sum(part.file_size for part in parts if part.filename.endswith((".xml", ".rels")))
    bomb = any(
        part.file_size > _RATIO_FROM_BYTES and part.file_size > RATIO * max(1, part.compress_size)
        for part in parts
    )
    total = sum(part.file_size for part in parts)
    if bomb or len(parts) > PARTS or xml > XML_BYTES or total > UNPACKED_BYTES:
        raise LoadError(f"it would unpack to {total / 1e6:,.0f} MB, which looks like a ZIP bomb")


def _add_paragraph(builder: PageBuilder, paragraph: Paragraph) -> None:
    text = paragraph.text.strip()
    if not text:
        return
    style = (paragraph.style.name if paragraph.style else "") or ""
    if match := _HEADING.match(style):
        builder.heading(text, int(match[1]))
    elif style == "Title":
        builder.heading(text, 0)
    elif style.startswith("List") or _is_numbered(paragraph):
        builder.item(text, _depth(paragraph))
    else:
        builder.paragraph(text)


def _add_table(builder: PageBuilder, table: Table) -> None:
    for row in table.rows:
        cells: list[str] = []
        previous = None
        for cell in row.cells:
            if cell._tc is not previous:  # a merged cell is listed once for each column it spans
                cells.append(cell.text)
            previous = cell._tc
        builder.row(cells)


def _is_numbered(paragraph: Paragraph) -> bool:
    properties = paragraph._p.pPr
    return properties is not None and properties.numPr is not None


def _depth(paragraph: Paragraph) -> int:
    levels = paragraph._p.xpath("./w:pPr/w:numPr/w:ilvl/@w:val")
    return min(8, int(levels[0])) if levels and levels[0].isdecimal() else 0
