"""Files into the store: unchanged, changed, deleted, bad.

Each file is a transaction of its own, so an ingest that was interrupted goes on where it stopped.
Knows files, chunks and vectors; must not know of questions.
"""

import asyncio
import datetime
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import msgspec
import numpy as np
from numpy.typing import NDArray

from rag import files
from rag.chunk import ChunkSpan
from rag.db import DatabaseThread
from rag.embed import BATCH, Embedder
from rag.errors import LibraryClosedError, LoadError, WorkerCrashError
from rag.files import Found, FoundFile
from rag.load_worker import LoadReply, LoadRequest
from rag.loaders import check_size
from rag.store import NewChunk, Record, Store
from rag.types import FileReport, IngestProgress, ProgressCallback, WaitUntilIdle
from rag.worker import Worker

READER_VERSION = 1
"""Raise it when loaders or chunks change, so that unchanged files are read again."""
LOAD_SECONDS = 60
_BROKE_THE_READER = "it is damaged, or reading it takes too much memory or time"


class Ingester:
    """Brings the store in line with files. One ``run`` at a time; the caller sees to that."""

    def __init__(self, store: Store, thread: DatabaseThread, embedder: Embedder) -> None:
        self._store = store
        self._thread = thread
        self._embedder = embedder
        self._loader = Worker("rag.load_worker", idle_seconds=30.0)
        self._closed = False
        self._made_by = f"reader {READER_VERSION}, {embedder.model}"

    async def close(self) -> None:
        """End the loading process, and a run before its next batch."""
        self._closed = True
        await self._loader.close()

    async def run(
        self,
        found: Found,
        progress: ProgressCallback | None = None,
        wait_until_idle: WaitUntilIdle | None = None,
    ) -> list[FileReport]:
        """Ingest what was found, and forget what is gone from the folders that were walked.

        Raises:
            rag.errors.EmbedderError: no vectors to be had; what was stored before stays.
            rag.errors.WorkerError: the loading process does not start.
            LibraryClosedError: ``close`` was called meanwhile.
        """
        reports = [_missing(path) for path in found.missing]
        reports += [_unreadable(path) for path in found.unreadable]
        reports += await self._forget_deleted(found)
        total = len(found.files)
        for done, file in enumerate(found.files):
            pace = _Pace(done, total, progress, wait_until_idle)
            reports.append(await self._ingest_file(file, pace))
        return reports

    async def _forget_deleted(self, found: Found) -> list[FileReport]:
        """Remove documents whose files were in a walked folder and are no longer."""
        present = {files.printable(str(file.path)) for file in found.files}
        reports = []
        for record in await self._thread.run(self._store.records):
            path = Path(record.path)
            walked = any(path.is_relative_to(folder) for folder in found.folders)
            unseen = any(path.is_relative_to(folder) for folder in found.unreadable)
            if walked and not unseen and record.path not in present:
                await self._thread.run(self._store.remove, record.name)
                reports.append(FileReport(document=record.name, path=record.path, action="removed"))
        return reports

    async def _ingest_file(self, file: FoundFile, pace: "_Pace") -> FileReport:
        path = files.printable(str(file.path))
        known = await self._thread.run(self._store.record, path)
        name = known.name if known else await self._thread.run(self._name_for, file)
        if known and file.stamp == known.stamp and self._made_by == known.made_by:
            return _unchanged(known)
        pace.report(name)
        try:
            if file.reason:
                raise LoadError(file.reason)
            check_size(file.path, file.bytes)
            digest = await _sha256(file.path)
            if known and not known.reason and _same(known, digest, self._made_by):
                await self._thread.run(self._store.touch, path, file.stamp)
                return _unchanged(known)
            loaded = await self._load(file.path)
        except LoadError as error:
            return await self._skip(file, name, str(error))
        vectors = await self._embed(name, loaded.chunks, pace)
        record = self._record(file, name, digest, loaded)
        before = await self._thread.run(self._store.record_named, name)
        chunks = [_new_chunk(c, v) for c, v in zip(loaded.chunks, vectors, strict=True)]
        await self._thread.run(self._store.replace, record, loaded.pages, chunks)
        return FileReport(
            document=name,
            path=path,
            action="replaced" if before and not before.reason else "added",
            chunks=len(chunks),
        )

    async def _load(self, path: Path) -> LoadReply:
        """Parse and chunk in the loading process.

        Raises:
            LoadError: the file cannot be read, or broke the process.
        """
        request = LoadRequest(path=str(path), seconds=LOAD_SECONDS + 5)
        try:
            reply = await self._loader.request(
                msgspec.msgpack.encode(request), time_limit=LOAD_SECONDS
            )
        except WorkerCrashError as error:
            raise LoadError(f"{_BROKE_THE_READER} ({error})") from error
        loaded = await asyncio.to_thread(msgspec.msgpack.decode, reply, type=LoadReply)
        if loaded.reason:
            raise LoadError(loaded.reason)
        return loaded

    async def _embed(
        self, name: str, chunks: Sequence[ChunkSpan], pace: "_Pace"
    ) -> NDArray[np.float32]:
        vectors = []
        for start in range(0, len(chunks), BATCH):
            await pace.wait()
            if self._closed:
                raise LibraryClosedError("the library was closed during an ingest; run it again")
            batch = chunks[start : start + BATCH]
            vectors.append(await self._embedder.embed([embedded_text(name, c) for c in batch]))
            pace.report(name, start + len(batch), len(chunks))
        return np.concatenate(vectors)

    async def _skip(self, file: FoundFile, name: str, reason: str) -> FileReport:
        """Remember a file with the reason why it cannot be read; what it held before is dropped."""
        record = self._record(file, name, "", LoadReply(reason=reason))
        await self._thread.run(self._store.replace, record, [], [])
        return FileReport(document=name, path=record.path, action="skipped", reason=reason)

    def _record(self, file: FoundFile, name: str, digest: str, loaded: LoadReply) -> Record:
        return Record(
            name=name,
            path=files.printable(str(file.path)),
            type=loaded.type or file.path.suffix.lower().removeprefix("."),
            bytes=file.bytes,
            stamp=file.stamp,
            sha256=digest,
            made_by=self._made_by,
            ingested_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            reason=loaded.reason,
            paged=loaded.paged,
        )

    def _name_for(self, file: FoundFile) -> str:
        """The first name that no document has, or the last. Runs on the database thread."""
        return next((n for n in file.names if not self._store.record_named(n)), file.names[-1])


