"""A submitted request, as its sender and the compute thread hold it, and how its outcomes reach
whoever sent it."""

import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.generate import Finished, Piece, Request

if TYPE_CHECKING:
    from engine.chunk_reuse import Reuse

log = logging.getLogger(__name__)

Sink = Callable[[Piece | Finished | EngineError], None]
"""Takes what a request gives, on the compute thread. The last is Finished or an EngineError."""


class Ticket:
    """A submitted request, as its sender holds it."""

    def __init__(
        self,
        request: Request,
        sink: Sink,
        order: tuple[int, int],
        wake: Callable[[], None],
        leader: "Ticket | None" = None,
        *,
        pin: bool = False,
    ) -> None:
        """order: priority and arrival, the smaller goes first. leader: an earlier request with the
        same prompt, whose blocks this one shares. pin: whether its prompt stays cached."""
        self.request = request
        self.sink = sink
        self.order = order
        self.leader = leader
        self.pin = pin
        self.cancelled = False
        self.submitted_at = time.perf_counter()
        self.started = False
        self.ended = False
        self.published = 0
        """Full blocks that the prefix cache has been offered."""
        self.known = 0
        """What the prefix cache had added when it was last asked for more of the prompt."""
        self.on_disk = True
        """Whether more of its prompt may be on disk."""
        self.failure: EngineError | None = None
        """Why it cannot go on."""
        self.kept = False
        """Whether its prompt was offered to the disk, and to be found at other places."""
        self.reuse: Reuse | None = None
        """What it uses of text that was read at another place, where that is allowed."""
        self._wake = wake

    def cancel(self) -> None:
        """End the request within one step, wherever it is. Safe from any thread, and twice."""
        self.cancelled = True
        self._wake()

    @property
    def waits_for_leader(self) -> bool:
        """Whether another is still computing the prompt of both."""
        leader = self.leader
        return leader is not None and not leader.ended and leader.request.pending > 1

    @property
    def exact_tokens(self) -> Sequence[int]:
        """Its tokens up to the first whose keys and values are not what computing them gives."""
        tokens = self.request.tokens
        return tokens if self.reuse is None else tokens[: self.reuse.exact]

    @property
    def decoding(self) -> bool:
        """Whether its prompt is computed."""
        return self.request.pending <= 1


def deliver(ticket: Ticket, outcome: Piece | Finished | EngineError) -> None:
    """Hand over. A receiver that is gone (its event loop is closed) ends its request."""
    ticket.ended = not isinstance(outcome, Piece)
    try:
        ticket.sink(outcome)
    except Exception as error:
        log.warning("nobody takes the answer any more: %s", error)
        ticket.cancelled = True
