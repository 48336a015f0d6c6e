"""Pages to chunks: spans of a page's text that follow its structure, each with its heading path.

A heading begins a chunk; list items, table rows and paragraphs are kept whole unless one alone is
longer than a chunk, then it is cut between sentences. Chunks are in order, do not overlap, do not
cross pages, and hold all text that is not white space.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

import msgspec

from rag.loaders.page import Block, LoadedDocument, PageContent

TARGET_TOKENS = 200
"""Below the encoder's 256, so that the heading path and the document's name fit in front."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD_OR_MARK = re.compile(f"[{_CJK}]|[^\\W_{_CJK}]+|[^\\w\\s]|_")
_LETTERS_A_TOKEN = 6
"""Of a word beyond its first token: within 6 % on the sample household, 10 % on dense notes."""
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？；])[”’」』）]*|\n+")
_WORD_END = re.compile(r"\s+")


class ChunkSpan(msgspec.Struct, frozen=True):
    """A chunk of a document: ``pages[page].text[start:end] == text``."""

    page: int
    """Counts from 1, also for formats without pages."""
    start: int
    end: int
    text: str
    heading: str
    """The headings above and at it, outermost first, joined by `` > ``."""


class _Unit(msgspec.Struct):
    """What is not cut: a span with its size in tokens."""

    start: int
    end: int
    tokens: int


class _Section(msgspec.Struct):
    """The text from one heading to the next, heading included."""

    heading: str
    blocks: list[Block]
    has_body: bool = False


def chunks_of(document: LoadedDocument) -> Iterator[ChunkSpan]:
    """The chunks of all pages in order. The heading path goes on from page to page."""
    path: list[Block] = []
    for number, page in enumerate(document.pages, start=1):
        for section in _sections(page, path):
            for start, end in _pack(_units(page.text, section.blocks)):
                yield ChunkSpan(number, start, end, page.text[start:end], section.heading)


def count_tokens(text: str) -> int:
    """About how many tokens the encoder makes of ``text``: a mark or CJK character is one."""
    words = _WORD_OR_MARK.findall(text)
    return sum(1 + (len(word) - 1) // _LETTERS_A_TOKEN for word in words)


def embedded_text(document: str, heading: str, text: str) -> str:
    """What the encoder sees: the document's name in words and the heading path, then the chunk."""
    stem = PurePosixPath(document).stem.replace("-", " ").replace("_", " ")
    context = " > ".join(filter(None, (stem, heading)))
    return f"{context}\n{text}"


def _sections(page: PageContent, path: list[Block]) -> Iterator[_Section]:
    """Sections of a page; ``path`` (the open headings) is kept up to date for the page after it."""
    section = _Section(_joined(path), [])
    for block in _covering(page):
        if block.kind == "heading":
            while path and path[-1].level >= block.level:
                path.pop()
            path.append(block)
            if section.has_body:
                yield section
                section = _Section("", [])
            section.heading = _joined(path)
        else:
            section.has_body = True
        section.blocks.append(block)
    if section.blocks:
        yield section


def _covering(page: PageContent) -> Iterator[Block]:
    """The page's blocks, and the text between them as paragraphs; overlapping ones are cut."""
    position = 0
    for block in page.blocks:
        start, end = max(block.start, position), min(block.end, len(page.text))
        if start >= end:
            continue
        if page.text[position:start].strip():
            yield Block("paragraph", position, start)
        yield msgspec.structs.replace(block, start=start, end=end)
        position = end
    if page.text[position:].strip():
        yield Block("paragraph", position, len(page.text))


def _joined(path: Iterable[Block]) -> str:
    return " > ".join(block.title for block in path if block.title)


def _units(text: str, blocks: list[Block]) -> Iterator[_Unit]:
    for block in blocks:
        start, end = _trim(text, block.start, block.end)
        if start < end:
            yield from _cut(text, start, end, (_SENTENCE_END, _WORD_END))


def _cut(
    text: str, start: int, end: int, boundaries: tuple[re.Pattern[str], ...]
) -> Iterator[_Unit]:
    """The span itself if it fits, else its sentences, else words, else pieces of equal length."""
    tokens = count_tokens(text[start:end])
    if tokens <= TARGET_TOKENS:
        yield _Unit(start, end, tokens)
        return
    if not boundaries:
        step = TARGET_TOKENS
        for piece in range(start, end, step):
            piece_end = min(piece + step, end)
            yield _Unit(piece, piece_end, count_tokens(text[piece:piece_end]))
        return
    position = start
    cuts = [match.end() for match in boundaries[0].finditer(text, start, end)]
    for cut in [*cuts, end]:
        piece_start, piece_end = _trim(text, position, cut)
        if piece_start < piece_end:
            yield from _cut(text, piece_start, piece_end, boundaries[1:])
        position = cut


def _pack(units: Iterable[_Unit]) -> Iterator[tuple[int, int]]:
    """Neighbouring units together up to the target, in chunks of about equal size."""
    units = list(units)
    total = sum(unit.tokens for unit in units)
    even = total / max(1, -(-total // TARGET_TOKENS))
    start = end = tokens = 0
    for unit in units:
        if tokens and (tokens >= even or tokens + unit.tokens > TARGET_TOKENS):
            yield start, end
            tokens = 0
        if not tokens:
            start = unit.start
        end = unit.end
        tokens += unit.tokens
    if tokens:
        yield start, end


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends."""
    piece = text[start:end]
    leading = len(piece) - len(piece.lstrip())
    return start + leading, start + leading + len(piece.strip())
