"""Child processes that answer one request at a time over pipes: both ends of the wire.

A message is a 4-byte little-endian length and that many bytes, either way. The child's own standard
output is moved away before its code runs, so a stray ``print`` lands on standard error and cannot
corrupt the stream. The child ends when its standard input does: it outlives its parent by no more
than the request in hand. What the bytes mean is not known here.
"""

import asyncio
import contextlib
import os
import signal
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Literal

from rag.errors import WorkerCrashError, WorkerError

MESSAGE_LIMIT = 512 * 1024 * 1024
"""Bytes; a longer frame means that the stream is corrupt."""
_STDERR_TAIL = 2_000
_EXIT_SECONDS = 2.0
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")
_LENGTH = struct.Struct("<I")

State = Literal["stopped", "starting", "ready", "busy"]


class Worker:
    """The parent's end: starts ``python -m module arguments`` when needed and ends it when idle.

    One request is on the wire at a time, the others wait their turn. A caller that is cancelled
    leaves; the exchange goes on to its end (or its time limit), so the stream stays in step.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        start_seconds: float = 120.0,
        idle_seconds: float = 600.0,
    ) -> None:
        self.module = module
        self._arguments = arguments
        self._start_seconds = start_seconds
        self._idle_seconds = idle_seconds
        self._process: asyncio.subprocess.Process | None = None
        self._stderr: asyncio.Task[None] | None = None
        self._stderr_tail = b""
        self._turn = asyncio.Lock()
        self._exchanges: set[asyncio.Task[bytes]] = set()
        self._stopping: asyncio.Task[None] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._state: State = "stopped"
        self._closed = False

    @property
    def state(self) -> State:
        return self._state

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return self._process.pid if self._process else None

    async def start(self) -> None:
        """Start the child now, so that the first request need not wait for it.

        Raises:
            WorkerError: it does not start.
        """
        async with self._turn:
            await self._ensure_started()
            self._rest()

    async def request(self, message: bytes, *, time_limit: float) -> bytes:
        """Send ``message`` and return the reply, within ``time_limit`` s (a start not counted).

        Raises:
            WorkerCrashError: the child died, or is stuck (then it is killed).
            WorkerError: it does not start, or ``close`` was called.
        """
        if self._closed:
            raise WorkerError("was closed")
        exchange = asyncio.create_task(self._exchange(message, time_limit))
        self._exchanges.add(exchange)
        exchange.add_done_callback(self._forget)
        try:
            return await asyncio.shield(exchange)
        except asyncio.CancelledError:
            if exchange.cancelled():
                raise WorkerError("was closed") from None
            raise

    async def stop(self) -> None:
        """End the child once its request in hand is answered; the next request starts another."""
        async with self._turn:
            await self._end()

    async def close(self) -> None:
        """End the child now, and every request with it."""
        self._closed = True
        for exchange in list(self._exchanges):
            exchange.cancel()
        await asyncio.gather(*self._exchanges, return_exceptions=True)
        if self._stopping:
            await self._stopping
        async with self._turn:
            await self._end()

    async def _exchange(self, message: bytes, time_limit: float) -> bytes:
        async with self._turn:
            await self._ensure_started()
            self._state = "busy"
            try:
                async with asyncio.timeout(time_limit):
                    reply = await self._converse(message)
            except TimeoutError as error:
                await self._end()
                raise WorkerCrashError(f"no answer within {time_limit:g} s") from error
            except (EOFError, OSError) as error:
                raise WorkerCrashError(await self._last_words()) from error
            except BaseException:
                await self._end()
                raise
            self._rest()
            return reply

    async def _converse(self, message: bytes) -> bytes:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.write(_LENGTH.pack(len(message)) + message)
        await process.stdin.drain()
        return await self._read()

    async def _read(self) -> bytes:
        assert self._process is not None
        stdout = self._process.stdout
        assert stdout is not None
        (length,) = _LENGTH.unpack(await stdout.readexactly(_LENGTH.size))
        if length > MESSAGE_LIMIT:
            raise EOFError(f"frame of {length} bytes")
        return await stdout.readexactly(length)

    async def _ensure_started(self) -> None:
        if self._idle:
            self._idle.cancel()
            self._idle = None
        if self._process and self._process.returncode is None:
            return
        await self._end()
        self._state = "starting"
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", self.module, *self._arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=_environment(),
                start_new_session=True,  # Ctrl-C in a terminal is for the parent
            )
            self._stderr = asyncio.create_task(self._drain_stderr(self._process))
            async with asyncio.timeout(self._start_seconds):
                await self._read()
        except TimeoutError as error:
            await self._end()
            raise WorkerError(f"not ready within {self._start_seconds:g} s") from error
        except (EOFError, OSError) as error:
            raise WorkerError(await self._last_words()) from error
        except BaseException:
            await self._end()
            raise

    async def _drain_stderr(self, process: asyncio.subprocess.Process) -> None:
        self._stderr_tail = b""
        assert process.stderr is not None
        while piece := await process.stderr.read(4096):
            self._stderr_tail = (self._stderr_tail + piece)[-_STDERR_TAIL:]

    async def _last_words(self) -> str:
        """Why the child is gone: its exit status and the last line it wrote."""
        process = self._process
        if process is None:
            return "could not be started"
        with contextlib.suppress(TimeoutError):  # its pipes close a little before it exits
            async with asyncio.timeout(_EXIT_SECONDS):
                await process.wait()
        await self._end()
        code = process.returncode or 0
        status = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        lines = self._stderr_tail.decode(errors="replace").strip().splitlines()
        return f"stopped ({status})" + (f": {lines[-1]}" if lines else "")

    def _rest(self) -> None:
        self._state = "ready"
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(self._idle_seconds, self._stop_when_idle)

    def _stop_when_idle(self) -> None:
        self._idle = None
        if not self._turn.locked():
            self._stopping = asyncio.create_task(self.stop())

    async def _end(self) -> None:
        if self._idle:
            self._idle.cancel()
            self._idle = None
        process, self._process = self._process, None
        self._state = "stopped"
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await process.wait()
        if self._stderr:
            await self._stderr
        if process.stdin:
            process.stdin.close()

    def _forget(self, exchange: asyncio.Task[bytes]) -> None:
        self._exchanges.discard(exchange)
        if not exchange.cancelled():
            exchange.exception()  # a caller that left cannot; without this, asyncio complains


def _environment() -> dict[str, str]:
    """What a child needs of the parent's environment, secrets not; this package is importable."""
    here = str(Path(__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return kept | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def serve(prepare: Callable[[], Callable[[bytes], bytes]]) -> None:
    """The child's end: ``prepare()`` once, say so, then answer requests until the input ends.

    An exception in the handler ends the process; its last line on standard error tells the parent.
    """
    requests, replies = _private_pipes()
    handle = prepare()
    _write(replies, b"ready")
    while (message := _read(requests)) is not None:
        _write(replies, handle(message))


def _private_pipes() -> tuple[BinaryIO, BinaryIO]:
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return os.fdopen(requests, "rb"), os.fdopen(replies, "wb")


def _read(stream: BinaryIO) -> bytes | None:
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    message = stream.read(length)
    return message if len(message) == length else None


def _write(stream: BinaryIO, message: bytes) -> None:
    stream.write(_LENGTH.pack(len(message)) + message)
    stream.flush()
