"""Library: the room's door. Documents in, cited passages out; async, and light to import.

Database work runs on one thread of its own, files are parsed in one child process and embedded in
another. Must not know of HTTP, conversations or homes.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path
from typing import Self

import apsw
import msgspec
import numpy as np
from numpy.typing import NDArray

from rag import db, files, uploads
from rag.activity import Activity
from rag.db import DatabaseThread
from rag.elsewhere import MakeElsewhere
from rag.embed import Embedder, question_vector
from rag.errors import (
    EmbedderError,
    IndexAwayError,
    LibraryClosedError,
    LoadError,
    UnknownDocumentError,
)
from rag.evidence import Read, evidence
from rag.files import Found
from rag.ingest import Ingester, document_of
from rag.picture_requests import Mark
from rag.pictures import Pictures, lines_under, visible
from rag.reindex import embed_missing, sweep
from rag.rerank import RERANKED, Reranker, reranked
from rag.retrieve import retrieve
from rag.store import MadeWith, Record, Store, open_store
from rag.types import (
    Document,
    Evidence,
    FileReport,
    PageText,
    Passage,
    ProgressCallback,
    ReindexProgressCallback,
    Retrieval,
    Visible,
    WaitUntilIdle,
)
from rag.vector_table import EmbedderRow
from rag.within import Within

REMOVED = "you removed it here; the file itself is still in its folder"

_log = logging.getLogger(__name__)


class Library:
    """A household's documents. Make it with ``Library.open``; end it with ``close``."""

    def __init__(
        self,
        connection: apsw.Connection,
        store: Store,
        thread: DatabaseThread,
        *,
        embedder: Embedder,
        uploads: Path,
        pictures: Path | None,
    ) -> None:
        self._connection = connection
        self._store = store
        self._thread = thread
        self._embedder = embedder
        self.read: Read | None = None
        """Reads a question with sentences, once set."""
        self.reranker: Reranker | None = None
        """Puts passages into another order, once set; the caller's to close, as the embedder is."""
        self._uploads = uploads
        self.activity = Activity()
        """What an ingest is doing with each file."""
        self.watched: Sequence[Path] = ()
        """Folders that are read again and again."""
        self._pictures = Pictures(pictures)
        self._ingester = Ingester(store, thread, embedder, self.activity)
        self._ingesting = asyncio.Lock()
        self._reindexing = asyncio.Lock()
        self._closed = False

    @classmethod
    async def open(
        cls,
        database: Path,
        *,
        embedder: Embedder,
        uploads: Path,
        pictures: Path | None = None,
        made_with: MadeWith | None = None,
        make_elsewhere: MakeElsewhere | None = None,
    ) -> Self:
        """Open (or create) the library in the file ``database``, with uploads in ``uploads``.

        ``pictures`` is a folder for drawn pages, or None to draw them anew each time. ``embedder``
        stays the caller's: ``close`` of the library does not close it. Where the vectors are of
        another model, ``made_with`` is asked for that one; without it the search goes by words
        alone until the next ingest has made them anew. With ``make_elsewhere`` vectors are searched
        there once ``hand_over`` has completed the copy.

        Raises:
            rag.errors.DatabaseError: the file is no database, or a newer version wrote it.
        """
        thread = DatabaseThread("library")
        try:
            connection = await thread.run(db.connect, database)
            embedder, store = await thread.run(
                open_store, connection, embedder, made_with, make_elsewhere
            )
        except BaseException:
            await thread.close()
            raise
        uploads = await asyncio.to_thread(uploads.resolve)
        return cls(connection, store, thread, embedder=embedder, uploads=uploads, pictures=pictures)

    async def ingest(
        self,
        paths: Sequence[Path],
        *,
        progress: ProgressCallback | None = None,
        wait_until_idle: WaitUntilIdle | None = None,
        collection: str | None = None,
    ) -> list[FileReport]:
        """Bring the library in line with these files and folders (recursively).

        ``collection`` is what their documents are put into; None leaves known ones where they are.

        Unchanged files cost a look at their size and times; changed ones are replaced; files gone
        from a folder are removed; bad ones are skipped with a reason. A missing path removes
        nothing.

        Raises:
            rag.errors.EmbedderError: no vectors to be had; files done before stay, run it again.
        """
        async with self._ingesting:
            found = await asyncio.to_thread(files.find, paths)
            return await self._ingester.run(found, progress, wait_until_idle, collection)

    async def add_upload(
        self,
        name: str,
        data_path: Path,
        *,
        progress: ProgressCallback | None = None,
        wait_until_idle: WaitUntilIdle | None = None,
    ) -> list[FileReport]:
        """Keep a copy of the file at ``data_path`` as the document ``name``, and ingest it.

        An upload of the same name is replaced. Content that is known already is not taken twice.
        ``data_path`` stays the caller's.

        Raises:
            rag.errors.EmbedderError: as ``ingest``.
        """
        name = uploads.safe_name(name)
        async with self._ingesting:
            try:
                kept = await asyncio.to_thread(uploads.keep, self._uploads, name, data_path)
            except LoadError as error:
                return [FileReport(document=name, path=name, action="skipped", reason=str(error))]
            name, old = await self._thread.run(self._upload_slot, name)
            file = msgspec.structs.replace(
                await asyncio.to_thread(files.inspect, kept, None), names=[name]
            )
            async with self._in_question([kept, old] if old else [kept]):
                return await self._ingester.run(
                    Found([file], [], [], []), progress, wait_until_idle
                )

    async def retrieve(
        self,
        text: str,
        k: int = 5,
        *,
        visible: Visible = None,
        within: Collection[str] | None = None,
    ) -> Retrieval:
        """The ``k`` passages that fit the question ``text`` best, best first.

        Only documents in ``visible`` collections are searched, and of these the ones named in
        ``within``, where it is given. When the embedder is down, full-text search answers alone.
        """
        embedder, reranker = self._embedder, self.reranker
        vector = await question_vector(embedder, text)
        wanted = max(k, RERANKED) if reranker else k
        asked = (text, vector, embedder.model, wanted, visible, within)
        found = await self._thread.run(self._search, *asked)
        return await reranked(reranker, text, found, k) if reranker else found

    async def evidence(self, question: str, passages: Sequence[Passage]) -> Evidence:
        """The sentences in and around ``passages`` that answer ``question``, and how sure that is.

        What is read of each is the section that it stands in.
        """
        sections = await self._thread.run(self._sections, passages)
        try:
            return await evidence(question, sections, self._embedder.embed, self.read)
        except EmbedderError as error:
            _log.warning("weighing sentences by their words: %s", error)
            return await evidence(question, sections)

    @property
    def embedder(self) -> Embedder:
        """The one whose vectors are searched."""
        return self._embedder

    async def embedders(self) -> list[EmbedderRow]:
        """The embedding models that there are vectors of, oldest first."""
        return await self._thread.run(self._store.embedders)

    async def intend(self, model: str, source: str) -> None:
        """Remember that ``model`` of the folder ``source`` is to come, before it is loaded."""
        await self._thread.run(self._store.coming, model, 0, source)

    async def reindex(
        self,
        embedder: Embedder,
        *,
        source: str = "",
        progress: ReindexProgressCallback | None = None,
        wait_until_idle: WaitUntilIdle | None = None,
    ) -> None:
        """Make the vectors anew with ``embedder`` and search those from then on.

        Until all are there the ones in use are searched, and new documents join them. What was
        made before the library was closed, or a failure, is not made again. ``source`` is
        remembered with the model: where it can be had from. Two calls take turns.

        Raises:
            rag.errors.EmbedderError: no vectors to be had; those in use stay in use.
            rag.errors.LibraryClosedError: ``close`` was called meanwhile.
        """

        async def wait() -> None:
            if wait_until_idle:
                await wait_until_idle()
            if self._closed:
                raise LibraryClosedError("the library was closed")

        async with self._reindexing:
            await wait()
            table = await self._thread.run(
                self._store.coming, embedder.model, embedder.dimension, source
            )
            complete = False
            while not complete:
                await embed_missing(self._store, self._thread, table, embedder, progress, wait)
                async with self._ingesting:  # what is stored meanwhile has a vector of the old one
                    complete = await self._thread.run(self._store.switch, table)
                    if complete:
                        self._embedder = self._ingester.embedder = embedder
            await sweep(self._store, self._thread)

    async def hand_over(self, wait_until_idle: WaitUntilIdle | None = None) -> bool:
        """Complete the copy of the vectors that is searched elsewhere; says whether it is."""
        elsewhere = self._store.table.elsewhere
        if elsewhere is None or elsewhere.complete:
            return True
        if not await asyncio.to_thread(elsewhere.reachable):
            return False
        try:
            while not await self._thread.run(self._store.table.catch_up):
                if wait_until_idle:
                    await wait_until_idle()
        except IndexAwayError as error:
            _log.warning("searching vectors in memory: %s", error)
            return False
        return True

    async def documents(self, *, visible: Visible = None) -> list[Document]:
        """The ``visible`` documents by name: read, skipped, and those that are being read."""
        listings = await self._thread.run(self._store.listings)
        known = [document_of(entry.record, entry.pages, entry.chunks) for entry in listings]
        documents = self.activity.over(known)
        return [d for d in documents if visible is None or d.collection in visible]

    def coming(self, *, visible: Visible = None) -> int:
        """How many ``visible`` documents wait to be read, or are being read, now."""
        files = self.activity.unfinished
        return sum(visible is None or file.collection in visible for file in files)

    async def shows(self, document: str, visible: Visible) -> bool:
        """Whether a document of that name is there, in one of these collections."""
        record = await self._thread.run(self._store.record_named, document)
        return record is not None and (visible is None or record.collection in visible)

    async def forget(self, folder: Path) -> list[str]:
        """Forget the documents of ``folder`` whose files are not there; returns their names.

        That is the word that a disk which is away will not come back.
        """
        async with self._ingesting:
            names = []
            for record in await self._thread.run(self._store.records):
                path = Path(record.path)
                if path.is_relative_to(folder) and not await asyncio.to_thread(path.exists):
                    await self._thread.run(self._store.remove, record.name)
                    names.append(record.name)
            return names

    async def remove(self, document: str) -> bool:
        """Forget a document; an uploaded file is deleted. False if there is none of that name.

        A file of an ingested folder comes back with the next ingest of that folder; one of a
        watched folder stays in the list as skipped until the file changes.
        """
        record = await self._thread.run(self._store.record_named, document)
        if record is None:
            return False
        path = Path(record.path)
        watched = any(path.is_relative_to(folder) for folder in self.watched)
        if watched and not record.reason and await asyncio.to_thread(path.exists):
            left = msgspec.structs.replace(record, reason=REMOVED)
            await self._thread.run(self._store.replace, left, [], [])
            return True
        async with self._in_question([path] if self._is_upload(record.path) else []):
            await self._thread.run(self._store.remove, document)
        return True

    async def page(self, document: str, page: int | None = None) -> PageText:
        """The text of a page; ``None`` is the first, and the only one of a format without pages.

        Raises:
            UnknownDocumentError: no such document, or no such page.
        """
        record = await self._thread.run(self._store.record_named, document)
        found = await self._thread.run(self._store.page, document, 1 if page is None else page)
        if record is None:
            raise UnknownDocumentError(f"no document is called {document!r}")
        if found is None:
            why = f"it was skipped: {record.reason}" if record.reason else f"it has no page {page}"
            raise UnknownDocumentError(f"cannot show {document!r}: {why}")
        text, pages = found
        number = (page or 1) if record.paged else None
        return PageText(document=document, page=number, pages=pages, text=text, type=record.type)

    async def file(self, document: str) -> Path:
        """Where the original file of a document is.

        Raises:
            UnknownDocumentError: no such document, or its file is gone.
        """
        record = await self._thread.run(self._store.record_named, document)
        if record is None:
            raise UnknownDocumentError(f"no document is called {document!r}")
        path = Path(record.path)
        if not await asyncio.to_thread(path.is_file):
            raise UnknownDocumentError(f"the file of {document!r} is gone: {record.path}")
        return path

    async def picture(self, document: str, page: int = 1, width: int = 800) -> bytes:
        """A page of a PDF, or a picture, as PNG; ``width`` in pixels is rounded up to a few sizes.

        Raises:
            UnknownDocumentError: no such document or page, or it is of a type without pictures.
            LoadError: the page cannot be drawn.
        """
        record, path = await self._drawable(document)
        return await self._pictures.draw(path, record.sha256, page, width)

    async def marks(self, document: str, page: int | None, start: int, end: int) -> list[Mark]:
        """Where the characters ``start`` to ``end`` of a page's text stand on its picture.

        Rectangles as shares of the page; none where they are not found.

        Raises:
            UnknownDocumentError, LoadError: as ``picture``.
        """
        _, path = await self._drawable(document)
        number = page or 1
        text = (await self.page(document, page)).text
        before = len(visible(text[: max(0, start)]))
        wanted = text[max(0, start) : end]
        lines = await self._thread.run(self._store.page_lines, document, number)
        if lines:
            return lines_under(lines, before, len(visible(wanted)))
        return await self._pictures.marks(path, number, wanted, before)

    async def _drawable(self, document: str) -> tuple[Record, Path]:
        path = await self.file(document)
        record = await self._thread.run(self._store.record_named, document)
        if record is None or record.type not in ("pdf", "picture"):
            raise UnknownDocumentError(f"{document!r} has no pages to look at")
        return record, path

    async def close(self) -> None:
        """Close the database and end the loading process. A running ingest ends with an error."""
        if self._closed:
            return
        self._closed = True
        await self._ingester.close()
        await self._pictures.close()
        async with self._reindexing, self._ingesting:
            await self._thread.run(self._connection.close)
            await self._thread.close()

    def _sections(self, passages: Sequence[Passage]) -> list[Passage]:
        """Each section once, with its best passage's score. Runs on the database thread."""
        read: dict[tuple[str, int | None, int, int], Passage] = {}
        for passage in sorted(passages, key=lambda passage: -passage.score):
            section = self._store.section_of(passage)
            read.setdefault((section.document, section.page, section.start, section.end), section)
        return list(read.values())

    def _search(
        self,
        text: str,
        vector: NDArray[np.float32] | None,
        model: str,
        k: int,
        visible: Visible,
        within: Collection[str] | None,
    ) -> Retrieval:
        """Runs on the database thread, where the model may be another by now: then by words."""
        if model != self._store.table.model:
            vector = None
        if within is not None:
            return retrieve(Within(self._store, within, visible), text, vector, k)
        return retrieve(self._store, text, vector, k, visible)

    def _upload_slot(self, name: str) -> tuple[str, Path | None]:
        """The name for an upload called ``name``, and the upload that has it, to be replaced.

        A file of a folder keeps its name. Runs on the database thread.
        """
        record = self._store.record_named(name)
        if record is None:
            return name, None
        if self._is_upload(record.path):
            return name, Path(record.path)
        return self._upload_slot(f"uploads/{name}")

    def _is_upload(self, path: str) -> bool:
        return Path(path).parent == self._uploads

    async def clear_cut_off_uploads(self, *, database_lost: bool = False) -> None:
        """Delete what a hub that was killed left of uploads: only while nobody else adds any.

        database_lost: what told their documents is gone and may come back from a backup, so that
        none is deleted.
        """
        left = await asyncio.to_thread(uploads.cut_off, self._uploads)
        await self._settle(left, keep=database_lost)

    @contextlib.asynccontextmanager
    async def _in_question(self, kept: Sequence[Path]) -> AsyncIterator[None]:
        """Those of these uploads that belong to no document at the end are deleted."""
        await asyncio.to_thread(uploads.mark, kept)
        try:
            yield
        finally:
            await self._settle(kept)

    async def _settle(self, kept: Sequence[Path], *, keep: bool = False) -> None:
        for path in kept:
            used = keep or await self._thread.run(self._store.record, str(path)) is not None
            await asyncio.to_thread(uploads.settle, path, used=used)
