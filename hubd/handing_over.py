"""Vectors that are searched by Qdrant, where ``[rag] url`` names one: the copy is kept complete."""

import asyncio
import logging

from hubd.errors import HubError
from hubd.settings import Rag
from rag.elsewhere import MakeElsewhere
from rag.errors import RagError
from rag.library import Library
from rag.types import WaitUntilIdle

EVERY_S = 30.0
"""How often it is seen to; meanwhile changes are told at once."""

log = logging.getLogger(__name__)


def elsewhere(settings: Rag) -> MakeElsewhere | None:
    """Where vectors are searched; None: in memory.

    Raises:
        HubError: the client is not installed.
    """
    if not settings.url:
        return None
    from rag.qdrant import QdrantIndex

    try:
        return QdrantIndex.at(settings.url, settings.api_key)
    except RagError as error:
        raise HubError(str(error), "Or take [rag] url out of hubd.toml.") from error


async def keep_complete(library: Library, wait_until_idle: WaitUntilIdle) -> None:
    """Until cancelled. What changes between complete and not is logged."""
    known: bool | None = None
    while True:
        complete = await library.hand_over(wait_until_idle)
        if complete != known:
            log.info("vectors are searched by=%s", "qdrant" if complete else "memory")
            known = complete
        await asyncio.sleep(EVERY_S)