class _Pace:
    """Where the ingest is among its files: tells the caller, and waits when the caller asks."""

    def __init__(
        self,
        files_done: int,
        files_total: int,
        progress: ProgressCallback | None,
        wait_until_idle: WaitUntilIdle | None,
    ) -> None:
        self._files_done = files_done
        self._files_total = files_total
        self._progress = progress
        self._wait_until_idle = wait_until_idle

    async def wait(self) -> None:
        if self._wait_until_idle:
            await self._wait_until_idle()

    def report(self, document: str, chunks_done: int = 0, chunks_total: int = 0) -> None:
        if self._progress:
            self._progress(
                IngestProgress(
                    document=document,
                    files_done=self._files_done,
                    files_total=self._files_total,
                    chunks_done=chunks_done,
                    chunks_total=chunks_total,
                )
            )


def embedded_text(document: str, chunk: ChunkSpan) -> str:
    """What the encoder sees: the document's name in words and the heading path, then the chunk."""
    stem = PurePosixPath(document).stem.replace("-", " ").replace("_", " ")
    context = " > ".join(filter(None, (stem, chunk.heading)))
    return f"{context}\n{chunk.text}"


async def _sha256(path: Path) -> str:
    try:
        return await asyncio.to_thread(files.sha256, path)
    except PermissionError as error:
        raise LoadError("no permission to read the file") from error
    except OSError as error:
        raise LoadError(f"the file cannot be read: {error.strerror or error}") from error


def _same(known: Record, digest: str, made_by: str) -> bool:
    return known.sha256 == digest and known.made_by == made_by


def _new_chunk(span: ChunkSpan, vector: NDArray[np.float32]) -> NewChunk:
    return NewChunk(span.page, span.start, span.end, span.text, span.heading, vector)


def _unchanged(known: Record) -> FileReport:
    return FileReport(
        document=known.name,
        path=known.path,
        action="skipped" if known.reason else "unchanged",
        reason=known.reason,
    )


def _missing(path: Path) -> FileReport:
    name = files.printable(path.name)
    return FileReport(
        document=name, path=files.printable(str(path)), action="skipped", reason=files.MISSING
    )


def _unreadable(path: Path) -> FileReport:
    return FileReport(
        document=files.printable(path.name),
        path=files.printable(str(path)),
        action="skipped",
        reason="no permission to read the folder; what is known of it stays",
    )
