"""Word documents through python-docx: headings by style, lists, tables as rows, in body order."""

import re
from pathlib import Path

import docx
from docx.table import Table
from docx.text.paragraph import Paragraph

from rag.errors import LoadError
from rag.loaders import archive
from rag.loaders.page import LoadedDocument, PageBuilder

_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)


def read(path: Path) -> LoadedDocument:
    """The document as one page of text.

    Raises:
        LoadError: it is damaged, not a Word document, or unpacks to an unreasonable size.
    """
    with archive.opened(path, "the Word document") as parts:
        names = parts.namelist()
        if "[Content_Types].xml" not in names or not any(n.startswith("word/") for n in names):
            raise LoadError("named .docx, but the content is a ZIP archive, not a Word document")
        document = docx.Document(str(path))
        builder = PageBuilder()
        for block in document.iter_inner_content():
            if isinstance(block, Table):
                _add_table(builder, block)
            else:
                _add_paragraph(builder, block)
    return LoadedDocument("docx", [builder.build()])


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
