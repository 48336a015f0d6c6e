"""Which embedding model the library searches with, and its exchange for another in the background.

The household's own is all-MiniLM-L6-v2; any other is a folder that sentence-transformers can load,
and runs in a process of its own. While the vectors of another are made, those in use go on
answering. What a restart or a failure cut off goes on with the next start, or when asked.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Literal, Self

import msgspec

from hubd.errors import BadRequestError
from hubd.settings import Rag
from rag.embed import CachingEmbedder, Embedder
from rag.errors import RagError
from rag.library import Library
from rag.store import MadeWith
from rag.types import ReindexProgress, WaitUntilIdle
from rag.vector_table import EmbedderRow
from rag.worker_embedder import WorkerEmbedder, model_name

log = logging.getLogger(__name__)

OWN = ("engine", "sentence-transformers")
"""Names of the household's own embedding model, for where it runs."""


class ReindexState(msgspec.Struct, frozen=True, kw_only=True):
    """Where the exchange of the embedding model is."""

    state: Literal["none", "running", "failed"]
    model: str
    """The one whose vectors are searched."""
    coming: str = ""
    """The one whose vectors are being made."""
    done: int = 0
    total: int = 0
    """Chunks; both 0 while the model loads."""
    seconds_left: float | None = None
    message: str = ""
    """Why it failed."""


def source_of(name: str) -> str:
    """The folder that ``name`` means, absolute; empty for the household's own model."""
    return "" if name in ("", *OWN) else str(Path(name).expanduser().absolute())


def made_with(settings: Rag) -> MadeWith:
    """Finds the embedder of a library whose vectors are not of the household's own model."""

    def find(row: EmbedderRow) -> Embedder | None:
        if not row.source:
            return None
        return CachingEmbedder(_worker(row.source, row.model, row.dimension, settings))

    return find


async def configured(settings: Rag, own: Embedder) -> Embedder:
    """The embedder that ``[rag] embedder`` names, loaded; one that is not ``own`` is to be closed.

    Raises:
        rag.errors.EmbedderError: it does not load.
    """
    source = source_of(settings.embedder)
    if not source:
        return own
    model = await asyncio.to_thread(model_name, Path(source))
    return await _loaded(source, model, settings)


class Reindexing:
    """The library's embedding model. Use it in an ``async with`` block."""

    def __init__(
        self,
        library: Library,
        own: Embedder,
        settings: Rag,
        wait_until_idle: WaitUntilIdle,
    ) -> None:
        self._library = library
        self._own = own
        self._settings = settings
        self._wait_until_idle = wait_until_idle
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._state = ReindexState(state="none", model=library.embedder.model)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop()
        if self._library.embedder is not self._own:
            await self._library.embedder.close()

    @property
    def state(self) -> ReindexState:
        return self._state

    async def resume(self) -> None:
        """Go on with what was cut off, or begin with what the configuration names."""
        rows = await self._library.embedders()
        serving = next((row for row in rows if row.state == "serving"), None)
        coming = next((row for row in rows if row.state == "coming"), None)
        chosen = source_of(self._settings.embedder)
        if not self._settings.embedder:
            chosen = (coming or serving or _NOTHING).source
        if coming or serving is None or serving.source != chosen:
            await self._begin(chosen)

    async def go_on(self) -> None:
        """As ``resume``, where nothing is under way."""
        if self._state.state != "running":
            await self.resume()

    async def start(self, name: str) -> None:
        """Begin with the model that ``name`` means, in place of one that is under way.

        Raises:
            BadRequestError: the configuration names another.
        """
        configured = self._settings.embedder
        if configured and source_of(configured) != source_of(name):
            raise BadRequestError(
                f"embedder: hubd.toml says [rag] embedder = {configured!r}",
                "Change it there and restart the hub, which then makes the vectors anew; or take "
                "the line out.",
            )
        await self._begin(source_of(name))

    async def news(self) -> AsyncGenerator[ReindexState, None]:
        """The states, from the one now to the last."""
        while True:
            state, news = self._state, self._news
            yield state
            if state.state != "running":
                return
            await news.wait()

    async def _begin(self, source: str) -> None:
        await self._stop()
        self._tell(state="running", coming=Path(source).name or self._own.model)
        self._task = asyncio.create_task(self._work(source))

    async def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self, source: str) -> None:
        """To the end; a failure becomes a state."""
        old = self._library.embedder
        new: Embedder | None = None
        try:
            new = await self._open(source)
            await self._library.reindex(
                new,
                source=source,
                progress=self._progress,
                wait_until_idle=self._wait_until_idle,
            )
            self._tell(state="none", model=new.model)
            log.info("documents are searched with model=%s", new.model)
        except RagError as error:
            self._tell(state="failed", coming=self._state.coming, message=str(error))
            log.warning("the documents are not embedded anew: %s", error)
        except Exception as error:  # a full disk, say: told, and the old vectors go on answering
            self._tell(state="failed", coming=self._state.coming, message=str(error))
            log.exception("the documents are not embedded anew")
        finally:
            for one in (old, new):
                if one is not None and one not in (self._own, self._library.embedder):
                    await one.close()

    async def _open(self, source: str) -> Embedder:
        """The embedder of ``source``; the one in use where it is that."""
        if not source:
            return self._own
        model = await asyncio.to_thread(model_name, Path(source))
        if self._library.embedder.model == model:
            return self._library.embedder
        await self._library.intend(model, source)
        return await _loaded(source, model, self._settings)

    def _progress(self, at: ReindexProgress) -> None:
        self._tell(
            state="running",
            coming=at.model,
            done=at.done,
            total=at.total,
            seconds_left=at.seconds_left,
        )

    def _tell(
        self,
        *,
        state: Literal["none", "running", "failed"],
        model: str = "",
        coming: str = "",
        done: int = 0,
        total: int = 0,
        seconds_left: float | None = None,
        message: str = "",
    ) -> None:
        self._state = ReindexState(
            state=state,
            model=model or self._library.embedder.model,
            coming=coming,
            done=done,
            total=total,
            seconds_left=seconds_left,
            message=message,
        )
        news, self._news = self._news, asyncio.Event()
        news.set()


_NOTHING = EmbedderRow(0, "", 0, "", "serving")


async def _loaded(source: str, model: str, settings: Rag) -> Embedder:
    embedder = _worker(source, model, 0, settings)
    try:
        await embedder.start()  # tells its dimension
    except BaseException:
        await embedder.close()
        raise
    return CachingEmbedder(embedder)


def _worker(source: str, model: str, dimension: int, settings: Rag) -> WorkerEmbedder:
    idle = settings.idle_unload or float("inf")
    return WorkerEmbedder(Path(source), model, dimension, idle_seconds=idle)
