"""The family's documents: list, add, read, remove. Uploads never stand whole in memory."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import aiohttp
import msgspec
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from msgspec import Meta

from hubd.config import is_loopback
from hubd.errors import BadRequestError, HubError, NotFoundError
from hubd.folders import visible_to
from hubd.http import replies
from hubd.http.body import LARGEST, query, read_body, reply
from hubd.http.callers import caller_of
from hubd.http.described import SERVER_SENT_EVENTS, describe
from hubd.http.security import over_unix_socket
from hubd.http.services import SERVICES, Services
from hubd.http.sse import frame, stream
from rag.errors import LoadError, RagError, UnknownDocumentError
from rag.types import (
    Document,
    FileReport,
    IngestProgress,
    PageText,
    ProgressCallback,
    Visible,
)

FILE_LIMIT = 220 * 1024 * 1024
"""A little above what the loaders take, so that they say themselves that a file is too large."""
FILES_LIMIT = 200
INLINE = {".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/plain"}
"""What a browser may show here; everything else is downloaded, an HTML file above all."""

Work = Callable[[ProgressCallback], Awaitable[list[FileReport]]]


class Ingest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    paths: Annotated[list[Annotated[str, Meta(min_length=1)]], Meta(min_length=1, max_length=1000)]
    stream: bool = False


class Named(msgspec.Struct, kw_only=True):
    document: Annotated[str, Meta(min_length=1)]


class FolderOf(msgspec.Struct, kw_only=True):
    folder: Annotated[str, Meta(min_length=1)]


class PageOf(Named, kw_only=True):
    page: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None


class PictureOf(Named, kw_only=True):
    page: Annotated[int, Meta(ge=1, le=LARGEST)] = 1
    width: Annotated[int, Meta(ge=50, le=2000)] = 800


class MarksOf(PageOf, kw_only=True):
    start: Annotated[int, Meta(ge=0, le=LARGEST)]
    end: Annotated[int, Meta(ge=0, le=LARGEST)]


class Upload(msgspec.Struct, frozen=True):
    """A file that came in: its name as sent, and where its bytes are."""

    name: str
    path: Path


@describe(reply=list[Document])
async def documents(request: web.Request) -> web.StreamResponse:
    """The documents that the caller may see: read, being read, or skipped."""
    return reply(await request.app[SERVICES].library.documents(visible=visible(request)))


@describe(body=Ingest, files=True, reply=replies.Ingested, streamed=SERVER_SENT_EVENTS)
async def add(request: web.Request) -> web.StreamResponse:
    """Ingest paths of this machine, or files sent as multipart."""
    if request.content_type == "multipart/form-data":
        return await _add_uploads(request)
    return await _add_paths(request)


@describe(query=Named, reply=replies.Removed)
async def remove(request: web.Request) -> web.StreamResponse:
    """Forget a document."""
    services = request.app[SERVICES]
    name = query(request, Named).document
    await _shown(request, name)
    if not await services.library.remove(name):
        raise NotFoundError(f"no document is called {name!r}")
    _announce(services, [FileReport(document=name, path="", action="removed")])
    return reply({"removed": True})


@describe(query=FolderOf, reply=replies.RemovedDocuments)
async def forget(request: web.Request) -> web.StreamResponse:
    """Forget the documents of a folder whose files are not there: their disk will not come back."""
    services = request.app[SERVICES]
    names = await services.library.forget(Path(query(request, FolderOf).folder))
    _announce(services, [FileReport(document=n, path="", action="removed") for n in names])
    return reply({"removed": names})


@describe(query=PageOf, reply=PageText)
async def page(request: web.Request) -> web.StreamResponse:
    """The text of a page, which citations' offsets point into."""
    asked = query(request, PageOf)
    await _shown(request, asked.document)
    try:
        return reply(await request.app[SERVICES].library.page(asked.document, asked.page))
    except UnknownDocumentError as error:
        raise NotFoundError(str(error)) from error


@describe(query=Named, reply="application/octet-stream")
async def file(request: web.Request) -> web.StreamResponse:
    """The original file."""
    asked = query(request, Named)
    await _shown(request, asked.document)
    try:
        path = await request.app[SERVICES].library.file(asked.document)
    except UnknownDocumentError as error:
        raise NotFoundError(str(error)) from error
    kind = INLINE.get(path.suffix.lower())
    shown = "inline" if kind else "attachment"
    name = Path(asked.document).name
    disposition = f"{shown}; filename*=UTF-8''{quote(name, safe='')}"
    headers = {"Content-Disposition": disposition, "Cache-Control": "no-cache"}
    headers["Content-Type"] = kind or "application/octet-stream"
    return web.FileResponse(path, headers=headers)


@describe(query=PictureOf, reply="image/png")
async def picture(request: web.Request) -> web.StreamResponse:
    """A page of a PDF, or a picture, as PNG."""
    asked = query(request, PictureOf)
    await _shown(request, asked.document)
    try:
        png = await request.app[SERVICES].library.picture(asked.document, asked.page, asked.width)
    except (UnknownDocumentError, LoadError) as error:
        raise NotFoundError(str(error)) from error
    headers = {"Cache-Control": "private, max-age=300"}
    return web.Response(body=png, content_type="image/png", headers=headers)


@describe(query=MarksOf, reply=replies.Marks)
async def marks(request: web.Request) -> web.StreamResponse:
    """Where a citation stands on the picture of its page."""
    asked = query(request, MarksOf)
    await _shown(request, asked.document)
    try:
        found = await request.app[SERVICES].library.marks(
            asked.document, asked.page, asked.start, asked.end
        )
    except (UnknownDocumentError, LoadError) as error:
        raise NotFoundError(str(error)) from error
    return reply({"marks": found})


