"""Markdown: the page's text is the source itself; markdown-it says where its structure is."""

import re
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag.loaders.page import Block, BlockKind, LoadedDocument, PageContent
from rag.loaders.text import decode

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LEAVES = {"paragraph_open", "fence", "code_block", "html_block"}


def read(path: Path) -> LoadedDocument:
    """The file as one page; offsets point into the source.

    Raises:
        LoadError: it is not text.
    """
    text = decode(path.read_bytes())
    return LoadedDocument("md", [PageContent(text, blocks(text))])


def blocks(text: str) -> list[Block]:
    """Headings (ATX and setext, not in code), list items, table rows and paragraphs."""
    tokens = MarkdownIt("commonmark").enable("table").parse(_without_front_matter(text))
    starts = _line_starts(text)
    spans = _spans(tokens)
    return [
        Block(kind, starts[first], end, level, title)
        for kind, first, last, level, title in spans
        if starts[first] < (end := _end_of(text, starts, last))
    ]


def _spans(tokens: list[Token]) -> list[tuple[BlockKind, int, int, int, str]]:
    """(kind, first line, line after the last, level, title), in order and without overlap.

    An item that holds a list ends where the inner list begins; what follows the inner list inside
    the outer item is a paragraph of its own.
    """
    spans: list[tuple[BlockKind, int, int, int, str]] = []
    items: list[bool] = []  # for each open list item: whether its first leaf is still to come
    for position, token in enumerate(tokens):
        if token.type == "list_item_open":
            items.append(True)
        elif token.type == "list_item_close":
            items.pop()
        if not token.map:
            continue
        first, last = token.map
        if token.type == "heading_open":
            title = _plain(tokens[position + 1])
            spans.append(("heading", first, last, int(token.tag[1]), title))
        elif token.type == "tr_open":
            spans.append(("row", first, last, 0, ""))
        elif token.type in _LEAVES:
            is_item = bool(items) and items[-1]
            spans.append(("item" if is_item else "paragraph", first, last, 0, ""))
        else:
            continue
        if items:
            items[-1] = False
    return spans


def _plain(inline: Token) -> str:
    """The words of a heading without markup."""
    words = [
        child.content if child.type in ("text", "code_inline") else " "
        for child in inline.children or []
        if child.type in ("text", "code_inline", "softbreak", "hardbreak")
    ]
    return " ".join("".join(words).split())


def _without_front_matter(text: str) -> str:
    """Front matter blanked out line by line: CommonMark would take it for a heading."""
    match = _FRONT_MATTER.match(text)
    if not match:
        return text
    return "\n" * match[0].count("\n") + text[match.end() :]


def _line_starts(text: str) -> list[int]:
    starts = [0]
    starts.extend(match.end() for match in re.finditer(r"\r\n?|\n", text))
    return starts


def _end_of(text: str, starts: list[int], line: int) -> int:
    """Where the lines before ``line`` end, without the line end."""
    return starts[line] - 1 if line < len(starts) else len(text)
