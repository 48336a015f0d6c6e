"""Keys and values of prompts on disk, so that a prefix survives the process that computed it.

Blocks are written in the background and found again by the tokens they belong to. A file that is
not what it should be is deleted, and the caller computes the block again. A budget bounds all files
of the directory; what was unused for longest goes first.

Several processes may share a directory: files appear whole by rename, are never changed, and a file
that another process deleted is one that is missing. Knows nothing of models, caches or requests.
"""

import contextlib
import itertools
import logging
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.prefix_files import SUFFIX, Block, Files, unlink, write

log = logging.getLogger(__name__)

QUEUE_BYTES = 64 * 1024 * 1024
"""Waiting to be written at most; what does not fit is not kept."""
QUEUE_JOBS = 64
USED_AGAIN_S = 600.0
"""A file used within this time is not marked as used again: that would be a write for every one."""
PAUSE_S = 60.0
"""After a write that failed (a full disk) nothing is written for this long."""
ABANDONED_S = 3600.0
"""A temporary file of this age belongs to a process that was killed."""
_NICENESS = 10

Payload = NDArray[np.uint8]


class StoreError(OSError):
    """The directory cannot be used; the message says why."""


class StoreStats(msgspec.Struct, frozen=True, kw_only=True):
    """What the store has done since it was opened."""

    loaded: int
    """Blocks read back."""
    written: int
    dropped: int
    """Files that were not what they should be, deleted."""
    failed: int
    """Blocks that could not be written."""


class _Job(msgspec.Struct, frozen=True):
    """Blocks of one prompt to write, and all of its files: those there are in use again."""

    paths: list[Path]
    blocks: list[tuple[Block, bytes | memoryview]]


