"""The log: one line a record with fields, to standard error or to systemd's journal.

What people say, ask, own or are called is not logged: a message names kinds, counts, ids and
places in the code. Because an exception's own words may quote a person, they are left out unless
the level is debug; where it was raised is always told.
"""

import contextlib
import contextvars
import logging
import os
import socket
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

JOURNAL = Path("/run/systemd/journal/socket")
MESSAGE_LIMIT = 32_000
"""Bytes; a datagram to the journal is bounded."""
PRIORITIES = {"CRITICAL": 2, "ERROR": 3, "WARNING": 4, "INFO": 6, "DEBUG": 7}

_fields: contextvars.ContextVar[dict[str, str]] = contextvars.ContextVar("fields")
_NONE: dict[str, str] = {}

Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


@contextlib.contextmanager
def fields(**more: str) -> Iterator[None]:
    """Every record of the block, and of tasks begun in it, has these fields too."""
    token = _fields.set(_fields.get(_NONE) | {name: value for name, value in more.items() if value})
    try:
        yield
    finally:
        _fields.reset(token)


def add_field(name: str, value: str) -> None:
    """One more field for the rest of the innermost `fields` block."""
    _fields.set(_fields.get(_NONE) | {name: value})


class Lines(logging.Formatter):
    """``2026-01-02 03:04:05,678 INFO hubd.http.app what happened request=1f client=2e``."""

    def __init__(self, *, words: bool) -> None:
        """words: whether an exception's own words are told."""
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")
        self._words = words

    def format(self, record: logging.LogRecord) -> str:
        record.exc_text = None  # another handler's form of it
        line, _, rest = super().format(record).partition("\n")
        said = "".join(f" {name}={value}" for name, value in _fields.get(_NONE).items())
        return line + said + (f"\n{rest}" if rest else "")

    def formatException(self, ei: Raised) -> str:  # noqa: N802 - logging's name
        if self._words:
            return super().formatException(ei)
        return "\n".join(_where(ei[1]))


class Journal(logging.Handler):
    """A datagram of fields a record, as systemd.io/JOURNAL_NATIVE_PROTOCOL says."""

    def __init__(self, path: Path, *, words: bool) -> None:
        super().__init__()
        self._lines = Lines(words=words)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._path = str(path)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._socket.sendto(self._entry(record), self._path)
        except OSError:
            self.handleError(record)

    def close(self) -> None:
        self._socket.close()
        super().close()

    def _entry(self, record: logging.LogRecord) -> bytes:
        message = record.getMessage()
        if record.exc_info:
            message += "\n" + self._lines.formatException(record.exc_info)
        entry = {
            "MESSAGE": message,
            "PRIORITY": str(PRIORITIES.get(record.levelname, 6)),
            "SYSLOG_IDENTIFIER": "hubd",
            "LOGGER": record.name,
            **{f"HUBD_{name.upper()}": value for name, value in _fields.get(_NONE).items()},
        }
        return b"".join(_journal_field(name, value) for name, value in entry.items())


def start(level: str) -> None:
    """Log from ``level`` up. A person at a terminal sees what is wrong only."""
    if level == "info" and sys.stderr.isatty():
        level = "warning"
    words = level == "debug"
    if _is_journal(sys.stderr.fileno()) and JOURNAL.exists():
        handler: logging.Handler = Journal(JOURNAL, words=words)
    else:
        handler = logging.StreamHandler()
        handler.setFormatter(Lines(words=words))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("apscheduler").setLevel(logging.WARNING)
    logging.getLogger("aiohttp").setLevel(logging.INFO if words else logging.WARNING)


def _is_journal(descriptor: int) -> bool:
    """Whether what is written there goes to the journal (systemd.exec(5), JOURNAL_STREAM)."""
    status = os.fstat(descriptor)
    return os.environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"


def _journal_field(name: str, value: str) -> bytes:
    data = value.encode("utf-8", "replace")[:MESSAGE_LIMIT]
    if b"\n" not in data:
        return b"%s=%s\n" % (name.encode(), data)
    return b"%s\n%s%s\n" % (name.encode(), len(data).to_bytes(8, "little"), data)


def _where(error: BaseException | None) -> Iterator[str]:
    """The exception's kind and where it was raised, and those of what caused it; no words."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield f"{type(error).__module__}.{type(error).__name__}, raised at:"
        for frame in traceback.extract_tb(error.__traceback__):
            yield f"  {frame.filename}:{frame.lineno} in {frame.name}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
