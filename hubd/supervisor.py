"""The engine child: started when needed, watched, restarted with back-off, unloaded when idle.

Whoever needs the language model asks ``client()`` and gets one that answers, or ``EngineDown`` with
the reason. What is asked of the model is not known here.
"""

import asyncio
import contextlib
import logging
import os
import signal
import time
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal, Self

import msgspec

from engine.client import EngineClient
from engine.errors import EngineError
from engine.protocol import Health
from hubd import settings as sections
from hubd.engine_child import Encoder, command, end, first_to_go, model_path, next_line
from hubd.errors import HubError
from hubd.events import NoticeBoard
from hubd.paths import Paths

log = logging.getLogger(__name__)

LOOK_EVERY_S = 0.1
START_LIMIT_S = 600.0
"""The first start compiles the kernels and packs the weights; on a slow box that takes minutes."""
GLANCE_S = 0.1
HEALTH_EVERY_S = 15.0
IN_USE_EVERY_S = 2.0
"""How often a child is looked at that somebody waits for."""
SILENCE_LIMIT_S = 7.0
"""The engine answers /health in a millisecond, whatever it computes; with the above, whoever waits
for one that hangs hears of it within ten seconds."""
SETTLED_S = 60.0
"""A child that lived this long after it was ready does not count as failing again and again."""
FAILURES = 5
BACKOFF_S = (0.0, 1.0, 2.0, 5.0)
HOLD_S = 30.0
"""After ``FAILURES`` failures in a row nothing is tried for this long."""

Phase = Literal["off", "starting", "restarting", "ready", "failed"]


class EngineDown(HubError):  # noqa: N818 - named for the condition, as in the events
    """The language model does not answer now."""

    code = "engine_down"
    status = 503


class NoModel(EngineDown):
    """There is no model file to start the engine with."""

    code = "no_model"


