"""Files into the store: unchanged, changed, moved, deleted, bad.

Each file is a transaction of its own, and work on one that is not stored yet is kept piece by
piece, so an ingest that was cut off goes on where it stopped. Knows files, chunks and vectors; must
not know of questions.
"""

import asyncio
import datetime
import hashlib
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from rag import files
from rag.activity import Activity
from rag.chunk import ChunkSpan, embedded_text
from rag.db import DatabaseThread
from rag.embed import BATCH, Embedder
from rag.embed_chunks import Text, embed_chunks
from rag.errors import EmbedderError, LoadError
from rag.file_reader import FileReader
from rag.files import Found, FoundFile
from rag.load_requests import LoadReply
from rag.loaders import check_size
from rag.reindex import embed_missing, sweep
from rag.store import NewChunk, Record, Store
from rag.types import Document, FileReport, IngestProgress, ProgressCallback, WaitUntilIdle
from rag.vectors import Embedded

_log = logging.getLogger(__name__)

READER_VERSION = 2
"""Raise it when loaders or chunks change, so that unchanged files are read again."""
KEEP_FROM = 32
"""Chunks of a file from which its vectors are kept batch by batch."""
CAUGHT_UP_AT_ONCE = 512
"""Chunks of a library of an older version that a run embeds anew: half a minute, for which files
wait that come in."""
PIECE = "embedded "
"""What the key of a chunk among unfinished work begins with."""


