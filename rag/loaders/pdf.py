"""PDF through pypdfium2: every page as lines with their place and type; layout.py does the rest."""

import ctypes
import math
import re
from itertools import pairwise
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from rag.errors import LoadError
from rag.loaders.layout import Line, heading_levels, page_of, without_running_lines
from rag.loaders.page import LoadedDocument, PageContent

PAGES = 5_000
_WIDEST = 1e5
"""Points."""
_CELL_GAP = 1.0
"""Times the font size: a space is about 0.3, in justified text up to 0.8."""
_BOLD = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
_BOLD_WEIGHT = 600


def read(path: Path) -> LoadedDocument:
    """The document page by page.

    Raises:
        LoadError: encrypted, damaged, or of too many pages.
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
    scans = [not lines and has_picture for lines, has_picture in pages]
    lines = without_running_lines([lines for lines, _ in pages])
    levels = heading_levels(lines)
    contents = [
        PageContent("", is_scan=True) if is_scan else page_of(of_page, levels)
        for of_page, is_scan in zip(lines, scans, strict=True)
    ]
    return LoadedDocument("pdf", contents, paged=True)


def picture_of(path: Path, number: int, dots_per_inch: int, pixels: int) -> Image.Image:
    """Page ``number`` (from 1) drawn in grey, of at most about ``pixels`` pixels.

    Raises:
        LoadError: there is no such page, or it cannot be drawn.
    """
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise LoadError("the PDF is damaged") from error
    try:
        page = document[number - 1]
        width, height = page.get_size()
        if not (0 < width < _WIDEST and 0 < height < _WIDEST):
            raise LoadError("a page of the PDF has no size")
        scale = min(dots_per_inch / 72, math.sqrt(pixels / (width * height)))
        bitmap = page.render(scale=scale, grayscale=True, may_draw_forms=False)
        picture: Image.Image = bitmap.to_pil().copy()
        bitmap.close()
        page.close()
    except (pypdfium2.PdfiumError, IndexError) as error:
        raise LoadError("a page of the PDF cannot be drawn") from error
    finally:
        document.close()
    return picture


def _lines(document: pypdfium2.PdfDocument, number: int) -> tuple[list[Line], bool]:
    """The lines of a page, and, where there are none, whether it shows a picture."""
    page = document[number]
    text_page = page.get_textpage()
    try:
        lines = _read_lines(text_page.raw)
        return lines, not lines and _has_picture(page)
    finally:
        text_page.close()
        page.close()


def _has_picture(page: pypdfium2.PdfPage) -> bool:
    return next(page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE]), None) is not None


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
