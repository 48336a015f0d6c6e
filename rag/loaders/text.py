"""Plain text: decoding for every textual type, and the little structure that .txt files have."""

import re
from pathlib import Path

from charset_normalizer import from_bytes

from rag.errors import LoadError
from rag.loaders.page import Block, LoadedDocument, PageContent

ITEM = re.compile(r"\s*(?:[-*+•‣◦·●○▪■–—]|\d{1,3}[.)]|[A-Za-z][.)])\s+\S")
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|~{3,})\s*")
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x0b\x1b")
_CONTROLS = bytes(c for c in range(32) if c not in _TEXT_CONTROLS)
_MAX_CONTROL_SHARE = 0.005
_GUESS_BYTES = 1_000_000


def read(path: Path) -> LoadedDocument:
    """The file as one page; the text is the file's own.

    Raises:
        LoadError: it is not text.
    """
    text = decode(path.read_bytes())
    return LoadedDocument("txt", [PageContent(text, blocks(text))])


def decode(data: bytes) -> str:
    """Bytes to text with ``\\n`` line ends: by byte order mark, as UTF-8, or by a guess.

    Raises:
        LoadError: the bytes are not text.
    """
    encoding = next((name for mark, name in _BOMS.items() if data.startswith(mark)), None)
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        text = _guess(data)
    if encoding is None and _looks_binary(data):
        raise LoadError("the content is binary, not text")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def blocks(text: str) -> list[Block]:
    """Underlined headings, list items, and paragraphs between blank lines."""
    found: list[Block] = []
    start = 0
    after_blank = True
    for line in text.split("\n"):
        end = start + len(line)
        if not line.strip():
            after_blank = True
        elif after_blank or ITEM.match(line):
            found.append(Block("item" if ITEM.match(line) else "paragraph", start, end))
            after_blank = False
        elif _UNDERLINE.fullmatch(line) and "\n" not in text[found[-1].start : start - 1]:
            title = text[found[-1].start : found[-1].end].strip()
            found[-1] = Block("heading", found[-1].start, end, 1 if "=" in line else 2, title)
            after_blank = True
        else:
            found[-1] = Block(found[-1].kind, found[-1].start, end)
        start = end + 1
    return found


def _guess(data: bytes) -> str:
    best = from_bytes(data[:_GUESS_BYTES]).best()
    if best is None:
        raise LoadError("the content is binary, not text")
    return data.decode(best.encoding, errors="replace")


def _looks_binary(data: bytes) -> bool:
    controls = len(data) - len(data.translate(None, _CONTROLS))
    return controls > len(data) * _MAX_CONTROL_SHARE
