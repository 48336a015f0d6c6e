"""What the loading process is asked, and what it answers: msgpack on the wire."""

import msgspec

from rag.chunk import ChunkSpan
from rag.loaders.page import PageContent, PlacedLine


class LoadRequest(msgspec.Struct, tag="load"):
    """Read ``path`` within ``seconds`` of wall-clock time."""

    path: str
    seconds: int
    recognised: dict[int, PageContent] = {}
    """The text of scanned pages, by page number from 1."""


class RecogniseRequest(msgspec.Struct, tag="recognise"):
    """Read the picture on page ``page`` (from 1) of ``path``."""

    path: str
    page: int
    seconds: int


class LoadReply(msgspec.Struct):
    """A document read and cut into chunks, or the reason why not, or what is to be recognised."""

    reason: str = ""
    type: str = ""
    paged: bool = False
    pages: list[str] = []
    lines: list[list[PlacedLine]] = []
    """Of each page; empty unless it was recognised."""
    chunks: list[ChunkSpan] = []
    scans: list[int] = []
    """Pages to recognise first, from 1; then nothing else is set but ``type``."""


class RecogniseReply(msgspec.Struct):
    """The text of a page, or the reason why it cannot be read."""

    reason: str = ""
    page: PageContent = PageContent("")
