"""Pages as pictures: asks the drawing process, and keeps what it drew last in a bounded folder.

Must not know of HTTP.
"""

import asyncio
import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from rag.errors import LoadError, WorkerError
from rag.loaders.page import PlacedLine
from rag.picture_requests import Drawn, DrawRequest, Mark, MarkRequest
from rag.worker import Worker

CACHE_BYTES = 64 * 1024 * 1024
WIDTHS = (200, 400, 800, 1200, 1600, 2000)
"""Pixels: a width asked for is rounded up to one of these, so that few pictures serve everyone."""
SECONDS = 10


class Pictures:
    """Draws pages. End it with ``close``."""

    def __init__(self, folder: Path | None) -> None:
        """folder: where pictures are kept; None keeps none."""
        self._folder = folder
        self._worker = Worker("rag.picture_worker", idle_seconds=60.0)

    async def close(self) -> None:
        """End the drawing process."""
        await self._worker.close()

    async def draw(self, path: Path, digest: str, page: int, width: int) -> bytes:
        """Page ``page`` (from 1) of the file, as PNG; ``digest`` is the hash of its content.

        Raises:
            LoadError: it cannot be drawn; the message says why.
        """
        width = next((w for w in WIDTHS if w >= width), WIDTHS[-1])
        kept = self._folder / f"{digest}-{page}-{width}.png" if self._folder and digest else None
        if kept and (png := await asyncio.to_thread(_kept, kept)):
            return png
        request = DrawRequest(path=str(path), page=page, width=width, seconds=SECONDS + 2)
        png = (await self._ask(request)).png
        if kept:
            await asyncio.to_thread(_keep, kept, png)
        return png

    async def marks(self, path: Path, page: int, text: str, before: int) -> list[Mark]:
        """Where ``text`` stands on a page of the PDF; ``before``: visible characters before it.

        Raises:
            LoadError: the file cannot be read.
        """
        request = MarkRequest(
            path=str(path), page=page, text=text, before=before, seconds=SECONDS + 2
        )
        return (await self._ask(request)).marks

    async def _ask(self, request: DrawRequest | MarkRequest) -> Drawn:
        try:
            reply = await self._worker.request(
                msgspec.msgpack.encode(request), time_limit=float(SECONDS)
            )
        except WorkerError as error:
            raise LoadError(f"the page cannot be drawn ({error})") from error
        drawn = msgspec.msgpack.decode(reply, type=Drawn)
        if drawn.reason:
            raise LoadError(drawn.reason)
        return drawn


def visible(text: str) -> str:
    """The characters of ``text`` that are printed: no white space, and no marks between cells."""
    return "".join(text.replace("|", "").split())


def lines_under(lines: Sequence[PlacedLine], before: int, count: int) -> list[Mark]:
    """The lines that hold the ``count`` visible characters after the first ``before``."""
    found: list[Mark] = []
    start = 0
    for line in lines:
        end = start + line.characters
        if start < before + count and before < end:
            found.append((line.left, line.top, line.width, line.height))
        start = end
    return found


def _kept(path: Path) -> bytes | None:
    try:
        png = path.read_bytes()
        os.utime(path)  # used last: forgotten last
    except OSError:
        return None
    return png


def _keep(path: Path, png: bytes) -> None:
    """Write the picture; the ones used longest ago make room. A full disk keeps nothing."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        incoming = path.with_suffix(f".{os.getpid()}")
        incoming.write_bytes(png)
        incoming.replace(path)
        files = sorted(
            (entry.stat().st_mtime_ns, entry.stat().st_size, entry.path)
            for entry in os.scandir(path.parent)
        )
        total = sum(size for _, size, _ in files)
        for _, size, name in files:
            if total <= CACHE_BYTES:
                break
            Path(name).unlink(missing_ok=True)
            total -= size
