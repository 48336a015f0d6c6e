"""PDF through pypdfium2: pages, lines with their place and font size, and from those paragraphs.

A PDF holds no paragraphs. Lines are joined where the next line's first word would not have fitted
on this one (so the break was a wrap), and kept apart otherwise: list items and table rows stay
lines. Lines in larger or bolder type than the body are headings.
"""

import ctypes
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import msgspec
import pypdfium2
import pypdfium2.raw as pdfium

from rag.errors import LoadError
from rag.loaders.page import Block, BlockKind, LoadedDocument, PageContent
from rag.loaders.text import ITEM

PAGES = 5_000
_HEADING_SIZE = 1.15
"""Times the body's font size; bold type is a heading from the body's own size."""
_HEADING_CHARACTERS = 120
_BOLD_HEADING_CHARACTERS = 60
_BOLD = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
_BOLD_WEIGHT = 600
_SAME_EDGE = 3.0
"""Points within which two lines begin at the same left edge."""
_WRAPPED_CHARACTERS = 30
"""A shorter line was not broken by the margin: addresses, verse, cells."""
_NEAR = 0.75
"""Times the line's height: a wider gap divides paragraphs."""
_HYPHENS = ("\x02", "\ufffe")
"""What PDFium writes for a hyphen at a line's end."""
_CELL_GAP = 1.0
"""Times the font size: a space is about 0.3, in justified text up to 0.8."""
_EDGE_LINES = 2
"""How many lines at the top and at the bottom of a page can be its header and footer."""
_PAGE_NUMBER = re.compile(r"(?:page|seite|第|页|of|von|[-–—·|/\s\d])+", re.IGNORECASE)


Style = tuple[float, bool]
"""Font size and whether it is bold."""


class Line(msgspec.Struct):
    """A line of a page as printed; distances in points, the page's origin is at the bottom left."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float
    is_bold: bool = False
    is_row: bool = False
    """Whether a gap wider than any space divides it: cells of a table."""


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
    pages = without_running_lines(pages)
    levels = heading_levels(pages)
    return LoadedDocument("pdf", [page_of(lines, levels) for lines in pages], paged=True)


def heading_levels(pages: list[list[Line]]) -> dict[Style, int]:
    """Heading level by type: larger than the body's first, then bold in the body's size."""
    characters: Counter[Style] = Counter()
    for line in (line for lines in pages for line in lines):
        characters[line.size, line.is_bold] += len(line.text)
    if not characters:
        return {}
    body_size, body_is_bold = characters.most_common(1)[0][0]
    headings = [
        (size, is_bold)
        for size, is_bold in characters
        if size >= body_size * _HEADING_SIZE or (is_bold and not body_is_bold and size >= body_size)
    ]
    ranked = sorted(headings, reverse=True)
    return {style: min(level, 6) for level, style in enumerate(ranked, start=1)}


def without_running_lines(pages: list[list[Line]]) -> list[list[Line]]:
    """The pages without headers and footers, which would stand between a sentence's halves.

    Those are lines at the edge of the page, printed the same at the same place on more than half of
    the pages (page numbers count as the same).
    """
    edges = [_edge_lines(lines) for lines in pages]
    seen = Counter(place for places in edges for place in places)
    running = {place for place, times in seen.items() if times > max(1, len(pages) // 2)}
    return [
        [line for line in lines if _place(line) not in places & running]
        for lines, places in zip(pages, edges, strict=True)
    ]


def _edge_lines(lines: list[Line]) -> set[tuple[str, int]]:
    by_height = sorted(lines, key=lambda line: line.bottom)
    return {_place(line) for line in by_height[:_EDGE_LINES] + by_height[-_EDGE_LINES:]}


def _place(line: Line) -> tuple[str, int]:
    return "#" if _PAGE_NUMBER.fullmatch(line.text) else line.text, round(line.bottom)


def page_of(lines: list[Line], levels: dict[Style, int]) -> PageContent:
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
        level = levels[group[0].size, group[0].is_bold] if kind == "heading" else 0
        title = text if kind == "heading" else ""
        blocks.append(Block(kind, length, length + len(text), level, title))
        parts.append(text)
        length += len(text)
        above = group[-1]
    return PageContent("".join(parts), blocks)


def _groups(lines: list[Line], levels: dict[Style, int]) -> list[list[Line]]:
    """Lines that are one paragraph, item or heading together."""
    groups: list[list[Line]] = []
    for line in lines:
        if groups and _continues(groups[-1][-1], line, lines, levels):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _continues(line: Line, following: Line, lines: list[Line], levels: dict[Style, int]) -> bool:
    """Whether ``following`` is the same sentence or heading as ``line``, broken by the margin."""
    kind, following_kind = _kind(line, levels), _kind(following, levels)
    if abs(line.size - following.size) > 0.1 or not _is_near(line, following):
        return False
    if kind == "heading" and following_kind == "heading":
        return line.is_bold == following.is_bold and abs(line.left - following.left) < _SAME_EDGE
    is_short = len(line.text) < _WRAPPED_CHARACTERS
    if is_short or following_kind != "paragraph" or kind not in ("paragraph", "item"):
        return False
    if following.left > line.left + _SAME_EDGE and kind != "item":
        return False  # indented: a new paragraph
    edges = [other.right for other in lines if abs(other.left - line.left) < _SAME_EDGE]
    column_right = max(*edges, following.right)
    character = (line.right - line.left) / len(line.text)
    next_word = len(following.text.split(maxsplit=1)[0]) + 1
    return line.right + next_word * character > column_right


def _kind(line: Line, levels: dict[Style, int]) -> BlockKind:
    if line.is_row:
        return "row"
    if (line.size, line.is_bold) in levels and _is_title(line):
        return "heading"
    return "item" if ITEM.match(line.text) else "paragraph"


def _is_title(line: Line) -> bool:
    """Whether a line in a heading's type is short enough; in bold it must not be a sentence."""
    if not line.is_bold:
        return len(line.text) <= _HEADING_CHARACTERS
    return len(line.text) <= _BOLD_HEADING_CHARACTERS and not line.text.endswith((".", "!", ","))


