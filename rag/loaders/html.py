"""HTML: visible text by block, headings, list items and table rows; never scripts or navigation."""

import re
from pathlib import Path

import lxml.etree
import lxml.html

from rag.errors import LoadError
from rag.loaders.page import LoadedDocument, PageBuilder, PageContent, collapse
from rag.loaders.text import decode

_DROPPED = frozenset(
    {"script", "style", "nav", "noscript", "template", "svg", "math", "iframe", "object", "embed"}
    | {"head", "form", "button", "select", "textarea", "canvas", "audio", "video"}
)
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details"}
    | {"dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "header", "hr"}
    | {"html", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "td"}
    | {"tfoot", "th", "thead", "tr", "ul", "h1", "h2", "h3", "h4", "h5", "h6"}
)
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
    parser = lxml.html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True
    )
    try:
        root = lxml.html.document_fromstring(markup.encode(errors="replace"), parser=parser)
    except lxml.etree.ParserError as error:
        raise LoadError("there is no text in it") from error
    except lxml.etree.LxmlError as error:  # the parser mends bad markup; what is left is memory
        raise LoadError("the HTML is damaged, or too complicated to read") from error
    builder = PageBuilder()
    title = collapse(root.findtext(".//title") or "")
    if title and root.find(".//h1") is None:
        builder.heading(title, 0)
    _Walk(builder).run(root)
    return builder.build()


def _decode(data: bytes) -> str:
    if match := _CHARSET.search(data[:2048]):
        try:
            return data.decode(match[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(data)


class _Walk:
    """One pass over the tree: inline text gathers until a block begins or ends."""

    def __init__(self, builder: PageBuilder) -> None:
        self._builder = builder
        self._inline: list[str] = []
        self._cells: list[str] | None = None
        self._open: list[str] = []  # the block elements we are in, outermost first
        self._item_begun = False

    def run(self, root: lxml.html.HtmlElement) -> None:
        skipping: lxml.html.HtmlElement | None = None
        for event, element in lxml.etree.iterwalk(root, events=("start", "end")):
            if skipping is None and event == "start":
                if _invisible(element):
                    skipping = element
                else:
                    self._start(element)
            elif event == "end":
                if skipping is None:
                    self._end(element)
                elif skipping is element:
                    skipping = None
                else:
                    continue
                self._inline.append(element.tail or "")
        self._flush()

    def _start(self, element: lxml.html.HtmlElement) -> None:
        tag = element.tag
        if tag in _BLOCKS:
            if tag not in ("td", "th") and not self._in_cell():
                self._flush()
            elif self._in_cell():
                self._inline.append(" ")
            self._open.append(tag)
            if tag == "li":
                self._item_begun = False
            elif tag == "tr":
                self._cells = []
        elif tag == "br":
            self._inline.append("\n" if self._in("pre") else " ")
        self._inline.append(element.text or "")

    def _end(self, element: lxml.html.HtmlElement) -> None:
        tag = element.tag
        if tag not in _BLOCKS:
            return
        if tag in ("td", "th") and self._cells is not None:
            self._cells.append("".join(self._inline))
            self._inline.clear()
        elif tag == "tr" and self._cells is not None:
            self._builder.row(self._cells)
            self._cells = None
            self._inline.clear()
        elif not self._in_cell():
            self._flush()
        if tag in self._open:
            self._open.pop()

    def _flush(self) -> None:
        text = "".join(self._inline)
        self._inline.clear()
        if not text.strip():
            return
        tag = self._open[-1] if self._open else ""
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self._builder.heading(text, int(tag[1]))
        elif self._in("pre"):
            self._builder.paragraph(text.strip("\n"))
        elif self._in("li") and not self._item_begun:
            self._item_begun = True
            self._builder.item(text, max(0, self._depth() - 1))
        else:
            self._builder.paragraph(collapse(text))

    def _in(self, tag: str) -> bool:
        return tag in self._open

    def _in_cell(self) -> bool:
        return self._cells is not None and ("td" in self._open or "th" in self._open)

    def _depth(self) -> int:
        return self._open.count("li")


def _invisible(element: lxml.html.HtmlElement) -> bool:
    return (
        element.tag in _DROPPED
        or "hidden" in element.attrib
        or bool(_HIDDEN.search(element.get("style", "")))
    )