class EngineState(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine is doing, as pages show it."""

    state: Phase
    message: str = ""
    """What the loading is at, or why it failed."""
    progress: float | None = None
    """How much of that is done, 0 to 1."""
    server: str = ""
    """The machine that answers instead, where the settings name one."""
    away: str = ""
    """Why it does not, and the engine here does; empty while it answers."""


class EngineSupervisor:
    """Owns the child process, from ``async with`` to its end."""

    def __init__(
        self,
        settings: sections.Engine,
        paths: Paths,
        board: NoticeBoard,
        encoder: Encoder | None = None,
    ) -> None:
        self._settings = settings
        self._paths = paths
        self._board = board
        self._encoder = encoder
        self._alone = encoder is not None and encoder.alone
        self._socket = paths.encoder_socket if self._alone else paths.engine_socket
        self._client = EngineClient(socket=self._socket)
        self._state = EngineState(state="off")
        self._settled = asyncio.Event()
        self._asked = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._last_use = time.monotonic()
        self._gave_up_at = -HOLD_S
        self._closed = False
        self._last_lines: deque[str] = deque(maxlen=20)
        self.pid: int | None = None
        """The child's process id while it runs."""

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the child. Whoever waits for it, or asks now, gets an ``EngineDown``."""
        if self._closed:
            return
        self._closed = True
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._state = EngineState(state="off", message="hubd is stopping")
        self._settled.set()
        await self._client.__aexit__(None, None, None)

    @property
    def state(self) -> EngineState:
        return self._state

    @property
    def model(self) -> Path:
        """The model file that the settings name; it need not exist."""
        return model_path(self._settings, self._paths)

    @property
    def name(self) -> str:
        """The model's name: its file's without the extension."""
        return self.model.stem

    async def client(self) -> EngineClient:
        """A client of an engine that is ready; starts the child first when it is not running.

        Raises:
            NoModel: the model file is missing.
            EngineDown: the engine does not start; the message says why.
        """
        self._last_use = time.monotonic()
        self._asked.set()
        if self._closed:
            raise EngineDown("hubd is stopping.", "Ask again when it is back.")
        await self._ensure_begun()
        while True:
            await self._settled.wait()
            if self._state.state != "ready":
                raise EngineDown(
                    f"The language model does not start: {self._state.message}",
                    "`hubd doctor` says what to do.",
                )
            if await self._is_there():
                self._last_use = time.monotonic()
                return self._client
            await asyncio.sleep(LOOK_EVERY_S)

    async def health(self) -> Health | None:
        """What the engine says of itself; None while it does not run. Starts nothing."""
        with contextlib.suppress(EngineError):
            return await self._client.health() if self._state.state == "ready" else None
        return None

    async def listening(self, *, patient: bool) -> EngineClient:
        """A client of a child that listens, and has its encoder, whatever its language model does.

        patient: whether to wait for a child that is started again after it failed.

        Raises:
            NoModel: as ``client``.
            EngineDown: there is no such child: it fails.
        """
        self._last_use = time.monotonic()
        await self._ensure_begun()
        while self._state.state in ("starting", "ready", "restarting" if patient else "ready"):
            if await self._is_there():
                self._last_use = time.monotonic()
                return self._client
            await asyncio.sleep(LOOK_EVERY_S)
        raise EngineDown(f"The engine does not start: {self._state.message}")

    async def _ensure_begun(self) -> None:
        if self._task and self._state.state in ("off", "failed"):
            await asyncio.wait({self._task})  # the last child is on its way out
        if self._task is None or self._task.done():
            self._begin()

    def _begin(self) -> None:
        if not self._alone and not self.model.is_file():
            raise NoModel(
                f"There is no language model: {self.model} is missing.",
                "Fetch the default one with `hubd model pull`, or set [engine] model.",
            )
        if time.monotonic() - self._gave_up_at < HOLD_S:
            raise EngineDown(
                f"The language model does not start: {self._state.message}",
                f"It is tried again after {HOLD_S:.0f} seconds; `hubd doctor` says what to do.",
            )
        self._show("starting")
        self._task = asyncio.create_task(self._supervise(), name="engine supervisor")

    async def _supervise(self) -> None:
        """Children one after the other, until one is unloaded or too many have failed."""
        failures = 0
        while True:
            ready_at: float | None = None
            try:
                async with self._child() as process:
                    if await self._wait_ready(process):
                        # A start can take longer than an engine may be idle.
                        ready_at = self._last_use = time.monotonic()
                        self._show("ready")
                        log.info("engine ready pid=%d", process.pid)
                        if await self._watch(process):
                            self._show("off")
                            return
                reason = self._last_words(process)
            except EngineDown as error:
                reason = error.message
            except OSError as error:
                reason = f"the engine cannot be started: {error}"
            log.warning("engine ended: %s", reason)
            lived = time.monotonic() - ready_at if ready_at else 0.0
            failures = 1 if lived > SETTLED_S else failures + 1
            if failures >= FAILURES:
                self._gave_up_at = time.monotonic()
                self._show("failed", reason)
                return
            self._show("restarting", reason)
            await asyncio.sleep(BACKOFF_S[min(failures, len(BACKOFF_S)) - 1])

    @contextlib.asynccontextmanager
    async def _child(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """A running child; it is ended with the block."""
        self._socket.unlink(missing_ok=True)
        self._last_lines.clear()
        process = await asyncio.create_subprocess_exec(
            *command(self._settings, self._paths, self._socket, self._encoder),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={"NUMBA_CACHE_DIR": str(self._paths.cache / "numba")} | os.environ,
            process_group=0,  # Ctrl-C in the terminal is for the daemon, which ends the child
        )
        self.pid = process.pid
        first_to_go(process.pid)
        reader = asyncio.create_task(self._log_lines(process))
        try:
            yield process
        finally:
            self.pid = None
            ending = asyncio.create_task(end(process))
            try:
                await asyncio.shield(ending)
            finally:  # the whole of it also where the supervisor is closed meanwhile
                await ending
                await reader

    async def _wait_ready(self, process: asyncio.subprocess.Process) -> bool:
        """Until the child says that it is ready (True), or ends (False).

        Raises:
            EngineDown: it says that it failed, or took longer than ``START_LIMIT_S``.
        """
        deadline = time.monotonic() + START_LIMIT_S
        while time.monotonic() < deadline:
            if process.returncode is not None:
                return False
            with contextlib.suppress(EngineError):
                health = await self._client.health()
                if health.status == "ready":
                    return True
                if health.status == "failed":
                    raise EngineDown(health.message)
                self._show(self._state.state, health.stage, health.fraction)
            await asyncio.sleep(LOOK_EVERY_S)
        raise EngineDown(f"it was not ready within {START_LIMIT_S:.0f} seconds")

    async def _watch(self, process: asyncio.subprocess.Process) -> bool:
        """Until the child ends (False), or is idle for longer than allowed (True)."""
        limit = self._settings.idle_unload
        while True:
            idle = time.monotonic() - self._last_use
            if idle < 2 * IN_USE_EVERY_S:
                ended = await self._ends(process, IN_USE_EVERY_S)
            else:
                wait = max(LOOK_EVERY_S, limit - idle) if limit else HEALTH_EVERY_S
                ended = await self._ends(process, min(wait, HEALTH_EVERY_S), or_asked=True)
            if ended:
                return False
            if await self._is_busy(process):
                self._last_use = time.monotonic()
            elif limit and time.monotonic() - self._last_use >= limit:
                return True

    async def _ends(
        self, process: asyncio.subprocess.Process, within_s: float, *, or_asked: bool = False
    ) -> bool:
        """Whether the child ended within that time; ``or_asked``: waits no longer than until
        somebody wants something of it.
        """
        self._asked.clear()
        waits = [asyncio.create_task(process.wait())]
        waits += [asyncio.create_task(self._asked.wait())] if or_asked else []
        try:
            await asyncio.wait(waits, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
            return waits[0].done()
        finally:
            for one in waits:
                one.cancel()

    async def _is_busy(self, process: asyncio.subprocess.Process) -> bool:
        """Whether the child has work. One that says nothing hangs, and is killed."""
        try:
            async with asyncio.timeout(SILENCE_LIMIT_S):
                health = await self._client.health()
        except EngineError:
            return True  # it is about to end: that is noticed at once
        except TimeoutError:
            log.warning("engine silent for %.0f s, killed", SILENCE_LIMIT_S)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            return True
        return health.active + health.waiting > 0

    async def _is_there(self) -> bool:
        """A child that was just killed is known by its socket before the kernel reports its end.

        One that is slow to answer is there: whether it hangs is for ``_watch`` to say.
        """
        try:
            async with asyncio.timeout(GLANCE_S):
                await self._client.health()
        except EngineError:
            return False
        except TimeoutError:
            pass
        return True

    async def _log_lines(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while line := await next_line(process.stderr):
            self._last_lines.append(line)
            log.info("engine says: %s", line)

    def _last_words(self, process: asyncio.subprocess.Process) -> str:
        code = process.returncode or 0
        status = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        said = f": {self._last_lines[-1]}" if self._last_lines and code > 0 else ""
        return f"the engine stopped ({status}){said}"

    def _show(self, phase: Phase, message: str = "", progress: float | None = None) -> None:
        state = EngineState(state=phase, message=message, progress=progress)
        if state == self._state:
            return
        self._state = state
        if phase in ("ready", "failed"):
            self._settled.set()
        elif phase != "off":
            self._settled.clear()
        self._board.publish("engine", msgspec.to_builtins(state))
