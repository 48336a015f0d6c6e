"""The drawing process: a page of a PDF, or a picture, as a PNG; and where words stand on that page.

Files may be hostile, so limits of memory and time hold here as in the loading process. Requests and
replies are those of ``rag.picture_requests``. Run as ``python -m rag.picture_worker``.
"""

import ctypes
import io
import math
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from rag.errors import LoadError
from rag.load_worker import set_limits
from rag.loaders.picture import open_picture
from rag.picture_requests import Drawn, DrawRequest, Mark, MarkRequest
from rag.pictures import visible
from rag.worker import serve

WIDEST = 2_000
"""Pixels."""
PIXELS = 8_000_000
"""Of a drawn page: 32 MB while it is drawn."""
NEEDLE_CHARACTERS = 5_000
MARKS = 200
STEPS = 100_000
"""A page's width and height in whole steps, for PDFium's device coordinates."""


def draw(request: DrawRequest) -> Drawn:
    """The page as PNG.

    Raises:
        LoadError: it cannot be drawn.
    """
    width = max(50, min(request.width, WIDEST))
    path = Path(request.path)
    if path.suffix.lower() == ".pdf":
        picture = _page_picture(path, request.page, width)
    elif request.page == 1:
        picture = open_picture(path)
        picture.thumbnail((width, PIXELS // width))
    else:
        raise LoadError(f"it has no page {request.page}")
    png = io.BytesIO()
    picture.save(png, "PNG", compress_level=3)
    return Drawn(png=png.getvalue())


def mark(request: MarkRequest) -> Drawn:
    """Rectangles around the text on the PDF page, one a line; none if it is not found.

    Raises:
        LoadError: the file cannot be read.
    """
    wanted = visible(request.text)[:NEEDLE_CHARACTERS]
    with _page(Path(request.path), request.page) as page:
        text_page = page.get_textpage()
        try:
            indexes, characters = _visible(text_page.raw)
            start = _nearest(characters, wanted, request.before)
            if start is None:
                return Drawn()
            first, last = indexes[start], indexes[start + len(wanted) - 1]
            boxes = _rectangles(text_page.raw, first, last - first + 1)
            return Drawn(marks=[_share(page.raw, box) for box in boxes])
        finally:
            text_page.close()


@contextmanager
def _page(path: Path, number: int) -> Iterator[pypdfium2.PdfPage]:
    try:
        document = pypdfium2.PdfDocument(path)
        try:
            if not 1 <= number <= len(document):
                raise LoadError(f"it has no page {number}")
            page = document[number - 1]
            try:
                yield page
            finally:
                page.close()
        finally:
            document.close()
    except pypdfium2.PdfiumError as error:
        raise LoadError("the PDF is damaged, or protected by a password") from error
    except OSError as error:
        raise LoadError(f"the file cannot be read: {error.strerror or error}") from error


def _page_picture(path: Path, number: int, width: int) -> Image.Image:
    with _page(path, number) as page:
        points_wide, points_high = page.get_size()
        if not (0 < points_wide < 1e5 and 0 < points_high < 1e5):
            raise LoadError("the page has no size")
        scale = width / points_wide
        scale = min(scale, math.sqrt(PIXELS / (points_wide * points_high)))
        bitmap = page.render(scale=scale, may_draw_forms=False)
        try:
            picture: Image.Image = bitmap.to_pil().convert("RGB")
            return picture
        finally:
            bitmap.close()


def _visible(text_page: pdfium.FPDF_TEXTPAGE) -> tuple[list[int], str]:
    """The characters that are no white space, and each one's index in PDFium's text."""
    indexes, characters = [], []
    for index in range(max(0, pdfium.FPDFText_CountChars(text_page))):
        code = pdfium.FPDFText_GetUnicode(text_page, index)
        if not 0 < code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            continue
        character = chr(code)
        if not character.isspace() and character not in "|\x02\ufffe":
            indexes.append(index)
            characters.append(character)
    return indexes, "".join(characters)


def _nearest(text: str, wanted: str, before: int) -> int | None:
    """Where ``wanted`` begins, of several places the one nearest to ``before``."""
    found: int | None = None
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        if found is None or abs(at - before) < abs(found - before):
            found = at
        at = text.find(wanted, at + 1)
    return found


def _rectangles(
    text_page: pdfium.FPDF_TEXTPAGE, first: int, count: int
) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom in points of each line's part."""
    found = []
    for index in range(min(MARKS, pdfium.FPDFText_CountRects(text_page, first, count))):
        left, top, right, bottom = (ctypes.c_double() for _ in range(4))
        if pdfium.FPDFText_GetRect(text_page, index, left, top, right, bottom):
            found.append((left.value, top.value, right.value, bottom.value))
    return found


def _share(page: pdfium.FPDF_PAGE, box: tuple[float, float, float, float]) -> Mark:
    """A rectangle in points as shares of the page as it is shown: turned, and cropped."""
    xs, ys = zip(
        *(_on_screen(page, x, y) for x, y in ((box[0], box[1]), (box[2], box[3]))), strict=True
    )
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def _on_screen(page: pdfium.FPDF_PAGE, x: float, y: float) -> tuple[float, float]:
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page, 0, 0, STEPS, STEPS, 0, x, y, across, down)
    return across.value / STEPS, down.value / STEPS


def prepare() -> Callable[[bytes], bytes]:
    """Set the limits; returns the handler of requests."""
    set_limits()

    def handle(message: bytes) -> bytes:
        request = msgspec.msgpack.decode(message, type=DrawRequest | MarkRequest)
        signal.alarm(request.seconds)
        try:
            reply = draw(request) if isinstance(request, DrawRequest) else mark(request)
        except LoadError as error:
            reply = Drawn(reason=str(error))
        except MemoryError:
            reply = Drawn(reason="drawing it needs too much memory")
        signal.alarm(0)
        return msgspec.msgpack.encode(reply)

    return handle


if __name__ == "__main__":
    serve(prepare)
