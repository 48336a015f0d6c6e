"""The loading process: parses files that may be hostile, within limits of memory and time.

A file that breaks the parser, or asks for too much, ends this process and nothing else.
A scanned page is recognised by a request of its own: one takes seconds, and people go first.
Run as ``python -m rag.load_worker``.
"""

import resource
import signal
from collections.abc import Callable
from pathlib import Path

import msgspec

from rag.chunk import chunks_of
from rag.errors import LoadError
from rag.load_requests import LoadReply, LoadRequest, RecogniseReply, RecogniseRequest
from rag.loaders import load, ocr
from rag.worker import serve

MEMORY_BYTES = 1_500 * 1024 * 1024
"""Of address space."""
OPEN_FILES = 64


def answer(request: LoadRequest) -> LoadReply:
    """Load and chunk one file; every failure that Python can catch becomes a reason."""
    try:
        document = load(Path(request.path))
        scans = [number for number, page in enumerate(document.pages, start=1) if page.is_scan]
        if unread := [number for number in scans if number not in request.recognised]:
            if ocr.languages():
                return LoadReply(type=document.type, scans=unread)
            if len(unread) == len(document.pages):
                raise LoadError(ocr.MISSING)
        pages = [
            request.recognised.get(number, page)
            for number, page in enumerate(document.pages, start=1)
        ]
        if not any(page.text.strip() for page in pages):
            raise LoadError("there is no text in it that could be recognised")
        chunks = list(chunks_of(msgspec.structs.replace(document, pages=pages)))
    except LoadError as error:
        return LoadReply(reason=str(error))
    except (MemoryError, RecursionError):
        return LoadReply(reason="reading it needs too much memory")
    return LoadReply(
        type=document.type,
        paged=document.paged,
        pages=[page.text for page in pages],
        lines=[page.lines for page in pages],
        chunks=chunks,
    )


def recognise(request: RecogniseRequest) -> RecogniseReply:
    """The text of one page; every failure that Python can catch becomes a reason."""
    try:
        page = ocr.recognise(Path(request.path), request.page, request.seconds)
    except LoadError as error:
        return RecogniseReply(reason=str(error))
    except MemoryError:
        return RecogniseReply(reason="recognising it needs too much memory")
    return RecogniseReply(page=page)


def set_limits() -> None:
    """Bounds of this process for the rest of its life: memory, files, nothing written."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # a parser has nothing to write


def prepare() -> Callable[[bytes], bytes]:
    """Set the limits; returns the handler of requests."""
    set_limits()

    def handle(message: bytes) -> bytes:
        request = msgspec.msgpack.decode(message, type=LoadRequest | RecogniseRequest)
        signal.alarm(request.seconds)  # ends the process even if the parent is gone
        reply = answer(request) if isinstance(request, LoadRequest) else recognise(request)
        signal.alarm(0)
        return msgspec.msgpack.encode(reply)

    return handle


if __name__ == "__main__":
    serve(prepare)
