"""The loading process: parses files that may be hostile, within limits of memory and time.

A file that breaks the parser, or asks for too much, ends this process and nothing else.
Requests are msgpack ``LoadRequest``, replies ``LoadReply``. Run as ``python -m rag.load_worker``.
"""

import resource
import signal
from collections.abc import Callable
from pathlib import Path

import msgspec

from rag.chunk import ChunkSpan, chunks_of
from rag.errors import LoadError
from rag.loaders import load
from rag.worker import serve

MEMORY_BYTES = 1_500 * 1024 * 1024
"""Of address space."""
OPEN_FILES = 64


class LoadRequest(msgspec.Struct):
    """Read ``path`` within ``seconds`` of wall-clock time."""

    path: str
    seconds: int


class LoadReply(msgspec.Struct):
    """A document read and cut into chunks, or the reason why not."""

    reason: str = ""
    type: str = ""
    paged: bool = False
    pages: list[str] = []
    chunks: list[ChunkSpan] = []


def answer(request: LoadRequest) -> LoadReply:
    """Load and chunk one file; every failure that Python can catch becomes a reason."""
    try:
        document = load(Path(request.path))
        chunks = list(chunks_of(document))
    except LoadError as error:
        return LoadReply(reason=str(error))
    except (MemoryError, RecursionError):
        return LoadReply(reason="reading it needs too much memory")
    pages = [page.text for page in document.pages]
    return LoadReply(type=document.type, paged=document.paged, pages=pages, chunks=chunks)


def prepare() -> Callable[[bytes], bytes]:
    """Set the limits; returns the handler of requests."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # a parser has nothing to write

    def handle(message: bytes) -> bytes:
        request = msgspec.msgpack.decode(message, type=LoadRequest)
        signal.alarm(request.seconds)  # ends the process even if the parent is gone
        reply = answer(request)
        signal.alarm(0)
        return msgspec.msgpack.encode(reply)

    return handle


if __name__ == "__main__":
    serve(prepare)
