"""``Engine``: the Python surface. A model file loaded, with its tokenizer and its scheduler."""

import asyncio
import logging
import os
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from engine.beam_search import BeamSearch
from engine.chat import ChatTemplate, Message, chat_template_of
from engine.chunk_reuse import Chunks
from engine.draft_model import DraftModel
from engine.errors import ContextLengthError, EngineError, TokenizerError
from engine.generate import Finished, Generation, Piece, Request, check_tokens
from engine.gguf import GGUFFile
from engine.kept_prefixes import KeptPrefixes, kept_prefixes
from engine.kernels.kv_layout import BLOCK_TOKENS, blocks_for
from engine.kv import BlockPool
from engine.lora import AdapterFile
from engine.model import KVFormat, Model
from engine.prefix_cache import PrefixCache
from engine.protocol import Priority
from engine.sampling_params import SamplingParams
from engine.scheduler import Scheduler
from engine.sparsity.calibrated import Sparsity
from engine.speculation import FirstOf, LookupDrafter
from engine.structured import Guides
from engine.ticket import Ticket
from engine.tokenizer import Tokenizer

log = logging.getLogger(__name__)

FloatArray = npt.NDArray[np.float32]
Progress = Callable[[str, float], None]
"""Called with the stage of loading and the fraction of it done, 0 to 1."""


EMBED_SLICE_TOKENS = 64
DEFAULT_KV_BYTES = 256 << 20
BRING_BACK_SECONDS = 0.03
"""What a request waits at most while prompts are brought back from disk after the start."""
CLOSE_STORE_SECONDS = 1.0
"""How long prompts that are being written to disk may hold up the end."""


