"""Which requests take part in the next step, and with how many tokens.

At every step the running requests share one forward pass (continuous batching: Yu et al. 2022,
Orca), each with its next token or with a slice of its prompt. First comes who has the highest
priority and, of equals, who came first. Where KV blocks run out the last in that order gives its
own back and is computed again later, so the first can always go on. For the compute thread alone.

What a step gives is chosen at its end, and shown (made text, compared with stop strings, handed
over) at the beginning of the next one, while other threads compute that already. For that the next
step has to be certain before: everybody goes on with one more token. Else what there is is shown
first. An answer that turns out to have ended has then been computed one step too far.
"""

import bisect
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from engine.chunk_reuse import Chunks
from engine.errors import EngineError
from engine.generate import Finished
from engine.kept_prefixes import KeptPrefixes
from engine.kernels.kv_layout import BLOCK_TOKENS, blocks_for
from engine.kv import KVSequence
from engine.prefix_cache import PrefixCache
from engine.protocol import SchedulerCounts
from engine.speculation import MOST_GUESSES
from engine.step_cost import LEAST_TOKENS, StepCost, position_of_equal_work
from engine.ticket import Ticket, deliver

if TYPE_CHECKING:
    from engine.distribution import Logits
    from engine.model import Model
    from engine.step_part import Part

log = logging.getLogger(__name__)

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
        self._unshown: list[Ticket] = []  # those for whom tokens were chosen in the last step
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
        """Let in who has room, compute one step, and show what the one before gave.

        busy: whether others wait for the compute thread.
        """
        plan = [] if busy else self._plan_of_one_more()
        if plan:
            self._compute(plan, meanwhile=self._show)
            return
        self.settle()
        self._end_cancelled()
        self._disk_s = 0.0
        self._admit()
        self._copy_for_disk()
        plan = self._plan(busy)
        if plan:
            self._compute(plan)
        elif self.active:
            time.sleep(0.002)  # blocks are held elsewhere for a moment, such as to be written out

    def settle(self) -> None:
        """Show what the last step gave, and end whose answer that ends."""
        shown = self._unshown
        self._show()
        for ticket in shown:
            self._conclude(ticket)

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
                rows -= sum(len(part.tokens) for part in parts)
                work, least = work - self._cost.work(parts), 0
            plan.append((ticket, parts))
        return plan

    def _plan_of_one_more(self) -> "list[tuple[Ticket, list[Part]]]":
        """As `_plan`, where the step is certain before what the last one gave is shown: everybody
        has one token to compute, and room for it; nobody comes or goes. Else nothing."""
        if self.waiting or self.copies_wait or not self._unshown:
            return []
        room = self._cache.pool.free
        for ticket in self.active:
            request = ticket.request
            if ticket.cancelled or not ticket.kept or request.finish_reason is not None:
                return []
            if request.pending != 1:
                return []
            room -= sum(s.blocks_wanted(1 + MOST_GUESSES) for s in request.sequences)
        if room < 0:
            return []
        draft = len(self.active) <= MOST_WITH_GUESSES
        return [(ticket, ticket.request.parts(1, draft=draft)) for ticket in self.active]

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
        wanted = sum(part.sequence.blocks_wanted(len(part.tokens)) for part in parts)
        while not self._cache.make_room(wanted):
            victim = self.active[-1]
            if victim is ticket:
                own = sum(len(part.sequence.blocks) for part in parts)
                if len(self.active) == 1 and wanted + own > self._cache.pool.blocks:
                    self.finish(ticket, EngineError("the KV cache is too small for this request"))
                return False
            self._preempt(victim)
        for part in parts:
            part.sequence.reserve(len(part.tokens))
        return True

    def _slice_work(self, shared: bool) -> float:
        """As much prefill as this box, at its present speed, does in the time for a slice.

        Results do not depend on it: a token's logits are the same bits however it is batched.
        """
        shared = shared or any(ticket.order[0] > 0 for ticket in self.active)
        seconds = SHARED_SLICE_SECONDS if shared else SLICE_SECONDS
        return self._cost.within(seconds - self._disk_s)

    def _compute(
        self,
        plan: "list[tuple[Ticket, list[Part]]]",
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Compute a step, and choose what comes next; meanwhile: see ``Model.step``."""
        parts = [part for _, parts in plan for part in parts]
        tokens = sum(len(part.tokens) for part in parts)
        work = self._cost.work(parts) if tokens >= LEAST_TOKENS else 0.0
        began = time.perf_counter()
        try:
            logits = self._model.step(parts, meanwhile)
        except Exception as error:
            if meanwhile is not None:
                meanwhile()
            if len(plan) > 1:  # whoever it was fails alone
                for entry in plan:
                    self._compute([entry])
                return
            log.error("a request failed in the model", exc_info=error)
            ticket = plan[0][0]
            if ticket.request.finish_reason is None:  # else it was one step too many
                ticket.failure = EngineError(f"the model failed: {error}")
            self._conclude(ticket)
            return
        seconds = time.perf_counter() - began
        self._compute_s, self._computed_tokens = self._compute_s + seconds, tokens
        if work:
            self._cost.learn(work, seconds)
        first = 0
        for ticket, own in plan:
            outputs = sum(part.outputs for part in own)
            self._choose(ticket, logits[first : first + outputs])
            first += outputs

    def _choose(self, ticket: Ticket, logits: "Logits") -> None:
        """Let a request go on with what the step gave; an answer that was shown to have ended while
        it was computed ends now."""
        request = ticket.request
        ended = ticket.failure is not None or request.finish_reason is not None
        try:
            if ticket.failure is None and request.choose(logits):
                self._unshown.append(ticket)
        except Exception as error:
            log.error("a request failed after the model's step", exc_info=error)
            ticket.failure, ended = EngineError(f"the answer failed: {error}"), True
        if ended:
            self._conclude(ticket)
        elif (full := request.sequences[0].length // BLOCK_TOKENS) > ticket.published:
            self._cache.publish(ticket.exact_tokens, request.sequences[0])
            ticket.published = full

    def _show(self) -> None:
        """Hand over what the last step gave. Sequences and blocks stay as they are: the next step
        may be under way."""
        shown, self._unshown = self._unshown, []
        for ticket in shown:
            try:
                pieces = ticket.request.pieces()
            except Exception as error:
                log.error("what a request chose cannot be shown", exc_info=error)
                ticket.failure = EngineError(f"the answer failed: {error}")
                continue
            for piece in pieces:
                deliver(ticket, piece)

    def _conclude(self, ticket: Ticket) -> None:
        """End a request that has come to its end; keep the prompt of one that has begun."""
        request = ticket.request
        if ticket.failure is not None:
            self.finish(ticket, ticket.failure)
        elif request.finish_reason is not None:
            self.finish(ticket, request.finished(request.finish_reason))
        elif not ticket.kept:
            self._keep(ticket)  # now, so that it outlives a crash in the middle of the answer


def _order(ticket: Ticket) -> tuple[int, int]:
    return ticket.order