class Ingester:
    """Brings the store in line with files. One ``run`` at a time; the caller sees to that."""

    def __init__(
        self, store: Store, thread: DatabaseThread, embedder: Embedder, activity: Activity
    ) -> None:
        self._store = store
        self._thread = thread
        self.embedder = embedder
        self._activity = activity
        self._reader = FileReader(store, thread, activity)
        self._made_by = f"reader {READER_VERSION}"

    async def close(self) -> None:
        """End the loading process, and a run before its next batch."""
        await self._reader.close()

    async def run(
        self,
        found: Found,
        progress: ProgressCallback | None = None,
        wait_until_idle: WaitUntilIdle | None = None,
        collection: str | None = None,
    ) -> list[FileReport]:
        """Ingest what was found, and forget what is gone from the folders that were walked.

        Raises:
            rag.errors.EmbedderError: no vectors to be had; what was stored before stays.
            rag.errors.WorkerError: the loading process does not start.
            LibraryClosedError: ``close`` was called meanwhile.
        """
        records = {record.path: record for record in await self._thread.run(self._store.records)}
        gone = _Gone(files.vanished(records.values(), found))
        below = [p for p in records if any(Path(p).is_relative_to(m) for m in found.missing)]
        self._activity.away(below, ())
        reports = [_missing(path) for path in found.missing]
        reports += [_unreadable(path) for path in found.unreadable]
        waiting = [file for file in found.files if not self._is_same(file, records, collection)]
        self._activity.queue(_queued(file, records, collection or "") for file in waiting)
        try:
            for done, file in enumerate(found.files):
                pace = _Pace(done, len(found.files), progress, wait_until_idle)
                reports.append(await self._ingest_file(file, gone, pace, collection))
        finally:
            self._activity.drop(files.printable(str(file.path)) for file in waiting)
        await self._thread.run(self._store.drop_unfinished)
        await self._catch_up(wait_until_idle)
        return await self._forget(gone, found) + reports

    async def _catch_up(self, wait_until_idle: WaitUntilIdle | None) -> None:
        """Make the vectors that are missing: all of them where the library was opened with another
        model than theirs, some of those of sentences where an older version made the library, which
        answers without."""
        table = self._store.table
        if await self._thread.run(lambda: table.complete):
            return
        serving = await self._thread.run(lambda: table.serving)
        try:
            await embed_missing(
                self._store,
                self._thread,
                table,
                self.embedder,
                wait_until_idle=wait_until_idle,
                most=CAUGHT_UP_AT_ONCE if serving else None,
            )
        except EmbedderError as error:
            if not serving:
                raise
            _log.warning("sentences are embedded later: %s", error)
            return
        await self._thread.run(self._store.switch, table)
        await sweep(self._store, self._thread)

    def _is_same(self, file: FoundFile, records: dict[str, Record], collection: str | None) -> bool:
        """Whether a look at the file's size and times tells that nothing is to be done."""
        known = records.get(files.printable(str(file.path)))
        return known is not None and self._is_known(file, known, collection)

    def _is_known(self, file: FoundFile, known: Record, collection: str | None) -> bool:
        return collection in (None, known.collection) and (
            file.stamp,
            file.device,
            self._made_by,
        ) == (known.stamp, known.device, known.made_by)

    async def _forget(self, gone: "_Gone", found: Found) -> list[FileReport]:
        """Remove documents whose files were in a walked folder and are no longer."""
        away = [record for record in gone.records.values() if files.is_away(record, found)]
        reports = [_unchanged(record, files.AWAY) for record in away]
        present = [files.printable(str(file.path)) for file in found.files]
        self._activity.away([record.path for record in away], present)
        for record in gone.records.values():
            if record not in away:
                await self._thread.run(self._store.remove, record.name)
                reports.append(FileReport(document=record.name, path=record.path, action="removed"))
        return reports

    async def _ingest_file(
        self, file: FoundFile, gone: "_Gone", pace: "_Pace", collection: str | None
    ) -> FileReport:
        path = files.printable(str(file.path))
        known = await self._thread.run(self._store.record, path)
        if known and self._is_known(file, known, collection):
            return _unchanged(known)
        name = known.name if known else ""
        if collection is None:
            collection = known.collection if known else ""
        try:
            pace.report(name or file.names[0])
            self._activity.update(path, "reading")
            if file.reason:
                raise LoadError(file.reason)
            check_size(file.path, file.bytes)
            digest = await _sha256(file.path)
            if known and self._has_same_content(known, digest, collection):
                await self._thread.run(self._store.touch, path, file.stamp, file.device)
                return _unchanged(known)
            moved = None if known else gone.take(digest)
            name = name or await self._thread.run(self._name_for, file, moved)
            loaded = await self._reader.read(file.path, digest, pace.wait)
        except LoadError as error:
            name = name or await self._thread.run(self._name_for, file, None)
            return await self._skip(file, name, str(error), collection)
        old = known or moved
        vectors = await self._embed(path, name, digest, old, loaded.chunks, pace)
        record = self._record(file, name, digest, loaded, collection)
        before = old or await self._thread.run(self._store.record_named, name)
        chunks = [_new_chunk(c, v) for c, v in zip(loaded.chunks, vectors, strict=True)]
        await self._thread.run(
            self._store.replace,
            record,
            loaded.pages,
            chunks,
            lines=loaded.lines,
            instead_of=moved.path if moved else "",
        )
        self._activity.finish(document_of(record, len(loaded.pages), len(chunks)))
        return FileReport(
            document=name,
            path=path,
            action="replaced" if before and not before.reason else "added",
            reason=f"was {moved.name}" if moved and moved.name != name else "",
            chunks=len(chunks),
        )

    def _has_same_content(self, known: Record, digest: str, collection: str) -> bool:
        return not known.reason and (digest, self._made_by, collection) == (
            known.sha256,
            known.made_by,
            known.collection,
        )

    async def _embed(
        self,
        path: str,
        name: str,
        digest: str,
        old: Record | None,
        chunks: Sequence[ChunkSpan],
        pace: "_Pace",
    ) -> list[Embedded]:
        """What is made of each chunk; what the old version or a cut-off ingest has is not made
        anew."""
        texts = [Text(name, chunk.heading, chunk.text) for chunk in chunks]
        pieces = [_piece(self.embedder.model, text) for text in texts]
        known = await self._known_vectors(digest, old)
        missing = [at for at, piece in enumerate(pieces) if piece not in known]
        for start in range(0, len(missing), BATCH):
            self._activity.update(path, "embedding", len(texts) - len(missing) + start, len(texts))
            await pace.wait()
            self._reader.check_open()
            batch = missing[start : start + BATCH]
            made = await embed_chunks(self.embedder, [texts[at] for at in batch])
            new = {pieces[at]: one for at, one in zip(batch, made, strict=True)}
            known |= new
            if len(missing) > KEEP_FROM:
                values = {piece: _as_bytes(one) for piece, one in new.items()}
                await self._thread.run(self._store.keep_unfinished, digest, values)
            pace.report(name, len(texts) - len(missing) + start + len(batch), len(texts))
        return [known[piece] for piece in pieces]

    async def _known_vectors(self, digest: str, old: Record | None) -> dict[str, Embedded]:
        model = self.embedder.model
        known = {}
        if old is not None:
            for heading, text, made in await self._thread.run(self._store.chunks_of, old.path):
                known[_piece(model, Text(old.name, heading, text))] = made
        for piece, value in (await self._thread.run(self._store.unfinished, digest)).items():
            if piece.startswith(PIECE):
                known[piece] = _from_bytes(value, self.embedder.dimension)
        return known

    async def _skip(self, file: FoundFile, name: str, reason: str, collection: str) -> FileReport:
        """Remember a file with the reason why it cannot be read; what it held before is dropped."""
        record = self._record(file, name, "", LoadReply(reason=reason), collection)
        await self._thread.run(self._store.replace, record, [], [])
        self._activity.finish(document_of(record, 0, 0))
        return FileReport(document=name, path=record.path, action="skipped", reason=reason)

    def _record(
        self, file: FoundFile, name: str, digest: str, loaded: LoadReply, collection: str
    ) -> Record:
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
            collection=collection,
            device=file.device,
        )

    def _name_for(self, file: FoundFile, moved: Record | None) -> str:
        """The first name that no document has, or the last. Runs on the database thread."""
        for name in file.names:
            taken = self._store.record_named(name)
            if taken is None or (moved is not None and taken.path == moved.path):
                return name
        return file.names[-1]


