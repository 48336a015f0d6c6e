"""The first passages of a search put into the order of a cross-encoder, where there is one.

It reads the question and a passage together, which is slow and exact; ``rag.retrieve`` decides what
it gets to see. The one that runs in a process of its own is ``rag.worker_reranker``. Where it is
late or down the order stays as it was, and the result says so. Must not know of processes or SQL.
"""

import time
from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from rag.chunk import embedded_text
from rag.errors import RerankerError
from rag.question import take_apart
from rag.types import Passage, Reranking, Retrieval

RERANKED = 8
"""Passages that are read again: 24 take three times as long, and on XQuAD the right one is among
the first 5 for .996 of the questions."""

RerankerState = Literal["stopped", "starting", "ready", "busy", "failed"]


class RerankerStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How a reranker is."""

    model: str
    state: RerankerState
    problem: str = ""
    """Why passages were not put into its order when it was last asked; empty when they were."""


class Reranker(Protocol):
    """Tells how well texts answer a question."""

    @property
    def status(self) -> RerankerStatus: ...

    async def start(self) -> None:
        """Load the model now, so that the first question need not go without.

        Raises:
            RerankerError: it cannot be loaded.
        """
        ...

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """A finite number for each text, float32 (len(texts),), larger where it answers better.

        Raises:
            RerankerError: it has none, or not in time.
        """
        ...

    async def close(self) -> None:
        """End what was started."""
        ...


async def reranked(reranker: Reranker, question: str, found: Retrieval, k: int) -> Retrieval:
    """The first ``RERANKED`` passages of ``found`` in the reranker's order, the rest behind them.

    ``k`` are kept. Passages' scores are probabilities of the search, which a cross-encoder's
    numbers are not: they are dealt out anew, the highest to the one that is first now.
    """
    first, rest = found.passages[:RERANKED], found.passages[RERANKED:]
    if len(first) < 2:
        return msgspec.structs.replace(found, passages=found.passages[:k])
    began = time.monotonic()
    texts = [embedded_text(one.document, one.heading, one.text) for one in first]
    try:
        scores = await reranker.scores(spelled_out(question), texts)
    except RerankerError as error:
        told = Reranking(model=reranker.status.model, problem=str(error))
        return msgspec.structs.replace(found, passages=found.passages[:k], reranking=told)
    order = [int(at) for at in np.argsort(-scores, kind="stable")]
    told = Reranking(
        model=reranker.status.model,
        milliseconds=round((time.monotonic() - began) * 1000),
        places=[at + 1 for at in order][:k],
    )
    passages = [*_dealt_out(first, order), *rest]
    return msgspec.structs.replace(found, passages=passages[:k], reranking=told)


def spelled_out(question: str) -> str:
    """The question with the years that it means and does not say: "last year's bill (2025)"."""
    years = [str(year) for year in sorted(take_apart(question).years) if str(year) not in question]
    return f"{question} ({', '.join(years)})" if years else question


def _dealt_out(passages: Sequence[Passage], order: Sequence[int]) -> list[Passage]:
    scores = sorted((passage.score for passage in passages), reverse=True)
    return [
        msgspec.structs.replace(passages[at], score=score)
        for at, score in zip(order, scores, strict=True)
    ]
