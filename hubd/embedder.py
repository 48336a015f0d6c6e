"""The library's encoders: texts to vectors, and questions read with texts, both by the engine.

They run in the process of the language model.

Where there is no such process (no model, one that fails, one on another machine), the embedding
model gets an engine of its own for as long as it is needed.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Self, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.client import EngineClient
from engine.errors import EngineError, EngineRefused, EngineUnavailable
from hubd.engine_child import Encoder
from hubd.events import NoticeBoard
from hubd.household_engine import HouseholdEngine
from hubd.paths import Paths
from hubd.settings import Config
from hubd.supervisor import EngineDown, EngineSupervisor
from rag.embed import DIMENSION, MODEL, checked, model_folder
from rag.errors import EmbedderError
from rag.evidence import ADAPTER
from rag.worker import State

BATCH = 32
"""Texts a request."""
REQUEST_SECONDS = 120.0
ATTEMPTS = 3
"""A process that ends in mid-request costs one; the next may find another process."""
FULL_SECONDS = 30.0
"""How long an engine that has too much to do is asked again."""
ASK_AGAIN_SECONDS = 0.2

Reply = TypeVar("Reply")

_STATES: dict[str, State] = {"starting": "starting", "restarting": "starting", "ready": "ready"}


def encoder_of(config: Config) -> Encoder | None:
    """The embedding model for the engine; None if it is not to run there, or is not there."""
    if config.rag.embedder == "sentence-transformers":
        return None
    try:
        folder = model_folder()
    except FileNotFoundError:
        return None
    return Encoder(
        folder=folder,
        name=MODEL,
        idle_unload=config.rag.idle_unload,
        reranker=ADAPTER,
    )


class EngineEmbedder:
    """all-MiniLM-L6-v2 by the engine. Use it in an ``async with`` block."""

    model = MODEL
    dimension = DIMENSION

    def __init__(self, engine: HouseholdEngine, alone: EngineSupervisor) -> None:
        """engine: the language model's; alone: one for when that cannot be had. Both start their
        processes when asked."""
        self._engine, self._alone = engine, alone
        self._active = 0

    @classmethod
    def beside(
        cls, engine: HouseholdEngine, config: Config, paths: Paths, encoder: Encoder
    ) -> Self:
        """With an engine of its own in reserve, which ends when it is idle."""
        settings = msgspec.structs.replace(config.engine, idle_unload=config.rag.idle_unload)
        reserve = msgspec.structs.replace(encoder, alone=True)
        return cls(engine, EngineSupervisor(settings, paths, NoticeBoard(), reserve))

    async def __aenter__(self) -> Self:
        await self._alone.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def state(self) -> State:
        """``stopped``, ``starting``, ``ready`` (it may have to load first) or ``busy``."""
        if self._active:
            return "busy"
        states = (self._engine.state.state, self._alone.state.state)
        return next((_STATES[state] for state in states if state in _STATES), "stopped")

    async def start(self) -> None:
        """Load the model and its reader now, so that the first question need not wait.

        Raises:
            EmbedderError: there is no engine that does it.
        """
        await self.embed(["warm"])
        await self.read("warm", ["warm"])

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of ``texts``: float32 (len(texts), 384). Text past 256 tokens is not seen.

        Raises:
            EmbedderError: there is no engine that does it, or it gave an unusable vector.
        """
        batches = [texts[i : i + BATCH] for i in range(0, len(texts), BATCH)]
        vectors = [await self._embed_batch(batch) for batch in batches]
        return np.concatenate(vectors) if vectors else np.empty((0, DIMENSION), np.float32)

    async def read(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Log odds that each text answers the question: float32 (len(texts),), finite.

        Raises:
            EmbedderError: there is no engine that does it, or it gave no numbers.
        """
        if not texts:
            return np.empty(0, np.float32)
        found = await self._ask(lambda client: client.rerank(question, texts, model=ADAPTER.stem))
        scores = np.array(found, np.float32)
        if scores.shape != (len(texts),) or not np.isfinite(scores).all():
            raise EmbedderError(f"the engine gave no numbers for {len(texts)} texts")
        return scores

    async def close(self) -> None:
        """End the engine of its own."""
        await self._alone.__aexit__(None, None, None)

    async def _embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = await self._ask(lambda client: client.embed(texts, model=MODEL))
        return checked(np.array(vectors, np.float32).ravel(), len(texts), DIMENSION)

    async def _ask(self, ask: Callable[[EngineClient], Awaitable[Reply]]) -> Reply:
        """One request; a process that went away is replaced. Raises EmbedderError."""
        self._active += 1
        try:
            attempts = 0
            while True:
                try:
                    async with asyncio.timeout(REQUEST_SECONDS):
                        return await _ask_until_there_is_room(await self._client(), ask)
                except (EngineUnavailable, EngineRefused) as error:
                    attempts += 1
                    going = isinstance(error, EngineUnavailable) or error.code == "shutting_down"
                    if not going or attempts == ATTEMPTS:
                        raise
                except TimeoutError:
                    if not self._starts():
                        raise
        except (EngineError, EngineDown, TimeoutError) as error:
            why = str(error) or "too slow"
            raise EmbedderError(f"the engine makes no vectors: {why}") from error
        finally:
            self._active -= 1

    def _starts(self) -> bool:
        """Whether an engine is on its way: compiling its kernels may take minutes on a small
        machine, and the supervisor ends what does not start."""
        states = (self._engine.state.state, self._alone.state.state)
        return any(_STATES.get(state) == "starting" for state in states)

    async def _client(self) -> EngineClient:
        """Of the language model's process, even while it loads, else of the other one."""
        try:
            return await self._engine.listening(patient=False)
        except EngineDown:
            return await self._alone.listening(patient=True)


async def _ask_until_there_is_room(
    client: EngineClient, ask: Callable[[EngineClient], Awaitable[Reply]]
) -> Reply:
    deadline = time.monotonic() + FULL_SECONDS
    while True:
        try:
            return await ask(client)
        except EngineRefused as error:
            if error.code != "queue_full" or time.monotonic() > deadline:
                raise
        await asyncio.sleep(ASK_AGAIN_SECONDS)
