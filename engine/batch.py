"""Which requests take part in the next step, and with how many tokens.

At every step the running requests share one forward pass (continuous batching: Yu et al. 2022,
Orca), each with its next token or with a slice of its prompt. First comes who has the highest
priority and, of equals, who came first. Where KV blocks run out the last in that order gives its
own back and is computed again later, so the first can always go on. For the compute thread alone.
"""

import bisect
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from engine.chunk_reuse import Chunks, Reuse
from engine.errors import EngineError
from engine.generate import Finished, Piece, Request
from engine.kept_prefixes import KeptPrefixes
from engine.kernels.kv_layout import BLOCK_TOKENS, blocks_for
from engine.kv import KVSequence
from engine.prefix_cache import PrefixCache
from engine.protocol import SchedulerCounts
from engine.step_cost import LEAST_TOKENS, StepCost, position_of_equal_work

if TYPE_CHECKING:
    from engine.model import Model
    from engine.sampling import Logits
    from engine.step_rows import Part

log = logging.getLogger(__name__)

Sink = Callable[[Piece | Finished | EngineError], None]
"""Takes what a request gives, on the compute thread. The last is Finished or an EngineError."""

STEP_TOKENS = 240
"""Most that a step computes; a few below the model's own limit, for tokens guessed ahead."""
MIN_SLICE_TOKENS = 16
"""So many of a prompt are computed in a step however long they take."""
SLICE_SECONDS = 0.25
"""Aim for a step with nothing but prefill, and for what comes back from disk before it: what
cancelling may take."""
SHARED_SLICE_SECONDS = 0.06
"""The same while others wait for it: what a running answer waits between two tokens. It shall be
below 0.15 even where the box is suddenly twice as slow."""
COPY_SECONDS = 0.004
"""Of a step, for copying what goes to disk; its slice of a prompt is shorter by that."""
MOST_POSTPONED = 16
"""Copying waits so many steps for prompts that are being computed, and for replies to leave."""
MOST_WITH_GUESSES = 2
"""With more answers in a step nobody guesses ahead: their own tokens use its rows better."""


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


class Spent(NamedTuple):
    """What the time of the steps went to, all together."""

    compute_s: float
    """In the model."""
    tokens: int
    """Computed in the last step."""
    restore_s: float
    """Bringing blocks back from disk."""
    copy_s: float
    """Copying blocks that go to disk."""


