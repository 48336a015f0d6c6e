"""Stored chunks embedded by another model, beside the vectors in use. Must not know of files.

Each batch is kept as it is made, so that what was cut off goes on where it was.
"""

import time

from rag.db import DatabaseThread
from rag.embed import BATCH, Embedder
from rag.embed_chunks import Text, embed_chunks
from rag.store import Store
from rag.types import ReindexProgress, ReindexProgressCallback, WaitUntilIdle
from rag.vector_table import VectorTable

SWEPT_AT_ONCE = 10_000
"""Old vectors deleted in one transaction, for which a search may have to wait."""


async def embed_missing(
    store: Store,
    thread: DatabaseThread,
    table: VectorTable,
    embedder: Embedder,
    progress: ReindexProgressCallback | None = None,
    wait_until_idle: WaitUntilIdle | None = None,
    most: int | None = None,
) -> int:
    """Embed the stored chunks that ``table`` has no vector of, or about ``most``; says how many.

    Raises:
        rag.errors.EmbedderError: no vectors to be had; those made before stay.
    """
    began = time.monotonic()
    total, left = await thread.run(store.chunk_count), await thread.run(table.missing_count)
    done = after = 0
    while True:
        chunks = await thread.run(store.without_vector, table, BATCH, after)
        if not chunks:
            if not after:
                return done
            after = 0  # once more from the beginning: for what was stored meanwhile
            continue
        if wait_until_idle:
            await wait_until_idle()
        texts = [Text(chunk.document, chunk.heading, chunk.text) for chunk in chunks]
        made = await embed_chunks(embedder, texts)
        await thread.run(store.add_vectors, table, [chunk.id for chunk in chunks], made)
        done, after = done + len(chunks), chunks[-1].id
        if most is not None and done >= most:
            return done
        left = max(0, left - len(chunks))
        if progress:
            seconds = left * (time.monotonic() - began) / done
            progress(ReindexProgress(table.model, total - left, total, seconds))


async def sweep(store: Store, thread: DatabaseThread) -> None:
    """Delete the vectors of models that are no longer searched."""
    while await thread.run(store.table.sweep, SWEPT_AT_ONCE):
        pass
