"""HTML: visible text by block, headings, list items and table rows; never scripts or navigation."""

import re
from pathlib import Path

import lxml.etree
import lxml.html

from rag.errors import LoadError
from rag.loaders.page import LoadedDocument, PageBuilder, PageContent, collapse
from rag.loaders.text import decode

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_DROPPED = frozenset(
    {"script", "style", "nav", "noscript", "template", "svg", "math", "iframe", "object", "embed"}
    | {"head", "form", "button", "select", "textarea", "canvas", "audio", "video"}
)
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details"}
    | {"dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "header", "hr"}
    | {"html", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "td"}
    | {"tfoot", "th", "thead", "tr", "ul"}
).union(_HEADINGS)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{2,40})", re.IGNORECASE)


def read(path: Path) -> LoadedDocument:
    """The file as one page of text.

    Raises:
        LoadError: it is not text, or has no visible text.
    """
    return LoadedDocument("html", [page_of(_decode(path.read_bytes()))])


def page_of(markup: str) -> PageContent:
    """The visible text of ``markup``. The document's title stands first when there is no ``h1``.

    Raises:
        LoadError: there is nothing in it.
    """
    builder = PageBuilder()
    add_page(builder, markup)
    return builder.build()


def add_page(builder: PageBuilder, markup: str, *, with_title: bool = True) -> None:
    """The visible text of ``markup`` at the end of a page.

    Raises:
        LoadError: there is nothing in it.
    """
    parser = lxml.html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True
    )
    try:
        root = lxml.html.document_fromstring(markup.encode(errors="replace"), parser=parser)
    except lxml.etree.ParserError as error:
        raise LoadError("there is no text in it") from error
    except lxml.etree.LxmlError as error:  # the parser mends bad markup; what is left is memory
        raise LoadError("the HTML is damaged, or too complicated to read") from error
    title = collapse(root.findtext(".//title") or "")
    if with_title and title and root.find(".//h1") is None:
        builder.heading(title, 0)
    _Walk(builder).run(root)


def _decode(data: bytes) -> str:
    if match := _CHARSET.search(data[:2048]):
        try:
            return data.decode(match[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(data)


class _Walk:
    """One pass over the tree: inline text gathers until a block begins or ends.

    A table cell with blocks in it (a page or mail laid out by tables) is read as those blocks.
    """

    def __init__(self, builder: PageBuilder) -> None:
        self._builder = builder
        self._inline: list[str] = []
        self._rows: list[list[str] | None] = []  # cells of the open rows; None: a layout cell
        self._open: list[str] = []  # the block elements we are in, outermost first
        self._item_begun = False

    def run(self, root: lxml.html.HtmlElement) -> None:
        skipping: lxml.html.HtmlElement | None = None
        for event, element in lxml.etree.iterwalk(root, events=("start", "end")):
            if event == "start":
                if skipping is None and _invisible(element):
                    skipping = element
                elif skipping is None:
                    self._start(element)
                continue
            if skipping is None:
                self._end(element.tag)
            elif skipping is element:
                skipping = None
            if skipping is None:
                self._inline.append(element.tail or "")
        self._flush()

    def _start(self, element: lxml.html.HtmlElement) -> None:
        tag = element.tag
        if tag in _BLOCKS:
            self._break()
            self._open.append(tag)
            if tag == "li":
                self._item_begun = False
            elif tag == "tr":
                self._rows.append([])
            elif tag in ("td", "th") and self._cells is not None and _holds_blocks(element):
                self._end_row()
                self._rows.append(None)
        elif tag == "br":
            self._inline.append("\n" if "pre" in self._open else " ")
        self._inline.append(element.text or "")

    def _end(self, tag: str) -> None:
        if tag not in _BLOCKS:
            return
        if tag in ("td", "th") and self._cells is not None:
            self._end_cell()
        else:
            self._break()
        if tag in ("td", "th") and self._rows and self._rows[-1] is None:
            self._rows.pop()
        elif tag == "tr":
            self._end_row()
            self._rows.pop()
        self._open.pop()

    @property
    def _cells(self) -> list[str] | None:
        """The cells of the row that text now belongs to, if it is in one."""
        return self._rows[-1] if self._rows else None

    def _end_cell(self) -> None:
        if self._cells is not None:
            self._cells.append("".join(self._inline))
            self._inline.clear()

    def _end_row(self) -> None:
        if self._cells is not None:
            self._end_cell()
            while self._cells and not self._cells[-1].strip():
                self._cells.pop()
            self._builder.row(self._cells)
            self._cells.clear()

    def _break(self) -> None:
        """A block begins or ends: inside a cell that is a space."""
        if self._cells is None:
            self._flush()
        else:
            self._inline.append(" ")

    def _flush(self) -> None:
        text = "".join(self._inline)
        self._inline.clear()
        if not text.strip():
            return
        tag = self._open[-1] if self._open else ""
        if tag in _HEADINGS:
            self._builder.heading(text, int(tag[1]))
        elif "pre" in self._open:
            self._builder.paragraph(text.strip("\n"))
        elif "li" in self._open and not self._item_begun:
            self._item_begun = True
            self._builder.item(text, self._open.count("li") - 1)
        else:
            self._builder.paragraph(collapse(text))


def _holds_blocks(cell: lxml.html.HtmlElement) -> bool:
    """Whether a table cell is there for the layout: it holds headings, lists, paragraphs …"""
    paragraphs = sum(1 for _ in cell.iter("p"))
    return (
        paragraphs > 1 or next(cell.iter(*_HEADINGS, "ul", "ol", "table", "pre"), None) is not None
    )


def _invisible(element: lxml.html.HtmlElement) -> bool:
    return (
        element.tag in _DROPPED
        or "hidden" in element.attrib
        or bool(_HIDDEN.search(element.get("style", "")))
    )