class Engine:
    """One model, ready to answer. Close it, or use it in a ``with`` block."""

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        chat_template: ChatTemplate,
        cache: PrefixCache,
        kept: KeptPrefixes | None = None,
        draft: DraftModel | None = None,
        chunks: Chunks | None = None,
    ) -> None:
        """Use ``Engine.load``."""
        self.model = model
        self.tokenizer = tokenizer
        self.chat_template = chat_template
        self._kv_tokens = cache.pool.blocks * BLOCK_TOKENS
        self._kept = kept
        self._draft = draft
        self.reuses_chunks = chunks is not None
        """Whether text of earlier prompts is used again at other places."""
        self.scheduler = Scheduler(model, cache, kept=kept, chunks=chunks)
        if kept is not None:
            threading.Thread(
                target=_bring_back, args=(self.scheduler, kept), name="prefix-reader", daemon=True
            ).start()
        self.guides = Guides(tokenizer)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        context_length: int | None = None,
        cache_directory: str | os.PathLike[str] | None = None,
        kv_bytes: int | None = None,
        prefix_disk_bytes: int = 0,
        progress: Progress | None = None,
        adapters: Sequence[AdapterFile] = (),
        activation: str | None = None,
        kv_format: KVFormat = "f16",
        sparsity: Sparsity | None = None,
        draft_model: str | os.PathLike[str] | None = None,
        reuse_chunks: bool = False,
    ) -> Self:
        """Read a GGUF file. ``None``: all cores, the model's own context up to 8192 tokens.

        ``kv_bytes`` is the most that keys and values take, of all requests and of what is kept of
        earlier ones; default 256 MB, and at least one context. ``prefix_disk_bytes`` is the most
        that prompts take in the cache directory, so that they are read once, also over restarts.
        ``cache_directory`` keeps what is worth keeping between starts; without it nothing is kept.
        ``adapters`` are LoRA files, each with its scale, that are added to the weights.
        ``activation``, ``kv_format`` and ``sparsity`` are as in ``Model.load``. ``draft_model``, a
        GGUF file with the same tokens, guesses ahead what this one then computes in one step.
        ``reuse_chunks``: text of earlier prompts is used again at other places, which changes
        answers (see engine.chunk_reuse).
        Raises OSError, engine.gguf.ModelFormatError, TokenizerError, or ValueError for a budget in
        which nothing fits.
        """
        directory = None if cache_directory is None else Path(cache_directory)
        model = Model.load(
            Path(path),
            threads=threads,
            context_length=context_length,
            cache_directory=directory,
            progress=progress,
            adapters=adapters,
            activation=activation,
            kv_format=kv_format,
            sparsity=sparsity,
        )
        metadata = model.gguf.metadata
        try:
            tokenizer = _tokenizer(model.gguf)
            cache = PrefixCache(BlockPool(model.kv_layout, _kv_blocks(model, kv_bytes)))
            chunks = Chunks(cache, model.key_turner()) if reuse_chunks else None
            draft = DraftModel.load(draft_model, model, directory) if draft_model else None
        except BaseException:
            model.close()
            raise
        kept = None
        if directory is not None and prefix_disk_bytes > 0:
            try:
                kept = kept_prefixes(model, cache, directory / "prefixes", prefix_disk_bytes)
            except OSError as error:
                log.warning("prompts are not kept on disk: %s", error)
        return cls(model, tokenizer, chat_template_of(metadata), cache, kept, draft, chunks)

    @property
    def context_length(self) -> int:
        """Tokens that prompt and answer have together, at most: the model's, or as many as there is
        room for in the KV cache."""
        return min(self.model.config.context_length, self._kv_tokens)

    def encode_chat(
        self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] = ()
    ) -> list[int]:
        """Prompt tokens of a conversation with these tools. Raises ChatTemplateError."""
        return self.chat_template.encode(messages, self.tokenizer, tools)

    def generate(
        self, prompt: Sequence[int], params: SamplingParams | None = None
    ) -> Iterator[Piece]:
        """Pieces of the answer to ``prompt``. Leaving the iterator early cancels the work.

        Raises InvalidRequestError, QueueFullError, EngineClosedError.
        """
        for outcome in self.generate_fully(prompt, params):
            if isinstance(outcome, Piece):
                yield outcome

    def generate_fully(
        self, prompt: Sequence[int], params: SamplingParams | None = None
    ) -> Iterator[Piece | Finished]:
        """As ``generate``, with the account of the request as the last item."""
        generation = self.prepare(prompt, params or SamplingParams())
        outcomes: queue.SimpleQueue[Piece | Finished | EngineError] = queue.SimpleQueue()
        ticket = self.scheduler.submit(generation, outcomes.put)
        try:
            while True:
                outcome = outcomes.get()
                if isinstance(outcome, EngineError):
                    raise outcome
                yield outcome
                if isinstance(outcome, Finished):
                    return
        finally:
            ticket.cancel()

    def prepare(
        self, prompt: Sequence[int], params: SamplingParams, shown: Collection[int] = ()
    ) -> Request:
        """A request, checked; a grammar in it takes a while. shown: control tokens to be text.

        Raises InvalidRequestError, ContextLengthError.
        """
        if params.beam_width > 1:
            return BeamSearch(prompt, params, self.tokenizer, self.context_length)
        guide = None if params.grammar is None else self.guides.guide(params.grammar)
        drafter = None
        if self._draft is not None:
            drafter = FirstOf(LookupDrafter(), self._draft.drafter())
        about = (self.tokenizer, self.context_length)
        return Generation(prompt, params, *about, guide, shown, drafter)

    def stream(
        self,
        request: Request,
        priority: Priority = "interactive",
        leader: "Stream | None" = None,
        *,
        pin: bool = False,
    ) -> "Stream":
        """Queue a prepared request and give its pieces to the running event loop.

        leader: an earlier one with the same prompt; pin: as `Scheduler.submit`. Raises
        QueueFullError, EngineClosedError at once.
        """
        return Stream(self.scheduler, request, priority, leader, pin=pin)

    def check_input(self, tokens: Sequence[int]) -> None:
        """Raises InvalidRequestError for tokens that ``logits`` and ``embed`` cannot take."""
        if len(tokens) > self.context_length:
            raise ContextLengthError(len(tokens), self.context_length)
        check_tokens(tokens, self.tokenizer.vocabulary_size)

    def logits(self, tokens: Sequence[int]) -> FloatArray:
        """Logits after every position, shape (len(tokens), vocabulary)."""
        self.check_input(tokens)
        ids = np.asarray(tokens, dtype=np.int32)
        future: Future[FloatArray] = self.scheduler.run(
            lambda model: model.forward(ids, model.new_cache(), want="all")
        )
        return future.result()

    async def embed(self, tokens: Sequence[int]) -> FloatArray:
        """Mean of the final hidden states, shape (dim,), of length 1.

        Goes in slices, so that others take their turns and cancelling takes effect between two.
        Raises InvalidRequestError, QueueFullError, EngineClosedError.
        """
        self.check_input(tokens)
        cache = self.model.new_cache()
        total = np.zeros(self.model.config.dim, dtype=np.float32)
        for start in range(0, len(tokens), EMBED_SLICE_TOKENS):
            part = np.asarray(tokens[start : start + EMBED_SLICE_TOKENS], dtype=np.int32)
            states = self.scheduler.run(partial(Model.hidden, tokens=part, cache=cache))
            total += (await asyncio.wrap_future(states)).sum(axis=0)
        norm = np.linalg.norm(total)  # of the sum: the mean has the same direction
        unit: FloatArray = (total / norm if norm > 0 else total).astype(np.float32)
        return unit

    def close(self, timeout: float | None = None) -> bool:
        """Stop the work and free the model; False if the work did not stop in ``timeout`` s."""
        stopped = self.scheduler.close(timeout)
        if stopped:
            if self._kept is not None:
                self._kept.close(CLOSE_STORE_SECONDS)
            self.guides.close()
            self.model.close()
            if self._draft is not None:
                self._draft.close()
        return stopped

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _bring_back(scheduler: Scheduler, kept: KeptPrefixes) -> None:
    """Have the prompts used last in memory before they are asked for, while nobody asks: a request
    brings back what it needs itself."""
    try:
        for tokens in kept.recent():
            more = True
            while more:
                while scheduler.load().active:
                    time.sleep(BRING_BACK_SECONDS)
                part = partial(_restore_some, kept=kept, tokens=tokens)
                more = scheduler.run(part).result()
    except (EngineError, CancelledError):
        return  # it is shutting down, or has better things to do


