"""Vectors found by a Qdrant server, for a library that has outgrown the search in memory.

What is there is a copy. SQLite keeps texts and vectors: the copy is compared with it and completed
step by step, may be lost, and only proposes candidates. While it is away or not complete
``IndexAwayError`` says so. Permissions are a filter of the query itself, over the documents that
may be seen. Knows no database; imports qdrant-client when it is made.
"""

import contextlib
import logging
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag.elsewhere import Existing, StoredAfter
from rag.errors import IndexAwayError, RagError
from rag.vectors import Ids, Int8s

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client.models import Filter

AT_ONCE = 1000
"""Vectors a step of the comparison."""
TIMEOUT_S = 3
_log = logging.getLogger(__name__)

Result = TypeVar("Result")


class QdrantIndex:
    """The vectors of one embedding model in a collection of that name."""

    def __init__(self, client: "QdrantClient", model: str, dimension: int) -> None:
        self._client = client
        self._dimension = dimension
        self._name = "hubd-" + "".join(c if c.isalnum() or c in "-." else "-" for c in model)
        self._compared = 0
        self._orphans: int | None = None
        self.complete = False
        """Whether all vectors are there, so that a search misses none."""

    @classmethod
    def at(cls, url: str, api_key: str) -> Callable[[str, int], Self]:
        """Makes the index of a model on the server at ``url``.

        Raises:
            RagError: qdrant-client is not installed.
        """
        try:
            from qdrant_client import QdrantClient
        except ImportError as error:
            raise RagError(
                "[rag] url needs the package qdrant-client: pip install 'hubd[qdrant]'"
            ) from error
        client = QdrantClient(
            url=url, api_key=api_key or None, timeout=TIMEOUT_S, check_compatibility=False
        )
        return lambda model, dimension: cls(client, model, dimension)

    def reachable(self) -> bool:
        """Whether the server answers; may be called from any thread."""
        try:
            self._client.collection_exists(self._name)
        except Exception as error:  # whatever it is, SQLite has everything
            _log.info("Qdrant does not answer: %s", error)
            return False
        return True

    def add(self, ids: Ids, documents: Ids, values: Int8s) -> None:
        """Take over vectors; where that fails, the next comparison finds what is missing."""
        self._try(lambda: self._upsert(ids, documents, values))

    def remove(self, documents: Ids) -> None:
        """Forget the vectors of these documents."""
        from qdrant_client.models import FilterSelector

        selector = FilterSelector(filter=_of(documents))
        self._try(lambda: self._client.delete(self._name, selector))

    def nearest(self, vector: NDArray[np.float32], k: int, documents: Ids | None = None) -> Ids:
        """The ``k`` nearest, in no order; of ``documents`` alone.

        Raises:
            IndexAwayError: it does not answer, or lacks vectors.
        """
        found = self._try(
            lambda: (
                self._client.query_points(
                    self._name,
                    query=vector.tolist(),
                    query_filter=None if documents is None else _of(documents),
                    limit=k,
                    with_payload=False,
                ).points
            )
        )
        return np.array([point.id for point in found or []], np.int64)

    def catch_up(self, stored_after: StoredAfter, existing: Existing) -> bool:
        """One step of the comparison with what is stored; says whether the copy is complete.

        First what is missing or different, then what is there and should not be.

        Raises:
            IndexAwayError: it does not answer.
        """
        if self.complete:
            return True
        if not self._compared:
            self._ask(self._prepare)
        if self._orphans is None:
            ids, documents, values = stored_after(self._compared, AT_ONCE)
            if len(ids):
                self._ask(lambda: self._upsert_different(ids, documents, values))
                self._compared = int(ids[-1])
            else:
                self._orphans = 0
            return False
        self._orphans = self._ask(lambda: self._drop_orphans(existing, self._orphans or 0))
        self.complete = self._orphans is None
        return self.complete

    def drop(self) -> None:
        """Delete the collection: another model's is searched from now on."""
        with contextlib.suppress(IndexAwayError):
            self._ask(lambda: self._client.delete_collection(self._name))
        self.complete, self._compared, self._orphans = False, 0, None

    def _prepare(self) -> None:
        from qdrant_client.models import Distance, PayloadSchemaType, VectorParams

        if not self._client.collection_exists(self._name):
            size = VectorParams(size=self._dimension, distance=Distance.COSINE, on_disk=True)
            self._client.create_collection(self._name, vectors_config=size)
            if type(self._client._client).__name__ != "QdrantLocal":
                self._client.create_payload_index(
                    self._name, "document", field_schema=PayloadSchemaType.INTEGER
                )

    def _upsert(self, ids: Ids, documents: Ids, values: Int8s) -> None:
        from qdrant_client.models import PointStruct

        points = [
            PointStruct(
                id=int(number), vector=value.astype(np.float32).tolist(),
                payload={"document": int(document), "sum": zlib.crc32(value.tobytes())},
            )
            for number, document, value in zip(ids, documents, values, strict=True)
        ]  # fmt: skip
        if points:
            self._client.upsert(self._name, points)

    def _upsert_different(self, ids: Ids, documents: Ids, values: Int8s) -> None:
        """A number may be a new chunk's, given again: the vector's sum tells."""
        there = {
            int(point.id): point.payload or {}
            for point in self._client.retrieve(self._name, ids.tolist(), with_payload=True)
        }
        different = [
            there.get(int(number))
            != {"document": int(document), "sum": zlib.crc32(value.tobytes())}
            for number, document, value in zip(ids, documents, values, strict=True)
        ]
        self._upsert(ids[different], documents[different], values[different])

    def _drop_orphans(self, existing: Existing, start: int) -> int | None:
        """Look at the next ones from ``start`` on; returns where to go on."""
        from qdrant_client.models import PointIdsList

        points, after = self._client.scroll(
            self._name, limit=AT_ONCE, offset=start or None, with_payload=False
        )
        ids = [int(point.id) for point in points]
        known = existing(ids)
        orphans: list[Any] = [number for number in ids if number not in known]
        if orphans:
            self._client.delete(self._name, PointIdsList(points=orphans))
        return None if after is None else int(str(after))

    def _try(self, work: Callable[[], Result]) -> Result:
        """``work`` where the copy is complete; what fails makes it incomplete."""
        if not self.complete:
            raise IndexAwayError("Qdrant has not all vectors yet")
        return self._ask(work)

    def _ask(self, work: Callable[[], Result]) -> Result:
        try:
            return work()
        except Exception as error:  # of httpx, pydantic or the client: SQLite has everything
            self.complete, self._compared, self._orphans = False, 0, None
            raise IndexAwayError(f"Qdrant does not answer: {error}") from error


def _of(documents: Ids) -> "Filter":
    from qdrant_client.models import FieldCondition, Filter, MatchAny

    return Filter(must=[FieldCondition(key="document", match=MatchAny(any=documents.tolist()))])