class PrefixStore:
    """The blocks of one model in a directory, within a budget that all models there share."""

    def __init__(
        self, directory: Path, model: str, *, block_tokens: int, block_bytes: int, budget: int
    ) -> None:
        """model: whatever decides the bytes of a block besides its tokens: the hash of the weights,
        the form of the cache, the kernels. budget: bytes of all files together.

        Raises StoreError if the directory is not this user's alone, OSError if it cannot be made.
        """
        self._directory = directory
        self._files = Files(directory, model, block_tokens, block_bytes)
        self._budget = budget
        self._counts = {"loaded": 0, "written": 0, "dropped": 0, "failed": 0}
        self._changed = threading.Condition()
        self._queue: deque[_Job] = deque()
        self._waiting: set[Path] = set()
        """Files that will be written by what is in the queue, or is being written."""
        self._paused_until = 0.0
        self._busy = self._closing = False
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_private(directory)
        self._writer = threading.Thread(target=self._write_all, name="prefix-writer", daemon=True)
        self._writer.start()

    @property
    def stats(self) -> StoreStats:
        with self._changed:
            return StoreStats(**self._counts)

    def wanted(self, tokens: Sequence[int]) -> list[int]:
        """Which whole blocks of these tokens to `save`, by their number: neither on disk nor about
        to be, and no more than would be taken now."""
        with self._changed:
            room, waiting = self._room(), set(self._waiting)
        if not room:
            return []
        blocks = enumerate(self._files.blocks(tokens))
        missing = (n for n, b in blocks if b.path not in waiting and not b.path.exists())
        return list(itertools.islice(missing, room))

    def load(self, tokens: Sequence[int], first: int = 0) -> Iterator[Payload]:
        """The blocks from number `first` on, as far as they are there, in order.

        Each uint8 (block_bytes,) is checked, and stays as it is until the next one is asked for.
        Where some are there, they and those before are in use again.
        """
        buffer, loaded = bytearray(self._files.file_bytes), 0
        for block in self._files.blocks(tokens, first):
            if not self._read(block, buffer):
                break
            loaded += 1
            self._count("loaded")
            yield np.frombuffer(buffer, np.uint8)[-self._files.block_bytes :]
        if loaded:
            used = self._files.blocks(tokens)[: first + loaded]
            _touch([block.path for block in used], USED_AGAIN_S)

    def recent(self, limit: int) -> Iterator[list[int]]:
        """Token ids of the prompts used last, of at most `limit` blocks together."""
        return self._files.prompts(limit)

    def save(self, tokens: Sequence[int], payloads: Mapping[int, bytes | memoryview]) -> None:
        """Have these blocks written in the background, and the others of the prompt kept longer.

        payloads: by number of block. Returns at once; what does not fit into the queue is left out.
        """
        blocks = self._files.blocks(tokens)
        with self._changed:
            if len(self._queue) >= QUEUE_JOBS or self._closing:
                return
            taken = sorted(payloads)[: self._room()]
            job = _Job([b.path for b in blocks], [(blocks[n], payloads[n]) for n in taken])
            self._queue.append(job)
            self._waiting.update(block.path for block, _ in job.blocks)
            self._changed.notify_all()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything is written; False if that takes longer than `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._queue and not self._busy, timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Write what waits, but for no longer than `timeout` seconds; whether all was written."""
        flushed = self.flush(timeout)
        with self._changed:
            self._closing = True
            self._queue.clear()
            self._changed.notify_all()
        self._writer.join(timeout)
        return flushed

    def _room(self) -> int:
        """Blocks that the queue takes now."""
        if self._closing or time.monotonic() < self._paused_until:
            return 0
        most = min(QUEUE_BYTES, self._budget) // self._files.file_bytes
        return max(0, most - len(self._waiting))

    def _read(self, block: Block, buffer: bytearray) -> bool:
        """Fill `buffer` with the file if it is exactly the one expected; delete it otherwise."""
        try:
            sound = self._files.read(block, buffer)
        except FileNotFoundError:
            return False
        except OSError as error:
            log.warning("cannot read a block of the prefix cache: %s", error)
            sound = False
        if sound:
            return True
        self._count("dropped")
        log.warning("dropped a block of the prefix cache that is damaged: %s", block.path.name)
        unlink(block.path)
        return False

    def _write_all(self) -> None:
        """The writer's life. What it cannot write is lost, and nothing else."""
        with contextlib.suppress(OSError, AttributeError):  # of this thread alone, on Linux
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        while (job := self._next_job()) is not None:
            try:
                self._write_job(job)
            except OSError as error:
                log.warning("nothing is kept on disk for %.0f s: %s", PAUSE_S, error)
                with self._changed:
                    self._paused_until = time.monotonic() + PAUSE_S
                    self._counts["failed"] += len(job.blocks)
            with self._changed:
                self._waiting.difference_update(block.path for block, _ in job.blocks)
                self._busy = False
                self._changed.notify_all()

    def _next_job(self) -> _Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closing)
            if self._closing:
                return None
            self._busy = True
            return self._queue.popleft()

    def _write_job(self, job: _Job) -> None:
        wanted = [(block, payload) for block, payload in job.blocks if not block.path.exists()]
        after = 0.0 if wanted else USED_AGAIN_S
        _touch(job.paths, after)  # so that a prompt's own beginning does not make room for its end
        if wanted:
            evict(self._directory, self._budget - len(wanted) * self._files.file_bytes)
        for block, payload in wanted:
            write(block, payload)
            self._count("written")
        _touch(job.paths, after)

    def _count(self, what: str) -> None:
        with self._changed:
            self._counts[what] += 1


def evict(directory: Path, budget: int) -> None:
    """Delete the files unused for longest until the rest fits, the last blocks of a prompt first.

    Also deletes what a killed process left half written.
    """
    files: list[tuple[int, int, int, str]] = []
    with os.scandir(directory) as entries:
        for entry in entries:
            with contextlib.suppress(OSError, ValueError):  # deleted meanwhile, or not ours
                status = entry.stat(follow_symlinks=False)
                if entry.name.endswith(".part"):
                    if time.time() - status.st_mtime > ABANDONED_S:
                        unlink(Path(entry.path))
                elif entry.name.endswith(SUFFIX):
                    number = int(entry.name.split(".")[1])
                    files.append((status.st_mtime_ns, -number, status.st_size, entry.path))
    excess = sum(size for _, _, size, _ in files) - budget
    for _, _, size, path in sorted(files):
        if excess <= 0:
            break
        unlink(Path(path))
        excess -= size


def _touch(paths: Sequence[Path], after_s: float) -> None:
    """All used now, at the same moment: of equals the last block of a prompt is evicted first.

    Those that were used within `after_s` seconds stay as they are.
    """
    now = time.time_ns()
    for path in paths:
        with contextlib.suppress(OSError):
            if now - path.lstat().st_mtime_ns > after_s * 1e9:
                os.utime(path, ns=(now, now), follow_symlinks=False)


def _require_private(directory: Path) -> None:
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise StoreError(f"{directory} is not a directory of this user")
    if status.st_mode & 0o077:
        raise StoreError(f"{directory} is open to others; make it private with chmod 700")
