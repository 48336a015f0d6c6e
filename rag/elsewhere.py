"""What searches a copy of the vectors in place of memory: the protocol. ``rag.qdrant`` is one."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag.vectors import Ids, Int8s

StoredAfter = Callable[[int, int], tuple[Ids, Ids, Int8s]]
"""(number, count) → the numbers above it, their documents and vectors, of at most ``count``."""
Existing = Callable[[Sequence[int]], set[int]]
"""Those of these numbers that have a vector."""


class Elsewhere(Protocol):
    """The vectors of one model. All but ``reachable`` raise ``rag.errors.IndexAwayError``."""

    complete: bool
    """Whether it has all vectors; until then memory is searched."""

    def reachable(self) -> bool:
        """Whether it answers; may be called from any thread."""
        ...

    def add(self, ids: Ids, documents: Ids, values: Int8s) -> None:
        """Take over new vectors."""
        ...

    def remove(self, documents: Ids) -> None:
        """Forget the vectors of these documents."""
        ...

    def nearest(self, vector: NDArray[np.float32], k: int, documents: Ids | None = None) -> Ids:
        """The ``k`` nearest, of ``documents`` alone, in no order."""
        ...

    def catch_up(self, stored_after: StoredAfter, existing: Existing) -> bool:
        """One step of the comparison with what is stored; says whether the copy is complete."""
        ...

    def drop(self) -> None:
        """Another model is searched from now on."""
        ...


MakeElsewhere = Callable[[str, int], Elsewhere]
"""(model, dimension) → where its vectors are searched."""
