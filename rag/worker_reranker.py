"""Any cross-encoder of sentence-transformers as a reranker, in a worker process.

Nobody waits for the process to load, nor longer than a time limit for its scores. After a crash it
is started again, but not at once: what ended it may come again. Knows nothing of documents.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from rag.errors import RerankerError, WorkerError
from rag.rerank import RerankerStatus
from rag.rerank_requests import ScoreReply, ScoreRequest
from rag.worker import Worker

_log = logging.getLogger(__name__)

LIMIT_S = 1.0
"""Seconds that a question waits for its passages' scores."""
STUCK_S = 30.0
"""Seconds after which a process that still reckons is ended."""
PENDING = 2
"""Requests on their way, left ones too, above which a question goes without."""
PAUSE_S = 30.0
"""Seconds from a failure to the next start."""
LONGEST_TEXT = 8_000
"""Characters; the model reads 512 tokens at most."""


class _Config(msgspec.Struct):
    """Of ``config.json`` what tells a cross-encoder from other models."""

    architectures: list[str] = []


class WorkerReranker:
    """A cross-encoder in a folder."""

    def __init__(
        self,
        folder: Path,
        *,
        threads: int = 1,
        idle_seconds: float = 600.0,
        limit_seconds: float = LIMIT_S,
        pause_seconds: float = PAUSE_S,
    ) -> None:
        self._folder = folder
        self._worker = Worker(
            "rag.rerank_worker", str(folder), str(threads), idle_seconds=idle_seconds
        )
        self.limit_seconds = limit_seconds
        self._pause = pause_seconds
        self._not_before = 0.0
        self._starting: asyncio.Task[None] | None = None
        self._pending: set[asyncio.Task[bytes]] = set()
        self._failure = ""
        self._problem = ""

    @property
    def status(self) -> RerankerStatus:
        """As ``Reranker.status``."""
        state = self._worker.state
        failed = bool(self._failure) and state == "stopped"
        return RerankerStatus(
            model=self._folder.name,
            state="failed" if failed else state,
            problem=self._failure if failed else self._problem,
        )

    async def start(self) -> None:
        """As ``Reranker.start``."""
        try:
            await asyncio.to_thread(check, self._folder)
            await self._worker.start()
        except (WorkerError, RerankerError) as error:
            self._failed(str(error))
            raise RerankerError(self._failure) from error
        self._failure = self._problem = ""

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """As ``Reranker.scores``; within the time limit."""
        try:
            scores = self._checked(await self._ask(question, texts), len(texts))
        except RerankerError as error:
            self._problem = str(error)
            raise
        self._problem = ""
        return scores

    async def close(self) -> None:
        """End the worker process."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        await self._worker.close()
        await asyncio.gather(*self._pending, return_exceptions=True)

    async def _ask(self, question: str, texts: Sequence[str]) -> bytes:
        if self._worker.state in ("stopped", "starting"):
            raise RerankerError("its model is being loaded" if self._begin() else self._failure)
        if len(self._pending) >= PENDING:
            raise RerankerError("it has not finished with the questions before")
        message = msgspec.msgpack.encode(
            ScoreRequest(question=question, texts=[text[:LONGEST_TEXT] for text in texts])
        )
        request = asyncio.create_task(self._worker.request(message, time_limit=STUCK_S))
        self._pending.add(request)
        request.add_done_callback(self._settled)
        await asyncio.wait([request], timeout=self.limit_seconds)
        if not request.done():
            raise RerankerError(f"it had not finished after {self.limit_seconds:g} s")
        try:
            return request.result()
        except WorkerError as error:
            raise RerankerError(f"its process failed: {error}") from error

    def _begin(self) -> bool:
        """Load the model in the background, unless it failed a moment ago; says whether so."""
        if self._starting is not None and not self._starting.done():
            return True
        if time.monotonic() < self._not_before:
            return False
        self._starting = asyncio.create_task(self._start_quietly())
        return True

    async def _start_quietly(self) -> None:
        try:
            await self.start()
        except RerankerError as error:
            _log.warning("passages are not reranked: %s", error)

    def _settled(self, request: asyncio.Task[bytes]) -> None:
        self._pending.discard(request)
        if not request.cancelled() and (error := request.exception()) is not None:
            self._failed(f"its process failed: {error}")
            _log.warning("passages are not reranked: %s", error)

    def _failed(self, why: str) -> None:
        self._failure = why
        self._not_before = time.monotonic() + self._pause

    def _checked(self, message: bytes, count: int) -> NDArray[np.float32]:
        try:
            reply = msgspec.msgpack.decode(message, type=ScoreReply)
        except msgspec.MsgspecError as error:
            raise RerankerError(f"its process answered with something else: {error}") from error
        scores = np.array(reply.scores, np.float32)
        if scores.shape != (count,) or not np.isfinite(scores).all():
            raise RerankerError(f"it gave no {count} finite scores for {count} texts")
        return scores


def check(folder: Path) -> None:
    """Look whether a cross-encoder lies in ``folder``, without loading it.

    Raises:
        RerankerError: none does; the message says what is there instead.
    """
    try:
        config = msgspec.json.decode((folder / "config.json").read_bytes(), type=_Config)
    except OSError as error:
        raise RerankerError(
            f"{folder} holds no model (config.json: {error.strerror or error})"
        ) from error
    except msgspec.MsgspecError as error:
        raise RerankerError(f"{folder / 'config.json'} cannot be read: {error}") from error
    if not any(name.endswith("ForSequenceClassification") for name in config.architectures):
        what = ", ".join(config.architectures) or "a model of no known kind"
        raise RerankerError(
            f"{folder} holds {what}, which is no cross-encoder (…ForSequenceClassification)"
        )
