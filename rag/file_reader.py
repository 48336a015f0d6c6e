"""One file to pages and chunks, through the loading process, with scanned pages recognised.

Must not know what becomes of them.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from rag import files
from rag.activity import Activity
from rag.db import DatabaseThread
from rag.errors import LibraryClosedError, LoadError, WorkerCrashError
from rag.load_requests import LoadReply, LoadRequest, RecogniseReply, RecogniseRequest
from rag.loaders.page import PageContent
from rag.store import Store
from rag.types import WaitUntilIdle
from rag.worker import Worker

LOAD_SECONDS = 60
RECOGNISE_SECONDS = 30
"""Of processor time for one page; they take 1 to 5."""
RECOGNISE_WAIT = 320
"""By the clock: recognising goes on at low priority."""
_BROKE_THE_READER = "it is damaged, or reading it takes too much memory or time"

Reply = TypeVar("Reply", LoadReply, RecogniseReply)


class FileReader:
    """Owns the loading process, which is there while there is something to read."""

    def __init__(self, store: Store, thread: DatabaseThread, activity: Activity) -> None:
        self._store = store
        self._thread = thread
        self._activity = activity
        self._worker = Worker("rag.load_worker", idle_seconds=30.0)
        self._closed = False

    async def close(self) -> None:
        """End the loading process; what is being read ends with an error."""
        self._closed = True
        await self._worker.close()

    def check_open(self) -> None:
        """Raises ``LibraryClosedError`` after ``close``."""
        if self._closed:
            raise LibraryClosedError("the library was closed during an ingest; run it again")

    async def read(self, path: Path, digest: str, wait: WaitUntilIdle) -> LoadReply:
        """Pages and chunks of the file; scanned pages are recognised one by one.

        Raises:
            LoadError: the file cannot be read, or broke the process.
            LibraryClosedError: ``close`` was called meanwhile.
        """
        request = LoadRequest(path=str(path), seconds=LOAD_SECONDS + 5)
        loaded = await self._ask(request, LoadReply, LOAD_SECONDS)
        if loaded.scans:
            pages, problem = await self._recognise(path, digest, loaded.scans, wait)
            request = msgspec.structs.replace(request, recognised=pages)
            loaded = await self._ask(request, LoadReply, LOAD_SECONDS)
            if loaded.reason and problem:
                raise LoadError(problem)
        if loaded.reason:
            raise LoadError(loaded.reason)
        return loaded

    async def _recognise(
        self, path: Path, digest: str, scans: Sequence[int], wait: WaitUntilIdle
    ) -> tuple[dict[int, PageContent], str]:
        """The text of scanned pages, and what went wrong with the last that has none.

        Each takes seconds: people go first, and what is done is kept.
        """
        pages: dict[int, PageContent] = {}
        problem = ""
        kept = await self._thread.run(self._store.unfinished, digest)
        for done, number in enumerate(scans):
            self._activity.update(files.printable(str(path)), "reading", done, len(scans))
            piece = f"page {number}"
            if piece in kept:
                pages[number] = msgspec.msgpack.decode(kept[piece], type=PageContent)
                continue
            await wait()
            self.check_open()
            request = RecogniseRequest(
                path=str(path),
                page=number,
                seconds=RECOGNISE_WAIT + 5,
                processor_seconds=RECOGNISE_SECONDS,
            )
            reply = await self._ask(request, RecogniseReply, RECOGNISE_WAIT)
            problem = reply.reason or problem
            pages[number] = reply.page
            value = msgspec.msgpack.encode(reply.page)
            await self._thread.run(self._store.keep_unfinished, digest, {piece: value})
        return pages, problem

    async def _ask(
        self, request: LoadRequest | RecogniseRequest, kind: type[Reply], seconds: int
    ) -> Reply:
        try:
            reply = await self._worker.request(
                msgspec.msgpack.encode(request), time_limit=float(seconds)
            )
        except WorkerCrashError as error:
            raise LoadError(f"{_BROKE_THE_READER} ({error})") from error
        return await asyncio.to_thread(msgspec.msgpack.decode, reply, type=kind)
