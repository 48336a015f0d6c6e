"""Whoever fails to prove who they are waits: twice as long each time."""

import time
from collections.abc import Callable

FREE = 5
"""Mistakes that cost nothing: people mistype."""
LONGEST_S = 300.0
FORGOTTEN_S = 900.0
MAXIMUM_NAMES = 10_000


class BackOff:
    """Failures by name, which is an address here."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, tuple[int, float]] = {}
        """Name → (how many, when the last one was)."""

    def wait_s(self, name: str) -> float:
        """How long until the next attempt is looked at; 0: now."""
        count, last = self._failures.get(name, (0, 0.0))
        if count < FREE:
            return 0.0
        pause = min(LONGEST_S, 2.0 ** (count - FREE))
        return max(0.0, last + pause - self._clock())

    def failed(self, name: str) -> None:
        """One more failure."""
        now = self._clock()
        count, last = self._failures.pop(name, (0, now))
        while len(self._failures) >= MAXIMUM_NAMES:
            del self._failures[next(iter(self._failures))]
        self._failures[name] = (1 if now - last > FORGOTTEN_S else count + 1, now)

    def succeeded(self, name: str) -> None:
        """All is forgotten."""
        self._failures.pop(name, None)