class _Gone:
    """Documents whose files are gone: deleted, or moved to where a new file has their content."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = {record.path: record for record in records}

    def take(self, digest: str) -> Record | None:
        """The one with this content, which then counts as moved."""
        for path, record in self.records.items():
            if record.sha256 == digest:
                return self.records.pop(path)
        return None


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


def document_of(record: Record, pages: int, chunks: int) -> Document:
    """A record as it is told."""
    return Document(
        document=record.name,
        path=record.path,
        type=record.type,
        status="skipped" if record.reason else "ready",
        reason=record.reason,
        pages=pages,
        chunks=chunks,
        bytes=record.bytes,
        ingested_at=record.ingested_at,
        collection=record.collection,
    )


async def _sha256(path: Path) -> str:
    try:
        return await asyncio.to_thread(files.sha256, path)
    except PermissionError as error:
        raise LoadError("no permission to read the file") from error
    except OSError as error:
        raise LoadError(f"the file cannot be read: {error.strerror or error}") from error


def _piece(model: str, text: Text) -> str:
    """The key of what was made of a chunk among unfinished work."""
    seen = f"{model}\n{embedded_text(*text)}"
    digest = hashlib.blake2b(seen.encode(errors="replace"), digest_size=16)
    return f"{PIECE}{digest.hexdigest()}"


def _as_bytes(made: Embedded) -> bytes:
    return made.vector.astype("<f4").tobytes() + made.sentences


def _from_bytes(value: bytes, dimension: int) -> Embedded:
    return Embedded(np.frombuffer(value, "<f4", dimension), value[4 * dimension :])


def _queued(file: FoundFile, records: dict[str, Record], collection: str) -> Document:
    path = files.printable(str(file.path))
    known = records.get(path)
    return Document(
        document=known.name if known else file.names[0],
        path=path,
        type=file.path.suffix.lower().removeprefix("."),
        status="queued",
        bytes=file.bytes,
        collection=collection or (known.collection if known else ""),
    )


def _new_chunk(span: ChunkSpan, made: Embedded) -> NewChunk:
    return NewChunk(span.page, span.start, span.end, span.text, span.heading, made)


def _unchanged(known: Record, reason: str = "") -> FileReport:
    return FileReport(
        document=known.name,
        path=known.path,
        action="skipped" if known.reason else "unchanged",
        reason=known.reason or reason,
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
