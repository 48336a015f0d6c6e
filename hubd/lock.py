"""One daemon a home: a lock on a file that also says where the daemon answers."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from hubd.errors import AlreadyRunningError


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds the home."""

    pid: int
    address: str = ""
    """``http://host:port``; empty until it listens."""


class HomeLock:
    """The lock while it is held. The kernel lets it go with the process, however that ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def announce(self, address: str) -> None:
        """Write down where the daemon answers."""
        data = msgspec.json.encode(Holder(pid=os.getpid(), address=address))
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, data, 0)


@contextmanager
def hold(path: Path) -> Iterator[HomeLock]:
    """Hold the home for the time of the block.

    Raises:
        AlreadyRunningError: somebody else does; says where it answers.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AlreadyRunningError(_read(descriptor).address) from error
        lock = HomeLock(descriptor)
        lock.announce("")
        yield lock
    finally:
        os.close(descriptor)


def holder(path: Path) -> Holder | None:
    """Who holds the home now, or ``None``."""
    try:
        with hold(path):
            return None
    except AlreadyRunningError as error:
        return Holder(pid=_pid(path), address=error.address)
    except FileNotFoundError:
        return None


def _pid(path: Path) -> int:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Holder).pid
    except (OSError, msgspec.DecodeError):
        return 0


def _read(descriptor: int) -> Holder:
    try:
        return msgspec.json.decode(os.pread(descriptor, 4096, 0), type=Holder)
    except msgspec.DecodeError:
        return Holder(pid=0)
