"""The vocabulary of the room: what goes in (documents) and what comes out (passages).

Offsets are always character offsets into the text of one page, so that
``page_text[passage.start:passage.end] == passage.text``. Pages count from 1. A format without pages
(Markdown, text, HTML, DOCX) has one page of text and reports ``page = None``.
"""

from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a document, as retrieved or as cited."""

    document: str
    """The document's name, unique in the library, for instance ``boiler-manual.pdf``."""
    page: int | None
    start: int
    end: int
    text: str
    score: float
    """0 to 1, comparable between questions: how well this passage fits the question."""
    heading: str = ""
    """The headings above it, outermost first, joined by `` > ``."""
    also_in: list[str] = []
    """Other documents that hold the same words."""
    columns: str = ""
    """Of a quoted row: the row above it that names the columns, as it is written there."""


class Reranking(msgspec.Struct, frozen=True, kw_only=True):
    """What a cross-encoder did with the passages, where one is configured."""

    model: str
    milliseconds: int = 0
    places: list[int] = []
    """Of each passage that it read: where it stood before, from 1."""
    problem: str = ""
    """Why the passages are in the order of the search alone."""


class Retrieval(msgspec.Struct, frozen=True, kw_only=True):
    """What the library found for a question, best first."""

    passages: list[Passage]
    language: str
    """``en``, ``zh`` or ``other``: decides which legs voted."""
    reranking: Reranking | None = None
    """None where no cross-encoder is configured, or there was nothing to put in order."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Sentences of the passages that answer the question, best first."""

    quotes: list[Passage]
    """Each a sentence, list item, table row or short paragraph, with its own offsets and score."""
    answerable: float
    """0 to 1: calibrated probability that ``quotes[0]`` answers the question."""


Status = Literal["queued", "reading", "embedding", "ready", "skipped"]


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One file the library knows or is about to; while it is read anew, its old text answers."""

    document: str
    path: str
    type: str
    """A name of ``rag.loaders.TYPES``: ``md``, ``pdf``, ``eml`` …"""
    status: Status
    reason: str = ""
    """Why it was skipped, in words for the person who owns the file."""
    away: bool = False
    """Its folder or disk is not there; what is known of it goes on answering."""
    pages: int = 0
    chunks: int = 0
    bytes: int = 0
    ingested_at: str = ""
    """ISO 8601, UTC."""
    collection: str = ""
    """Who may see it is decided by this name; empty is for everyone."""
    done: int = 0
    total: int = 0
    """Of the step under way: pages recognised while reading, chunks while embedding; else 0."""


class PageText(msgspec.Struct, frozen=True, kw_only=True):
    """The text of one page, which passages' offsets point into."""

    document: str
    page: int | None
    pages: int
    """How many pages the document has; 1 for a format without pages."""
    text: str
    type: str


class FileReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ingest did with one file."""

    document: str
    path: str
    action: Literal["added", "replaced", "unchanged", "removed", "skipped"]
    reason: str = ""
    chunks: int = 0


class IngestProgress(msgspec.Struct, frozen=True, kw_only=True):
    """Where a running ingest is: enough to draw a progress bar."""

    document: str
    files_done: int
    files_total: int
    chunks_done: int
    """Chunks of this document embedded so far."""
    chunks_total: int


class ReindexProgress(msgspec.Struct, frozen=True):
    """Where the embedding of stored chunks by another model is."""

    model: str
    done: int
    total: int
    """Chunks."""
    seconds_left: float
    """At the speed so far, pauses for people who ask included."""


Visible = frozenset[str] | None
"""The collections that the asking person may see; ``None``: all of them."""

ProgressCallback = Callable[[IngestProgress], None]
ReindexProgressCallback = Callable[[ReindexProgress], None]
WaitUntilIdle = Callable[[], Awaitable[None]]
"""Awaited between batches, so that ingest yields to a person who asks."""
