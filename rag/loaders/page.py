"""What a loader makes: pages of text, and where the structure is in them.

Every block is a span of the page's text; blocks are in order and do not overlap. Text outside all
blocks is allowed and means a plain paragraph.
"""

import re
from typing import Literal

import msgspec

BlockKind = Literal["heading", "paragraph", "item", "row"]

_SPACE = re.compile(r"\s+")


class Block(msgspec.Struct, frozen=True):
    """A piece of structure: ``page.text[start:end]``."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """Of a heading: 1 is the outermost; 0 is the title of the document."""
    title: str = ""
    """Of a heading: its words without markup."""


class PlacedLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of a recognised page, in reading order: where it stands on the picture."""

    characters: int
    """How many of the text's visible characters (no white space, no ``|``) it holds."""
    left: float
    top: float
    width: float
    height: float
    """Shares of the page, 0 to 1."""


class PageContent(msgspec.Struct, frozen=True):
    """The text of one page."""

    text: str
    blocks: list[Block] = []
    is_scan: bool = False
    """True for a picture without text: to be recognised."""
    lines: list[PlacedLine] = []
    """Of a recognised page; other pages are searched for their words."""


class LoadedDocument(msgspec.Struct, frozen=True):
    """A document as read: at least one page."""

    type: str
    pages: list[PageContent]
    paged: bool = False
    """True when the format has real pages (PDF)."""


class PageBuilder:
    """Writes a page's text block by block, for formats whose text is not on the page as it is."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []

    def heading(self, text: str, level: int) -> None:
        title = collapse(text)
        self._add("heading", title, level, title)

    def paragraph(self, text: str) -> None:
        """``text`` as it is: line breaks inside it are kept."""
        self._add("paragraph", text.strip())

    def item(self, text: str, depth: int = 0) -> None:
        """A list item, ``depth`` lists deep (0 is the outermost)."""
        if text := collapse(text):
            self._add("item", f"- {text}", indent=depth)

    def row(self, cells: list[str]) -> None:
        """A table row, as ``a | b | c``."""
        cells = [collapse(cell) for cell in cells]
        if any(cells):
            self._add("row", " | ".join(cells))

    def build(self) -> PageContent:
        return PageContent("".join(self._parts), self._blocks)

    def _add(
        self, kind: BlockKind, text: str, level: int = 0, title: str = "", indent: int = 0
    ) -> None:
        if not text:
            return
        together = self._blocks and kind in ("item", "row") and self._blocks[-1].kind == kind
        gap = "" if not self._blocks else "\n" if together else "\n\n"
        gap += "  " * indent
        start = self._length + len(gap)
        self._parts += (gap, text)
        self._length = start + len(text)
        self._blocks.append(Block(kind, start, self._length, level, title))


def collapse(text: str) -> str:
    """``text`` on one line: every run of white space becomes one space."""
    return _SPACE.sub(" ", text).strip()
