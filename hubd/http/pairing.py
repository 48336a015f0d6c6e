"""One-time codes by which a browser becomes a device of the household.

A code is shown on the hub's own machine and typed, or opened as a link, on the device. It lives in
memory alone: a restart voids it. Forty bits are enough because it ends soon and few may be tried.
"""

import secrets
import time
from collections.abc import Callable

import msgspec

from hubd.policy import Scope

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: nothing that is read as something else."""
LENGTH = 8
VALID_S = 600.0
MAXIMUM_CODES = 20
TRIES = 50
"""Wrong ones, from wherever they come, after which every code is void."""
_READ_AS = str.maketrans({"O": "0", "I": "1", "L": "1", "U": "V", "-": None, " ": None})


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What a code gives: whose device it becomes, and what that may."""

    person: str
    scopes: tuple[Scope, ...]
    areas: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None


class PairingCodes:
    """The codes that are waiting to be used."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._offers: dict[str, tuple[Offer, float]] = {}
        """Code → (what it gives, when it ends)."""
        self._tries = 0

    def make(self, offer: Offer, valid_s: float = VALID_S) -> str:
        """A new code, as it is shown: two groups of four."""
        self._drop_ended()
        while len(self._offers) >= MAXIMUM_CODES:
            del self._offers[next(iter(self._offers))]
        self._tries = 0
        code = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        self._offers[code] = (offer, self._clock() + valid_s)
        return f"{code[:4]}-{code[4:]}"

    def take(self, typed: str) -> Offer | None:
        """What the code gives, once; ``None`` where there is no such code, or none any more."""
        self._drop_ended()
        offer, _ = self._offers.pop(typed.upper().translate(_READ_AS), (None, 0.0))
        if offer is None:
            self._tries += 1
            if self._tries >= TRIES:
                self._offers.clear()
        return offer

    def _drop_ended(self) -> None:
        now = self._clock()
        self._offers = {code: kept for code, kept in self._offers.items() if kept[1] > now}
