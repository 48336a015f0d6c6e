"""Lines of a printed page to paragraphs, list items, table rows and headings.

A PDF holds no paragraphs. Lines are joined where the next line's first word would not have fitted
on this one (so the break was a wrap), and kept apart otherwise. Lines in larger or bolder type than
the body are headings. Must not know where the lines come from.
"""

import re
import statistics
from collections import Counter
from itertools import pairwise

import msgspec

from rag.loaders.page import Block, BlockKind, PageContent
from rag.loaders.text import ITEM

_HEADING_SIZE = 1.15
"""Times the body's font size; bold type is a heading from the body's own size."""
_HEADING_SHARE = 0.2
"""Of all characters: a type that is used for more is no heading's."""
_HEADING_CHARACTERS = 120
_BOLD_HEADING_CHARACTERS = 60
_SAME_EDGE = 3.0
"""Points within which two lines begin at the same left edge."""
_WRAPPED_CHARACTERS = 30
"""A shorter line was not broken by the margin: addresses, verse, cells."""
_NEAR = 0.75
"""Times the line's height: a wider gap divides paragraphs, unless all lines are that far apart."""
_USUAL = 1.3
_HYPHEN = re.compile("[\x02\ufffe] ?")
_DIVIDED_WORD = re.compile("[\x02\ufffe] ?(?=[^\\W\\d_])(?=[^A-Z])")
"""PDFium's mark for a hyphen at a line's end, before a small letter: the word was divided there."""
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


class _Page(msgspec.Struct):
    """What is the same for all lines of a page."""

    levels: dict[Style, int]
    usual_gap: float
    """Between the bottom of a line and the top of the next, in points."""
    right_edges: dict[int, float]
    """Of the columns, by their left edge in steps of ``_SAME_EDGE``."""


def heading_levels(pages: list[list[Line]]) -> dict[Style, int]:
    """Heading level by type: larger than the body's first, then bold in the body's size."""
    characters: Counter[Style] = Counter()
    for line in (line for lines in pages for line in lines):
        characters[line.size, line.is_bold] += len(line.text)
    if not characters:
        return {}
    body_size, body_is_bold = characters.most_common(1)[0][0]
    most = characters.total() * _HEADING_SHARE
    headings = [
        (size, is_bold)
        for (size, is_bold), count in characters.items()
        if size >= body_size * (1.0 if is_bold and not body_is_bold else _HEADING_SIZE)
        and count <= most
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
    page = _measured(lines, levels)
    parts: list[str] = []
    blocks: list[Block] = []
    length = 0
    above: Line | None = None
    for group in _groups(lines, page):
        kind = _kind(group[0], page)
        text = _joined(group)
        if kind == "heading" and len(text) > _HEADING_CHARACTERS:
            kind = "paragraph"
        if above is not None:
            near = "heading" not in (kind, blocks[-1].kind) and _is_near(above, group[0], page)
            parts.append("\n" if near else "\n\n")
            length += len(parts[-1])
        level = levels[group[0].size, group[0].is_bold] if kind == "heading" else 0
        title = text if kind == "heading" else ""
        blocks.append(Block(kind, length, length + len(text), level, title))
        parts.append(text)
        length += len(text)
        above = group[-1]
    return PageContent("".join(parts), blocks)


def _measured(lines: list[Line], levels: dict[Style, int]) -> _Page:
    gaps = [gap for above, below in pairwise(lines) if (gap := above.bottom - below.top) > 0]
    right_edges: dict[int, float] = {}
    for line in lines:
        edge = _edge(line)
        right_edges[edge] = max(right_edges.get(edge, 0.0), line.right)
    return _Page(levels, statistics.median(gaps) if gaps else 0.0, right_edges)


def _groups(lines: list[Line], page: _Page) -> list[list[Line]]:
    """Lines that are one paragraph, item or heading together."""
    groups: list[list[Line]] = []
    for line in lines:
        if groups and _continues(groups[-1][-1], line, page):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _continues(line: Line, following: Line, page: _Page) -> bool:
    """Whether ``following`` is the same sentence or heading as ``line``, broken by the margin."""
    kind, following_kind = _kind(line, page), _kind(following, page)
    if abs(line.size - following.size) > 0.1 or not _is_near(line, following, page):
        return False
    if kind == "heading" and following_kind == "heading":
        return line.is_bold == following.is_bold and abs(line.left - following.left) < _SAME_EDGE
    is_short = len(line.text) < _WRAPPED_CHARACTERS
    if is_short or following_kind != "paragraph" or kind not in ("paragraph", "item"):
        return False
    if following.left > line.left + _SAME_EDGE and kind != "item":
        return False  # indented: a new paragraph
    edges = (page.right_edges.get(_edge(line) + step, 0.0) for step in (-1, 0, 1))
    column_right = max(following.right, *edges)
    character = (line.right - line.left) / len(line.text)
    next_word = len(following.text.split(maxsplit=1)[0]) + 1
    return line.right + next_word * character > column_right


def _kind(line: Line, page: _Page) -> BlockKind:
    if line.is_row:
        return "row"
    if (line.size, line.is_bold) in page.levels and _is_title(line):
        return "heading"
    return "item" if ITEM.match(line.text) else "paragraph"


def _is_title(line: Line) -> bool:
    """Whether a line in a heading's type is short enough; in bold it must not be a sentence."""
    if not line.is_bold:
        return len(line.text) <= _HEADING_CHARACTERS
    return len(line.text) <= _BOLD_HEADING_CHARACTERS and not line.text.endswith((".", "!", ","))


def _is_near(above: Line, below: Line, page: _Page) -> bool:
    """Whether ``below`` is the next printed line, without a gap or a jump to another column."""
    height = max(above.top - above.bottom, below.top - below.bottom, above.size, 1.0)
    limit = max(_NEAR * height, min(_USUAL * page.usual_gap, 3 * height))
    return -0.5 * height < above.bottom - below.top < limit


def _edge(line: Line) -> int:
    return round(line.left / _SAME_EDGE)


def _joined(lines: list[Line]) -> str:
    text = " ".join(line.text for line in lines)
    return _HYPHEN.sub("-", _DIVIDED_WORD.sub("", text))
