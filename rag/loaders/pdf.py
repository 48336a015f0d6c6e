"""PDF through pypdfium2: pages, lines with their place and font size, and from those paragraphs.

A PDF holds no paragraphs. Lines are joined where the next line's first word would not have fitted on
this one (so the break was a wrap), and kept apart otherwise: list items and table rows stay lines.
Lines in larger type than the body are headings.
"""

import ctypes
import re
from collections import Counter
from pathlib import Path

import msgspec
import pypdfium2
import pypdfium2.raw as pdfium

from rag.errors import LoadError
from rag.loaders.page import Block, BlockKind, LoadedDocument, PageContent
from rag.loaders.text import ITEM

PAGES = 5_000
_HEADING_SIZE = 1.15
"""Times the body's font size."""
_HEADING_CHARACTERS = 120
_SAME_EDGE = 3.0
"""Points within which two lines begin at the same left edge."""
_HYPHENS = ("\x02", "\ufffe")
"""What PDFium writes for a hyphen at a line's end."""
_SPACES = re.compile(r"\s+")


class Line(msgspec.Struct):
    """A line of a page as printed; distances in points, the page's origin is at the bottom left."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float


def read(path: Path) -> LoadedDocument:
    """The document page by page.

    Raises:
        LoadError: encrypted, damaged, of too many pages, or without any text.
    """
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pdfium.FPDF_ERR_PASSWORD:
            raise LoadError("the PDF is protected by a password") from error
        raise LoadError("the PDF is damaged") from error
    try:
        if len(document) > PAGES:
            raise LoadError(f"the PDF has {len(document):,} pages, at most {PAGES:,}")
        pages = [_lines(document, number) for number in range(len(document))]
    except pypdfium2.PdfiumError as error:
        raise LoadError("the PDF is damaged") from error
    finally:
        document.close()
    if not any(pages):
        raise LoadError("the PDF has no text: it is a scan, and OCR is not available")
    levels = heading_levels(pages)
    return LoadedDocument("pdf", [page_of(lines, levels) for lines in pages], paged=True)


def heading_levels(pages: list[list[Line]]) -> dict[float, int]:
    """Heading level by font size: the sizes above the body's, the largest first."""
    characters: Counter[float] = Counter()
    for line in (line for lines in pages for line in lines):
        characters[line.size] += len(line.text)
    body = characters.most_common(1)[0][0] if characters else 0.0
    larger = sorted((size for size in characters if size >= body * _HEADING_SIZE), reverse=True)
    return {size: min(level, 6) for level, size in enumerate(larger, start=1)}


def page_of(lines: list[Line], levels: dict[float, int]) -> PageContent:
    """The text of a page: wrapped lines joined, paragraphs apart, with its blocks."""
    parts: list[str] = []
    blocks: list[Block] = []
    length = 0
    above: Line | None = None
    for group in _groups(lines, levels):
        kind = _kind(group[0], levels)
        text = _joined(group)
        if above is not None:
            near = "heading" not in (kind, blocks[-1].kind) and _is_near(above, group[0])
            parts.append("\n" if near else "\n\n")
            length += len(parts[-1])
        level = levels.get(group[0].size, 0) if kind == "heading" else 0
        title = text if kind == "heading" else ""
        blocks.append(Block(kind, length, length + len(text), level, title))
        parts.append(text)
        length += len(text)
        above = group[-1]
    return PageContent("".join(parts), blocks)


def _groups(lines: list[Line], levels: dict[float, int]) -> list[list[Line]]:
    """Lines that are one paragraph, item or heading together."""
    groups: list[list[Line]] = []
    for line in lines:
        if groups and _continues(groups[-1][-1], line, lines, levels):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _continues(line: Line, following: Line, lines: list[Line], levels: dict[float, int]) -> bool:
    """Whether ``following`` is the same sentence or heading as ``line``, broken by the margin."""
    same_type = abs(line.size - following.size) < 0.1
    if not same_type or ITEM.match(following.text) or not _is_near(line, following):
        return False
    if _kind(line, levels) == "heading":
        return abs(line.left - following.left) < _SAME_EDGE
    if following.left > line.left + _SAME_EDGE and not ITEM.match(line.text):
        return False  # indented: a new paragraph, or a cell of a table
    column_right = max(other.right for other in lines if abs(other.left - line.left) < _SAME_EDGE)
    column_right = max(column_right, following.right)
    character = (line.right - line.left) / max(1, len(line.text))
    next_word = len(following.text.split(maxsplit=1)[0]) + 1
    return line.right + next_word * character > column_right


def _kind(line: Line, levels: dict[float, int]) -> BlockKind:
    if line.size in levels and len(line.text) <= _HEADING_CHARACTERS:
        return "heading"
    return "item" if ITEM.match(line.text) else "paragraph"


def _is_near(above: Line, below: Line) -> bool:
    """Whether ``below`` is the next printed line, without a gap or a jump to another column."""
    height = max(above.top - above.bottom, below.top - below.bottom, above.size, 1.0)
    return -0.5 * height < above.bottom - below.top < 0.9 * height


def _joined(lines: list[Line]) -> str:
    text = lines[0].text
    for line in lines[1:]:
        text = text[:-1] + line.text if text.endswith(_HYPHENS) else f"{text} {line.text}"
    return text.translate({ord(mark): "-" for mark in _HYPHENS})


def _lines(document: pypdfium2.PdfDocument, number: int) -> list[Line]:
    page = document[number]
    text_page = page.get_textpage()
    try:
        return _read_lines(text_page.raw)
    finally:
        text_page.close()
        page.close()


def _read_lines(text_page: pdfium.FPDF_TEXTPAGE) -> list[Line]:
    """Character by character, because the offsets of PDFium's whole-page text do not match its boxes."""
    lines: list[Line] = []
    characters: list[str] = []
    indices: list[int] = []
    for index in range(max(0, pdfium.FPDFText_CountChars(text_page))):
        code = pdfium.FPDFText_GetUnicode(text_page, index)
        if code in (10, 13):
            _finish(text_page, characters, indices, lines)
        elif 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
            characters.append(chr(code))
            indices.append(index)
    _finish(text_page, characters, indices, lines)
    return lines


def _finish(
    text_page: pdfium.FPDF_TEXTPAGE, characters: list[str], indices: list[int], lines: list[Line]
) -> None:
    """Make a line of what was gathered, and empty it."""
    visible = [i for c, i in zip(characters, indices, strict=True) if not c.isspace()]
    text = _SPACES.sub(" ", "".join(characters)).strip()
    characters.clear()
    indices.clear()
    if not visible or not text:
        return
    left, _, bottom, top = _box(text_page, visible[0])
    _, right, _, _ = _box(text_page, visible[-1])
    size = round(pdfium.FPDFText_GetFontSize(text_page, visible[0]), 1)
    lines.append(Line(text, left, right, bottom, top, size))


def _box(text_page: pdfium.FPDF_TEXTPAGE, index: int) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of the character, with the font's full height."""
    box = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(text_page, index, ctypes.byref(box)):
        return 0.0, 0.0, 0.0, 0.0
    return box.left, box.right, box.bottom, box.top