class Batch:
    """The requests that are being computed."""

    def __init__(
        self,
        model: "Model",
        cache: PrefixCache,
        max_active: int,
        kept: KeptPrefixes | None = None,
        chunks: Chunks | None = None,
    ) -> None:
        """kept: what is on disk, if anything is. chunks: what may be used again at other places."""
        self._model = model
        self._cache = cache
        self._kept = kept
        self._chunks = chunks
        self._max_active = max_active
        self._cost = StepCost(position_of_equal_work(model.config, model.kv_layout.number_bytes))
        self._disk_s = 0.0  # of this step, spent on blocks that come from disk or go there
        self._postponed = 0  # steps in a row that copied nothing
        self._compute_s, self._computed_tokens = 0.0, 0
        self.waiting: list[Ticket] = []
        """Those that have no part in the steps, in order."""
        self.active: list[Ticket] = []
        """Those that have, in order."""
        self.queue_wait_s = 0.0
        self.started = self.preemptions = self.drafted = self.accepted = 0

    def add(self, ticket: Ticket) -> None:
        """One more waits."""
        bisect.insort(self.waiting, ticket, key=_order)

    def step(self, busy: bool) -> None:
        """Let in who has room, compute one step, hand over what it gives.

        busy: whether others wait for the compute thread.
        """
        self._end_cancelled()
        self._disk_s = 0.0
        self._admit()
        self._copy_for_disk()
        plan = self._plan(busy)
        if plan:
            self._compute(plan)
        elif self.active:
            time.sleep(0.002)  # blocks are held elsewhere for a moment, such as to be written out

    @property
    def copies_wait(self) -> bool:
        """Whether something is to be copied for the disk when there is nothing else to do."""
        return self._kept is not None and self._kept.waiting

    def spent(self) -> "Spent":
        """What the time went to so far. For the compute thread, such as a sink."""
        kept = self._kept
        return Spent(
            compute_s=self._compute_s,
            tokens=self._computed_tokens,
            restore_s=kept.restore_s if kept else 0.0,
            copy_s=kept.copy_s if kept else 0.0,
        )

    def finish(self, ticket: Ticket, outcome: Finished | EngineError) -> None:
        """End a request; what it computed stays in the prefix cache unless it failed."""
        request = ticket.request
        self.active.remove(ticket)
        if request.sequences and isinstance(outcome, Finished):
            self._cache.publish(ticket.exact_tokens, request.sequences[0], tail=True)
            if ticket.pin:
                self._cache.pin(ticket.exact_tokens)
        request.pause()
        self.drafted += request.drafted
        self.accepted += request.accepted
        deliver(ticket, outcome)
        if isinstance(outcome, Finished):
            self._keep(ticket)

    def counts(self) -> SchedulerCounts:
        """What has been done so far, and who holds the KV blocks now."""
        cache, pool = self._cache, self._cache.pool
        available = cache.available()
        return SchedulerCounts(
            kv_blocks=pool.blocks,
            kv_blocks_in_use=pool.blocks - available,
            kv_blocks_cached=available - pool.free,
            prompt_tokens=cache.prompt_tokens,
            cached_tokens=cache.cached_tokens,
            evicted_blocks=cache.evicted_blocks,
            requests=self.started,
            queue_wait_s=round(self.queue_wait_s, 3),
            preemptions=self.preemptions,
            drafted_tokens=self.drafted,
            accepted_tokens=self.accepted,
            restored_tokens=self._kept.restored_tokens if self._kept else 0,
            restore_s=round(self._kept.restore_s, 3) if self._kept else 0.0,
            reused_tokens=self._chunks.reused_tokens if self._chunks else 0,
            reuse_s=round(self._chunks.reuse_s, 3) if self._chunks else 0.0,
        )

    def _end_cancelled(self) -> None:
        for ticket in [ticket for ticket in self.waiting if ticket.cancelled]:
            self.waiting.remove(ticket)
            deliver(ticket, ticket.request.finished("cancelled"))
        for ticket in [ticket for ticket in self.active if ticket.cancelled]:
            self.finish(ticket, ticket.request.finished("cancelled"))

    def _admit(self) -> None:
        """Waiting tickets become active in their order, as far as there is room; active ones of
        lower priority go back for that."""
        for ticket in list(self.waiting):
            if ticket.waits_for_leader:
                continue
            while not self._has_room(ticket):
                if self.active[-1].order[0] <= ticket.order[0]:
                    return
                self._preempt(self.active[-1])
            self._restore(ticket)
            if not ticket.on_disk:  # else the rest comes before the next step
                self.waiting.remove(ticket)
                self._start(ticket)

    def _has_room(self, ticket: Ticket) -> bool:
        if not self.active:
            return True
        promised = sum(
            max(0, blocks_for(len(other.request.tokens) + 1) - len(sequence.blocks))
            for other in self.active
            for sequence in other.request.sequences
        )
        wanted = self._cache.wanted(ticket.request.tokens)
        return len(self.active) < self._max_active and wanted + promised <= self._cache.available()

    def _start(self, ticket: Ticket) -> None:
        request, capacity = ticket.request, self._model.config.context_length
        leader = ticket.leader.request.sequences if ticket.leader else ()
        shared = len(request.tokens) - 1
        if leader and leader[0].length >= shared and not ticket.started:
            sequence: KVSequence = leader[0].fork(shared)
            ticket.reuse = ticket.leader.reuse if ticket.leader else None
        else:
            sequence = self._cache.begin(request.tokens, capacity, count=not ticket.started)
            if self._chunks is not None:
                ticket.reuse = self._chunks.begin(request.tokens, sequence.length)
        if not ticket.started:
            ticket.started = True
            self.started += 1
            self.queue_wait_s += time.perf_counter() - ticket.submitted_at
        ticket.known = self._cache.additions
        request.start(sequence)
        bisect.insort(self.active, ticket, key=_order)

    def _preempt(self, ticket: Ticket) -> None:
        """Give its blocks back; it is computed again when there is room."""
        self.preemptions += 1
        request = ticket.request
        self._cache.publish(ticket.exact_tokens, request.sequences[0], tail=True)
        request.pause()
        ticket.published = 0
        ticket.reuse = None
        ticket.on_disk = True
        self.active.remove(ticket)
        self.add(ticket)

    def _plan(self, busy: bool) -> "list[tuple[Ticket, list[Part]]]":
        """Who takes part in the next step with what; room for it is reserved."""
        decoding = [ticket for ticket in self.active if ticket.decoding]
        rows = STEP_TOKENS - sum(len(ticket.request.sequences) for ticket in decoding)
        work, least = self._slice_work(bool(decoding) or busy), MIN_SLICE_TOKENS
        plan: list[tuple[Ticket, list[Part]]] = []
        for ticket in list(self.active):
            if ticket not in self.active:
                continue  # preempted for one before it
            request = ticket.request
            prefills = not ticket.decoding
            most = 1
            if prefills:
                if ticket.known < self._cache.additions and len(request.sequences) == 1:
                    ticket.known = self._cache.additions
                    self._cache.extend(request.sequences[0], request.tokens)
                unbroken = STEP_TOKENS
                if ticket.reuse is not None:
                    unbroken = ticket.reuse.advance(request.sequences[0])
                done = len(request.tokens) - request.pending
                most = min(rows, unbroken, max(least, self._cost.tokens(work, done)))
                if most < 1:
                    continue
            draft = len(decoding) <= MOST_WITH_GUESSES
            parts = request.parts(most, draft=draft)
            if not self._reserve(ticket, parts):
                continue
            if prefills:
                rows -= sum(part.tokens.size for part in parts)
                work, least = work - self._cost.work(parts), 0
            plan.append((ticket, parts))
        return plan

    def _restore(self, ticket: Ticket) -> None:
        """Bring back what the disk has of its prompt; all that wait share the time of a slice."""
        if self._kept is None:
            ticket.on_disk = False
        elif ticket.on_disk:
            seconds = SHARED_SLICE_SECONDS if self.active else SLICE_SECONDS
            if self._disk_s >= seconds:
                return
            before = self._kept.restore_s
            ticket.on_disk = self._kept.restore(ticket.request.tokens, seconds - self._disk_s)
            self._disk_s += self._kept.restore_s - before

    def _copy_for_disk(self) -> None:
        """Some of what waits for it; seldom while somebody waits for a first token."""
        if self._kept is None or not self._kept.waiting:
            return
        hurried = bool(self.waiting) or not all(ticket.decoding for ticket in self.active)
        self._postponed = (self._postponed + 1) % MOST_POSTPONED if hurried else 0
        if self._postponed == 0:
            before = self._kept.copy_s
            self._kept.copy_some(COPY_SECONDS)
            self._disk_s += self._kept.copy_s - before

    def _keep(self, ticket: Ticket) -> None:
        """Have what is cached of it written to disk, and found at other places."""
        ticket.kept, exact = True, ticket.exact_tokens
        if self._kept is not None:
            self._kept.keep(exact)
        if self._chunks is not None and len(exact) == len(ticket.request.tokens):
            self._chunks.remember(exact)

    def _reserve(self, ticket: Ticket, parts: "Sequence[Part]") -> bool:
        """Take the blocks for these parts, from the cache and, if need be, from who comes later."""
        wanted = sum(part.sequence.blocks_wanted(part.tokens.size) for part in parts)
        while not self._cache.make_room(wanted):
            victim = self.active[-1]
            if victim is ticket:
                own = sum(len(part.sequence.blocks) for part in parts)
                if len(self.active) == 1 and wanted + own > self._cache.pool.blocks:
                    self.finish(ticket, EngineError("the KV cache is too small for this request"))
                return False
            self._preempt(victim)
        for part in parts:
            part.sequence.reserve(part.tokens.size)
        return True

    def _slice_work(self, shared: bool) -> float:
        """As much prefill as this box, at its present speed, does in the time for a slice.

        Results do not depend on it: a token's logits are the same bits however it is batched.
        """
        shared = shared or any(ticket.order[0] > 0 for ticket in self.active)
        seconds = SHARED_SLICE_SECONDS if shared else SLICE_SECONDS
        return self._cost.within(seconds - self._disk_s)

    def _compute(self, plan: "list[tuple[Ticket, list[Part]]]") -> None:
        parts = [part for _, parts in plan for part in parts]
        work = self._cost.work(parts)
        began = time.perf_counter()
        try:
            logits = self._model.step(parts)
        except Exception as error:
            if len(plan) > 1:  # whoever it was fails alone
                for entry in plan:
                    self._compute([entry])
                return
            log.error("a request failed in the model", exc_info=error)
            self.finish(plan[0][0], EngineError(f"the model failed: {error}"))
            return
        seconds, tokens = time.perf_counter() - began, sum(part.tokens.size for part in parts)
        self._compute_s, self._computed_tokens = self._compute_s + seconds, tokens
        if tokens >= LEAST_TOKENS:
            self._cost.learn(work, seconds)
        first = 0
        for ticket, own in plan:
            outputs = sum(part.outputs for part in own)
            self._hand_over(ticket, logits[first : first + outputs])
            first += outputs

    def _hand_over(self, ticket: Ticket, logits: "Logits") -> None:
        request = ticket.request
        try:
            pieces = request.take(logits)
        except Exception as error:
            log.error("a request failed after the model's step", exc_info=error)
            self.finish(ticket, EngineError(f"the answer failed: {error}"))
            return
        for piece in pieces:
            deliver(ticket, piece)
        if request.finish_reason is not None:
            self.finish(ticket, request.finished(request.finish_reason))
        elif (full := request.sequences[0].length // BLOCK_TOKENS) > ticket.published:
            self._cache.publish(ticket.exact_tokens, request.sequences[0])
            ticket.published = full
        if pieces and not ticket.ended and not ticket.kept:
            self._keep(ticket)  # now, so that it outlives a crash in the middle of the answer


def _order(ticket: Ticket) -> tuple[int, int]:
    return ticket.order


def deliver(ticket: Ticket, outcome: Piece | Finished | EngineError) -> None:
    """Hand over. A receiver that is gone (its event loop is closed) ends its request."""
    ticket.ended = not isinstance(outcome, Piece)
    try:
        ticket.sink(outcome)
    except Exception as error:
        log.warning("nobody takes the answer any more: %s", error)
        ticket.cancelled = True