def visible(request: web.Request) -> Visible:
    """The collections that the caller may see."""
    return visible_to(caller_of(request).person, request.app[SERVICES].config.rag)


async def _shown(request: web.Request, document: str) -> None:
    """Raises ``NotFoundError`` for what the caller may not see, as for what is not there."""
    if not await request.app[SERVICES].library.shows(document, visible(request)):
        raise NotFoundError(f"no document is called {document!r}")


async def _add_paths(request: web.Request) -> web.StreamResponse:
    services = request.app[SERVICES]
    here = over_unix_socket(request) or is_loopback(request.remote or "")
    if not here or "admin" not in caller_of(request).scopes:
        raise BadRequestError("paths: only its owner, on this machine, may name files; send them")
    body = await read_body(request, Ingest)
    paths = [Path(path) for path in body.paths]

    async def work(progress: ProgressCallback) -> list[FileReport]:
        return await services.library.ingest(
            paths, progress=progress, wait_until_idle=services.turns.wait_until_idle
        )

    return await _carry_out(request, work, body.stream)


async def _add_uploads(request: web.Request) -> web.StreamResponse:
    services = request.app[SERVICES]
    incoming = services.paths.cache / "incoming"
    incoming.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=incoming) as folder:
        uploads, skipped = await _receive(request, Path(folder))

        async def work(progress: ProgressCallback) -> list[FileReport]:
            reports = list(skipped)
            for number, upload in enumerate(uploads):
                reports += await services.library.add_upload(
                    upload.name,
                    upload.path,
                    progress=_counted(progress, number, len(uploads)),
                    wait_until_idle=services.turns.wait_until_idle,
                )
            return reports

        return await _carry_out(request, work, False)


async def _receive(request: web.Request, folder: Path) -> tuple[list[Upload], list[FileReport]]:
    """The files of a multipart body on the disk; those that are too large as reports."""
    uploads: list[Upload] = []
    skipped: list[FileReport] = []
    try:
        async for part in await request.multipart():
            if not isinstance(part, aiohttp.BodyPartReader) or part.filename is None:
                continue
            if len(uploads) + len(skipped) >= FILES_LIMIT:
                raise BadRequestError(f"files: at most {FILES_LIMIT} at once")
            path = folder / str(len(uploads))
            if await _save(part, path):
                uploads.append(Upload(part.filename, path))
            else:
                reason = f"larger than {FILE_LIMIT // 2**20} MB"
                name = part.filename
                skipped.append(
                    FileReport(document=name, path=name, action="skipped", reason=reason)
                )
    except (ValueError, HttpProcessingError) as error:
        raise BadRequestError(f"the multipart body is broken: {error}") from error
    if not uploads and not skipped:
        raise BadRequestError("files: no file was sent", "Send each as a part with a file name.")
    return uploads, skipped


async def _save(part: aiohttp.BodyPartReader, path: Path) -> bool:
    """Write the part to ``path``; False if it is too large (then the rest is read and dropped)."""
    size = 0
    with await asyncio.to_thread(path.open, "wb") as target:
        while piece := await part.read_chunk(256 * 1024):
            size += len(piece)
            if size <= FILE_LIMIT:
                await asyncio.to_thread(target.write, piece)
    if size > FILE_LIMIT:
        await asyncio.to_thread(path.unlink)
    return size <= FILE_LIMIT


async def _carry_out(request: web.Request, work: Work, streamed: bool) -> web.StreamResponse:
    services = request.app[SERVICES]
    if streamed or "text/event-stream" in request.headers.get("Accept", ""):
        return await stream(request, _frames(services, work))
    try:
        reports = await work(lambda _: None)
    except RagError as error:
        raise HubError(str(error)) from error
    _announce(services, reports)
    return reply({"files": reports})


async def _frames(services: Services, work: Work) -> AsyncGenerator[bytes, None]:
    """``progress`` events, the latest when several wait, then ``done`` or ``error``."""
    latest: list[IngestProgress] = []
    news = asyncio.Event()

    def progress(at: IngestProgress) -> None:
        latest[:] = [at]
        news.set()

    task = asyncio.ensure_future(work(progress))
    task.add_done_callback(lambda _: news.set())
    try:
        while not task.done():
            await news.wait()
            news.clear()
            if latest:
                yield frame("progress", latest.pop())
        reports = await task
    except (RagError, HubError) as error:
        yield frame("error", {"code": "internal", "message": str(error), "hint": ""})
        return
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await task
    _announce(services, reports)
    yield frame("done", {"files": reports})


def _counted(progress: ProgressCallback, number: int, total: int) -> ProgressCallback:
    """Progress of one upload as progress of them all."""

    def show(at: IngestProgress) -> None:
        progress(msgspec.structs.replace(at, files_done=number, files_total=total))

    return show


def _announce(services: Services, reports: list[FileReport]) -> None:
    """Tell every page that something changed, and what, unless some may not see all there is."""
    changed = [report for report in reports if report.action != "unchanged"]
    if changed:
        told = [] if services.config.rag.private else changed
        services.board.publish("documents", {"files": msgspec.to_builtins(told)})


ROUTES = [
    web.get("/hub/documents", documents),
    web.post("/hub/documents", add),
    web.delete("/hub/documents", remove),
    web.delete("/hub/documents/folder", forget),
    web.get("/hub/documents/page", page),
    web.get("/hub/documents/file", file),
    web.get("/hub/documents/picture", picture),
    web.get("/hub/documents/marks", marks),
]