def _restore_some(model: Model, kept: KeptPrefixes, tokens: Sequence[int]) -> bool:
    return kept.restore(tokens, BRING_BACK_SECONDS)


def _tokenizer(gguf: GGUFFile) -> Tokenizer:
    """The file's; TokenizerError names the file."""
    try:
        return Tokenizer(gguf.metadata)
    except TokenizerError as error:
        raise TokenizerError(f"{gguf.path.name}: {error}") from None


def _kv_blocks(model: Model, kv_bytes: int | None) -> int:
    """Blocks within the budget. Raises ValueError for one in which nothing fits."""
    size = model.kv_layout.block_bytes
    if kv_bytes is None:
        return max(DEFAULT_KV_BYTES // size, blocks_for(model.config.context_length))
    if kv_bytes < size:
        raise ValueError(f"kv_bytes is {kv_bytes}; a block of this model takes {size}")
    return kv_bytes // size


class Stream:
    """Pieces of one answer as they come, for asyncio. Close it to cancel the work.

    The queue holds at most the answer's own pieces, so ``max_tokens`` and the context bound it.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        request: Request,
        priority: Priority = "interactive",
        leader: "Stream | None" = None,
        *,
        pin: bool = False,
    ) -> None:
        self._outcomes: asyncio.Queue[Piece | Finished | EngineError] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        first = None if leader is None else leader._ticket
        self._ticket: Ticket = scheduler.submit(
            request, self._take, priority=priority, leader=first, pin=pin
        )

    async def __aiter__(self) -> AsyncIterator[Piece | Finished]:
        """Every piece, then Finished. Raises what ended the work early."""
        while True:
            outcome = await self._outcomes.get()
            if isinstance(outcome, EngineError):
                raise outcome
            yield outcome
            if isinstance(outcome, Finished):
                return

    def close(self) -> None:
        """Cancel what is not finished."""
        self._ticket.cancel()

    def _take(self, outcome: Piece | Finished | EngineError) -> None:
        self._loop.call_soon_threadsafe(self._outcomes.put_nowait, outcome)
