"""How often somebody may call: a bucket of tokens a name, filled again with time."""

import time
from collections.abc import Callable

MAXIMUM_NAMES = 10_000


class Rate:
    """``burst`` calls at once, ``per_minute`` in the long run."""

    def __init__(
        self, *, per_minute: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_minute / 60
        self._burst = burst
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}
        """Name → (tokens, when they were counted)."""

    def wait_s(self, name: str) -> float:
        """0 and one token less, or how long until there is one."""
        now = self._clock()
        tokens, counted = self._buckets.pop(name, (float(self._burst), now))
        tokens = min(self._burst, tokens + (now - counted) * self._per_second)
        while len(self._buckets) >= MAXIMUM_NAMES:
            del self._buckets[next(iter(self._buckets))]
        if tokens < 1:
            self._buckets[name] = (tokens, now)
            return (1 - tokens) / self._per_second
        self._buckets[name] = (tokens - 1, now)
        return 0.0
