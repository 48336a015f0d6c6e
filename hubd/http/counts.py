"""Requests counted by route, and how long they took."""

import bisect
from collections import defaultdict
from collections.abc import Iterator

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

Sample = tuple[str, dict[str, str], float]
"""What is added to a metric's name (``_bucket`` …), labels, value."""


class Requests:
    """Requests counted by route, with the time that they took."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = defaultdict(int)
        self._seconds: dict[str, list[int]] = {}
        self._sums: dict[str, float] = defaultdict(float)

    def count(self, route: str, status: int, seconds: float) -> None:
        """One more that was answered."""
        self._counts[route, str(status)] += 1
        buckets = self._seconds.setdefault(route, [0] * (len(BUCKETS_S) + 1))
        buckets[bisect.bisect_left(BUCKETS_S, seconds)] += 1
        self._sums[route] += seconds

    def totals(self) -> Iterator[Sample]:
        for (route, status), count in sorted(self._counts.items()):
            yield "", {"route": route, "status": status}, count

    def histogram(self) -> Iterator[Sample]:
        for route, buckets in sorted(self._seconds.items()):
            total = 0
            for limit, count in zip((*map(str, BUCKETS_S), "+Inf"), buckets, strict=True):
                total += count
                yield "_bucket", {"route": route, "le": limit}, total
            yield "_sum", {"route": route}, self._sums[route]
            yield "_count", {"route": route}, total