def _is_near(above: Line, below: Line) -> bool:
    """Whether ``below`` is the next printed line, without a gap or a jump to another column."""
    height = max(above.top - above.bottom, below.top - below.bottom, above.size, 1.0)
    return -0.5 * height < above.bottom - below.top < _NEAR * height


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
    """Character by character: offsets of PDFium's whole-page text do not match its boxes."""
    lines: list[Line] = []
    line: list[tuple[int, str]] = []  # index and character
    for index in range(max(0, pdfium.FPDFText_CountChars(text_page))):
        code = pdfium.FPDFText_GetUnicode(text_page, index)
        if code in (10, 13):
            lines += _line(text_page, line)
            line = []
        elif 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
            line.append((index, chr(code)))
    return lines + _line(text_page, line)


def _line(text_page: pdfium.FPDF_TEXTPAGE, characters: list[tuple[int, str]]) -> list[Line]:
    """One line, or none when nothing is visible. Cells of a table row are divided by `` | ``."""
    visible = [(index, character) for index, character in characters if not character.isspace()]
    if not visible:
        return []
    first, last = visible[0][0], visible[-1][0]
    size = round(pdfium.FPDFText_GetFontSize(text_page, first), 1)
    pieces = [visible[0][1]]
    cells = 1
    for (before, _), (after, character) in pairwise(visible):
        if after > before + 1:
            is_cell = _gap(text_page, before, after) > _CELL_GAP * size
            cells += is_cell
            pieces.append(" | " if is_cell else " ")
        pieces.append(character)
    left, _, bottom, top = _box(text_page, first)
    _, right, _, _ = _box(text_page, last)
    is_bold = _is_bold(text_page, first) and _is_bold(text_page, last)
    return [Line("".join(pieces), left, right, bottom, top, size, is_bold, is_row=cells > 1)]


def _is_bold(text_page: pdfium.FPDF_TEXTPAGE, index: int) -> bool:
    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(text_page, index, name, len(name), ctypes.byref(flags))
    weight = pdfium.FPDFText_GetFontWeight(text_page, index)
    return weight >= _BOLD_WEIGHT or bool(_BOLD.search(name.value))


def _gap(text_page: pdfium.FPDF_TEXTPAGE, before: int, after: int) -> float:
    """Points of white between two characters of a line."""
    return _box(text_page, after)[0] - _box(text_page, before)[1]


def _box(text_page: pdfium.FPDF_TEXTPAGE, index: int) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of the character, with the font's full height."""
    box = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(text_page, index, ctypes.byref(box)):
        return 0.0, 0.0, 0.0, 0.0
    return box.left, box.right, box.bottom, box.top
